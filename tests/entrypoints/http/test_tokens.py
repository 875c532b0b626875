from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.entrypoints.http.forging import AUDIENCE, ISSUER, hostile_tokens, token
from tests.entrypoints.http.forging import SECRET as FORGING_SECRET
from websearch_gateway.base.net.client import create_client
from websearch_gateway.entrypoints.http import tokens as keys_module
from websearch_gateway.entrypoints.http.authentication import InvalidToken
from websearch_gateway.entrypoints.http.tokens import (
    FRESH_SECONDS,
    MAX_KEY_SET_BYTES,
    RETRY_PAUSE_SECONDS,
    SEARCH_PAUSE_SECONDS,
    STALE_SECONDS,
    KeySet,
    SharedSecret,
    TokenVerifier,
    check_auth,
    granted_limits,
    mint,
    token_verifier,
    usable_keys,
)
from websearch_gateway.errors import (
    SearchNotConfiguredError,
    SearchProviderError,
    SearchProviderParseError,
    SearchValidationError,
)
from websearch_gateway.models import Caller, CallerLimits
from websearch_gateway.settings.loading import Settings
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.api_tokens import ApiTokens

SECRET = "s" * 32
JWKS = {
    "auth_mode": "jwks",
    "auth_jwks_url": "https://issuer.example/keys",
    "auth_issuer": "https://issuer.example",
    "auth_audience": "gateway",
}


