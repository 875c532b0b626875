"""Tokens over a real socket: who gets in, as whom, and what is told to those who do not."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import time
from contextlib import suppress
from typing import Any

import jwt
import pytest

from tests.entrypoints.http.calls import QUESTION, VERSIONS, bearer, call, post, raw, search
from tests.entrypoints.http.conftest import SECRET, Door, address
from tests.entrypoints.http.forging import AUDIENCE, ISSUER, hostile_tokens
from tests.entrypoints.http.forging import SECRET as FORGING_SECRET
from tests.entrypoints.http.forging import token as forged
from tests.growth import too_much
from websearch_gateway.entrypoints.http import tokens
from websearch_gateway.entrypoints.http.authentication import (
    OPEN_PATHS,
    InsufficientScope,
    InvalidToken,
    _check_url,
    digest,
    granted,
    mint_static,
    static_verifier,
)
from websearch_gateway.entrypoints.http.compatible.table import BY_PATH
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import Caller
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.groups import APART, TOOLSETS
from websearch_gateway.settings.loading import Settings

AUTH = {"auth_mode": "secret", "auth_secret": SECRET}
KEY, _ = mint_static("alice", ["search"])
CLOSED = ["/mcp", "/v1/search", "/metrics", "/", "/nope"]
OPEN = ["/healthz", "/readyz", "/openapi.json", "/.well-known/oauth-protected-resource"]


async def test_every_route_but_a_few_needs_a_token(door: Door) -> None:
    async with door(**AUTH) as http:
        metadata = f"{address(http)}/.well-known/oauth-protected-resource/mcp"
        for method, path in itertools.product(("GET", "POST"), CLOSED):
            reply = await http.request(method, path)
            assert reply.status_code == 401
            # RFC 6750 section 3.1: no error code where there were no credentials.
            assert reply.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}"'
            assert reply.json()["error"]["code"] == "AUTH"


async def test_what_a_client_needs_before_it_has_a_token_is_open(door: Door) -> None:
    async with door(**AUTH) as http:
        assert [(await http.get(path)).status_code for path in OPEN] == [200] * len(OPEN)


async def test_every_hostile_token_gets_401_and_the_way_to_a_good_one(door: Door) -> None:
    """RFC 9728 section 5.1."""
    settings = {
        "auth_mode": "secret",
        "auth_secret": FORGING_SECRET,
        "auth_issuer": ISSUER,
        "auth_audience": AUDIENCE,
    }
    async with door(**settings) as http:
        host = f"127.0.0.1:{http.base_url.port}".encode()
        for name, token in {**hostile_tokens(), "good": forged()}.items():
            if "\n" in token:
                continue  # would be another header
            head = (
                b"POST /mcp HTTP/1.1\r\nHost: "
                + host
                + b"\r\nContent-Length: 0\r\nAuthorization: Bearer "
            )
            reply = await raw(http, head + token.encode() + b"\r\n\r\n")
            status = reply.split(b" ")[1]
            if name == "good":
                assert status == b"400", name  # past the token: an empty body
            else:
                assert status == b"401", name
                assert b'error="invalid_token"' in reply, name
                assert b"resource_metadata=" in reply, name


async def test_other_credentials_get_401(door: Door) -> None:
    async with door(**AUTH) as http:
        for value in (
            "",
            "Bearer",
            "Basic YTpi",
            "Token x",
            "Bearer a b",
            "Bearer,x",
            "x" * 20_000,
        ):
            reply = await post(http, call("tools/list"), Authorization=value)
            assert reply.status_code == 401


async def test_the_scheme_is_understood_in_any_case(door: Door) -> None:
    async with door(**AUTH) as http:
        value = bearer()["Authorization"].replace("Bearer", "bEARER")
        assert (await post(http, call("tools/list"), Authorization=value)).status_code == 200


async def test_two_tokens_or_one_in_the_url_get_401(door: Door) -> None:
    good = bearer()
    token = good["Authorization"].partition(" ")[2]
    made = call("tools/list")
    async with door(**AUTH) as http:
        both = [*made["headers"].items(), *good.items(), *good.items()]
        twice = await http.post("/mcp", headers=both, json=made["json"])
        alone = await http.post(
            f"/mcp?access_token={token}", headers=made["headers"], json=made["json"]
        )
        also = await http.post(
            f"/mcp?Access_Token={token}", headers={**made["headers"], **good}, json=made["json"]
        )
        escaped = await http.post(
            "/mcp?access%5Ftoken=x", headers={**made["headers"], **good}, json=made["json"]
        )
    assert [reply.status_code for reply in (twice, alone, also, escaped)] == [401] * 4


async def test_a_token_in_the_url_gets_401_on_every_path_and_beside_a_good_one(door: Door) -> None:
    token = bearer()["Authorization"].partition(" ")[2]
    paths = [
        *BY_PATH,
        "/mcp",
        "/v1/search",
        "/v1/tools/get_content",
        "/metrics",
        "/nope",
        *OPEN_PATHS,
    ]
    urls = [
        f"{path}?{query}"
        for path in paths
        for query in (f"api_key={token}", "Tavily-API-Key=tvly-1", f"q={KEY}")
    ]
    urls += [f"/{KEY}", f"/v1/search/{token}", f"/mcp?{'a=1&' * 200}"]
    async with door(**AUTH) as http:
        for url in urls:
            for headers in ({}, bearer()):
                for method in ("GET", "POST"):
                    reply = await http.request(method, url, headers=headers)
                    assert reply.status_code == 401, url
                    assert "URL" in reply.text


async def test_what_a_search_asks_for_is_no_token(door: Door) -> None:
    asked = "what is api_key=1&token=x or eyJhbGciOiJIUzI1NiJ9, wsg_ and a wsg_short?"
    async with door(**AUTH) as http:
        for params in (
            {"q": asked, "format": "json"},
            {"q": "x", "keys": "1", "tokens": "2", "author": "me"},
        ):
            assert (await http.get("/search", params=params, headers=bearer())).status_code != 401


@pytest.mark.parametrize("text", ["eyJ", "eyJa.", "eyJa.b", "-eyJ", "wsg_", "token", "_", "%", "&"])
def test_a_url_is_checked_in_linear_time(text: str) -> None:
    def check(given: str) -> None:
        scope = {"path": "/mcp", "query_string": f"q={given}".encode(), "headers": []}
        with suppress(InvalidToken):
            _check_url({**scope, "path": f"/{given}"})

    assert too_much(check, text) is None


async def test_a_token_in_the_url_gets_401_under_whatever_name(door: Door) -> None:
    good = bearer()
    token = good["Authorization"].partition(" ")[2]
    made = call("tools/list")
    spelled = (
        f"key={token}",
        f"authorization=Bearer+{token}",
        token,
        f"{token}=",
        f"x=1;y={token.replace('.', '%2E')}",
    )
    async with door(**AUTH) as http:
        replies = [
            await http.post(f"/mcp?{query}", headers={**made["headers"], **good}, json=made["json"])
            for query in (*spelled, "v=1.2.3&from=eyJ")
        ]
    assert [reply.status_code for reply in replies] == [*[401] * len(spelled), 200]


async def test_a_token_anywhere_else_is_not_looked_at(door: Door) -> None:
    good = bearer()["Authorization"]
    token = good.removeprefix("Bearer ")
    async with door(**AUTH) as http:
        for name in (
            "Cookie",
            "X-Authorization",
            "Proxy-Authorization",
            "X-Forwarded-Access-Token",
        ):
            for value in (good, f"access_token={token}"):
                assert (await post(http, call("tools/list"), **{name: value})).status_code == 401
        form = await http.post("/v1/search", data={"access_token": token, "query": QUESTION})
    assert form.status_code == 401


async def test_the_metadata_says_which_tokens_are_wanted(door: Door) -> None:
    """RFC 9728 section 2; both addresses, since clients look for either."""
    settings = {
        "auth_mode": "firebase",
        "firebase_project_id": "demo-x",
        "public_url": "https://gw.example",
    }
    async with door(**settings) as http:
        replies = [
            (
                await http.get(
                    f"/.well-known/oauth-protected-resource{end}", headers={"Host": "gw.example"}
                )
            ).json()
            for end in ("", "/mcp")
        ]
    assert replies[0] == replies[1]
    assert replies[0]["resource"] == "https://gw.example/mcp"
    assert replies[0]["authorization_servers"] == ["https://securetoken.google.com/demo-x"]
    assert replies[0]["bearer_methods_supported"] == ["header"]
    assert set(replies[0]["scopes_supported"]) == {
        "search",
        "read",
        "docs",
        "cache",
        "ops",
        "admin",
    }


async def test_the_metadata_stands_at_the_address_that_clients_derive_from_a_public_url_with_a_path(
    door: Door,
) -> None:
    """RFC 9728 section 3.1: the well-known path comes between host and path."""
    settings = {
        "auth_mode": "secret",
        "auth_secret": SECRET,
        "public_url": "https://gw.example/tools/ws",
    }
    async with door(**settings) as http:
        for end in ("", "/mcp", "/mcp/", "/tools/ws", "/tools/ws/mcp"):
            reply = await http.get(
                f"/.well-known/oauth-protected-resource{end}", headers={"Host": "gw.example"}
            )
            assert reply.json()["resource"] == "https://gw.example/tools/ws/mcp", end
        other = await http.get(
            "/.well-known/oauth-protected-resource/other/mcp", headers={"Host": "gw.example"}
        )
    assert other.status_code in (401, 404)


async def test_a_token_without_scopes_gets_those_of_the_operator(door: Door) -> None:
    def token(**claims: Any) -> dict[str, str]:
        now = time.time()
        held = {
            "iss": "websearch-gateway",
            "aud": "websearch-gateway",
            "sub": "alice",
            "exp": now + 600.5,
        }
        return {"Authorization": f"Bearer {jwt.encode({**held, **claims}, SECRET, 'HS256')}"}

    async def tools(headers: dict[str, str], **settings: Any) -> list[str]:
        async with door(auth_mode="secret", auth_secret=SECRET, **settings) as http:
            reply = await post(http, call("tools/list"), **headers)
        assert reply.status_code == 200, reply.text
        return [tool["name"] for tool in reply.json()["result"]["tools"]]

    assert {"search_web", "get_content"} <= set(await tools(token()))
    assert "get_content" not in await tools(token(scope=["search"]))
    assert "search_web" not in await tools(token(), auth_default_scopes="read, docs")
    async with door(auth_mode="secret", auth_secret=SECRET, auth_default_scopes="none") as http:
        for reply in (
            await post(http, call("tools/list"), **token()),
            await http.post("/v1/search", json={"query": QUESTION}, headers=token()),
            await http.post(
                "/search", json={"query": QUESTION, "api_key": token()["Authorization"].split()[1]}
            ),
        ):
            assert reply.status_code == 403
            assert "AUTH_DEFAULT_SCOPES" in reply.text
            assert (
                'error="insufficient_scope", scope="search read"'
                in reply.headers["www-authenticate"]
            )
    with pytest.raises(
        SearchNotConfiguredError, match="AUTH_DEFAULT_SCOPES: there is no scope write"
    ):
        async with door(auth_mode="secret", auth_secret=SECRET, auth_default_scopes="read write"):
            pass


async def test_without_authentication_there_is_no_metadata(door: Door) -> None:
    async with door() as http:
        assert (await http.get("/.well-known/oauth-protected-resource")).status_code == 404


async def test_only_the_tools_of_ones_scopes_are_listed(door: Door) -> None:
    async with door(**AUTH, toolsets=(*TOOLSETS, *APART)) as http:
        for version, scope in itertools.product(
            VERSIONS, ("search", "read", "search read ops", "admin", "")
        ):
            listing = (
                await post(http, call("tools/list", version=version), **bearer(scope=scope))
            ).json()
            names = [tool["name"] for tool in listing["result"]["tools"]]
            assert names == [tool.name for tool in TOOLS if tool.needed_scope in scope.split()]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_tool_outside_ones_scopes_is_refused(
    door: Door, sandbox: Sandbox, version: str
) -> None:
    async with door(**AUTH) as http:
        reply = await post(http, search(version=version), **bearer(scope="read"))
        rest = await http.post("/v1/search", json={"query": QUESTION}, headers=bearer(scope="read"))
    error = reply.json()["result"]["structuredContent"]["error"]
    assert error["code"] == "AUTH"
    assert error["details"] == {"reason": "insufficient_scope", "scope": "search"}
    assert rest.status_code == 403
    assert 'error="insufficient_scope", scope="search"' in rest.headers["www-authenticate"]
    assert sandbox.calls("openai") == 0


@pytest.mark.parametrize("version", VERSIONS)
async def test_another_name_for_a_tool_opens_nothing(
    door: Door, sandbox: Sandbox, version: str
) -> None:
    wanted = {
        "web.search": ("read", {"query": QUESTION}),
        "web.readFromPage": ("search", {"url": "x", "query": "y"}),
    }
    assert set(wanted) == {name for tool in TOOLS for name in tool.aliases}
    async with door(**AUTH) as http:
        for name, (scope, arguments) in wanted.items():
            made = call("tools/call", {"name": name, "arguments": arguments}, version)
            reply = await post(http, made, **bearer(scope=scope))
            assert (
                reply.json()["result"]["structuredContent"]["error"]["details"]["reason"]
                == "insufficient_scope"
            )
    assert sandbox.calls("") == 0


@pytest.mark.parametrize("version", VERSIONS)
async def test_limits_are_those_of_the_verified_user_whatever_headers_say(
    door: Door, version: str
) -> None:
    claims = {
        "X-User": "bob",
        "X-Forwarded-User": "bob",
        "X-Forwarded-For": "10.0.0.1",
        "Mcp-Session-Id": "bob",
    }
    async with door(**AUTH, rate_limit="2/minute") as http:
        asked = [
            (f"What is a tide? Call {number}.", f"What is a comet? Call {number}.")
            for number in range(3)
        ]
        alice = [
            await post(http, search(one, version), **bearer("alice"), **claims) for one, _ in asked
        ]
        bob = [await post(http, search(one, version), **bearer("bob")) for _, one in asked]
    for replies in (alice, bob):
        errors = [reply.json()["result"]["structuredContent"].get("error") for reply in replies]
        assert [error and error["code"] for error in errors] == [None, None, "RATE_LIMIT"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_many_users_at_once_are_never_mixed_up(door: Door, version: str) -> None:
    """Each user may ask as often as its number says: one call under another's name would show."""
    users = range(1, 9)
    async with door(**AUTH, rate_limit="5/minute") as http:
        calls = [
            post(
                http,
                search(f"What is a tide? Call {call} of {user}.", version),
                **bearer(f"user-{user}"),
            )
            for call in range(6)
            for user in users
        ]
        replies = await asyncio.gather(*calls)
    refused = [
        reply.json()["result"]["structuredContent"].get("error") is not None for reply in replies
    ]
    assert [sum(refused[user - 1 :: len(users)]) for user in users] == [1] * len(users)


