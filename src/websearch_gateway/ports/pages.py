"""The interfaces for reading pages: readers, and worker processes for hostile text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from websearch_gateway.models import Deadline, Page


class Workers(Protocol):
    """Processes for work whose size an outsider chooses. They can be killed, and they hold no secrets."""

    async def warm(self) -> None:
        """Start a process if there is none. It warms up while the caller continues."""
        ...

    async def run(
        self,
        function: Callable[..., object],
        *arguments: object,
        deadline: Deadline,
        size: int | None = None,
        heavy: bool = False,
        seconds: float | None = None,
    ) -> Any:
        """Run `function(*arguments)` and return its result as JSON: a dataclass becomes a dict, a tuple a list.

        The function must be importable by its name. Cancelling kills the process that runs it.

        Args:
            size: the number of characters of untrusted text. Very small jobs run without a process.
            heavy: the call may take seconds even for small arguments, as for a PDF.
            seconds: the time limit of the call itself, without waits for a process; a shorter one than usual.

        Raises:
            SearchTimeoutError: the deadline passed, or (`details.reason` is `too_costly`) the call took too long.
            Unavailable: the function raised it.
            SearchFetchError: the function failed, or took its process down.
        """
        ...


class Reader(Protocol):
    """Turns a URL into a Page."""

    @property
    def name(self) -> str: ...

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """Fetch and read. `known` is the page from an earlier read; it is returned itself if the page has not changed.

        Raises:
            ForbiddenUrlError: the address policy forbids the URL.
            SearchFetchError: the page is missing, too large or of an unreadable type.
            SearchTimeoutError: the deadline passed.
        """
        ...
