"""The login of the status page, by requests; `status/test_in_browser.py` does it in a browser."""

from __future__ import annotations

import httpx2
import pytest

from tests.entrypoints.http.calls import QUESTION, bearer
from tests.entrypoints.http.conftest import SECRET, Door, address
from websearch_gateway.entrypoints.http.sign_in import COOKIE

AUTH = {"auth_mode": "secret", "auth_secret": SECRET}
PAGE = {"Accept": "text/html,application/xhtml+xml"}


def token(**claims: str) -> str:
    return bearer(**claims)["Authorization"].removeprefix("Bearer ")


async def sign_in(http: httpx2.AsyncClient, secret: str, **headers: str) -> httpx2.Response:
    return await http.post(
        "/login", data={"token": secret}, headers={"Origin": address(http), **headers}
    )


async def test_the_cookie_is_for_this_server_and_no_script(door: Door) -> None:
    public = {
        "public_url": "https://search.example.org/gateway",
        "auth_audience": "websearch-gateway",
    }
    async with door(**AUTH, **public) as http:
        reply = await sign_in(http, token(scope="ops"))
    assert (reply.status_code, reply.headers["location"]) == (303, "/gateway/")
    _, *attributes = reply.headers["set-cookie"].split("; ")
    assert {one.lower() for one in attributes} == {
        "httponly",
        "path=/gateway",
        "samesite=strict",
        "secure",
    }


async def test_who_signed_in_sees_the_page_until_they_sign_out(door: Door) -> None:
    async with door(**AUTH) as http:
        assert (await http.get("/", headers=PAGE)).status_code == 401
        assert (await sign_in(http, f" {token(scope='ops')}\n")).status_code == 303
        page = await http.get("/", headers=PAGE)
        assert (page.status_code, "Sign out" in page.text) == (200, True)
        out = await http.post("/logout", headers={"Origin": address(http)})
        assert (out.status_code, out.headers["location"]) == (303, "/login")
        assert (await http.get("/", headers=PAGE)).status_code == 401
        assert (await http.get("/login")).status_code == 200


async def test_the_cookie_opens_nothing_that_programs_call(door: Door) -> None:
    async with door(**AUTH) as http:
        await sign_in(http, token(scope="ops search"))
        assert (await http.get("/")).status_code == 200
        ask = {"json": {"query": QUESTION}, "headers": {"Origin": address(http)}}
        for path in ("/v1/search", "/mcp", "/search"):
            assert (await http.post(path, **ask)).status_code == 401
        assert (await http.get("/metrics")).status_code == 401
        play = {"tool": "search_web", "arguments": {"query": QUESTION}}
        own = {"Origin": address(http), "Sec-Fetch-Site": "same-origin"}
        assert (await http.post("/play/ask", json=play, headers=own)).status_code == 200
        assert (
            await http.post("/play/ask", json=play, headers={"Origin": "https://evil.example"})
        ).status_code == 403


@pytest.mark.parametrize(
    ("secret", "status", "told"),
    [
        ("", 401, "not accepted"),
        ("nonsense", 401, "not accepted"),
        ("x" * 9_000, 401, "not accepted"),
        (token(scope="search"), 403, "lacks the scope ops"),
        ('"><script>', 401, "not accepted"),
    ],
    ids=["none", "wrong", "long", "without ops", "html"],
)
async def test_a_token_that_is_of_no_use_sets_no_cookie_and_is_not_repeated(
    door: Door, secret: str, status: int, told: str
) -> None:
    async with door(**AUTH) as http:
        reply = await sign_in(http, secret)
    assert (reply.status_code, told in reply.text) == (status, True)
    assert "set-cookie" not in reply.headers
    assert not secret or secret not in reply.text


async def test_a_page_of_another_site_signs_nobody_in_or_out(door: Door) -> None:
    async with door(**AUTH) as http:
        for path in ("/login", "/logout"):
            reply = await http.post(
                path, data={"token": token(scope="ops")}, headers={"Origin": "https://evil.example"}
            )
            assert (reply.status_code, "set-cookie" in reply.headers) == (403, False)


@pytest.mark.parametrize(
    "cookie", ["", "=", f"{COOKIE}=", f"{COOKIE}=nonsense", f"{COOKIE}={'x' * 9_000}", '"=1;;']
)
async def test_an_old_or_odd_cookie_leads_to_the_form(door: Door, cookie: str) -> None:
    async with door(**AUTH) as http:
        page = await http.get("/", headers={**PAGE, "Cookie": cookie})
    assert (page.status_code, 'action="/login"' in page.text) == (401, True)


async def test_without_authentication_there_is_no_form(door: Door) -> None:
    async with door() as http:
        assert (await http.get("/login")).status_code == 404
        assert "Sign out" not in (await http.get("/")).text