async def test_the_token_travels_no_further_and_is_not_logged(
    door: Door, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox.fault("openai", "status", status=503)  # so that vendors and pages are asked too
    caplog.set_level(logging.DEBUG)
    good, bad = bearer("alice@example.com"), bearer(exp=1)
    async with door(**AUTH) as http:
        await post(http, search(), **good)
        await post(http, search(), **bad)
        await http.get("/mcp?access_token=" + good["Authorization"][7:])
    seen = "".join(f"{c.path} {c.query} {c.body!r}" for c in sandbox.seen(""))
    logged = "".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert sandbox.calls("") > 2
    for header in (good, bad):
        for part in header["Authorization"][7:].split("."):
            assert part not in seen
            assert part not in logged
    assert "alice@example.com" not in logged
    assert "Eiffel" not in logged


async def test_keys_that_cannot_be_fetched_are_the_servers_trouble(door: Door) -> None:
    settings: dict[str, Any] = {
        "auth_mode": "jwks",
        "auth_jwks_url": "http://127.0.0.1:9/keys",
        "auth_issuer": ISSUER,
        "auth_audience": AUDIENCE,
    }
    async with door(**settings) as http:
        reply = await post(
            http, call("tools/list"), Authorization=f"Bearer {forged({'alg': 'RS256'})}"
        )
    assert reply.status_code == 503
    assert int(reply.headers["retry-after"]) > 0


async def test_a_verifier_that_breaks_gives_no_access(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: str) -> dict[str, Any]:
        raise RuntimeError("a secret part of the token")

    monkeypatch.setattr(tokens.jwt, "get_unverified_header", broken)
    async with door(**AUTH) as http:
        reply = await post(http, call("tools/list"), **bearer())
    assert reply.status_code == 401
    assert "RuntimeError" in caplog.text
    assert "a secret part" not in caplog.text + reply.text


async def test_a_reply_never_shows_why_in_terms_of_the_token(door: Door) -> None:
    async with door(**AUTH) as http:
        reply = await post(http, call("tools/list"), **bearer("mallory", aud="secret-place"))
    assert "mallory" not in json.dumps(dict(reply.headers)) + reply.text
    assert "secret-place" not in json.dumps(dict(reply.headers)) + reply.text


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "search read"}, {"search", "read"}),
        ({"scope": "search openid profile"}, {"search"}),
        ({"scp": "read"}, {"read"}),
        ({"scp": ["read", "ops"]}, {"read", "ops"}),
        ({"scope": ["search", "ops", "openid"]}, {"search", "ops"}),
        ({"scope": []}, set()),
        ({"scope": "", "scp": ["admin"]}, set()),
        ({}, {"docs"}),
    ],
)
def test_the_known_scopes_of_a_token_are_granted(claims: dict[str, Any], scopes: set[str]) -> None:
    assert granted(claims, ("docs",)) == scopes


