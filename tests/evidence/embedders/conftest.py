"""A client whose replies are written in the test, and a retry that does not wait."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from websearch_gateway.base.net.requests import Retry

Handler = Callable[[httpx2.Request], httpx2.Response]


async def _no_sleep(_: float) -> None:
    pass


@pytest.fixture
def retry() -> Retry:
    return Retry(sleep=_no_sleep)


@pytest.fixture
def client_of() -> Callable[[Handler], httpx2.AsyncClient]:
    def build(handler: Handler) -> httpx2.AsyncClient:
        def unread(request: httpx2.Request) -> httpx2.Response:
            # A Response made of content counts as read already; one off a wire does not.
            reply = handler(request)
            return httpx2.Response(
                reply.status_code, headers=reply.headers, stream=httpx2.ByteStream(reply.content)
            )

        return httpx2.AsyncClient(transport=httpx2.MockTransport(unread))

    return build
