"""Shows the current stage of a call and the seconds so far, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from websearch_gateway.ports import Progress, no_progress


class Stage:
    """A line that is redrawn with the elapsed time."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._message = "Starting"

    async def tell(self, message: str) -> None:
        """The Progress of a call: set the current stage."""
        self._message = message

    def __rich__(self) -> Text:
        """The current line."""
        return Text.assemble(self._message, (f"  {time.monotonic() - self._began:.0f} s", "dim"))


@contextmanager
def stages() -> Iterator[Progress]:
    """Shows a spinner for the length of a block; nothing unless stdout and stderr are terminals."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield no_progress
        return
    stage = Stage()
    with Console(stderr=True).status(stage, spinner="dots"):
        yield stage.tell
