"""API keys: who gets in with one, and which settings are refused."""

from __future__ import annotations

import pytest

from tests.entrypoints.http.calls import QUESTION
from tests.entrypoints.http.conftest import Door
from websearch_gateway.entrypoints.http.authentication import InvalidToken, digest, mint_static, static_verifier
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import Caller
from websearch_gateway.settings import Settings

ALICE, ALICE_ENTRY = mint_static("alice", ["search", "read"])
BOB, BOB_ENTRY = mint_static("bob", ["ops"])
AUTH = {"auth_mode": "token", "auth_tokens": f"{ALICE_ENTRY}, {BOB_ENTRY}"}


async def test_a_key_names_its_bearer_and_scopes() -> None:
    verifier = static_verifier(AUTH["auth_tokens"])
    assert await verifier.verify(ALICE) == Caller("alice", frozenset({"search", "read"}))
    assert await verifier.verify(BOB) == Caller("bob", frozenset({"ops"}))


@pytest.mark.parametrize(
    "token",
    ["", "x", ALICE + " ", ALICE.upper(), digest(ALICE), "x" * 100_000, "\ud800"],
    ids=["empty", "short", "with a blank", "in capitals", "its digest", "long", "half a character"],
)
async def test_anything_else_proves_nothing(token: str) -> None:
    with pytest.raises(InvalidToken):
        await static_verifier(AUTH["auth_tokens"]).verify(token)


async def test_an_entry_without_scopes_may_search_and_read() -> None:
    verifier = static_verifier(f"carol:{digest(ALICE).upper()}")
    assert (await verifier.verify(ALICE)).scopes == {"search", "read"}


@pytest.mark.parametrize(
    "entry",
    ["", " , ", "alice", "alice:abc", f":{digest('x')}", f"local:{digest('x')}", f"a:{digest('x')}:nope", "a:b:c:d"],
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


@pytest.mark.parametrize(("user", "scopes"), [("a:b", ["read"]), ("", ["read"]), ("alice", ["nope"])])
def test_a_key_for_an_impossible_name_or_scope_is_not_made(user: str, scopes: list[str]) -> None:
    with pytest.raises(SearchValidationError):
        mint_static(user, scopes)


async def test_a_key_is_taken_from_either_header(door: Door) -> None:
    async with door(**AUTH) as http:
        for headers in ({"Authorization": f"Bearer {ALICE}"}, {"X-API-Key": ALICE}):
            assert (await http.post("/v1/search", json={"query": QUESTION}, headers=headers)).status_code == 200
        both = {"Authorization": f"Bearer {ALICE}", "X-API-Key": BOB}
        for headers in ({}, {"X-API-Key": "wrong"}, both, {"X-API-Key": ""}):
            assert (await http.post("/v1/search", json={"query": QUESTION}, headers=headers)).status_code == 401
        assert (await http.get("/", headers={"X-API-Key": BOB})).status_code == 200
        assert (await http.get("/", headers={"X-API-Key": ALICE})).status_code == 403


async def test_a_browser_without_a_key_gets_a_page_that_says_what_to_do(door: Door) -> None:
    async with door(**AUTH) as http:
        page = await http.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        program = await http.get("/", headers={"Accept": "*/*"})
    assert (page.status_code, program.status_code) == (401, 401)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "A token is needed" in page.text
    assert page.headers["www-authenticate"] == program.headers["www-authenticate"]
    assert program.json()["error"]["code"] == "AUTH"


def test_settings_show_no_digest() -> None:
    settings = Settings(**AUTH)
    assert digest(ALICE) not in repr(settings) + str(settings.shown())