def test_a_token_without_scopes_or_a_default_is_told_of_both() -> None:
    with pytest.raises(InsufficientScope) as refused:
        granted({})
    assert "AUTH_DEFAULT_SCOPES" in refused.value.message


@pytest.mark.parametrize(
    "claims",
    [
        {"scope": ["admin", 7]},
        {"scope": {"admin": 1}},
        {"scope": 7},
        {"scp": [1]},
        {"scp": None},
        {"scope": None},
    ],
)
def test_a_malformed_claim_grants_nothing(claims: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken, match="malformed"):
        granted(claims)


ALICE, ALICE_ENTRY = mint_static("alice", ["search", "read"])
BOB, BOB_ENTRY = mint_static("bob", ["ops"])
KEYS = {"auth_mode": "token", "auth_tokens": f"{ALICE_ENTRY}, {BOB_ENTRY}"}


async def test_a_key_names_its_bearer_and_scopes() -> None:
    verifier = static_verifier(KEYS["auth_tokens"])
    assert await verifier.verify(ALICE) == Caller("alice", frozenset({"search", "read"}))
    assert await verifier.verify(BOB) == Caller("bob", frozenset({"ops"}))


@pytest.mark.parametrize(
    "token",
    ["", "x", ALICE + " ", ALICE.upper(), digest(ALICE), "x" * 100_000, "\ud800"],
    ids=["empty", "short", "with a blank", "in capitals", "its digest", "long", "half a character"],
)
async def test_anything_else_proves_nothing(token: str) -> None:
    with pytest.raises(InvalidToken):
        await static_verifier(KEYS["auth_tokens"]).verify(token)


