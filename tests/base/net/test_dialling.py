"""A name leads to the addresses that were checked, and to no others."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import httpcore2
import pytest

from tests.base.net.conftest import Serve, issue, page
from tests.patience import PATIENCE
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.dialling import MeteredBackend, SystemResolver, pinned_addresses
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.base.net.outbound import Outbound
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchFetchError,
    SearchTimeoutError,
)
from websearch_gateway.models import Deadline

PUBLIC_V4, OTHER_PUBLIC_V4, PUBLIC_V6 = "93.184.215.14", "1.1.1.1", "2606:4700::1111"


class Names:
    """A resolver whose answers are scripted; the last one repeats."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def pinned(names: Names) -> MeteredBackend:
    return MeteredBackend(partial(pinned_addresses, AddressPolicy(), names))


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses to which a socket would have been opened: a test cannot reach public ones."""
    seen: list[str] = []

    async def connect(self: object, host: str, *args: object) -> httpcore2.AsyncNetworkStream:
        seen.append(host)
        raise httpcore2.ConnectError("unreachable")

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    return seen


async def test_a_name_that_resolves_differently_later_never_reaches_the_second_address(
    dialled: list[str],
) -> None:
    names = Names([PUBLIC_V4], ["127.0.0.1"])
    backend = pinned(names)
    with pytest.raises(httpcore2.ConnectError):
        await backend.connect_tcp("rebind.example.com", 80)
    assert (names.asked, dialled) == (["rebind.example.com"], [PUBLIC_V4])
    with pytest.raises(ForbiddenUrlError):
        await backend.connect_tcp("rebind.example.com", 80)
    assert dialled == [PUBLIC_V4]


@pytest.mark.parametrize(
    "local", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fe80::1%lo"]
)
async def test_one_forbidden_address_among_many_makes_the_name_forbidden(
    dialled: list[str], local: str
) -> None:
    backend = pinned(Names([PUBLIC_V4, local]))
    with pytest.raises(ForbiddenUrlError):
        await backend.connect_tcp("mixed.example.com", 443)
    assert dialled == []


async def test_addresses_are_tried_in_turn_ipv4_first(dialled: list[str]) -> None:
    backend = pinned(Names([PUBLIC_V6, PUBLIC_V4, OTHER_PUBLIC_V4]))
    with pytest.raises(httpcore2.ConnectError):
        await backend.connect_tcp("example.com", 443)
    assert dialled == [PUBLIC_V4, OTHER_PUBLIC_V4, PUBLIC_V6]


@pytest.mark.parametrize(
    ("host", "port"), [("localhost", 80), ("127.0.0.1", 80), ("example.com", 25)]
)
async def test_the_backend_checks_hosts_and_ports_itself(
    dialled: list[str], host: str, port: int
) -> None:
    names = Names([PUBLIC_V4])
    with pytest.raises(ForbiddenUrlError):
        await pinned(names).connect_tcp(host, port)
    assert (names.asked, dialled) == ([], [])


async def test_the_next_address_is_tried_when_the_first_does_not_answer(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = httpcore2.AnyIOBackend.connect_tcp

    async def connect(
        self: httpcore2.AnyIOBackend, host: str, *args: Any
    ) -> httpcore2.AsyncNetworkStream:
        if host == PUBLIC_V4:
            raise httpcore2.ConnectTimeout
        return await real(self, host, *args)

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect)
    server = await serve(page(b"hello"))
    policy = AddressPolicy([f"two.example.com:{server.port}"])
    async with Fetcher(policy, resolve=Names([PUBLIC_V4, "127.0.0.1"])) as fetcher:
        fetched = await fetcher.fetch(f"http://two.example.com:{server.port}/", Deadline.after(60))
    assert fetched.body == b"hello"
    assert f"host: two.example.com:{server.port}".encode() in server.requests[0]


async def test_a_name_without_an_address_is_a_fetch_error() -> None:
    async def nowhere(host: str) -> Sequence[str]:
        raise OSError("no such host")

    async with Fetcher(AddressPolicy(), resolve=nowhere) as fetcher:
        with pytest.raises(SearchFetchError, match=r"example\.com cannot be found"):
            await fetcher.fetch("http://example.com/", Deadline.after(60))


async def test_a_hanging_lookup_ends_at_the_deadline_and_delays_no_other_lookup(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        release.wait(PATIENCE)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    async with Fetcher(AddressPolicy()) as fetcher:
        fetch = asyncio.create_task(fetcher.fetch("http://slow.example.com/", Deadline.after(0.05)))
        await asyncio.to_thread(int)  # the threads that everybody shares are free
        with pytest.raises(SearchTimeoutError):
            await fetch
    release.set()


async def test_the_system_resolver_finds_loopback() -> None:
    resolver = SystemResolver()
    assert await resolver("127.0.0.1") == ("127.0.0.1",)
    resolver.close()


@pytest.mark.parametrize(
    ("asked", "served"), [("secure.example.com", True), ("other.example.com", False)]
)
async def test_tls_verifies_the_name_and_not_the_dialled_address(
    serve: Serve, tmp_path: Path, asked: str, served: bool
) -> None:
    authority, context = issue(tmp_path, "secure.example.com")
    trusting, names = Outbound(ca_bundle=authority), Names(["127.0.0.1"])
    server = await serve(page(b"sealed"), context)
    url = f"https://{asked}:{server.port}/"
    async with Fetcher(
        AddressPolicy([f"{asked}:{server.port}"]), resolve=names, outbound=trusting
    ) as fetcher:
        if served:
            assert (await fetcher.fetch(url, Deadline.after(60))).body == b"sealed"
        else:
            with pytest.raises(SearchFetchError, match="no valid certificate"):
                await fetcher.fetch(url, Deadline.after(60))
            assert server.requests == []
