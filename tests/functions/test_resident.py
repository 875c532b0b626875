"""An app in a server that runs no lifespan."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.patience import PATIENCE
from websearch_gateway.entrypoints.http.app import Resident, app_for
from websearch_gateway.errors import SearchNotConfiguredError


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """`app_for` configures the log of its process, which here is everybody's."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


class Maker:
    """Makes apps, fails as often as told, and counts what begins and ends."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.begun = self.ended = 0

    def __call__(self) -> Starlette:
        return Starlette(routes=[Route("/", self._hello)], lifespan=self._lifespan)

    async def _hello(self, _: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self.begun += 1
        await asyncio.sleep(0)  # time for others to come in
        if self.errors:
            raise self.errors.pop(0)
        try:
            yield
        finally:
            self.ended += 1


def client(resident: Resident) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(resident), base_url="http://function")


async def statuses(resident: Resident, requests: int) -> list[int]:
    async with client(resident) as http, asyncio.timeout(PATIENCE):
        return [
            reply.status_code
            for reply in await asyncio.gather(*(http.get("/") for _ in range(requests)))
        ]


async def test_the_first_requests_at_once_begin_one_lifespan() -> None:
    maker = Maker()
    assert await statuses(Resident(maker), 20) == [200] * 20
    assert maker.begun == 1


def test_the_lifespan_ends_with_the_event_loop() -> None:
    maker = Maker()
    assert asyncio.run(statuses(Resident(maker), 1)) == [200]
    assert maker.ended == 1


@pytest.mark.parametrize(
    ("error", "status"), [(SearchNotConfiguredError("KEY is bad."), 503), (OSError("x"), 500)]
)
async def test_a_lifespan_that_fails_is_told_to_all_who_wait_and_tried_again(
    error: Exception, status: int
) -> None:
    maker = Maker(error)
    resident = Resident(maker)
    assert await statuses(resident, 5) == [status] * 5
    assert await statuses(resident, 5) == [200] * 5
    assert maker.begun == 2


async def test_what_went_wrong_is_not_told_to_strangers() -> None:
    async with client(Resident(Maker(SearchNotConfiguredError("KEY is bad.")))) as http:
        assert "KEY" not in (await http.get("/")).text


async def test_a_request_that_is_given_up_does_not_stop_the_beginning_for_others() -> None:
    maker = Maker()
    resident = Resident(maker)
    async with client(resident) as http, asyncio.timeout(PATIENCE):
        first = asyncio.create_task(http.get("/"))
        others = asyncio.gather(*(http.get("/") for _ in range(3)))
        await asyncio.sleep(0)
        first.cancel()
        assert [reply.status_code for reply in await others] == [200] * 3
    assert maker.begun == 1


def test_without_authentication_nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function has no loopback to hide behind."""
    for project in ("", "demo"):
        monkeypatch.setenv("AUTH_MODE", "none")
        with pytest.raises(SearchNotConfiguredError, match="AUTH_MODE"):
            app_for(project)
    monkeypatch.delenv("AUTH_MODE")
    with pytest.raises(SearchNotConfiguredError, match="AUTH_MODE"):
        app_for("")


async def test_the_users_and_the_firestore_are_the_projects_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Firebase lets nobody set FIREBASE_PROJECT_ID."""
    monkeypatch.setenv("TOOLSETS", "all")
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:9")
    async with client(Resident(lambda: app_for("demo"))) as http:
        metadata = await http.get(
            "/.well-known/oauth-protected-resource", headers={"host": "localhost"}
        )
    assert metadata.json()["authorization_servers"] == ["https://securetoken.google.com/demo"]
