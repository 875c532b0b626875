"""Whatever goes wrong with a server, every client of ours says the same of it: one map, asked through real sockets."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import httpx2
import pytest
from pydantic import SecretStr

from tests.loopback import serving
from tests.patience import PATIENCE
from websearch_gateway.answers.http_engine import HttpEngine
from websearch_gateway.answers.llm import Chat
from websearch_gateway.answers.openai import OpenAI, OpenAISdk
from websearch_gateway.answers.perplexity import Perplexity
from websearch_gateway.base import AddressPolicy, Fetcher, HttpSearcher, Retry, create_client
from websearch_gateway.base.net.requests import RetryBudget
from websearch_gateway.errors import (
    RATE_LIMITED,
    SearchAuthError,
    SearchError,
    SearchFetchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.evidence.embedders.remote import (
    HttpReranker,
    OllamaEmbedder,
    OpenAICompatibleEmbedder,
)
from websearch_gateway.models import Call, Deadline, SearchQuery
from websearch_gateway.providers.serper import Serper

KEY = "secret-0123456789"
SOON = 0.3
"""The deadline of a call whose server hangs (seconds)."""

Ask = Callable[[httpx2.AsyncClient, str, Deadline], Awaitable[object]]
"""Asks a server by one of our clients."""


def once() -> Retry:
    """Never a second attempt."""
    return Retry(RetryBudget(capacity=0))


def call(deadline: Deadline) -> Call:
    return Call.of(SearchQuery("how high"), deadline)


async def ask_provider(client: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    return await HttpSearcher(Serper(KEY, url), client, once()).ask(call(deadline))


async def ask_engine(client: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    api = Perplexity(SecretStr(KEY), url)
    engine = HttpEngine(api, [api.known_models[-1].name], client, once())
    return await engine.ask(call(deadline))


async def ask_library(client: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    api = OpenAI(SecretStr(KEY), url)
    sdk = OpenAISdk(client, SecretStr(KEY), url)
    engine = HttpEngine(api, [api.known_models[-1].name], client, once(), sdk=sdk)
    return await engine.ask(call(deadline))


async def ask_own_model(client: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    return await Chat(client, f"{url}/v1", "m", SecretStr(KEY)).write([], {}, deadline)


async def ask_embedder(client: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    seconds = deadline.remaining()
    embedder = OpenAICompatibleEmbedder(url, client, once(), timeout_seconds=seconds)
    return await embedder.embed(["how high"], "query")


async def ask_ollama(client: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    embedder = OllamaEmbedder(url, client, once(), timeout_seconds=deadline.remaining())
    return await embedder.embed(["how high"], "query")


async def ask_reranker(client: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    @asynccontextmanager
    async def keep(_: Call) -> AsyncIterator[None]:
        try:
            yield
        except Unavailable as error:
            errors.append(error)
            raise

    errors: list[Unavailable] = []
    await HttpReranker(url, client, guard=keep).order("how high", ["a", "b"], call(deadline))
    raise errors[0]


async def ask_site(_: httpx2.AsyncClient, url: str, deadline: Deadline) -> object:
    async with Fetcher(AddressPolicy([url.partition("://")[2]])) as fetcher:
        return await fetcher.fetch(f"{url}/", deadline)


NEEDED: dict[str, Ask] = {
    "provider": ask_provider,
    "engine": ask_engine,
    "library": ask_library,
    "own model": ask_own_model,
}
"""Without these there is no answer, so a wrong key must be seen."""
OPTIONAL: dict[str, Ask] = {
    "embedder": ask_embedder,
    "ollama": ask_ollama,
    "reranker": ask_reranker,
}
"""Words alone find something, too."""
APIS = {**NEEDED, **OPTIONAL}
CLIENTS = {**APIS, "site": ask_site}


async def error_of(ask: Ask, url: str, seconds: float = PATIENCE) -> SearchError:
    async with create_client() as client:
        if ask is ask_library:  # its import takes longer than a deadline
            await OpenAISdk(client, SecretStr(KEY), url).load()
        with pytest.raises(SearchError) as caught:
            await ask(client, url, Deadline.after(seconds))
    assert KEY not in str(caught.value)
    assert "127.0.0.1:" not in caught.value.message
    return caught.value


async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read(1)
    await asyncio.Event().wait()


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def answer(
    status: int,
    headers: str,
    body: bytes,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    await reader.read(1)
    length = f"content-length: {len(body)}\r\nconnection: close\r\n"
    writer.write(f"HTTP/1.1 {status} X\r\n{length}{headers}\r\n".encode() + body)
    await writer.drain()


def replying(status: int, headers: str = "", body: bytes = b"{}") -> Callable[..., Awaitable[None]]:
    return partial(answer, status, headers, body)


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_server_that_hangs_is_a_timeout(client: str) -> None:
    async with serving(hang) as port:
        error = await error_of(CLIENTS[client], f"http://127.0.0.1:{port}", SOON)
    assert isinstance(error, SearchTimeoutError)


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken exchange: what a client says of it, and whether the same request may be sent again."""

    told: str
    retryable: bool
    reason: str | None = None


