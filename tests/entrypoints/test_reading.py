"""Reading pages as an agent does: over a real pipe, with the SDK's own client, in the sandbox's web."""

from __future__ import annotations

import re
from typing import Any

import jsonschema

from tests.entrypoints.conftest import Connect
from websearch_gateway.sandbox import Sandbox

MARKED = re.compile(r'<untrusted-web-text id="([0-9a-f]{32})">\n(.*)\n</untrusted-web-text id="\1">', re.DOTALL)


def unmarked(text: str) -> tuple[str, str]:
    """The nonce and the text between the marks, which must be there."""
    match = MARKED.fullmatch(text)
    assert match is not None
    return match[1], match[2]


async def test_a_page_comes_in_windows_between_marks_of_its_own(connect: Connect, sandbox: Sandbox) -> None:
    url, text, offset, nonces = f"{sandbox.url}/pages/tides-explained", "", 0, set()
    async with connect() as client:
        while offset is not None:
            result = await client.call_tool("get_content", {"url": url, "offset": offset, "maxChars": 500})
            content: Any = result.structured_content
            nonce, piece = unmarked(content["page_content"])
            nonces.add(nonce)
            text, offset = text + piece, content["nextOffset"]
    assert len(text) == content["totalChars"]
    assert content["title"].startswith("Why there are two tides a day")
    assert "## Spring tides and neap tides" in text
    assert len(nonces) > 2


async def test_a_question_gets_the_passages_that_answer_it_under_either_name(
    connect: Connect, sandbox: Sandbox
) -> None:
    arguments = {"url": f"{sandbox.url}/pages/tides-explained", "query": ["What are spring tides?", "penicillin"]}
    async with connect() as client:
        found: Any
        found, again = [
            (await client.call_tool(name, {**arguments, "includeMetadata": True})).structured_content
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
        passages = (await client.call_tool("read_from_page", {"url": url, "query": "x"})).structured_content
    assert content is not None
    assert passages is not None
    assert (content["note"], passages["note"]) == ("scanned", "scanned")
    assert content["error"]["details"]["reason"] == "scanned"
    assert "only pictures of text" in content["page_content"]


UNACCEPTABLE: list[tuple[str, dict[str, Any]]] = [
    ("get_content", {"url": "https://example.com/", "colour": 5}),
    ("get_content", {}),
    ("get_content", {"url": "https://example.com/", "refresh": True}),
    ("get_content", {"url": "https://example.com/", "offset": "0"}),
    ("read_from_page", {"url": "https://example.com/", "query": "x", "depth": 2}),
    ("read_from_page", {"url": "https://example.com/", "query": [1]}),
    ("read_from_page", {"url": "https://example.com/"}),
    ("read_from_page", {"url": "https://example.com/", "query": []}),
]


async def test_bad_arguments_are_refused(connect: Connect) -> None:
    async with connect() as client:
        results = [await client.call_tool(tool, arguments) for tool, arguments in UNACCEPTABLE]
    for result, (tool, arguments) in zip(results, UNACCEPTABLE, strict=True):
        content: Any = result.structured_content
        assert result.is_error, (tool, arguments)
        assert content["error"]["code"] == "VALIDATION"
