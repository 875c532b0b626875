"""The OpenAI SDK on the process's HTTP client: imported on first use, without retries, bounded in time and size."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
from pydantic import SecretStr

from websearch_gateway.answers.openai.errors import from_sdk
from websearch_gateway.errors import SearchProviderParseError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.net.own_threads import MAX_REPLY_BYTES
from websearch_gateway.net.span_attributes import note_host, note_status

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(slots=True)
class OpenAIClient:
    """Raw replies of OpenAI's API, or our errors.

    `http` is the client of the process and stays open when this one is done; `timeout_seconds` bounds each request
    within its deadline; `secrets` are further values that no error may repeat; `clock` gives seconds since the epoch,
    for dates in `Retry-After`.
    """

    http: httpx2.AsyncClient = field(repr=False)
    api_key: SecretStr
    base_url: str
    timeout_seconds: float = 20.0
    secrets: tuple[str, ...] = field(default=(), repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)
    _sdk: AsyncOpenAI | None = field(default=None, init=False, repr=False)

    async def respond(self, request: Mapping[str, Any], deadline: Deadline) -> bytes:
        """The body of `POST /responses` with these fields.

        Raises:
            SearchError: as `openai.errors` maps it.
        """
        sdk = await self.load()
        send = functools.partial(sdk.post, "/responses", body={**request, "stream": False})
        return await self._body(send, deadline, private=(str(request.get("input", "")),))

    async def list_models(self, deadline: Deadline) -> bytes:
        """The body of `GET /models`.

        Raises:
            SearchError: as `openai.errors` maps it.
        """
        sdk = await self.load()
        return await self._body(functools.partial(sdk.get, "/models"), deadline)

    async def _body(self, send: Callable[..., Any], deadline: Deadline, private: Sequence[str] = ()) -> bytes:
        """The result of `send`, through the SDK's generic requests: its typed resources would load 7 MB of models."""
        from openai import OpenAIError

        seconds = deadline.within(self.timeout_seconds).remaining()
        try:
            async with asyncio.timeout(seconds):
                reply = await send(cast_to=httpx2.Response, options={"timeout": seconds})
        except TimeoutError:
            raise SearchTimeoutError("OpenAI did not answer in time.") from None
        except OpenAIError as error:
            # No cause: the SDK's message quotes part of a wrong key.
            raise from_sdk(error, (self.api_key.get_secret_value(), *self.secrets, *private), self.clock()) from None
        body: bytes = reply.content
        return body

    async def load(self) -> AsyncOpenAI:
        """The SDK. Its import takes half a second, so the first call imports it in a thread."""
        if self._sdk is None:
            self._sdk = await asyncio.to_thread(self._load)
        return self._sdk

    def _load(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            api_key=self.api_key.get_secret_value(),
            base_url=self.base_url,
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=_OwnTransport(self.http, self.api_key), trust_env=False),
        )


class _OwnTransport(httpx2.AsyncBaseTransport):
    """Sends through the process's client with its own headers, and reads at most MAX_REPLY_BYTES, also of errors.

    The SDK takes headers from OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS, and describes the machine in
    others; none of them is a setting of the gateway.
    """

    def __init__(self, http: httpx2.AsyncClient, api_key: SecretStr) -> None:
        self._http = http
        self._headers = {
            "Authorization": f"Bearer {api_key.get_secret_value()}",
            "Accept": "application/json",
            "Content-Type": "application/json",
            # No compression, so no reply can inflate beyond the cap.
            "Accept-Encoding": "identity",
        }

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The reply, whole and decompressed.

        Raises:
            SearchProviderParseError: it is too long.
        """
        own = self._http.build_request(
            request.method,
            request.url,
            headers=self._headers,
            content=await request.aread(),
            extensions=request.extensions,
        )
        note_host(str(own.url))
        response = await self._http.send(own, stream=True, follow_redirects=False)
        note_status(response.status_code)
        try:
            body = await _read(response)
        finally:
            await response.aclose()
        # As bytes, since a header may hold any.
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _ABOUT_THE_WIRE]
        return httpx2.Response(response.status_code, headers=headers, content=body)


_ABOUT_THE_WIRE = (b"content-encoding", b"content-length", b"transfer-encoding")


async def _read(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_REPLY_BYTES:
            raise SearchProviderParseError(f"The reply of OpenAI is larger than {MAX_REPLY_BYTES:,} bytes.")
    return bytes(body)
