"""The command line: parse, call the gateway, render.

Errors are one line on stderr and exit code 1; wrong usage is 2. Every command takes `--json`.
"""

from __future__ import annotations

import io
import sys

from websearch_gateway.entrypoints.cli.serving import serve_over_stdio


def main() -> None:
    """Entry point of the `websearch-gateway` command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without a character shows `?`, not a traceback
    try:
        # How most clients start the server: without an option to parse it needs no typer.
        if sys.argv[1:] == ["serve"]:
            serve_over_stdio(None, "serve")
        else:
            from websearch_gateway.entrypoints.cli.commands import cli

            cli()
    except KeyboardInterrupt:
        sys.exit(130)  # the exit code of a process that Ctrl-C ended