def test_without_authentication_there_is_no_verifier() -> None:
    assert token_verifier(Settings()) is None


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"auth_mode": "secret"}, "AUTH_SECRET"),
        ({"auth_mode": "secret", "auth_secret": "s" * 31}, "32 bytes"),
        (
            {"auth_mode": "secret", "auth_secret": SECRET, "auth_algorithm": "RS256"},
            "AUTH_ALGORITHM",
        ),
        ({**JWKS, "auth_jwks_url": None}, "AUTH_JWKS_URL"),
        ({**JWKS, "auth_issuer": None}, "AUTH_ISSUER"),
        ({**JWKS, "auth_audience": None}, "AUTH_AUDIENCE"),
        ({**JWKS, "auth_algorithm": "HS256"}, "AUTH_ALGORITHM"),
        ({**JWKS, "auth_jwks_url": "http://issuer.example/keys"}, "https"),
        ({"auth_mode": "firebase"}, "FIREBASE_PROJECT_ID"),
        (
            {"auth_mode": "firebase", "firebase_project_id": "p", "auth_algorithm": "ES256"},
            "AUTH_ALGORITHM",
        ),
    ],
)
def test_what_is_missing_weak_or_contradictory_refuses_to_start(
    settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(SearchNotConfiguredError, match=told) as caught:
        token_verifier(Settings(**settings))
    assert "sssss" not in str(caught.value)


async def test_a_key_set_on_this_machine_needs_no_tls() -> None:
    verifier = token_verifier(Settings(**{**JWKS, "auth_jwks_url": "http://127.0.0.1:9/keys"}))
    assert verifier is not None
    await verifier.keys.aclose()


@pytest.mark.parametrize(
    ("settings", "issuer", "audience"),
    [
        ({}, "websearch-gateway", "websearch-gateway"),
        ({"public_url": "https://gw.example"}, "websearch-gateway", "https://gw.example/mcp"),
        (
            {"auth_issuer": "me", "auth_audience": "you", "public_url": "https://gw.example"},
            "me",
            "you",
        ),
    ],
)
def test_mode_secret_has_an_issuer_and_an_audience_even_when_none_is_set(
    settings: dict[str, Any], issuer: str, audience: str
) -> None:
    verifier = token_verifier(Settings(auth_mode="secret", auth_secret=SECRET, **settings))
    assert verifier is not None
    assert (verifier.issuer, verifier.audience, verifier.algorithm) == (issuer, audience, "HS256")


async def test_the_project_gives_issuer_and_audience_of_firebase_tokens() -> None:
    """https://firebase.google.com/docs/auth/admin/verify-id-tokens"""
    verifier = token_verifier(
        Settings(
            auth_mode="firebase", firebase_project_id="demo-x", public_url="https://gw.example"
        )
    )
    assert verifier is not None
    assert verifier.issuer == "https://securetoken.google.com/demo-x"
    assert (verifier.audience, verifier.algorithm) == ("demo-x", "RS256")
    await verifier.keys.aclose()


async def test_a_minted_token_is_accepted() -> None:
    settings = Settings(auth_mode="secret", auth_secret=SECRET)
    verifier = token_verifier(settings)
    assert verifier is not None
    assert await verifier.verify(mint(settings, "alice", ["search"], 60)) == Caller(
        "alice", frozenset({"search"})
    )


@pytest.mark.parametrize(
    ("user", "scopes"), [("alice", ["everything"]), ("local", ["search"]), ("", []), ("a\nb", [])]
)
def test_a_token_that_would_be_refused_is_not_minted(user: str, scopes: list[str]) -> None:
    with pytest.raises(SearchValidationError):
        mint(Settings(auth_mode="secret", auth_secret=SECRET), user, scopes, 60)


def test_only_the_holder_of_the_secret_can_mint() -> None:
    with pytest.raises(SearchNotConfiguredError, match="AUTH_MODE=secret"):
        mint(Settings(**JWKS), "alice", ["search"], 60)


VERIFIER = TokenVerifier("HS256", ISSUER, AUDIENCE, SharedSecret(FORGING_SECRET))


async def test_a_good_token_names_its_bearer_and_its_scopes() -> None:
    assert await VERIFIER.verify(token()) == Caller("alice", frozenset({"search", "read"}))


@pytest.mark.parametrize("name", hostile_tokens())
async def test_a_hostile_token_gives_no_access(name: str) -> None:
    with pytest.raises(InvalidToken):
        await VERIFIER.verify(hostile_tokens()[name])


@given(
    st.text(max_size=300)
    | st.from_regex(r"[A-Za-z0-9_-]{1,40}\.[A-Za-z0-9_-]{1,40}\.[A-Za-z0-9_-]{1,40}")
)
async def test_no_text_breaks_the_verifier(text: str) -> None:
    with pytest.raises(InvalidToken):
        await VERIFIER.verify(text)


@given(st.data())
async def test_no_single_letter_of_a_token_can_be_changed(data: st.DataObject) -> None:
    good = token()
    place = data.draw(st.integers(0, len(good) - 1))
    letter = data.draw(st.sampled_from("ABab01-_.").filter(lambda drawn: drawn != good[place]))
    with pytest.raises(InvalidToken):
        await VERIFIER.verify(good[:place] + letter + good[place + 1 :])


async def test_the_issuers_clock_may_be_a_little_ahead_but_an_expired_token_gets_nothing() -> None:
    now = int(time.time())
    await VERIFIER.verify(token(iat=now + 25, nbf=now + 25))
    with pytest.raises(InvalidToken, match="expired"):
        await VERIFIER.verify(token(exp=now - 1))


async def test_a_token_for_several_audiences_is_for_us_too() -> None:
    await VERIFIER.verify(token(aud=["https://other.example", AUDIENCE]))


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "search docs"}, {"search", "docs"}),
        ({"scope": ""}, set()),
        ({"scope": ["search", "docs"]}, {"search", "docs"}),
        ({"scope": "openid  profile search"}, {"search"}),
        ({"scope": "SEARCH search,read"}, set()),
        ({"scope": None, "scp": "search admin"}, {"search", "admin"}),
        ({"scope": None, "scp": ["search", "ops"]}, {"search", "ops"}),
        ({"scope": "read", "scp": "admin"}, {"read"}),
    ],
)
async def test_scopes_are_words_of_scope_or_else_of_scp(
    claims: dict[str, object], scopes: set[str]
) -> None:
    assert (await VERIFIER.verify(token(**claims))).scopes == scopes


async def test_times_may_have_a_fraction() -> None:
    now = time.time()
    assert (await VERIFIER.verify(token(exp=now + 100.5, iat=now - 0.5))).user


@pytest.mark.parametrize("kind", ["at+jwt", "AT+JWT", "application/at+jwt", "jwt"])
async def test_access_tokens_by_their_own_type_are_accepted(kind: str) -> None:
    """RFC 9068 section 2.1."""
    await VERIFIER.verify(token({"typ": kind}))


RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()

KINDS = {id(RSA): RSAAlgorithm, id(EC): ECAlgorithm, id(ED): OKPAlgorithm}


def jwk(key: Any, **more: Any) -> dict[str, Any]:
    """The public half."""
    return {**json.loads(KINDS.get(id(key), RSAAlgorithm).to_jwk(key.public_key())), **more}


PRIVATE = {"d": "AQAB"}


def key_set(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()


@pytest.mark.parametrize(("algorithm", "key"), [("RS256", RSA), ("ES256", EC), ("EdDSA", ED)])
def test_keys_of_the_one_algorithm_are_taken_and_others_passed_over(
    algorithm: str, key: Any
) -> None:
    every = [jwk(each, kid=name) for name, each in (("rsa", RSA), ("ec", EC), ("ed", ED))]
    found = usable_keys(key_set(*every, {"kty": "oct", "k": "c2VjcmV0"}), algorithm)
    assert len(found) == 1
    signed = jwt.encode({"a": 1}, key, algorithm)
    assert jwt.decode(signed, next(iter(found.values())), algorithms=[algorithm]) == {"a": 1}


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([jwk(RSA, kid="a", **PRIVATE)], id="private"),
        pytest.param([jwk(RSA, kid="a"), jwk(RSA, kid="b", **PRIVATE)], id="one of them private"),
        pytest.param([jwk(RSA, kid="a"), jwk(RSA, kid="a")], id="two of one id"),
        pytest.param([jwk(RSA), jwk(RSA)], id="two without an id"),
        pytest.param([jwk(RSA, use="enc")], id="for encryption"),
        pytest.param([jwk(RSA, key_ops=["sign"])], id="not for verifying"),
        pytest.param([jwk(RSA, alg="RS512")], id="for another algorithm"),
        pytest.param([jwk(RSA, kid=7)], id="id is a number"),
        pytest.param([jwk(rsa.generate_private_key(65537, 1024))], id="short"),
        pytest.param([{"kty": "RSA", "n": "AQAB", "e": "AQ"}], id="nonsense"),
        pytest.param([jwk(RSA, e="AQ")], id="exponent 1"),
        pytest.param([{"kty": "oct", "k": "c2VjcmV0", "kid": "a"}], id="symmetrical"),
        pytest.param([[]], id="a list for a key"),  # type: ignore[list-item]
        pytest.param([], id="none"),
    ],
)
def test_nothing_is_usable_of_a_key_set_that_cannot_be_relied_on(
    keys: list[dict[str, Any]],
) -> None:
    assert usable_keys(key_set(*keys), "RS256") == {}


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"keys":7}', b"\xff", b"[" * 5_000])
def test_what_is_no_key_set_is_refused(body: bytes) -> None:
    with pytest.raises(SearchProviderParseError):
        usable_keys(body, "RS256")


