"""The commands that only read the documentation index. None of them starts a crawl."""

from __future__ import annotations

from typing import Annotated

import typer

from websearch_gateway.entrypoints.cli.running import ConfigOption, JsonOption, run
from websearch_gateway.results.docs import DocsReadResponse, DocsSearchResponse, DocsSites, DocsStatus
from websearch_gateway.settings import Settings


def list_sites(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """List every site, of every status."""
    from websearch_gateway.entrypoints.cli.docs.render import show_sites

    async def look(settings: Settings) -> DocsSites:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.docs_index.status import listed

        async with open_gateway(settings) as gateway:
            return listed(await gateway.docs.store.versions())

    run(look, show_sites, as_json=as_json, config=config)


def status(
    site: Annotated[str | None, typer.Argument(metavar="[NAME|URL]", help="Default: every site.")] = None,
    label: Annotated[str | None, typer.Argument(metavar="[VERSION]")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show how far crawls are, which pages failed and why, and which process crawls."""
    from websearch_gateway.entrypoints.cli.docs.render import show_status

    async def look(settings: Settings) -> DocsStatus:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.docs_index.status import statuses

        async with open_gateway(settings) as gateway:
            found = await (gateway.docs.find(site, label) if site else gateway.docs.store.versions())
            return statuses(found, await gateway.docs.failures(found))

    run(look, show_status, as_json=as_json, config=config)


def search(
    query: Annotated[str, typer.Argument(help="A name, a flag, or what you look for in words.")],
    site: Annotated[str | None, typer.Option(help="A name or id.")] = None,
    version: Annotated[str | None, typer.Option(help="A version of the site.")] = None,
    limit: Annotated[int, typer.Option(help="Sections at most (1-50).")] = 10,
    max_tokens: Annotated[int, typer.Option(help="Tokens of all sections together.")] = 1_600,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Find the sections that answer a query."""
    from websearch_gateway.entrypoints.cli.docs.render import show_hits

    async def look(settings: Settings) -> DocsSearchResponse:
        from websearch_gateway.app import open_gateway

        async with open_gateway(settings) as gateway:
            return await gateway.search_docs(query, site_id=site, label=version, limit=limit, max_tokens=max_tokens)

    run(look, show_hits, as_json=as_json, config=config)


def read(
    place: Annotated[str, typer.Argument(metavar="SECTION|URL", help="A section id, or the address of a page.")],
    version: Annotated[str | None, typer.Option(help="A version of the site.")] = None,
    around: Annotated[int, typer.Option(help="Sections before and after it (0-20).")] = 0,
    max_tokens: Annotated[int, typer.Option(help="Tokens at most.")] = 4_000,
    outline: Annotated[bool, typer.Option("--outline", help="List the sections of the page.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Read a section or a page from the index."""
    from websearch_gateway.entrypoints.cli.docs.render import show_section

    async def look(settings: Settings) -> DocsReadResponse:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.docs_index.reading import read_docs

        is_url = "://" in place
        async with open_gateway(settings) as gateway:
            return await read_docs(
                gateway.docs,
                section_id=None if is_url else place,
                url=place if is_url else None,
                label=version,
                around=around,
                max_tokens=max_tokens,
                outline=outline,
            )

    run(look, show_section, as_json=as_json, config=config)
