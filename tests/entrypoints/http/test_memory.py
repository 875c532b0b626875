"""What long texts of callers leave behind: nothing in any cache, of our own or of a library, and no long echo."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from typing import Any

import httpx2

from tests.entrypoints.http.calls import QUESTION
from tests.entrypoints.http.conftest import Door
from websearch_gateway.entrypoints.arguments import LONGEST_TEXT
from websearch_gateway.entrypoints.http.compatible.endpoint import Lenient
from websearch_gateway.entrypoints.http.compatible.table import COMPATIBLE
from websearch_gateway.entrypoints.tools.table import TOOLS

MARK = "qz7x"
LONG = 2 * LONGEST_TEXT
MOST_REPLY_BYTES = LONGEST_TEXT
USUAL = {
    "query": QUESTION,
    "url": "https://site.example/",
    "q": QUESTION,
    "input": QUESTION,
    "format": "json",
}
NESTED = ("input", "messages", "tools", "web_search_options", "urls")
FIELDS = sorted({field for model in Lenient.__subclasses__() for field in model.model_fields})


def test_every_kind_of_parameters_is_known() -> None:
    assert {"country", "urls", "messages", "categories"} <= set(FIELDS)


def _values() -> Iterator[Any]:
    """Long texts, alone and where clients nest them."""
    text, url = MARK * (LONG // 4), f"https://{MARK}.example/{'a' * LONG}"
    yield from (text, [text], {text: text}, url, [url])
    yield [{"role": "user", "content": url}]
    yield [
        {
            "type": "web_search",
            "user_location": {"country": text},
            "filters": {"allowed_domains": [url]},
        }
    ]
    yield {"user_location": {"approximate": {"country": text}}}


def _requests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each field of each endpoint, with each value."""
    for tool in TOOLS:
        fields = tool.arguments.model_json_schema(by_alias=True)["properties"]
        for field in fields:
            usual = {
                name: USUAL[name]
                for name in ("query", "url")
                if name in fields and (name, field) != ("url", "urls")
            }
            for value in _values():
                yield f"/v1/tools/{tool.name}", {**usual, field: value}
    for path in dict.fromkeys(row.paths[0] for row in COMPATIBLE if "POST" in row.methods):
        for field in FIELDS:
            text, *others = _values()
            for value in (text, *others) if field in NESTED else (text,):
                yield path, {**USUAL, field: value}


def _kept() -> list[str]:
    """The long texts with the mark that some object of the process still holds."""
    gc.unfreeze()  # else no cache that is older than the first test would be looked at
    gc.collect()
    held = (held for one in gc.get_objects() for held in gc.get_referents(one))
    try:
        return [
            one for one in held if isinstance(one, str) and len(one) >= LONG and MARK in one[:100]
        ]
    finally:
        gc.freeze()


async def test_a_long_text_stays_in_no_cache_and_comes_back_in_no_reply(door: Door) -> None:
    async with door(
        toolsets="answer,search,read,cache,ops,admin,docs",
        read_rate_limit="none",
        cached_rate_limit="none",
    ) as http:
        replies = [await _size(http, path, body) for path, body in _requests()]
    assert len(replies) > 800
    assert {reply for reply in replies if reply[0] >= 429 or reply[2] > MOST_REPLY_BYTES} == set()
    assert _kept() == []


async def _size(http: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> tuple[int, str, int]:
    reply = await http.post(
        path, content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    return reply.status_code, path, len(reply.content)
