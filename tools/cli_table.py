"""Write docs/cli.md: the prose below, and a table of the commands: `python tools/cli_table.py > docs/cli.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from websearch_gateway.entrypoints.cli.commands import cli

NAME = "websearch-gateway"
HEAD = f"""# The command line

```console
$ {NAME} search "How tall is the Eiffel Tower?"
$ {NAME} web "espresso machine" -n 3 --include-domain example.org
$ {NAME} read https://en.wikipedia.org/wiki/Tide --query "Why are there two tides a day?"
$ {NAME} check "The Eiffel Tower is 310 metres tall." --url https://en.wikipedia.org/wiki/Eiffel_Tower
```

`{NAME} COMMAND -h` lists the arguments and options of a command. `docs-mcp` is the group `{NAME} docs` with the
additional command `serve`.

**For scripts.** With `--json` a command prints one JSON object, whose fields are those of the [tool](tools.md). Without it,
a pipe or a file gets plain text: no frames, no colours, no broken lines. `read` prints a page's Markdown as it is, so
`{NAME} read URL > page.md` keeps it.

**Values.** Numbers and lists are understood as by the tools: `-n 5.0` is `-n 5`, `--max-chars none` is the default, and
`--include-domain '["a.org", "b.org"]'` is two domains. A command that removes something refuses a word for nothing: after
`cache clear --query none` the cache is as it was.

**Exit codes.** A command that fails prints one line on stderr and exits with 1. After wrong usage the exit code is 2,
after Ctrl-C 130.

**Completion.** `{NAME} --install-completion` makes bash, zsh, fish or PowerShell complete commands and options;
`--show-completion` prints the script instead.

## Commands

| command | what it does |
|---|---|
"""


def table() -> str:
    """The whole document."""
    root: Any = typer.main.get_command(cli)
    return HEAD + "".join(_rows(root, ""))


def _rows(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _rows(command, f"{path}{name} ")
        else:
            yield f"| `{path}{name}` | {_cell(command.help)} |\n"


def _cell(text: str) -> str:
    """The first paragraph of a help text, on one line."""
    return " ".join(text.partition("\n\n")[0].replace("|", "\\|").split())


if __name__ == "__main__":
    sys.stdout.write(table())
