from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.sandbox import Sandbox
from websearch_gateway.sandbox.small_web import (
    Page,
    best_sentences,
    library,
    render,
    search,
    split_sentences,
    terms,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PAGES = list(library().values())


def test_there_are_at_least_forty_pages_in_four_languages() -> None:
    assert len(PAGES) >= 40
    assert {page.language for page in PAGES} == {"en", "de", "ja", "es"}
    assert len({page.title for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.slug)
def test_every_page_is_long_enough_to_rank_and_short_enough_to_read(page: Page) -> None:
    length = len(page.text) if page.language == "ja" else len(page.text.split())
    assert 150 <= length <= 700
    assert len(page.sentences) >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.slug)
def test_every_link_between_pages_leads_somewhere(page: Page) -> None:
    targets = [part.split('"', 1)[0] for part in page.html.split('href="/pages/')[1:]]
    assert set(targets) <= set(library())


def test_a_rendered_page_has_what_real_pages_have_around_their_text() -> None:
    html = render(library()["loomdb-pricing"], NOW)
    for part in (
        "<nav>",
        "<article>",
        "<h1>LoomDB Cloud pricing</h1>",
        "<table>",
        "<footer>",
        '<html lang="en">',
    ):
        assert part in html
    assert "2026-08-01" in html


def test_a_page_with_an_age_is_always_that_old() -> None:
    page = library()["storm-ines"]
    assert page.published(NOW) == NOW - timedelta(hours=5)
    assert page.published(NOW + timedelta(days=99)) == NOW + timedelta(days=99) - timedelta(hours=5)


def test_an_end_of_a_sentence_is_seen_in_latin_and_in_japanese_text() -> None:
    assert split_sentences("One costs 2.40 crowns. “Two,” she said. 3 is more!") == [
        "One costs 2.40 crowns.",
        "“Two,” she said.",
        "3 is more!",
    ]
    assert split_sentences("一つ目です。二つ目です。") == ["一つ目です。", "二つ目です。"]


@pytest.mark.parametrize(
    ("path", "status", "content_type"),
    [
        ("/pages/espresso-at-home", 200, "text/html"),
        ("/pages", 200, "text/html"),
        ("/pages/no-such-page", 404, "text/plain"),
        ("/pages/special/not-found", 404, "text/html"),
        ("/pages/special/forbidden", 403, "text/html"),
        ("/pages/special/moved", 301, ""),
        ("/pages/special/moved-twice", 302, ""),
        ("/pages/special/tides.json", 200, "application/json"),
        ("/pages/special/notes.txt", 200, "text/plain"),
        ("/pages/special/pixel.png", 200, "image/png"),
        ("/pages/special/leaflet.pdf", 200, "application/pdf"),
        ("/pages/special/empty", 200, "text/html"),
        ("/robots.txt", 200, "text/plain"),
    ],
)
async def test_the_small_web_has_the_kinds_of_pages_that_every_reader_meets(
    http: httpx2.AsyncClient, path: str, status: int, content_type: str
) -> None:
    reply = await http.get(path)
    assert reply.status_code == status
    assert reply.headers.get("content-type", "").startswith(content_type)


async def test_redirects_end_at_a_page(http: httpx2.AsyncClient) -> None:
    reply = await http.get("/pages/special/moved-twice", follow_redirects=True)
    assert [str(hop.url.path) for hop in reply.history] == [
        "/pages/special/moved-twice",
        "/pages/special/moved",
    ]
    assert "18 grams" in reply.text


async def test_the_long_page_is_longer_than_any_sensible_answer(http: httpx2.AsyncClient) -> None:
    assert len((await http.get("/pages/special/long")).text) > 2_000_000


async def test_the_site_map_names_every_page_with_its_full_address(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    text = (await http.get("/sitemap.xml")).text
    assert all(f"<loc>{sandbox.url}/pages/{slug}</loc>" in text for slug in library())


def _slugs(query: str, **options: object) -> list[str]:
    return [match.page.slug for match in search(query, NOW, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("How tall is the Eiffel Tower?", "eiffel-tower"),
        ("descaling an espresso machine", "descale-espresso-machine"),
        ("who won the election in Gull Harbour", "gull-harbour-election"),
        ("Atlas error A2004", "atlas-api-errors"),
        ("LoomDB price per month", "loomdb-pricing"),
        ("opening hours of the library on Thursdays", "library-hours"),
        ("煎茶のお湯の温度", "ryokucha"),
        ("Wärmepumpe Vorlauftemperatur", "waermepumpe"),
        ("tortilla de patatas", "tortilla-espanola"),
    ],
)
def test_the_page_that_answers_comes_first(query: str, slug: str) -> None:
    assert _slugs(query)[0] == slug


def test_words_that_stand_nowhere_find_nothing() -> None:
    assert _slugs("zyzzyva quux") == []
    assert _slugs("the of and") == []


def test_freshness_leaves_out_what_is_older_and_what_has_no_date() -> None:
    assert "skerry-lighthouse" in _slugs("harbour island ferry")
    week = _slugs("harbour island ferry", since=NOW - timedelta(days=7))
    assert week[0] == "storm-ines"
    assert set(week) <= {"storm-ines", "gull-harbour-election"}
    assert "storm-ines" not in _slugs("harbour island ferry", until=NOW - timedelta(days=1))


def test_a_language_is_strict_and_a_region_only_moves_pages() -> None:
    assert _slugs("Suppe Kartoffeln tortilla", language="de") == ["kartoffelsuppe"]
    plain, spanish = (
        search("patatas Kartoffeln", NOW),
        search("patatas Kartoffeln", NOW, region="ES"),
    )
    assert {match.page.slug for match in plain} == {match.page.slug for match in spanish}
    assert spanish[0].page.region == "ES"
    assert search("patatas Kartoffeln", NOW, region="DE")[0].page.region == "DE"


def test_news_search_finds_news_only() -> None:
    found = search("harbour", NOW, news=True)
    assert found
    assert all("news" in match.page.topics for match in found)


def test_forms_of_a_word_share_a_stem() -> None:
    assert len(set(terms("bake baked bakes baking"))) == 1
    assert terms("thursday") == terms("thursdays")
    assert terms("C++ and C#") == ["c++", "c#"]


def test_the_sentence_with_the_telling_word_is_chosen() -> None:
    [sentence] = best_sentences(library()["library-hours"], "library open on Thursday", 1)
    assert "on Thursdays it stays open until nine" in sentence


@given(st.text(max_size=60))
def test_any_query_gets_the_same_well_formed_answer_twice(query: str) -> None:
    found = search(query, NOW)
    assert found == search(query, NOW)
    assert [match.score for match in found] == sorted(
        (match.score for match in found), reverse=True
    )
    assert all(match.snippet and match.score > 0 for match in found)
