"""PUBLIC_URL with a path, through a real nginx that passes the path on or cuts it off."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from tests.entrypoints.http.calls import QUESTION, bearer, call
from tests.entrypoints.http.conftest import PLAIN, SECRET, Door, address
from tests.patience import PATIENCE
from tools.servers import NotHere, nginx

AUTH = {"auth_mode": "secret", "auth_secret": SECRET, "auth_audience": "websearch-gateway"}
LOCATIONS = {
    # With a slash after the port nginx cuts off what the location names.
    "passed on": "location /gateway {{ proxy_pass {upstream}; {common} }}",
    "cut off": "location /gateway/ {{ proxy_pass {upstream}/; {common} }}",
}
COMMON = "proxy_set_header Host $http_host; proxy_http_version 1.1; proxy_buffering off;"


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


@pytest.fixture(params=sorted(LOCATIONS))
def location(request: pytest.FixtureRequest) -> str:
    return LOCATIONS[request.param]


@asynccontextmanager
async def proxied(door: Door, location: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the proxy, whose base URL is the gateway's PUBLIC_URL."""
    port = free_port()
    public = f"http://127.0.0.1:{port}/gateway"
    async with door(**AUTH, public_url=public) as http:
        try:
            with nginx(location.format(upstream=address(http), common=COMMON), port):
                async with httpx2.AsyncClient(
                    timeout=PATIENCE, trust_env=False, verify=PLAIN
                ) as client:
                    client.base_url = httpx2.URL(f"{public}/")
                    yield client
        except NotHere as reason:
            pytest.skip(str(reason))


async def test_every_route_works_under_the_path(door: Door, location: str) -> None:
    async with proxied(door, location) as http:
        public = str(http.base_url).rstrip("/")
        for path in (
            "healthz",
            "readyz",
            "play",
            "play.js",
            "play/suggestions",
            "openapi.json",
            "login",
        ):
            assert (await http.get(path)).status_code == 200, path
        assert (
            await http.post("v1/search", json={"query": QUESTION}, headers=bearer())
        ).status_code == 200
        assert (await http.get("v1/usage", headers=bearer())).status_code == 200
        made = call("tools/list")
        listed = await http.post("mcp", headers={**made["headers"], **bearer()}, json=made["json"])
        assert "search_web" in listed.text
        described = (await http.get("openapi.json")).json()
        assert described["servers"] == [{"url": public}]
        refused = await http.post("mcp", json={})
        assert (
            f'resource_metadata="{public[: -len("/gateway")]}'
            in refused.headers["www-authenticate"]
        )


async def test_every_address_on_our_pages_is_under_the_path(door: Door, location: str) -> None:
    async with proxied(door, location) as http:
        pages = [
            await http.get("play"),
            await http.get("login"),
            await http.get("", headers=bearer(scope="ops")),
        ]
        assert [page.status_code for page in pages] == [200, 200, 200]
        addresses = [
            found
            for page in pages
            for found in re.findall(r'(?:src|href|action)="([^"#]*)"', page.text)
        ]
        assert len(addresses) > 6
        assert [found for found in addresses if not found.startswith("/gateway/")] == []
        for found in set(addresses):
            assert (
                await http.get(http.base_url.join(found), headers=bearer(scope="ops"))
            ).status_code in (200, 303), found


async def test_signing_in_stays_under_the_path(door: Door, location: str) -> None:
    async with proxied(door, location) as http:
        origin = {"Origin": str(http.base_url.copy_with(raw_path=b"")).rstrip("/")}
        secret = bearer(scope="ops search")["Authorization"].removeprefix("Bearer ")
        reply = await http.post("login", data={"token": secret}, headers=origin)
        assert (reply.status_code, reply.headers["location"]) == (303, "/gateway/")
        assert "path=/gateway;" in reply.headers["set-cookie"].lower()
        page = await http.get("", headers={"Accept": "text/html,*/*"})
        assert (page.status_code, "Sign out" in page.text) == (200, True)
        ask = {"tool": "search_web", "arguments": {"query": QUESTION}}
        asked = await http.post(
            "play/ask", json=ask, headers={**origin, "Sec-Fetch-Site": "same-origin"}
        )
        assert "330 metres" in asked.text


async def test_a_path_that_only_begins_alike_is_not_ours(door: Door) -> None:
    async with door(public_url="https://search.example.org/gateway") as http:
        assert [
            (await http.get(path)).status_code for path in ("/gateway/healthz", "/healthz")
        ] == [200, 200]
        for path in ("/gatewayhealthz", "/gateway/gateway/healthz"):
            assert (await http.get(path)).status_code == 404
