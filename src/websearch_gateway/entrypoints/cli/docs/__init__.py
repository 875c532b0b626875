"""The group `docs`, which is also the command `docs-mcp`.

Commands that change the index are in `crawling`, those that only read it in `searching`.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from websearch_gateway.entrypoints.cli.docs import configuring, crawling, searching
from websearch_gateway.entrypoints.cli.running import ConfigOption, FailureJsonOption
from websearch_gateway.entrypoints.cli.serving import serve_over_http

__all__ = ["docs", "main"]

docs = typer.Typer(help="Documentation sites: crawl them, keep them fresh, search them.", no_args_is_help=True)
docs.command("add")(crawling.add)
docs.command("list")(searching.list_sites)
docs.command("status")(searching.status)
docs.command("update")(crawling.update)
docs.command("delete")(crawling.delete)
docs.command("search", context_settings={"ignore_unknown_options": True})(searching.search)  # `--flag` is a query
docs.command("read")(searching.read)
docs.command("export")(crawling.export)
docs.command("import")(crawling.import_file)
docs.command("config")(configuring.configure)
docs.command("work", hidden=True)(crawling.work)


docs_mcp = typer.Typer(
    help=docs.info.help,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
docs_mcp.registered_commands = list(docs.registered_commands)


@docs_mcp.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to bind; 0 picks a free one.")] = 8080,
    as_json: FailureJsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Serve the toolset `docs` over HTTP, and crawl what is pending."""
    serve_over_http(config, host, port, as_json=as_json, toolsets=("docs",))


def main() -> None:
    """Entry point of the `docs-mcp` command."""
    try:
        docs_mcp()
    except KeyboardInterrupt:
        sys.exit(130)  # the exit code of a process that Ctrl-C ended
