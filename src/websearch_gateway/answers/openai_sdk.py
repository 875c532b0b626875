"""Sends OpenAI's requests through its SDK, on the process's HTTP client: no retries, bounded in time and size."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2
from pydantic import SecretStr

from websearch_gateway.errors import SearchProviderError, SearchProviderParseError, SearchTimeoutError
from websearch_gateway.models import Deadline, HttpRequest
from websearch_gateway.net.client import Reply
from websearch_gateway.net.own_threads import MAX_REPLY_BYTES

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_ABOUT_THE_WIRE = (b"content-encoding", b"content-length", b"transfer-encoding")


@dataclass(slots=True)
class OpenAISdk:
    """Sends a request of the engine. `http` is the client of the process and stays open when this one is done."""

    http: httpx2.AsyncClient = field(repr=False)
    api_key: SecretStr
    base_url: str
    _sdk: AsyncOpenAI | None = field(default=None, init=False, repr=False)

    async def __call__(self, request: HttpRequest, deadline: Deadline) -> Reply:
        """The reply of any status to a request for a response or, if it has no body, for the models.

        Raises:
            SearchProviderParseError: the reply is too long, or the SDK cannot read it.
            SearchProviderError: OpenAI cannot be reached.
            SearchTimeoutError: no reply in time.
        """
        sdk = await self.load()
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

        seconds = deadline.remaining()
        try:
            async with asyncio.timeout(seconds):
                if request.json is None:
                    raw = await sdk.models.with_raw_response.list(timeout=seconds)
                else:
                    raw = await sdk.responses.with_raw_response.create(**request.json, timeout=seconds)
            return Reply(raw.http_response.status_code, raw.http_response.headers, raw.http_response.content)
        except APIStatusError as error:
            return Reply(error.response.status_code, error.response.headers, error.response.content)
        # No causes below: the SDK's errors hold the request, and so the key.
        except (TimeoutError, APITimeoutError):
            raise SearchTimeoutError("OpenAI did not answer in time.") from None
        except APIConnectionError:
            raise SearchProviderError(
                "OpenAI cannot be reached, or the connection broke off.",
                retryable=True,
                details={"reason": "unreachable"},
            ) from None
        except OpenAIError as error:
            raise SearchProviderParseError(f"The OpenAI SDK failed ({type(error).__name__}).") from None

    async def load(self) -> AsyncOpenAI:
        """The SDK. Its import takes a second, so the first call imports it in a thread."""
        if self._sdk is None:
            self._sdk = await asyncio.to_thread(self._load)
        return self._sdk

    def _load(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        sdk = AsyncOpenAI(
            api_key=self.api_key.get_secret_value(),
            base_url=self.base_url,
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=_OwnTransport(self.http, self.api_key), trust_env=False),
        )
        _ = sdk.responses.with_raw_response, sdk.models.with_raw_response  # imports both here, in the thread
        return sdk


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
        response = await self._http.send(own, stream=True, follow_redirects=False)
        try:
            body = await _read(response)
        finally:
            await response.aclose()
        # As bytes, since a header may hold any.
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _ABOUT_THE_WIRE]
        return httpx2.Response(response.status_code, headers=headers, content=body)


async def _read(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_REPLY_BYTES:
            raise SearchProviderParseError(f"The reply of OpenAI is larger than {MAX_REPLY_BYTES:,} bytes.")
    return bytes(body)