async def test_an_entry_without_scopes_may_search_and_read() -> None:
    verifier = static_verifier(f"carol:{digest(ALICE).upper()}")
    assert (await verifier.verify(ALICE)).scopes == {"search", "read"}


@pytest.mark.parametrize(
    "entry",
    [
        "",
        " , ",
        "alice",
        "alice:abc",
        f":{digest('x')}",
        f"local:{digest('x')}",
        f"a:{digest('x')}:nope",
        "a:b:c:d",
    ],
)
def test_a_malformed_entry_is_refused_without_quoting_it(entry: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match="AUTH_TOKENS") as caught:
        static_verifier(entry)
    assert digest("x") not in caught.value.message


@pytest.mark.parametrize(
    "second", [ALICE_ENTRY.replace("alice", "eve"), f"alice:{digest('x')}"], ids=["digest", "name"]
)
def test_a_name_or_a_digest_twice_is_refused(second: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match="twice"):
        static_verifier(f"{ALICE_ENTRY},{second}")


@pytest.mark.parametrize(
    ("user", "scopes"), [("a:b", ["read"]), ("", ["read"]), ("alice", ["nope"])]
)
def test_a_key_for_an_impossible_name_or_scope_is_not_made(user: str, scopes: list[str]) -> None:
    with pytest.raises(SearchValidationError):
        mint_static(user, scopes)


