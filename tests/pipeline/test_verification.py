"""Citations of a hosted engine, verified against the pages that it names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from websearch_gateway.app.gateway import Gateway
from websearch_gateway.models import SearchRequest
from websearch_gateway.results import SearchResponse
from websearch_gateway.sandbox import Sandbox

Open = Callable[..., AbstractAsyncContextManager[Gateway]]
TOWER = "How tall is the Eiffel Tower?"


async def ask(gateway: Open, verify: bool | None, **settings: object) -> SearchResponse:
    async with gateway(**{"answer_engines": "openai"} | settings) as opened:
        return await opened.search(SearchRequest(TOWER, max_results=1, verify_citations=verify))


@pytest.mark.parametrize(("argument", "setting"), [(True, "off"), (None, "on")])
async def test_a_cited_page_shows_its_words_beside_the_sentence(
    gateway: Open, argument: bool | None, setting: str
) -> None:
    response = await ask(gateway, argument, verify_citations=setting)
    (citation,) = response.citations
    assert citation.support in ("verbatim", "quoted")
    assert "330 metres" in (citation.quote or "")
    assert (citation.quote_url or "").startswith(f"{citation.url}#:~:text=")
    assert citation.spans[0].quote == citation.quote


async def test_nothing_is_read_unless_it_is_wanted(gateway: Open, sandbox: Sandbox) -> None:
    response = await ask(gateway, None)
    assert {citation.support for citation in response.citations} == {None}
    assert sandbox.calls("pages") == 0


async def test_a_page_that_cannot_be_read_is_named(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("pages", "status", status=500)
    response = await ask(gateway, True)
    (citation,) = response.citations
    assert (citation.support, citation.quote, citation.quote_url) == ("unread", None, None)
    assert any("could not be read" in warning for warning in response.warnings)


async def test_a_verified_answer_is_another_entry_of_the_cache(gateway: Open) -> None:
    async with gateway(answer_engines="openai") as opened:
        plain = await opened.search(SearchRequest(TOWER, max_results=1))
        verified = await opened.search(SearchRequest(TOWER, max_results=1, verify_citations=True))
        again = await opened.search(SearchRequest(TOWER, max_results=1, verify_citations=True))
    assert (plain.cache, verified.cache, again.cache) == ("miss", "miss", "exact")
    assert again.citations == verified.citations
