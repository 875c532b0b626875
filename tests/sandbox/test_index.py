from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.sandbox.index import best_sentences, search, terms
from websearch_gateway.sandbox.pages import library

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


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
    plain, spanish = search("patatas Kartoffeln", NOW), search("patatas Kartoffeln", NOW, region="ES")
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
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)
    assert all(match.snippet and match.score > 0 for match in found)
