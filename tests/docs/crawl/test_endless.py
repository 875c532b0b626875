"""Addresses without end: which are taken, and which are views of a page that was read before."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, product
from pathlib import Path
from random import Random
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.docs.crawl.small_site import EMBEDDER, FAST, PROSE, Site, html, library
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.docs.crawl.endless import (
    COMBINATION,
    LIKE_OTHERS,
    EndlessAddresses,
    _Views,
)
from websearch_gateway.docs.store.sqlite import SqliteDocs

PAGE = "https://a.org/list"


def test_addresses_that_differ_in_digits_only_are_limited() -> None:
    endless = EndlessAddresses()
    refusals = [endless.refusal(f"https://a.org/calendar/{day}") for day in range(2_000)]
    assert refusals == [""] * 200 + [LIKE_OTHERS] * 1_800
    assert not endless.refusal("https://a.org/page")


def test_a_known_address_is_always_taken() -> None:
    endless = EndlessAddresses()
    assert not any(endless.refusal("https://a.org/chapter/1") for _ in range(400))
    assert not endless.refusal("https://a.org/chapter/2")


def filters() -> list[str]:
    values = product(("", "one", "two", "three"), repeat=4)
    queries = (
        {name: one for name, one in zip("wxyz", chosen, strict=True) if one} for chosen in values
    )
    return [f"{PAGE}?{urlencode(query)}" for query in queries if query]


def test_combinations_of_filters_are_limited_while_they_say_nothing_new() -> None:
    endless = EndlessAddresses()
    refusals = [endless.refusal(url) for url in filters()]
    assert set(refusals) == {"", COMBINATION}
    # Those with one parameter, and twenty of values that others had before.
    assert refusals.count("") == 12 + 20


@pytest.mark.parametrize("seed", range(20))
def test_filtered_views_are_alike_in_whatever_order_they_are_read(seed: int) -> None:
    endless = EndlessAddresses()
    urls = filters()
    Random(seed).shuffle(urls)
    taken = [url for url in urls if not endless.refusal(url)]
    for url in taken:
        endless.original(url, f"{PROSE} {urlsplit(url).query}")
    left = set(urls) - set(taken)
    assert left
    assert set(map(endless.refusal, left)) == {COMBINATION}


def test_combinations_that_lead_to_new_text_are_all_taken() -> None:
    endless, numbers = EndlessAddresses(), count()
    for url in filters():
        assert not endless.refusal(url)
        text = " ".join(f"word{next(numbers)}" for _ in range(20))
        assert not endless.original(url, text)


def test_addresses_with_one_new_value_each_are_all_taken() -> None:
    endless = EndlessAddresses()
    assert not any(
        endless.refusal(f"{PAGE}?forum={'abc'[at % 3]}&topic={'x' * at}") for at in range(500)
    )


def test_the_same_words_in_another_order_are_a_view_of_the_page_that_was_read_first() -> None:
    endless = EndlessAddresses()
    assert not endless.original(PAGE, "gulls terns herons storks cranes")
    assert endless.original(f"{PAGE}?sort=down", "storks terns cranes herons gulls") == PAGE
    assert not endless.original(f"{PAGE}?page=2", "ducks swans geese grebes divers")
    assert not endless.original("https://a.org/other", "gulls terns herons storks cranes")


def test_a_parameter_is_ignored_once_it_has_proved_to_change_nothing() -> None:
    endless = EndlessAddresses()
    for letter in "abcd":
        page = f"https://a.org/{letter}"
        endless.original(f"{page}?id={letter}&token=1{letter}", f"{PROSE} {letter}")
        assert endless.plain(f"{page}?id={letter}&token=9") == (
            f"{page}?id={letter}" if letter == "d" else f"{page}?id={letter}&token=9"
        )
        endless.original(f"{page}?id={letter}&token=2{letter}", f"{PROSE} {letter}")


def test_a_parameter_that_changes_pages_is_kept_even_if_some_are_the_same() -> None:
    endless = EndlessAddresses()
    for letter in "abc":
        endless.original(f"{PAGE}/{letter}?lang=en", f"{PROSE} {letter}")
        endless.original(f"{PAGE}/{letter}?lang=de", f"{PROSE} {letter}")
        endless.original(
            f"{PAGE}?lang={letter}", " ".join(f"{letter}{number}" for number in range(20))
        )
    assert endless.plain(f"{PAGE}?lang=x") == f"{PAGE}?lang=x"


@pytest.mark.parametrize(
    ("views_between", "old_words", "says_nothing_new"),
    [(7, 9, True), (8, 9, False), (7, 8, False)],
)
def test_a_view_says_nothing_new_if_nine_tenths_of_its_words_stand_in_the_last_eight(
    views_between: int, old_words: int, says_nothing_new: bool
) -> None:
    endless = EndlessAddresses()
    words = [f"old{number}" for number in range(old_words)]
    endless.original(f"{PAGE}?at=first", " ".join(words))
    for view in range(views_between):
        new = " ".join(f"between{view}{letter}" for letter in "abcdefghij")
        endless.original(f"{PAGE}?at=between{view}", new)
    new = [f"new{number}" for number in range(10 - old_words)]
    endless.original(f"{PAGE}?at=last", " ".join(words + new))
    assert endless._views[PAGE].alike == says_nothing_new


@pytest.mark.parametrize(("words", "original"), [("a b c d", ""), ("a b c d e", PAGE)])
def test_a_page_of_less_than_five_words_proves_nothing(words: str, original: str) -> None:
    endless = EndlessAddresses()
    endless.original(PAGE, words)
    assert endless.original(f"{PAGE}?sort=down", words) == original


@pytest.mark.parametrize(("proofs", "is_ignored"), [(3, False), (4, True)])
def test_four_pages_that_stay_the_same_outweigh_one_that_changes(
    proofs: int, is_ignored: bool
) -> None:
    endless = EndlessAddresses()
    for language in ("en", "de"):
        endless.original(f"{PAGE}?lang={language}", f"{PROSE} {language} {language}page")
    for letter in "abcdef"[:proofs]:
        for language in ("en", "de"):
            endless.original(f"{PAGE}/{letter}?lang={language}", f"{PROSE} {letter}")
    assert (endless.plain(f"{PAGE}?lang=x") == PAGE) is is_ignored


class Generated(dict[str, str]):
    """The pages of a site that are made when they are asked for, by path and number of the request."""

    def __init__(self, make: Callable[[str, int], str | None]) -> None:
        self._make, self._asked = make, count(1)

    def get(self, path: str, default: object = None) -> object:  # type: ignore[override]
        page = self._make(path, next(self._asked)) if path.startswith("/docs/") else None
        return default if page is None else page


NAMES = {"/docs/": "Start", "/docs/a.html": "Gulls", "/docs/b.html": "Terns"}


def _tokens(path: str, number: int) -> str | None:
    bare, (one, other) = path.partition("?")[0], (f"{number * 7919:x}z", f"{number * 104729:x}q")
    links = (f"a.html?visit={one}", f"b.html?key={other}", f"./?visit={other}")
    return html(NAMES[bare], f"All of {NAMES[bare]}.", links) if bare in NAMES else None


def _sessions(path: str, number: int) -> str | None:
    bare, session = path.partition("?")[0], f"{number:032x}"
    links = (f"a.html?PHPSESSID={session}", f"b.html?sid={session}", f"/(S({session}))/docs/a.html")
    return html(NAMES[bare], f"All of {NAMES[bare]}.", links) if bare in NAMES else None


def _filters(path: str, number: int) -> str | None:
    parts = urlsplit(path)
    chosen = {name: values[0] for name, values in parse_qs(parts.query).items()}
    views = [
        "./?" + urlencode({**chosen, name: value})
        for name in ("sort", "size", "kind", "year")
        for value in "uvw"
    ]
    links = ("a.html", "b.html", *views)
    return (
        html(f"{NAMES[parts.path]} {sorted(chosen.items())}", links=links)
        if parts.path in NAMES
        else None
    )


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("make", [_tokens, _sessions, _filters])
async def test_a_site_of_three_pages_costs_at_most_sixty_requests(
    make: Callable[[str, int], str | None], site: Site, tmp_path: Path, workers: Workers
) -> None:
    site.pages = Generated(make)  # type: ignore[assignment]
    async with library(SqliteDocs(tmp_path / "docs.db", EMBEDDER.name), site.port, workers) as docs:
        added = await docs.add(site.url, "x", "1", FAST)
        version = await docs.runner.crawl(added.id)
    assert version is not None
    assert (version.status, version.reason) == ("completed", "")
    assert len(site.asked) <= 60


@pytest.mark.parametrize(("between", "is_old"), [(7, True), (8, False)])
def test_a_view_is_compared_with_the_last_eight(between: int, is_old: bool) -> None:
    views = _Views()
    words = frozenset("abcdefghij")
    views.last_words.append(words)
    views.last_words.extend(frozenset({f"other{number}"}) for number in range(between))
    assert views.has_said(words) is is_old


@pytest.mark.parametrize(("new", "is_old"), [("a", True), ("ab", False)])
def test_a_view_says_nothing_new_with_one_new_word_in_ten(new: str, is_old: bool) -> None:
    views = _Views()
    views.last_words.append(frozenset("abcdefghij") - set(new))
    assert views.has_said(frozenset("abcdefghij")) is is_old
