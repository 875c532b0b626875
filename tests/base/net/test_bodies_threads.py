"""Replies of upstreams are parsed outside the event loop and the shared threads.

Worker processes parse long replies, a thread parses short ones, and the results are the same.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from contextvars import ContextVar
from typing import Any

import pytest
from pydantic import SecretStr

from websearch_gateway.answers.openai import OpenAI
from websearch_gateway.answers.perplexity import Perplexity
from websearch_gateway.base.net.bodies import (
    SMALL_BYTES,
    THREADS,
    ReplyParser,
    in_own_thread,
    without_key,
)
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.errors import SearchProviderParseError, SearchValidationError
from websearch_gateway.models import Answer, Deadline, Hit
from websearch_gateway.providers.duckduckgo import DuckDuckGo
from websearch_gateway.providers.google import Google
from websearch_gateway.providers.serper import Serper

WORD: ContextVar[str] = ContextVar("word")
ROW = {
    "title": "Tides",
    "link": "https://a.example/",
    "snippet": "High \ud800 water",
    "date": "3 days ago",
}
MANY = json.dumps({"organic": [ROW] * 1_000}).encode()
REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "No. " * SMALL_BYTES}]}
OPENAI = OpenAI(SecretStr(""), "https://o.example")
SEARCHED = {"type": "web_search_call", "status": "completed", "action": {"type": "search"}}
CITED = {
    "type": "url_citation",
    "start_index": 0,
    "end_index": 4,
    "url": "https://a.example/",
    "title": "Tides",
}
WRITTEN = {
    "type": "message",
    "content": [{"type": "output_text", "text": "High " * 20_000, "annotations": [CITED] * 9}],
}
ANSWER = json.dumps({"output": [SEARCHED, WRITTEN], "usage": {"input_tokens": 5}}).encode()


def soon() -> Deadline:
    return Deadline.after(300)


def process_and_thread(body: bytes) -> list[str]:
    return [str(os.getpid()), threading.current_thread().name]


def ended(body: bytes) -> list[str]:
    os._exit(1)


async def test_a_call_runs_in_one_of_a_few_threads_with_the_context_of_its_caller() -> None:
    WORD.set("said")
    names = {
        await in_own_thread(lambda: threading.current_thread().name) for _ in range(3 * THREADS)
    }
    assert names <= {f"upstream_{number}" for number in range(THREADS)}
    assert await in_own_thread(WORD.get) == "said"


async def test_two_calls_run_at_once_and_a_third_waits() -> None:
    both, end = threading.Barrier(3), threading.Event()

    def call() -> None:
        both.wait(60)
        end.wait(60)

    calls = [asyncio.create_task(in_own_thread(call)) for _ in range(2)]
    await asyncio.to_thread(both.wait, 60)
    calls.append(asyncio.create_task(in_own_thread(lambda: None)))
    await asyncio.sleep(0)
    running = [thread for thread in threading.enumerate() if thread.name.startswith("upstream_")]
    end.set()
    await asyncio.gather(*calls)
    assert len(running) == 2


async def test_the_error_of_a_call_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_own_thread(divmod, 1, 0)


async def test_only_a_long_reply_is_parsed_in_a_worker(workers: Workers) -> None:
    parser = ReplyParser(workers)
    own, _ = await parser.read(
        list[str], process_and_thread, b"a" * SMALL_BYTES, vendor="", deadline=soon()
    )
    other, _ = await parser.read(
        list[str], process_and_thread, b"a" * (SMALL_BYTES + 1), vendor="", deadline=soon()
    )
    assert own == str(os.getpid())
    assert other != own


@pytest.mark.parametrize(
    ("kind", "parse", "body"),
    [(list[Hit], Serper("key").parse, MANY), (Answer, OPENAI.parse, ANSWER)],
    ids=["hits", "an answer"],
)
async def test_a_worker_parses_a_reply_with_the_same_result(
    kind: Any, parse: Any, body: bytes, workers: Workers
) -> None:
    assert len(body) > SMALL_BYTES
    read = await ReplyParser(workers).read(kind, parse, body, vendor="Vendor", deadline=soon())
    assert read == parse(body)


async def test_a_refusal_from_a_worker_is_still_a_refusal(workers: Workers) -> None:
    body = json.dumps({"output": [SEARCHED, REFUSAL]}).encode()
    with pytest.raises(SearchValidationError, match="declined"):
        await ReplyParser(workers).read(
            Answer, OPENAI.parse, body, vendor="OpenAI", deadline=soon()
        )


async def test_an_unreadable_reply_is_a_parse_error(workers: Workers) -> None:
    parser = ReplyParser(workers)
    with pytest.raises(SearchProviderParseError, match="The reply of serper is not JSON"):
        await parser.read(
            list[Hit], Serper("k").parse, b"[" * 100_000, vendor="serper", deadline=soon()
        )
    with pytest.raises(SearchProviderParseError, match="The reply of Vendor could not be read"):
        await parser.read(list[str], ended, b"a" * 100_000, vendor="Vendor", deadline=soon())


def test_workers_do_not_get_the_key() -> None:
    google = without_key(Google("secret", "engine"))
    assert (google.key, google.engine_id) == ("", "engine")
    perplexity = without_key(Perplexity(SecretStr("secret"), "https://a.example"))
    assert not perplexity.key.get_secret_value()
    assert without_key(DuckDuckGo()) == DuckDuckGo()
