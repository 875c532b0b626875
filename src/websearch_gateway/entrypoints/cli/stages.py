"""What a person sees while a call lasts: its current stage and the seconds so far, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from websearch_gateway.ports import Progress, no_progress


class Stage:
    """A line that is drawn anew with the time that has passed."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._told = "Starting"

    async def tell(self, message: str) -> None:
        """The Progress of a call: from now on it does this."""
        self._told = message

    def __rich__(self) -> Text:
        """The line as it is now."""
        return Text.assemble(self._told, (f"  {time.monotonic() - self._began:.0f} s", "dim"))


@contextmanager
def stages() -> Iterator[Progress]:
    """Shows a spinner for the length of a block; nothing where stdout or stderr is no terminal."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield no_progress
        return
    stage = Stage()
    with Console(stderr=True).status(stage, spinner="dots"):
        yield stage.tell
