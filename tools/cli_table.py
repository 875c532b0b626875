"""Write docs/cli.md from the commands themselves: `python tools/cli_table.py > docs/cli.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from websearch_gateway.entrypoints.cli.commands import cli

NAME = "websearch-gateway"
HEAD = f"""# The command line

This page lists every command with its arguments and options, as `{NAME} COMMAND -h` shows them. `docs-mcp` is
the group `{NAME} docs` with the additional command `serve`. A command that fails prints one line on stderr and
exits with 1; after wrong usage the exit code is 2, after Ctrl-C 130.

`{NAME} --install-completion` makes bash, zsh, fish or PowerShell complete commands and options;
`--show-completion` prints the script instead.
"""


def table() -> str:
    """The whole document."""
    root: Any = typer.main.get_command(cli)
    return HEAD + "".join(_sections(root, typer.Context(root), ""))


def _sections(group: Any, context: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _sections(command, context, f"{path}{name} ")
        else:
            yield _section(command, context, f"{NAME} {path}{name}")


def _section(command: Any, context: Any, name: str) -> str:
    records = [
        record for parameter in command.params if (record := parameter.get_help_record(context))
    ]
    rows = "".join(f"| `{_cell(name)}` | {_cell(text)} |\n" for name, text in records)
    return (
        f"\n## {name}\n\n{command.help}\n\n| argument or option | what it is |\n|---|---|\n{rows}"
    )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    sys.stdout.write(table())