class Issuer:
    """An issuer that can change its keys, fail and hang; with a clock to go with it."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.fetches = 0
        self.body = key_set(jwk(RSA, kid="first"))
        self.status = 200
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def answer(self, _: httpx2.Request) -> httpx2.Response:
        self.fetches += 1
        self.asked.set()
        await self.gate.wait()
        return httpx2.Response(self.status, stream=httpx2.ByteStream(self.body))

    def keys(self) -> KeySet:
        client = create_client(httpx2.MockTransport(self.answer))
        return KeySet("https://issuer.example/keys", "RS256", client, lambda: self.now)


async def test_keys_are_fetched_once_for_many_tokens() -> None:
    issuer = Issuer()
    keys = issuer.keys()
    found = await asyncio.gather(*(keys.key("first") for _ in range(50)))
    assert None not in found
    assert issuer.fetches == 1
    await keys.aclose()


async def test_an_unknown_id_makes_them_be_fetched_anew_at_most_once_in_five_minutes() -> None:
    issuer = Issuer()
    keys = issuer.keys()
    await keys.key("first")
    issuer.body = key_set(jwk(RSA, kid="second"))
    assert await keys.key("second") is not None  # rotated: found at once
    for invented in range(20):
        assert await keys.key(f"invented-{invented}") is None
    assert issuer.fetches == 2
    issuer.now += SEARCH_PAUSE_SECONDS
    assert await keys.key("invented") is None
    assert issuer.fetches == 3
    await keys.aclose()


async def test_fifty_invented_ids_at_once_are_one_fetch() -> None:
    issuer = Issuer()
    keys = issuer.keys()
    await keys.key("first")
    issuer.gate.clear()
    asking = [asyncio.create_task(keys.key(f"invented-{number}")) for number in range(50)]
    issuer.asked.clear()
    await issuer.asked.wait()
    assert await keys.key("first") is not None  # who has a good token does not wait for it
    issuer.gate.set()
    assert await asyncio.gather(*asking) == [None] * 50
    assert issuer.fetches == 2
    await keys.aclose()


async def test_keys_that_an_issuer_withdraws_are_gone_and_new_ones_are_found() -> None:
    issuer = Issuer()
    keys = issuer.keys()
    await keys.key("first")
    issuer.body = key_set()
    issuer.now += FRESH_SECONDS
    await keys.key("unknown")
    assert await keys.key("first") is None
    issuer.body = key_set(jwk(RSA))
    issuer.now += SEARCH_PAUSE_SECONDS
    assert await keys.key(None) is not None
    await keys.aclose()


async def test_a_redirect_to_other_keys_is_not_followed() -> None:
    asked: list[str] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(302, headers={"Location": "https://evil.example/keys"})

    keys = KeySet(
        "https://issuer.example/keys", "RS256", create_client(httpx2.MockTransport(answer))
    )
    with pytest.raises(SearchProviderError):
        await keys.key("first")
    assert asked == ["https://issuer.example/keys"]
    await keys.aclose()


async def test_an_issuer_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline is one for the whole key set, however steadily its bytes arrive."""
    monkeypatch.setattr(keys_module, "FETCH_SECONDS", 0.05)

    async def drip() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0)

    async def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=drip())

    keys = KeySet(
        "https://issuer.example/keys", "RS256", create_client(httpx2.MockTransport(answer))
    )
    with pytest.raises(SearchProviderError):
        await keys.key("first")
    await keys.aclose()


async def test_a_token_without_an_id_uses_the_only_key_and_no_other() -> None:
    issuer = Issuer()
    keys = issuer.keys()
    assert await keys.key(None) is not None
    issuer.body = key_set(jwk(RSA, kid="first"), jwk(RSA, kid="second"))
    await keys.key("second")
    assert await keys.key(None) is None
    await keys.aclose()


async def test_old_keys_serve_while_new_ones_are_fetched_and_when_they_cannot_be() -> None:
    issuer = Issuer()
    keys = issuer.keys()
    await keys.key("first")
    issuer.now += FRESH_SECONDS
    issuer.gate.clear()
    assert await keys.key("first") is not None  # does not wait for the fetch, which hangs
    issuer.status = 500
    issuer.gate.set()
    await keys.key("unknown")  # waits for it
    assert await keys.key("first") is not None
    issuer.now += STALE_SECONDS
    with pytest.raises(SearchProviderError) as caught:
        await keys.key("first")
    assert caught.value.retry_after == RETRY_PAUSE_SECONDS
    await keys.aclose()


async def test_an_issuer_that_is_down_is_not_asked_for_each_token() -> None:
    issuer = Issuer()
    issuer.status = 503
    keys = issuer.keys()
    for _ in range(20):
        with pytest.raises(SearchProviderError):
            await keys.key("first")
    assert issuer.fetches == 1
    issuer.status = 200
    issuer.now += RETRY_PAUSE_SECONDS
    assert await keys.key("first") is not None
    await keys.aclose()


async def test_a_caller_who_leaves_does_not_take_the_fetch_along() -> None:
    issuer = Issuer()
    issuer.gate.clear()
    keys = issuer.keys()
    leaving, staying = (asyncio.create_task(keys.key("first")) for _ in range(2))
    await issuer.asked.wait()
    leaving.cancel()
    issuer.gate.set()
    assert await staying is not None
    assert issuer.fetches == 1
    await keys.aclose()


