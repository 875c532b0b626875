"""The promise of every answer: each citation is at its stated place, for any claim of an engine."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from websearch_gateway.base.urls import canonical, host
from websearch_gateway.entrypoints.reply.texts import places_of
from websearch_gateway.models import (
    Answer,
    AppliedFilters,
    Fallback,
    SearchQuery,
    Source,
    Span,
    TokenUsage,
)
from websearch_gateway.pipeline.finalize import MAX_SOURCES, finalize
from websearch_gateway.results import SearchResponse

NOON = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
QUERY = SearchQuery("how high is the tower", max_results=8)
TOWER = "https://tower.example/height"
RIVER = "https://river.example/length"


def settled(
    text: str, *spans: Span, query: SearchQuery = QUERY, sources: tuple[Source, ...] = ()
) -> SearchResponse:
    return finalize(
        query, Answer(text, spans, "gpt-web-search", sources=sources), responded_at=NOON
    )


def cited(text: str, piece: str, url: str, title: str = "", *, off: int = 0) -> Span:
    start = text.index(piece) + off
    return Span(url, title, start, start + len(piece))


def test_citations_are_ranked_by_first_use_with_one_per_page_for_all_its_places() -> None:
    text = (
        f"It is 330 m high. ([tower.example]({TOWER}?utm_source=openai)) The river is long. ([river.example]({RIVER})) "
        f"It was lower. ([tower.example]({TOWER}))"
    )
    response = settled(
        text,
        cited(text, f"([river.example]({RIVER}))", RIVER, "The river"),
        Span(TOWER, "The tower", text.rindex("([tower"), len(text)),
        cited(text, f"([tower.example]({TOWER}?utm_source=openai))", f"{TOWER}?utm_source=openai"),
    )
    assert [(c.rank, c.url, c.title, c.text_snippet) for c in response.citations] == [
        (1, TOWER, "The tower", "It is 330 m high."),
        (2, RIVER, "The river", "The river is long."),
    ]
    assert "utm_source" not in response.text
    assert [response.text[c.start_index : c.end_index] for c in response.citations] == [
        f"([tower.example]({TOWER}))",
        f"([river.example]({RIVER}))",
    ]
    assert [
        [response.text[s.start_index : s.end_index] for s in c.spans] for c in response.citations
    ] == [
        [f"([tower.example]({TOWER}))"] * 2,
        [f"([river.example]({RIVER}))"],
    ]
    assert (response.sources, response.warnings) == ((), ())


def test_citations_beyond_the_wanted_number_are_cut_with_a_warning() -> None:
    text = f"High. ([tower.example]({TOWER})) Long. ([river.example]({RIVER}))"
    response = settled(
        text,
        cited(text, f"([tower.example]({TOWER}))", TOWER),
        cited(text, f"([river.example]({RIVER}))", RIVER),
        query=SearchQuery("q", max_results=1),
    )
    assert [c.url for c in response.citations] == [TOWER]
    assert [source.url for source in response.sources] == [RIVER]
    assert response.warnings == (
        "Cited pages beyond maxResults, listed in sources without their place: 1.",
    )


def test_each_place_is_visible_as_a_link_or_a_mark_with_the_number_of_its_citation() -> None:
    text = f"High. It sways. ([tower.example]({TOWER})) Long. [7]"
    response = settled(
        text, cited(text, "High.", RIVER), cited(text, f"([tower.example]({TOWER}))", TOWER)
    )
    assert response.text == f"High. [1] It sways. ([tower.example]({TOWER})) Long. [7]"
    assert [
        (place.number, response.text[place.start : place.end]) for place in places_of(response)
    ] == [
        (1, "High."),
        (2, f"([tower.example]({TOWER}))"),
    ]


def test_without_answers_there_is_no_text_and_the_snippets_remain() -> None:
    text = f"It is 330 m high. ([tower.example]({TOWER}))"
    response = settled(
        text,
        cited(text, f"([tower.example]({TOWER}))", TOWER),
        query=SearchQuery("q", include_answers=False),
    )
    (citation,) = response.citations
    assert (response.text, citation.start_index, citation.end_index, citation.spans) == (
        "",
        0,
        0,
        (),
    )
    assert citation.text_snippet == "It is 330 m high."


def test_a_span_that_matches_nothing_is_dropped_with_a_warning() -> None:
    text = f"It is 330 m high. ([tower.example]({TOWER})) More words follow here."
    response = settled(
        text, cited(text, f"([tower.example]({TOWER}))", TOWER), Span(RIVER, "The river", 46, 52)
    )
    assert [c.url for c in response.citations] == [TOWER]
    assert [(source.url, source.title) for source in response.sources] == [(RIVER, "The river")]
    assert response.warnings == ("Citations left out because their place in the text is wrong: 1.",)


def test_pages_that_no_span_cites_are_sources_not_citations() -> None:
    """A reply about the weather has no annotations after a real search."""
    urls = (f"{TOWER}?utm_source=openai", TOWER, RIVER, "oai-weather")
    response = settled("It is sunny, 23 °C.", sources=tuple(map(Source, urls)))
    assert response.citations == ()
    assert [(source.url, source.title) for source in response.sources] == [
        (TOWER, "tower.example"),
        (RIVER, "river.example"),
    ]
    assert response.warnings == (
        "No sentence is tied to a source: `sources` lists the pages that were found.",
    )


def test_known_metadata_of_a_page_appear_in_citations_and_sources() -> None:
    text = f"It is 330 m high. ([tower.example]({TOWER}))"
    known = (
        Source(f"{TOWER}?utm_source=a", "The\ttower\x1b", "2026-05-01"),
        Source(RIVER, "", "2026-06-02T10:00:00Z"),
    )
    response = settled(text, cited(text, f"([tower.example]({TOWER}))", TOWER), sources=known)
    assert [(c.title, c.published_at) for c in response.citations] == [("The tower", "2026-05-01")]
    assert [(s.title, s.published_at) for s in response.sources] == [
        ("river.example", "2026-06-02T10:00:00Z")
    ]


def test_the_number_of_sources_is_bounded() -> None:
    response = settled("", sources=tuple(Source(f"https://a.example/{n}") for n in range(99)))
    assert len(response.sources) == MAX_SOURCES


def test_an_answer_that_found_nothing_says_which_filters_there_were_and_what_to_try() -> None:
    query = SearchQuery("q", freshness_hours=24, include_domains=("example.org",))
    answer = Answer("I found nothing.", (), "gpt-web-search", applied=AppliedFilters("prompt"))
    assert finalize(query, answer, responded_at=NOON).warnings == (
        "The answer names no source.",
        "Nothing was found with these filters: the last 1 day; only example.org. Try a larger `freshnessHours` "
        "or none, other `includeDomains`, or other words.",
    )
    named = replace(answer, text="I know it.", sources=(Source(TOWER),))
    assert len(finalize(query, named, responded_at=NOON).warnings) == 1


def test_a_filter_that_was_not_applied_is_a_warning_of_the_answer() -> None:
    query = SearchQuery("q", freshness_hours=24, region="GB")
    answer = Answer("It is sunny.", (), "gpt-web-search", applied=AppliedFilters("prompt"))
    first, *_ = finalize(query, answer, responded_at=NOON).warnings
    assert first == "gpt-web-search has no filter by region GB: results may be for others."


def test_an_answer_without_any_source_says_so() -> None:
    assert settled("It is sunny.").warnings == ("The answer names no source.",)
    assert settled("").warnings == ()


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "file:///etc/passwd", "https://", "http://[", "https://a b.example"],
)
def test_only_web_addresses_are_cited(url: str) -> None:
    response = settled("A claim.", Span(url, "t", 0, 8))
    assert response.citations == ()
    assert response.warnings[0].startswith("Citations left out")


def test_a_title_is_never_empty_and_holds_no_control_characters() -> None:
    response = settled(
        "A claim. Another.",
        Span(TOWER, " a\x00b\u202ec\n\td ", 0, 8),
        Span(RIVER, "\x1b \u2066", 9, 17),
    )
    assert [c.title for c in response.citations] == ["a b c d", "river.example"]


def test_lone_surrogates_are_replaced_so_that_the_answer_can_be_encoded() -> None:
    """JSON may carry half of a surrogate pair; UTF-8 cannot."""
    response = settled("A claim \ud83d.", Span(TOWER, "half \udc00", 0, 10))
    assert response.model_dump_json().encode()
    assert response.text == "A claim \ufffd. [1]"
    assert response.citations[0].title == "half"


def test_terminal_controls_are_removed_from_the_text_and_the_spans_move_along() -> None:
    """ESC and BEL begin and end commands to a terminal; bidi controls change the order in which a text appears."""
    text = "\x1b]0;owned\x07The\r\n\u202etower\u2066 is\x9b 330 m high. [1]\tBread\x00 is nice. [2]"
    response = settled(text, cited(text, "[1]", TOWER), cited(text, "[2]", RIVER))
    assert response.text == "]0;ownedThe\ntower is 330 m high. [1]\tBread is nice. [2]"
    assert [response.text[c.start_index : c.end_index] for c in response.citations] == [
        "[1]",
        "[2]",
    ]
    assert response.warnings == ()


def test_all_other_parts_of_the_answer_arrive() -> None:
    response = finalize(
        SearchQuery("q", freshness_hours=24, region="GB"),
        Answer(
            "",
            (),
            "gpt-web-search",
            model="gpt",
            usage=TokenUsage(12, 34),
            applied=AppliedFilters(freshness="prompt", region="GB"),
            search_suggestions="<b>as it is\x1b</b>",
            warnings=("one", "two", "one"),
            fallback=Fallback("openai", "TIMEOUT"),
        ),
        responded_at=datetime(2026, 11, 21, 14, 0, tzinfo=timezone(timedelta(hours=2))),
        cost_usd=0.0100000049,
    )
    assert response.model_dump(by_alias=True) == {
        "text": "",
        "citations": (),
        "sources": (),
        "provider": "gpt-web-search",
        "model": "gpt",
        "respondedAt": "2026-11-21T12:00:00.000Z",
        "usage": {"promptTokens": 12, "responseTokens": 34},
        "cache": "miss",
        "cacheMatch": None,
        "ageSeconds": 0.0,
        "fallback": {"from": "openai", "reason": "TIMEOUT"},
        "filters": {
            "freshness": {"requested": 24, "applied": "prompt"},
            "region": {"requested": "GB", "applied": "GB"},
            "domains": None,
        },
        "costUsd": 0.01,
        "searchSuggestions": "<b>as it is\x1b</b>",
        "warnings": ("one", "two"),
        "error": None,
    }


BIDI_ORDERS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}

urls = st.sampled_from(
    (
        TOWER,
        RIVER,
        f"{TOWER}?a=1&utm_source=openai#x",
        "https://例え.example/高さ_(塔)",
        "https://a.example?ref=x",
        "nonsense",
    )
)
words = st.text(alphabet=st.characters(), max_size=30)
pieces = st.one_of(
    words,
    urls.map(lambda url: f"([{host(url)}]({url}))"),
    urls.map(lambda url: f"[A title]({url})"),
    urls,
    st.sampled_from(
        (
            "🗼",
            "🇯🇵",
            "👩‍👩‍👧",
            "e\u0301",
            "שלום. ",
            "。",
            ". ",
            "\n- ",
            "(",
            "))",
            "[1]",
            "\ue200",
            "&amp;",
        )
    ),
    st.sampled_from(("\x1b]8;;", "\x07", "\x9b1m", "\r\n", "\x00", "\u202e", "\u2066", "\u200f")),
)
texts = st.lists(pieces, max_size=12).map("".join)
claims = st.lists(
    st.builds(Span, urls, words, st.integers(-5, 400), st.integers(-5, 400)), max_size=6
)


@given(texts, claims, st.booleans())
@example("e\u0301", [Span(TOWER, "", 0, 1)], True)
@example("a" * 40 + "🗼", [Span(TOWER, "", 39, 40)], True)
def test_every_citation_is_at_its_stated_place(
    text: str, spans: list[Span], include_answers: bool
) -> None:
    """Ours: any text, any Unicode, any offsets."""
    query = SearchQuery("q", max_results=4, include_answers=include_answers)
    response = settled(text, *spans, query=query)
    assert response.model_dump_json().encode()
    assert not any(is_control(character) for character in response.text)
    assert [c.rank for c in response.citations] == list(range(1, len(response.citations) + 1))
    assert len({canonical(c.url) for c in response.citations}) == len(response.citations) <= 4
    for citation in response.citations:
        assert 0 <= citation.start_index <= citation.end_index <= len(response.text)
        assert citation.title
        assert len(citation.text_snippet) <= 300
        assert bool(citation.spans) == include_answers
        for span in citation.spans:
            cited_text = response.text[span.start_index : span.end_index]
            assert is_citation_of(citation.url, cited_text, response.text), (citation, cited_text)
    assert not {canonical(c.url) for c in response.citations} & {
        canonical(s.url) for s in response.sources
    }


def is_control(character: str) -> bool:
    """An independent check whether a character is a control character."""
    if unicodedata.category(character) == "Cc":
        return character not in "\n\t"
    return character in "\u200e\u200f\u061c" or unicodedata.bidirectional(character) in BIDI_ORDERS


def is_citation_of(url: str, cited_text: str, text: str) -> bool:
    """An independent check whether a slice cites `url`: it holds the URL, or words if the URL is nowhere."""
    if canonical(url) in cited_text or url in cited_text:
        return True
    labelled = f"[{cited_text}]({url}" in text
    return labelled or any(character.isalnum() for character in cited_text) or "[1]" in cited_text


@given(
    st.lists(
        st.tuples(words, st.sampled_from((TOWER, RIVER, "https://a.example/x?id=7"))),
        min_size=1,
        max_size=6,
    ),
    st.integers(-3, 3),
)
def test_links_are_found_again_when_their_spans_are_off(
    claims: list[tuple[str, str]], off: int
) -> None:
    """OpenAI's: one span of forty recorded ones was off by two."""
    text, spans = "", []
    for claim, url in claims:
        text += claim.replace("[", "").replace("]", "") + " "
        link = (
            f"([{host(url)}]({url}?utm_source=openai))"
            if "?" not in url
            else f"([{host(url)}]({url}&utm_source=openai))"
        )
        spans.append(Span(url, "", len(text) + off, len(text) + len(link) + off))
        text += link + " "
    response = settled(text, *spans)
    assert {c.url for c in response.citations} == {url for _, url in claims}
    for citation in response.citations:
        expected = f"([{host(citation.url)}]({citation.url}))"
        assert response.text[citation.start_index : citation.end_index] == expected


def test_a_citation_of_a_pdf_names_its_page() -> None:
    url = "https://a.example/x.pdf"
    spans = (
        Span(f"{url}#page=12", "", 4, 7),
        Span(f"{url}#page=3", "", 12, 15),
        Span(TOWER, "", 20, 23),
    )
    found = settled("One [1] two [1] two [2]", *spans).citations
    assert [(one.url, one.page, len(one.spans)) for one in found] == [
        (f"{url}#page=12", 12, 2),
        (TOWER, None, 1),
    ]