async def test_a_key_is_taken_from_either_header(door: Door) -> None:
    async with door(**KEYS) as http:
        for headers in ({"Authorization": f"Bearer {ALICE}"}, {"X-API-Key": ALICE}):
            assert (
                await http.post("/v1/search", json={"query": QUESTION}, headers=headers)
            ).status_code == 200
        both = {"Authorization": f"Bearer {ALICE}", "X-API-Key": BOB}
        for headers in ({}, {"X-API-Key": "wrong"}, both, {"X-API-Key": ""}):
            assert (
                await http.post("/v1/search", json={"query": QUESTION}, headers=headers)
            ).status_code == 401
        assert (await http.get("/", headers={"X-API-Key": BOB})).status_code == 200
        assert (await http.get("/", headers={"X-API-Key": ALICE})).status_code == 403


async def test_a_browser_without_a_key_gets_a_page_that_says_what_to_do(door: Door) -> None:
    async with door(**KEYS) as http:
        page = await http.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        program = await http.get("/", headers={"Accept": "*/*"})
    assert (page.status_code, program.status_code) == (401, 401)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert 'action="/login"' in page.text
    assert page.headers["www-authenticate"] == program.headers["www-authenticate"]
    assert program.json()["error"]["code"] == "AUTH"


def test_settings_show_no_digest() -> None:
    settings = Settings(**KEYS)
    assert digest(ALICE) not in repr(settings) + str(settings.shown())
