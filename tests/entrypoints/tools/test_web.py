"""The tools that search and read."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import jsonschema
import pytest

from tests.docs.crawl.small_site import Site, html
from tests.entrypoints.conftest import Connect
from tests.entrypoints.stdio import structured
from tests.loopback import serving as listening
from websearch_gateway.sandbox import Sandbox, key_of

MARKED = re.compile(
    r'<untrusted-web-text id="([0-9a-f]{32})">\n(.*)\n</untrusted-web-text id="\1">', re.DOTALL
)
FIELDS = {
    "title",
    "link",
    "snippet",
    "page_content",
    "provider",
    "published_date",
    "relevance_score",
}
QUESTION = "How tall is the Eiffel Tower?"
ESPRESSO = {"query": "descale an espresso machine"}


def content(result: dict[str, Any]) -> str:
    """The page content between its marks."""
    match = MARKED.fullmatch(result["page_content"])
    assert match is not None
    return match[2]


async def test_pages_come_with_their_text_in_every_field_that_was_promised(
    connect: Connect,
) -> None:
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("web_search", ESPRESSO)
        news = await client.call_tool(
            "web_search", {"query": "storm", "maxResults": 2, "topic": "news"}
        )
        failed = await client.call_tool("web_search", {"query": "x"})
    assert not result.is_error
    results = structured(result)["results"]
    assert 1 < len(results) <= 3
    assert all(set(entry) == FIELDS for entry in results)
    assert "vinegar" in content(results[0])
    assert results[0]["link"].endswith("/pages/descale-espresso-machine")
    assert [entry["relevance_score"] for entry in results] == sorted(
        (e["relevance_score"] for e in results), reverse=True
    )
    assert structured(news)["results"][0]["published_date"]
    assert failed.is_error
    for name, reply in (("web_search", result), ("web_search", news), ("web_search", failed)):
        jsonschema.validate(structured(reply), tools[name].output_schema or {})


async def test_each_page_that_cannot_be_read_has_a_note_that_says_why_and_the_slow_one_is_not_waited_for(
    connect: Connect, sandbox: Sandbox
) -> None:
    query = {"query": "the water and the time", "maxResults": 10}
    async with connect(REQUEST_TIMEOUT_MS="12000") as client:
        links = [
            entry["link"]
            for entry in structured(await client.call_tool("web_search", query))["results"]
        ]
        paths = [link.removeprefix(f"{sandbox.url}/") for link in links]
        sandbox.fault(paths[0], "status", status=403)
        sandbox.fault(paths[1], "status", status=404)
        sandbox.fault(paths[2], "hang")
        sandbox.fault(
            paths[3], "redirect_private", location=f"{sandbox.url}/pages/special/pixel.png"
        )
        sandbox.fault(paths[4], "redirect_private")
        sandbox.fault(
            paths[5], "redirect_private", location=f"{sandbox.url}/pages/special/leaflet.pdf"
        )
        sandbox.fault(paths[6], "drip", seconds=0.5)
        sandbox.fault(paths[7], "bot")
        reply = await client.call_tool("web_search", {**query, "useCache": False})
    results = structured(reply)["results"]
    found = {entry["link"]: entry["page_content"] for entry in results}
    expected = [
        "access is restricted",
        "not found",
        "too slow",
        "image/png",
        "forbidden address",
        "The PDF has no text",
        "too slow",
        "could not be read",
    ]
    for link, words in zip(links[:8], expected, strict=True):
        assert words in found[link], link
    assert "could not be read" not in found[links[8]]
    for entry in results:
        note = entry["page_content"].partition("<untrusted-web-text")[0]
        assert len(note) == entry.get("note_chars", 0), entry["link"]


async def test_each_call_has_marks_of_its_own(connect: Connect) -> None:
    async with connect() as client:
        calls = [await client.call_tool("web_search", ESPRESSO) for _ in range(2)]
    nonces = [
        {MARKED.fullmatch(r["page_content"])[1] for r in structured(call)["results"]}
        for call in calls
    ]  # type: ignore[index]
    assert [len(of_call) for of_call in nonces] == [1, 1]
    assert nonces[0] != nonces[1], "the second one comes from the cache"


UNACCEPTABLE: list[tuple[str, dict[str, Any], str]] = [
    ("web_search", {"query": "tides", "num_results": -1}, "maxResults"),
    ("web_search", {"query": "tides", "num_results": "three"}, "num_results"),
    ("web_search", {"query": "tides", "most": 3}, "most"),
    ("web_search", {"query": "tides", "freshness": "decade"}, "freshness"),
    ("web_search", {"query": "tides", "providers": ["bing"]}, "duckduckgo"),
    ("web_search", {"query": "polymarket odds on a fed cut"}, "polymarket"),
    ("web_search_raw", {"query": ["tides"], "maxResults": 0}, "maxResults"),
    ("web_search_raw", {"query": []}, "1 to 20"),
    ("web_search_raw", {"query": ["tides"] * 21}, "At most 20 items"),
    ("web_search_raw", {"query": "tides", "region": "XX"}, "region"),
    ("web_search_raw", {"query": f"what is {key_of('google')}"}, "credential"),
]


async def test_what_is_unacceptable_is_said_and_asked_of_nobody(
    connect: Connect, sandbox: Sandbox
) -> None:
    async with connect() as client:
        results = [await client.call_tool(tool, arguments) for tool, arguments, _ in UNACCEPTABLE]
    for result, (_, _, told) in zip(results, UNACCEPTABLE, strict=True):
        assert result.is_error
        error = structured(result)["error"]
        assert error["code"] == "VALIDATION", told
        assert told in error["message"]
    assert [sandbox.calls(name) for name in ("google", "serper", "pages")] == [0, 0, 0]


async def test_what_can_mean_only_one_thing_is_understood(connect: Connect) -> None:
    async with connect(TOOLSETS="answer,search,read,cache") as client:
        answer = structured(
            await client.call_tool("search_web", {**ESPRESSO, "maxResults": 20, "region": "UK"})
        )
        found = structured(
            await client.call_tool(
                "web_search", {**ESPRESSO, "max_results": 99, "language": "German"}
            )
        )
        raw = structured(await client.call_tool("web_search_raw", {**ESPRESSO, "maxResults": 200}))
        similar = structured(await client.call_tool("search_similar", {**ESPRESSO, "limit": 30}))
    assert answer["filters"]["region"]["requested"] == "GB"
    assert answer["warnings"][0] == "`maxResults` is at most 8: 8 is used."
    assert found["warnings"][0] == "`maxResults` is at most 50: 50 is used."
    assert raw["warnings"][0] == "`maxResults` is at most 50: 50 is used."
    assert similar["warnings"] == ["`maxResults` is at most 20: 20 is used."]


@pytest.mark.parametrize("query", ["AI", "C#", "\u2068F1\u2069"])
async def test_two_characters_are_a_query_for_results_and_no_question(
    connect: Connect, query: str
) -> None:
    async with connect() as client:
        for tool in ("web_search", "search_news", "web_search_raw"):
            result = await client.call_tool(tool, {"query": query, "maxResults": 1})
            assert not result.is_error, tool
            assert all(
                "error" not in one["result"] for one in structured(result).get("queries", ())
            )
        refused = structured(await client.call_tool("search_web", {"query": query}))
    assert refused["error"]["details"]["allowed"] == "3-400 characters"


async def test_claims_as_json_text_are_the_claims(connect: Connect, sandbox: Sandbox) -> None:
    claims = [
        {
            "claim": "The Eiffel Tower is 330 metres tall.",
            "urls": [f"{sandbox.url}/pages/eiffel-tower"],
        }
    ]
    async with connect() as client:
        typed, text = [
            structured(await client.call_tool("check_claims", {"claims": form}))["claims"]
            for form in (claims, json.dumps(claims))
        ]
        nothing = structured(
            await client.call_tool("search_web", {"query": QUESTION, "includeDomains": ["null"]})
        )
    assert text[0]["verdict"] == typed[0]["verdict"] == "found"
    assert sandbox.calls("serper") == sandbox.calls("google") == 0
    assert nothing["citations"]


async def test_named_providers_serve_alone_and_one_without_its_key_is_named(
    connect: Connect, sandbox: Sandbox
) -> None:
    async with connect(BRAVE_API_KEY="") as client:
        named = await client.call_tool("web_search", {**ESPRESSO, "providers": ["tavily"]})
        keyless = await client.call_tool(
            "web_search", {**ESPRESSO, "providers": ["brave", "tavily"]}
        )
    assert {entry["provider"] for entry in structured(named)["results"]} == {"tavily"}
    assert sandbox.calls("tavily") == 1
    error = structured(keyless)["error"]
    assert (error["code"], "BRAVE_API_KEY" in error["message"]) == ("NOT_CONFIGURED", True)


async def test_a_provider_that_is_set_without_its_key_is_named_with_the_variable(
    connect: Connect,
) -> None:
    async with connect(SEARCH_PROVIDERS="serper", SERPER_API_KEY="") as client:
        results = [
            await client.call_tool(tool, ESPRESSO)
            for tool in ("web_search", "search_news", "web_search_raw")
        ]
    for result in results:
        error = structured(result)["error"]
        assert (error["code"], "SERPER_API_KEY" in error["message"]) == ("NOT_CONFIGURED", True)


async def test_raw_results_are_googles_own_under_either_name(
    connect: Connect, sandbox: Sandbox
) -> None:
    query = "the water and the time"
    async with connect() as client:
        one = await client.call_tool("web.search", {"query": query, "maxResults": 25})
        two = await client.call_tool("web_search_raw", {"query": [query, "tides", "x"]})
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert "web.search" not in names
    (answer,) = structured(one)["queries"]
    assert (answer["query"], answer["provider"]) == (query, "google")
    assert answer["result"]["kind"] == "customsearch#search"
    assert len({item["link"] for item in answer["result"]["items"]}) == 25
    assert [entry["query"] for entry in structured(two)["queries"]] == [query, "tides", "x"]
    assert structured(two)["queries"][2]["result"]["error"]["code"] == "VALIDATION"
    assert not two.is_error
    assert sandbox.calls("google") == 5


async def test_each_raw_query_counts_against_the_limit(connect: Connect) -> None:
    async with connect(SEARCH_RATE_LIMIT="3/minute") as client:
        first = await client.call_tool("web_search_raw", {"query": ["tides", "comet"]})
        second = await client.call_tool("web_search_raw", {"query": ["knots", "aurora"]})
        third = await client.call_tool("web_search", {"query": "knots"})
    errors = [
        entry["result"].get("error", {}).get("code") for entry in structured(second)["queries"]
    ]
    assert not first.is_error
    assert sorted(map(str, errors)) == ["None", "RATE_LIMIT"]
    assert structured(third)["error"]["code"] == "RATE_LIMIT"


@pytest.mark.parametrize(
    ("tool", "target"), [("web_search", "pages"), ("web_search_raw", "google")]
)
async def test_cancelling_the_call_cancels_it_upstream(
    connect: Connect, sandbox: Sandbox, tool: str, target: str
) -> None:
    async with connect() as client:
        sandbox.fault(target, "hang")
        calling = asyncio.create_task(client.call_tool(tool, ESPRESSO))
        await sandbox.wait_for(target, calls=1)
        calling.cancel()
        await sandbox.wait_for(target, cancelled=1)


async def test_progress_is_told(connect: Connect) -> None:
    messages: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message)

    async with connect() as client:
        await client.call_tool("web_search", ESPRESSO, progress_callback=note)
    assert messages[:2] == ["Searching the web", "Reading 3 pages"]


async def test_domains_are_kept_to_by_the_vendor_or_here_and_the_reply_says_which(
    connect: Connect,
) -> None:
    elsewhere, here = {"include_domains": ["example.org"]}, {"include_domains": ["127.0.0.1"]}
    async with connect() as client:
        found = structured(await client.call_tool("web_search", {**ESPRESSO, **here}))
        nothing = structured(await client.call_tool("web_search", {**ESPRESSO, **elsewhere}))
        answered = structured(await client.call_tool("search_web", {**ESPRESSO, **here}))
        without = structured(
            await client.call_tool("search_web", {**ESPRESSO, "exclude_domains": ["127.0.0.1"]})
        )
        plain = structured(await client.call_tool("web_search", ESPRESSO))
    assert found["results"]
    assert not nothing["results"]
    assert found["filters"]["domains"] == "upstream"
    assert "domains" not in plain["filters"]
    assert answered["citations"]
    assert answered["filters"]["domains"] == "upstream"
    assert not without.get("citations")
    assert not without.get("sources")


async def test_the_operators_domains_bind_searching_and_reading(
    connect: Connect, sandbox: Sandbox
) -> None:
    async with connect(BLOCKED_DOMAINS="127.0.0.1") as client:
        found = structured(await client.call_tool("web_search", ESPRESSO))
        raw = structured(await client.call_tool("web_search_raw", ESPRESSO))
        page = await client.call_tool(
            "get_content", {"url": f"{sandbox.url}/pages/descale-espresso-machine"}
        )
    assert found["results"] == []
    assert not raw["queries"][0]["result"].get("items")
    assert "does not allow 127.0.0.1" in structured(page)["error"]["message"]


async def test_claims_are_checked_over_a_pipe_and_a_plain_sentence_is_understood(
    connect: Connect, sandbox: Sandbox
) -> None:
    tall, short = "The Eiffel Tower is 330 metres tall.", "The Eiffel Tower is 310 metres tall."
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        given = {"claims": [{"claim": short, "urls": [f"{sandbox.url}/pages/eiffel-tower"]}, tall]}
        result = await client.call_tool("check_claims", given)
        failed = await client.call_tool("check_claims", {"claims": [{"claim": tall, "url": []}]})
    assert [one["verdict"] for one in structured(result)["claims"]] == ["differs", "found"]
    shown = result.content[0].text  # type: ignore[union-attr]
    assert f"[differs] {short}\n<untrusted-web-text" in shown
    assert "number: the claim has 310 metres, the page 330 metres" in shown
    assert "330 metres tall" in structured(result)["claims"][0]["quote"]
    assert failed.is_error
    for reply in (result, failed):
        jsonschema.validate(structured(reply), tools["check_claims"].output_schema or {})


def unmarked(text: str) -> tuple[str, str]:
    """The nonce and the text between the marks, which must be there."""
    match = MARKED.fullmatch(text)
    assert match is not None
    return match[1], match[2]


async def test_a_page_comes_in_windows_between_marks_of_its_own(
    connect: Connect, sandbox: Sandbox
) -> None:
    url, text, offset, nonces = f"{sandbox.url}/pages/tides-explained", "", 0, set()
    async with connect() as client:
        while offset is not None:
            result = await client.call_tool(
                "get_content", {"url": url, "offset": offset, "maxChars": 500}
            )
            content: Any = result.structured_content
            nonce, piece = unmarked(content["page_content"])
            nonces.add(nonce)
            text, offset = text + piece, content.get("nextOffset")
    assert len(text) == content["totalChars"]
    assert content["title"].startswith("Why there are two tides a day")
    assert "## Spring tides and neap tides" in text
    assert len(nonces) > 2


async def test_a_question_gets_the_passages_that_answer_it_under_either_name(
    connect: Connect, sandbox: Sandbox
) -> None:
    arguments = {
        "url": f"{sandbox.url}/pages/tides-explained",
        "query": ["What are spring tides?", "penicillin"],
    }
    async with connect() as client:
        found: Any
        found, again = [
            (
                await client.call_tool(name, {**arguments, "includeMetadata": True})
            ).structured_content
            for name in ("read_from_page", "web.readFromPage")
        ]
    assert again["metadata"] == found["metadata"]
    tides, penicillin = found["queries"]
    best = tides["results"][0]
    assert best["sectionPath"][-1] == "Spring tides and neap tides"
    assert best["score"] > 0.9
    assert "## Spring tides" in unmarked(best["text"])[1]
    assert penicillin["results"] == []
    assert "query 2" in found["note"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found["lastCrawled"])
    assert found["metadata"]["published"] == "2023-01-17"


NESTS = "In spring the wardens of the reserve counted 412 nests in 2025, nine more than a year ago."
GUIDE = (
    "Many visitors of {0} ask how the birds of {0} build, and the guide tells them how many twigs a nest needs. Boats from "
    "{0} are not allowed near the nests before the young have left them."
)


async def test_how_many_finds_the_number_although_the_page_goes_on_about_many_nests(
    connect: Connect,
) -> None:
    site = Site()
    places = ("Marn", "Oslo", "Skerry", "Tarn", "Ulm", "Vik", "Wye", "Yale", "Zell", "Brig")
    parts = "".join(f"<h2>{place}</h2><p>{GUIDE.format(place)}</p>" for place in places)
    site.pages = {"/docs/herons": html("Heron colony", f"{NESTS}</p>{parts}<p>")}
    async with (
        listening(site.serve) as site.port,
        connect(FETCH_ALLOW_PRIVATE_HOSTS=f"127.0.0.1:{site.port}") as client,
    ):
        arguments = {"url": f"{site.url}herons", "query": "how many nests"}
        read = structured(await client.call_tool("read_from_page", arguments))
    (nests,) = read["queries"]
    assert "412 nests in 2025" in nests["results"][0]["text"]


FAILURES = [
    ("/pages/special/not-found", "FETCH", "not found"),
    ("/pages/special/forbidden", "FETCH", "access is restricted"),
    ("/pages/special/pixel.png", "FETCH", "not text"),
    ("/pages/special/empty", "FETCH", "no text"),
]


async def test_a_page_that_cannot_be_read_is_an_error_with_a_note_in_its_place(
    connect: Connect, sandbox: Sandbox
) -> None:
    elsewhere = [
        ("http://169.254.169.254/", "FORBIDDEN_URL", "forbidden address"),
        ("file:///etc/passwd", "FORBIDDEN_URL", "forbidden address"),
        ("example", "VALIDATION", "not readable"),
    ]
    cases = [(sandbox.url + path, code, told) for path, code, told in FAILURES] + elsewhere
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for url, code, told in cases:
            result = await client.call_tool("get_content", {"url": url})
            again = await client.call_tool("get_content", {"url": url})
            content: Any = result.structured_content
            assert result.is_error
            assert set(content) - {"note"} == {"url", "page_content", "error"}
            assert ("note" in content) == (told == "access is restricted")
            assert content["error"]["code"] == code
            assert content["page_content"].startswith("**This page")
            assert told in content["page_content"]
            assert again.structured_content == content
            jsonschema.validate(content, tools["get_content"].output_schema or {})
            passages = await client.call_tool("read_from_page", {"url": url, "query": "x"})
            assert passages.is_error
            protected = {"url": url, "queries": [{"query": "x"}], "note": "content protected"}
            expected = protected if "note" in content else {}
            assert passages.structured_content == {**expected, "error": content["error"]}


async def test_a_scanned_pdf_says_so_in_its_note(connect: Connect, sandbox: Sandbox) -> None:
    url = f"{sandbox.url}/pages/special/leaflet.pdf"
    async with connect() as client:
        content = (await client.call_tool("get_content", {"url": url})).structured_content
        passages = (
            await client.call_tool("read_from_page", {"url": url, "query": "x"})
        ).structured_content
    assert content is not None
    assert passages is not None
    assert (content["note"], passages["note"]) == ("scanned", "scanned")
    assert content["error"]["details"]["reason"] == "scanned"
    assert "only pictures of text" in content["page_content"]


UNREADABLE_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_content", {"url": "https://example.com/", "colour": 5}),
    ("get_content", {}),
    ("get_content", {"url": "https://example.com/", "refresh": True}),
    ("get_content", {"url": "https://example.com/", "offset": "zero"}),
    ("read_from_page", {"url": "https://example.com/", "query": "x", "depth": 2}),
    ("read_from_page", {"url": "https://example.com/", "query": [1]}),
    ("read_from_page", {"url": "https://example.com/"}),
    ("read_from_page", {"url": "https://example.com/", "query": []}),
]


async def test_bad_arguments_are_refused(connect: Connect) -> None:
    async with connect() as client:
        results = [await client.call_tool(tool, arguments) for tool, arguments in UNREADABLE_CALLS]
    for result, (tool, arguments) in zip(results, UNREADABLE_CALLS, strict=True):
        content: Any = result.structured_content
        assert result.is_error, (tool, arguments)
        assert content["error"]["code"] == "VALIDATION"
