"""Whatever an upstream replies, its parser gives a value or one typed error: never another exception.

`make fuzz` tries many more replies than `make test`.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.answers.test_http_engine import APIS
from tests.providers.test_contract import SETTINGS
from websearch_gateway.answers.common import EngineApi
from websearch_gateway.answers.drafted_claims import claims_of
from websearch_gateway.answers.llm import Written, _event, _take
from websearch_gateway.base.net.client import Reply, create_client
from websearch_gateway.base.net.requests import Retry, note_reply
from websearch_gateway.docs.crawl.listing import search_index_urls
from websearch_gateway.docs.packages import described
from websearch_gateway.entrypoints.http.tokens import usable_keys
from websearch_gateway.errors import SearchError
from websearch_gateway.evidence.embedders.remote import (
    OllamaEmbedder,
    OpenAICompatibleEmbedder,
    parsed,
)
from websearch_gateway.models import SearchQuery
from websearch_gateway.pages.formats.notebook import notebook
from websearch_gateway.pages.formats.plain import json_text
from websearch_gateway.providers.table import PROVIDERS

NOW = datetime(2026, 11, 22, tzinfo=UTC)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "15"))
few = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))

ODD: list[bytes] = [
    *(
        b"null",
        b"true",
        b"-1",
        b"0.5",
        b"1e308",
        b"1e400",
        b"NaN",
        b"-Infinity",
        b"9" * 19,
        b"9" * 400,
        b"9" * 5_000,
    ),
    *(
        b'""',
        b'"x"',
        rb'"\ud83d"',
        b'"\xed\xa0\x80"',
        rb'"\u0000"',
        b'"AAA="',
        b'"2026-13-45"',
        b'"http://[x"',
    ),
    *(b"[]", b"{}", b"[[]]", b'[{"":{}}]', b"[null,1]", b'{"a":1,"a":2}'),
    *(
        b"[" * 90 + b"]" * 90,
        b"[" * 900 + b"]" * 900,
        b'{"a":' * 300 + b"1" + b"}" * 300,
        b"[" * 100_000,
    ),
]
MARK = "\ue000odd\ue001"

EMBEDDINGS = {"data": [{"index": 0, "embedding": [0.5, 0.5]}]}
RERANKED = {"results": [{"index": 0, "relevance_score": 0.5}]}
REGISTRY = {
    "info": {
        "version": "1",
        "yanked": True,
        "yanked_reason": "x",
        "project_urls": {"Docs": "https://a.example/"},
    },
    "repository": {"url": "git+https://github.com/a/b.git", "directory": "x"},
    "homepage": "https://a.example/",
    "version": "1",
}
KEY_SET = {
    "keys": [
        {"kty": "RSA", "n": "sXch", "e": "AQAB", "kid": "1", "use": "sig", "key_ops": ["verify"]}
    ]
}
CHAT = {
    "choices": [{"delta": {"content": [{"type": "text", "text": "x"}]}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}
DRAFT = {"sentences": [{"text": "It is so.", "quotes": [{"passage": 1, "words": "so"}]}]}
MODELS = {"data": [{"id": "x", "shutdown_date": "2026-01-01"}]}
INDEX = {"docs": [{"location": "a.html#b"}]}
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "source": ["x"],
            "outputs": [{"output_type": "error", "ename": "x", "evalue": "y"}],
        },
        {
            "cell_type": "code",
            "source": "x",
            "outputs": [{"data": {"text/html": "<b>x</b>", "text/markdown": "x"}}],
        },
        {"cell_type": "markdown", "source": "# T"},
    ],
    "metadata": {"language_info": {"name": "python"}, "kernelspec": {"language": "x"}},
}
ROW = {
    **dict.fromkeys(
        ("title", "name", "content", "snippet", "description", "text", "markdown", "extract"), "x"
    ),
    **dict.fromkeys(("url", "link", "id", "fullurl", "canonicalurl"), "https://a.example/"),
    **dict.fromkeys(
        ("date", "age", "published", "publishedDate", "published_date", "page_age", "timestamp"),
        "2026",
    ),
    **dict.fromkeys(("score", "rank", "position", "pageid", "index"), 1),
    "extra_snippets": ["x"],
    "metadata": {"sourceURL": "https://a.example/", "title": "x"},
    "pagemap": {"metatags": [{"a": "b"}]},
}
ROWS = {
    **{
        name: [ROW]
        for name in ("results", "items", "organic", "news", "data", "pages", "web", "hits")
    },
    "query": {"pages": {"1": ROW}, "search": [ROW], "more_results_available": True},
    "queries": {"nextPage": [{"startIndex": 11}]},
    "continue": {"sroffset": 10},
}


def embedded(kind: type[Any]) -> Callable[[bytes], object]:
    def read(body: bytes) -> object:
        async def embed() -> object:
            client = create_client(
                httpx2.MockTransport(lambda _: httpx2.Response(200, stream=httpx2.ByteStream(body)))
            )
            try:
                return await kind("http://localhost/v1", client, Retry()).embed(["x"], "query")
            finally:
                await client.aclose()

        vectors = asyncio.run(embed())
        assert np.isfinite(vectors).all()
        return vectors

    return read


def listed(api: EngineApi) -> Callable[[bytes], object]:
    return api.listed


PARSERS: dict[str, tuple[Callable[[bytes], object], Any]] = {
    "embeddings": (embedded(OpenAICompatibleEmbedder), EMBEDDINGS),
    "ollama": (embedded(OllamaEmbedder), {"embeddings": [[0.5, 0.5]]}),
    "reranker": (lambda body: parsed(body, 2), RERANKED),
    "pypi": (lambda body: described("pypi", body, "1"), REGISTRY),
    "npm": (lambda body: described("npm", body, "1"), REGISTRY),
    "key set": (lambda body: usable_keys(body, "RS256"), KEY_SET),
    "chat": (lambda body: _take(_event(body, "The model"), Written(), "The model"), CHAT),
    "draft": (lambda body: claims_of(body.decode("utf-8", "replace")), DRAFT),
    "search index": (lambda body: search_index_urls(body, "https://a.example/"), INDEX),
    "notebook": (lambda body: notebook(body, "https://a.example/x.ipynb", "utf-8"), NOTEBOOK),
    "json page": (lambda body: json_text(body, "https://a.example/x.json", "utf-8"), NOTEBOOK),
    "trace": (note_reply, CHAT),
    **{
        f"models of {api.name}": (
            listed(api),
            {"data": [{"id": "x", "shutdown_date": "2026-01-01"}]},
        )
        for api, _ in APIS
    },
    **{entry.name: (entry.build(SETTINGS).parse, ROWS) for entry in PROVIDERS},
}


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values in a value."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for name, one in inner for place in paths(one, (*path, name)))]


def changed(reply: Any, path: tuple[Any, ...], odd: bytes) -> bytes:
    """The reply with another value at a place, as its bytes."""
    holder = {"": copy.deepcopy(reply)}
    inner: Any = holder
    places: tuple[Any, ...] = ("", *path)
    for place in places[:-1]:
        inner = inner[place]
    inner[places[-1]] = MARK
    return json.dumps(holder[""], ensure_ascii=False).encode().replace(f'"{MARK}"'.encode(), odd)


@pytest.mark.parametrize("name", PARSERS)
def test_a_strange_reply_is_a_value_or_one_typed_error(name: str) -> None:
    read, reply = PARSERS[name]

    @few
    @given(st.sampled_from(paths(reply)), st.sampled_from(ODD))
    def parse(path: tuple[Any, ...], odd: bytes) -> None:
        with suppress(SearchError):
            read(changed(reply, path, odd))

    parse()


@pytest.mark.parametrize("name", PARSERS)
def test_any_bytes_are_a_value_or_one_typed_error(name: str) -> None:
    read, _ = PARSERS[name]

    @few
    @given(st.binary(max_size=40) | st.sampled_from(ODD))
    def parse(body: bytes) -> None:
        with suppress(SearchError):
            read(body)

    parse()


@pytest.mark.parametrize(("api", "reply"), APIS, ids=[api.name for api, _ in APIS])
def test_a_strange_reply_of_an_engine_is_an_answer_or_one_typed_error(
    api: EngineApi, reply: dict[str, Any]
) -> None:
    request = api.request(SearchQuery("How tall is it?"), api.known_models[-1].name, NOW)

    @few
    @given(st.sampled_from(paths(reply)), st.sampled_from(ODD))
    def parse(path: tuple[Any, ...], odd: bytes) -> None:
        body = changed(reply, path, odd)
        for read in (api.parse, api.billed, partial(api.next_turn, request)):
            with suppress(SearchError):
                read(body)
        for status in (400, 401, 404, 429, 500):
            api.refusal(request, Reply(status, {}, body))

    parse()
