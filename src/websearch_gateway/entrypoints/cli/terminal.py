"""What every command prints with: the console, lines and tables, figures in few digits, and the stages of a call."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from websearch_gateway.models import Progress, no_progress
from websearch_gateway.settings.loading import names_a_width

MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red"), "off": ("·", "dim")}
"""The sign and the style for: passed, warning, failed, not judged."""

PIPE_COLUMNS = 100_000
"""Wider than any line: in a pipe or a file no line is broken and no cell is cut."""


def console_of_stdout() -> Console:
    """The terminal; for a pipe or a file a console that breaks no line, unless COLUMNS says how wide it is."""
    console = Console()
    has_width = console.is_terminal or names_a_width()
    return console if has_width else Console(width=PIPE_COLUMNS)


def say(console: Console, text: str, style: str = "") -> None:
    """Print a text as it is, in a style: what comes from the web is never read as markup."""
    console.print(Text(text, style=style))


def say_unbroken(console: Console, text: str, style: str = "") -> None:
    """Print a text whose lines are not broken, so that an address in it can be copied."""
    console.print(Text(text, style=style), soft_wrap=True)


def heading(console: Console, text: str) -> None:
    """A line above what belongs together; in a pipe a heading of Markdown."""
    if console.is_terminal:
        rule(console, text)
    else:
        say(console, f"## {text}\n")


def rule(console: Console, text: str) -> None:
    """A line across the terminal with a text in it."""
    console.print(Rule(Text(text, style="bold cyan"), style="cyan"))


def warn(console: Console, warnings: Sequence[str]) -> None:
    """A line for each warning."""
    for warning in warnings:
        say(console, f"! {warning}", "yellow")


def figures_table(*columns: str) -> Table:
    """A table whose cells stay on one line; `>` before a name puts its column to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        name = column.removeprefix(">")
        table.add_column(name, justify="left" if name == column else "right", no_wrap=True)
    return table


def dollars(amount: float) -> str:
    """An amount in USD, with as many digits as it needs: four below a dollar, none from a thousand on."""
    if amount >= 1000:
        return f"${amount:,.0f}"
    if amount >= 1 or not amount:
        return f"${amount:.2f}"
    return f"${amount:.4f}"


_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))


def duration(seconds: float) -> str:
    """A time in the largest unit of which it has a whole one."""
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def size(count: int) -> str:
    """A number of bytes in B, kB or MB."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def minute(moment: str | None) -> str:
    """An ISO 8601 time up to its minute; nothing for none."""
    return "" if moment is None else moment[: len("2026-01-01T00:00")].replace("T", " ")


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
        elapsed = time.monotonic() - self._began
        return Text.assemble(self._message, (f"  {elapsed:.0f} s", "dim"))


@contextmanager
def stages() -> Iterator[Progress]:
    """Shows a spinner for the length of a block; nothing unless stdout and stderr are terminals."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield no_progress
        return
    stage = Stage()
    with Console(stderr=True).status(stage, spinner="dots"):
        yield stage.tell