async def broken(client: str, url: str, expected: Broken) -> None:
    error = await error_of(CLIENTS[client], url)
    kind = SearchFetchError if client == "site" else SearchProviderError
    assert type(error) is kind
    assert expected.told in error.message
    assert error.retryable is expected.retryable
    if client != "site":
        assert error.details.get("reason") == expected.reason


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_server_that_is_down_is_unreachable(client: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    expected = Broken("cannot be reached", retryable=True, reason="unreachable")
    await broken(client, f"http://127.0.0.1:{port}", expected)


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_connection_that_is_reset_broke_off(client: str) -> None:
    async with serving(reset) as port:
        await broken(client, f"http://127.0.0.1:{port}", Broken("broke off", retryable=True))


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_server_without_tls_is_not_called_unreachable(client: str) -> None:
    async with serving(replying(400)) as port:
        expected = Broken("does not speak TLS", retryable=False, reason="unreachable")
        await broken(client, f"https://127.0.0.1:{port}", expected)


@pytest.mark.parametrize("client", APIS)
async def test_a_reply_that_is_no_json_cannot_be_read(client: str) -> None:
    async with serving(replying(200, body=b"data: {oops\n\n")) as port:
        error = await error_of(APIS[client], f"http://127.0.0.1:{port}")
    assert isinstance(error, SearchProviderParseError)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_server_that_does_not_serve_now_says_how_long(client: str, status: int) -> None:
    async with serving(replying(status, "retry-after: 7\r\n")) as port:
        error = await error_of(CLIENTS[client], f"http://127.0.0.1:{port}")
    assert type(error) is (SearchFetchError if client == "site" else SearchProviderError)
    assert f"HTTP {'status ' if client == 'site' else ''}{status}" in error.message
    assert error.retry_after == 7
    assert error.details["status"] == status
    if client != "site":
        passing = (500, 502, 503) if client in ("embedder", "ollama") else (429, 500, 502, 503)
        assert error.retryable is (status in passing)
        assert error.details.get("reason") == (RATE_LIMITED if status == 429 else None)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("client", APIS)
async def test_a_rejected_key_is_seen_where_there_is_no_answer_without(
    client: str, status: int
) -> None:
    async with serving(replying(status)) as port:
        error = await error_of(APIS[client], f"http://127.0.0.1:{port}")
    assert type(error) is (SearchAuthError if client in NEEDED else SearchProviderError)
    assert "_API_KEY" in error.message


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize("client", ["provider", "engine", "library"])
async def test_a_request_that_is_called_wrong_is_not_sent_elsewhere(
    client: str, status: int
) -> None:
    async with serving(replying(status)) as port:
        error = await error_of(APIS[client], f"http://127.0.0.1:{port}")
    assert isinstance(error, SearchValidationError)