@pytest.mark.parametrize(
    "body", [b"x" * (MAX_KEY_SET_BYTES + 1), b"<html>"], ids=["huge", "a page"]
)
async def test_what_the_issuer_sends_by_mistake_is_no_key(body: bytes) -> None:
    issuer = Issuer()
    issuer.body = body
    keys = issuer.keys()
    with pytest.raises(SearchProviderError):
        await keys.key("first")
    await keys.aclose()


STRONG_SECRET = "s" * 40
KEY_SETTINGS = {"auth_mode": "jwks", "auth_issuer": "https://i.example", "auth_audience": "a"}


@pytest.mark.parametrize(
    ("settings", "status", "told"),
    [
        ({}, "off", "AUTH_MODE=none"),
        ({"auth_mode": "secret", "auth_secret": STRONG_SECRET}, "ok", "AUTH_MODE=secret"),
        ({"auth_mode": "secret", "auth_secret": "short"}, "fail", "AUTH_SECRET"),
        (KEY_SETTINGS, "fail", "AUTH_JWKS_URL"),
        ({**KEY_SETTINGS, "auth_jwks_url": "http://127.0.0.1:9/keys"}, "fail", "cannot be fetched"),
        ({"auth_mode": "token"}, "warn", "0 created"),
        ({"auth_mode": "token", "auth_tokens": f"a:{'0' * 64}"}, "ok", "1 in AUTH_TOKENS"),
        ({"auth_mode": "token", "state_url": "memory://"}, "fail", "AUTH_TOKENS"),
    ],
)
async def test_each_mode_is_told(settings: dict[str, Any], status: str, told: str) -> None:
    check = await check_auth(Settings(**settings), ApiTokens(MemoryState()))
    assert check.status == status
    assert told in check.finding
    assert STRONG_SECRET not in repr(check)
    assert check.remedy or status == "ok"


LIMITS = [
    ({}, None, CallerLimits()),
    (
        {"limits": {"rate_limit": "100/10minutes", "daily_budget": 2}},
        "limits",
        CallerLimits("100/10minutes", 2.0),
    ),
    ({"limits": {"daily_budget": 2}}, None, CallerLimits()),
    ({"limits": {"plan": "gold"}}, "limits", CallerLimits()),
    ({"scope": "search daily_budget:0.50 read"}, "scope", CallerLimits(None, 0.5)),
    (
        {"roles": ["search", "rate_limit:5/day", "daily_budget:1"]},
        "roles",
        CallerLimits("5/day", 1.0),
    ),
    ({"roles": "rate_limit:none"}, "roles", CallerLimits("", None)),
]


@pytest.mark.parametrize(("claims", "name", "limits"), LIMITS)
def test_a_claim_gives_its_user_limits(
    claims: dict[str, Any], name: str | None, limits: CallerLimits
) -> None:
    assert granted_limits(claims, name) == limits


@pytest.mark.parametrize(
    "claim",
    [
        7,
        True,
        "rate_limit:many",
        "daily_budget:-1",
        {"daily_budget": None},
        {"daily_budget": True},
        {"daily_budget": "nan"},
        {"rate_limit": 100},
        {"rate_limit": ["5/day"]},
    ],
    ids=str,
)
def test_malformed_limits_are_no_limits_to_be_had(claim: Any) -> None:
    with pytest.raises(InvalidToken, match="limits"):
        granted_limits({"limits": claim}, "limits")


async def test_the_limits_of_a_signed_token_come_with_its_caller() -> None:
    verifier = token_verifier(
        Settings(auth_mode="secret", auth_secret=STRONG_SECRET, limits_claim="scope")
    )
    assert verifier is not None
    claims = {
        "iss": "websearch-gateway",
        "aud": "websearch-gateway",
        "sub": "ann",
        "exp": int(time.time()) + 60,
    }
    claims["scope"] = "search daily_budget:2"
    caller = await verifier.verify(jwt.encode(claims, STRONG_SECRET, algorithm="HS256"))
    assert (caller.scopes, caller.limits) == ({"search"}, CallerLimits(None, 2.0))
