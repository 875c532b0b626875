"""Every way in that is known to have worked somewhere is closed here."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.entrypoints.http.auth.forging import AUDIENCE, ISSUER, SECRET, hostile_tokens, token
from websearch_gateway.entrypoints.http.auth.keys import SharedSecret
from websearch_gateway.entrypoints.http.auth.shape import LEEWAY_SECONDS, InvalidToken
from websearch_gateway.entrypoints.http.auth.tokens import TokenVerifier
from websearch_gateway.models import Caller

VERIFIER = TokenVerifier("HS256", ISSUER, AUDIENCE, SharedSecret(SECRET))


async def test_a_good_token_names_its_bearer_and_its_scopes() -> None:
    assert await VERIFIER.verify(token()) == Caller("alice", frozenset({"search", "read"}))


@pytest.mark.parametrize("name", hostile_tokens())
async def test_a_hostile_token_gives_no_access(name: str) -> None:
    with pytest.raises(InvalidToken):
        await VERIFIER.verify(hostile_tokens()[name])


@given(st.text(max_size=300) | st.from_regex(r"[A-Za-z0-9_-]{1,40}\.[A-Za-z0-9_-]{1,40}\.[A-Za-z0-9_-]{1,40}"))
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
    await VERIFIER.verify(token(iat=now + LEEWAY_SECONDS - 5, nbf=now + LEEWAY_SECONDS - 5))
    with pytest.raises(InvalidToken, match="expired"):
        await VERIFIER.verify(token(exp=now - 1))


async def test_a_token_for_several_audiences_is_for_us_too() -> None:
    await VERIFIER.verify(token(aud=["https://other.example", AUDIENCE]))


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "search docs"}, {"search", "docs"}),
        ({"scope": ""}, set()),
        ({"scope": None}, set()),
        ({"scope": "openid  profile search"}, {"search"}),
        ({"scope": "SEARCH search,read"}, set()),
        ({"scope": None, "scp": "search admin"}, {"search", "admin"}),
        ({"scope": None, "scp": ["search", "ops"]}, {"search", "ops"}),
        ({"scope": "read", "scp": "admin"}, {"read"}),
    ],
)
async def test_scopes_are_words_of_scope_or_else_of_scp(claims: dict[str, object], scopes: set[str]) -> None:
    assert (await VERIFIER.verify(token(**claims))).scopes == scopes


@pytest.mark.parametrize("kind", ["at+jwt", "AT+JWT", "application/at+jwt", "jwt"])
async def test_access_tokens_by_their_own_type_are_accepted(kind: str) -> None:
    """RFC 9068 section 2.1."""
    await VERIFIER.verify(token({"typ": kind}))
