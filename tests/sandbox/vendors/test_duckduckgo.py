from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from lxml import html

from websearch_gateway.sandbox import Sandbox

QUERY = "water harbour coffee time"


async def _ask(http: httpx2.AsyncClient, **form: str) -> httpx2.Response:
    return await http.post("/duckduckgo/html/", data=form)


def _links(page: str) -> list[str]:
    return html.fromstring(page).xpath('//*[@id="links"]//*[contains(@class, "web-result")]//h2/a/@href')


def _target(href: str) -> str:
    return parse_qs(urlsplit(href).query)["uddg"][0] if href.startswith("//duckduckgo.com/l/") else href


def _next_form(page: str) -> dict[str, str]:
    fields = html.fromstring(page).xpath('//div[@class="nav-link"]//input[@type="hidden"]')
    return {field.get("name"): field.get("value") for field in fields}


async def test_links_go_straight_or_through_a_redirect_and_an_ad_is_among_them(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    page = (await _ask(http, q=QUERY, b="")).text
    hrefs = _links(page)
    assert len(hrefs) == 10
    assert 0 < sum(href.startswith("//duckduckgo.com/l/?uddg=") for href in hrefs) < 10
    assert all(_target(href).startswith(f"{sandbox.url}/pages/") for href in hrefs)
    assert "duckduckgo.com/y.js?ad_domain" in page
    assert len(html.fromstring(page).xpath('//a[@class="result__snippet"]')) == 11


async def test_the_second_page_needs_the_token_of_the_first(http: httpx2.AsyncClient) -> None:
    first = (await _ask(http, q=QUERY, b="")).text
    form = _next_form(first)
    assert (form["s"], form["dc"], form["api"], form["o"], form["v"]) == ("10", "11", "d.js", "json", "l")
    second = await _ask(http, **form)
    targets = {_target(href) for href in _links(second.text)}
    assert second.status_code == 200
    assert targets
    assert not targets & {_target(href) for href in _links(first)}
    for broken in ({**form, "vqd": ""}, {**form, "q": "bread"}):
        blocked = await _ask(http, **broken)
        assert blocked.status_code == 202
        assert "challenge-form" in blocked.text


async def test_region_and_date_are_honoured(http: httpx2.AsyncClient) -> None:
    fresh = _links((await _ask(http, q="Gull Harbour", b="", df="d")).text)
    assert [_target(href).rsplit("/", 1)[1] for href in fresh] == ["storm-ines"]
    german = _links((await _ask(http, q="patatas Kartoffeln", b="", kl="de-de")).text)
    assert _target(german[0]).endswith("kartoffelsuppe")
    assert len(_links((await _ask(http, q="patatas Kartoffeln", b="", kl="wt-wt")).text)) == len(german)


async def test_nothing_found_is_a_page_that_says_so(http: httpx2.AsyncClient) -> None:
    reply = await http.get("/duckduckgo/html/", params={"q": "zyzzyva"})
    assert reply.status_code == 200
    assert "No results found." in reply.text
    assert "web-result" not in reply.text


@pytest.mark.parametrize("form", [{"q": "x" * 500}, {"q": "x", "s": "ten"}])
async def test_what_only_a_bot_would_send_gets_the_bot_page(http: httpx2.AsyncClient, form: dict[str, str]) -> None:
    assert (await _ask(http, **form)).status_code == 202


async def test_no_query_is_the_front_page(http: httpx2.AsyncClient) -> None:
    reply = await _ask(http, q="")
    assert (reply.status_code, _links(reply.text)) == (200, [])


async def test_a_status_has_no_json(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    sandbox.fault("duckduckgo", "status", status=403)
    reply = await _ask(http, q="x")
    assert (reply.status_code, reply.headers["content-type"].split(";")[0]) == (403, "text/html")
