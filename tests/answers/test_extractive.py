"""The answer without a model is short, quotes and cites each sentence, and names the pages that it could not read."""

from datetime import UTC, datetime
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.extractive import MAX_ANSWER, MAX_PAGE, NO_RESULTS, compose
from websearch_gateway.base.notes import NO_ANSWER, nearest
from websearch_gateway.base.urls import strip_trackers
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.models import Answer, Hit, Page, SearchQuery, Source
from websearch_gateway.pipeline.finalize import finalize
from websearch_gateway.ports import Composer

QUESTION = SearchQuery("How tall is the Eiffel tower?")
TWO = SearchQuery("How tall is the Eiffel tower, and how old?")
THREE = SearchQuery("How tall is the Eiffel tower, how old and how heavy?")


def hit(name: str, snippet: str = "", content: str | None = None) -> Hit:
    return Hit(
        url=f"https://{name}.example/page",
        title=f"Title of {name}",
        snippet=snippet,
        provider="brave",
        content=content,
    )


def page(name: str, markdown: str, **more: object) -> Page:
    url = f"https://{name}.example/page"
    return Page(url=url, final_url=url, title=f"Page of {name}", markdown=markdown, **more)  # type: ignore[arg-type]


def answer(query: SearchQuery, hits: list[Hit], *pages: Page) -> Answer:
    return compose(query, hits, {page.url: page for page in pages}, encode=encode)


def paragraphs_of(found: Answer) -> list[str]:
    """The quoted sentences, without the line which says that none of them answers."""
    return found.text.removeprefix(f"{nearest('en')}\n\n").split("\n\n")


@pytest.mark.parametrize(
    ("question", "about", "hedge"),
    [
        (
            "When was the Eiffel tower painted?",
            "The Eiffel tower is tall, and painters love it.",
            nearest("en"),
        ),
        (
            "Wann wurde der Eiffelturm gestrichen?",
            "Der Eiffelturm ist hoch, und Maler lieben ihn.",
            nearest("de"),
        ),
    ],
)
def test_near_sentences_that_do_not_answer_follow_a_line_that_says_so(
    question: str, about: str, hedge: str
) -> None:
    found = answer(
        SearchQuery(question),
        [hit("a")],
        page("a", f"{about} " + "Bread is made from flour and water. " * 9),
    )
    assert found.text.split("\n\n")[0] == hedge
    assert found.text.endswith(f"{about} [1]")


def test_it_is_a_composer() -> None:
    composer: Composer = partial(compose, encode=encode)
    assert composer(QUESTION, [], {}).text == NO_RESULTS


def test_every_sentence_is_followed_by_the_mark_of_its_page() -> None:
    found = answer(
        TWO,
        [hit("a"), hit("b")],
        page("a", "The Eiffel tower is 330 metres tall."),
        page("b", "The Eiffel tower is 137 years old. Bread is nice."),
    )
    assert found.text == (
        "The Eiffel tower is 330 metres tall. [1]\n\nThe Eiffel tower is 137 years old. [2]"
    )
    assert [(found.text[span.start : span.end], span.url, span.title) for span in found.spans] == [
        ("[1]", "https://a.example/page", "Page of a"),
        ("[2]", "https://b.example/page", "Page of b"),
    ]
    assert found.provider == "brave-raw-search"
    assert found.warnings == ()


def test_a_sentence_of_a_pdf_is_cited_with_its_page() -> None:
    text = "*Page 1*\n\nBread is nice.\n\n*Page 12*\n\nThe Eiffel tower\nis 330 metres tall."
    found = answer(QUESTION, [hit("a")], page("a", text, content_type="application/pdf"))
    assert [span.url for span in found.spans] == ["https://a.example/page#page=12"]
    found = answer(QUESTION, [hit("a")], page("a", text))
    assert [span.url for span in found.spans] == ["https://a.example/page"]


def test_marks_count_the_cited_pages_by_first_use() -> None:
    found = answer(
        QUESTION,
        [hit("a"), hit("b")],
        page("a", "Nothing of use."),
        page("b", "The Eiffel tower is 330 metres tall."),
    )
    assert found.text.endswith("[1]")
    assert found.spans[0].url == "https://b.example/page"
    assert [source.url for source in found.sources] == [
        "https://a.example/page",
        "https://b.example/page",
    ]


def test_the_settled_citations_are_the_sentences_and_their_ranks_the_marks() -> None:
    """The promise of the whole gateway: each citation's snippet is the sentence that it supports."""
    found = answer(
        TWO,
        [hit("a"), hit("b")],
        page("a", "The Eiffel tower is 330 metres tall in the U.S."),
        page("b", "- Eiffel tower: 137 years old"),
    )
    settled = finalize(TWO, found, responded_at=datetime.now(UTC))
    assert settled.text == found.text
    assert {(cited.rank, cited.text_snippet) for cited in settled.citations} == {
        (1, "The Eiffel tower is 330 metres tall in the U.S."),
        (2, "Eiffel tower: 137 years old"),
    }
    assert all(
        settled.text[c.start_index : c.end_index] == f"[{c.rank}]" for c in settled.citations
    )
    assert settled.warnings == ()


def test_two_links_to_one_page_share_its_number() -> None:
    """Finalize merges them into one citation, so with two numbers the marks would not be the ranks."""
    texts = {
        "https://a.example/page?utm_source=brave": "The Eiffel tower is 330 metres tall.",
        "https://a.example/page": "The Eiffel tower is 7,300 tonnes heavy.",
        "https://b.example/page": "The Eiffel tower is 137 years old.",
    }
    hits = [Hit(url, "", "", "brave") for url in texts]
    found = compose(
        THREE, hits, {url: Page(url, url, "", text) for url, text in texts.items()}, encode=encode
    )
    assert len(found.spans) == 3
    settled = finalize(THREE, found, responded_at=datetime.now(UTC))
    ranks = {cited.url: f"[{cited.rank}]" for cited in settled.citations}
    assert len(ranks) == 2
    assert [found.text[span.start : span.end] for span in found.spans] == [
        ranks[strip_trackers(span.url)] for span in found.spans
    ]


def test_when_nothing_answers_it_says_so_and_gives_the_links() -> None:
    found = answer(
        QUESTION, [hit("a")], page("a", "Peel the potatoes. Cook them for half an hour.")
    )
    assert (found.text, found.spans) == (NO_ANSWER, ())
    assert found.sources == (Source("https://a.example/page", "Page of a"),)


def test_a_source_carries_the_date_of_its_page_or_else_of_its_hit() -> None:
    hits = [
        Hit("https://a.example/", "", "", "brave", published="2026-01-02"),
        Hit("https://b.example/", "", "", "b"),
    ]
    dated = Page("https://b.example/", "https://b.example/", "", "Soup.", published="2026-03-04")
    found = compose(QUESTION, hits, {dated.url: dated}, encode=encode)
    assert [source.published for source in found.sources] == ["2026-01-02", "2026-03-04"]


def test_an_answer_without_results_says_so() -> None:
    found = answer(QUESTION, [])
    assert (found.text, found.spans, found.sources, found.provider) == (
        NO_RESULTS,
        (),
        (),
        "raw-search",
    )


def test_a_snippet_replaces_an_unreadable_page_and_a_warning_says_so() -> None:
    found = answer(
        QUESTION,
        [hit("a", snippet="The Eiffel tower is 330 m tall and ..."), hit("b", snippet="Soup.")],
    )
    assert found.text == "The Eiffel tower is 330 m tall and ... [1]"
    assert found.spans[0].title == "Title of a"
    assert found.warnings == (
        "Could not be read; only its search snippet was used: a.example, b.example.",
    )


def test_a_host_is_named_once_in_a_warning() -> None:
    hits = [Hit(f"https://a.example/{n}", "", "", "brave") for n in range(2)]
    assert answer(QUESTION, hits).warnings == (
        "Could not be read; only its search snippet was used: a.example.",
    )


def test_a_vendors_page_text_is_preferred_to_its_snippet_but_not_to_the_page() -> None:
    sent = hit(
        "a",
        snippet="The Eiffel tower is tall.",
        content="# Eiffel\n\nThe Eiffel tower is 330 metres tall.",
    )
    found = answer(QUESTION, [sent])
    assert found.text == "The Eiffel tower is 330 metres tall. [1]"
    assert found.warnings == (
        "Could not be read; the text from the search provider was used instead: a.example.",
    )
    assert answer(QUESTION, [sent], page("a", "The Eiffel tower measures 330.")).text.startswith(
        "The Eiffel tower meas"
    )


def test_no_more_pages_are_used_than_the_requested_results() -> None:
    query = SearchQuery(QUESTION.text, max_results=1)
    text = "The Eiffel tower is {} metres tall."
    found = answer(
        query,
        [hit("a"), hit("b")],
        page("a", text.format(330)),
        page("b", "In 2022 " + text.format(330)),
    )
    assert [source.url for source in found.sources] == ["https://a.example/page"]
    assert {span.url for span in found.spans} == {"https://a.example/page"}


def test_a_page_that_was_found_twice_is_one_source() -> None:
    found = answer(
        QUESTION, [hit("a"), hit("a")], page("a", "The Eiffel tower is 330 metres tall.")
    )
    assert [source.url for source in found.sources] == ["https://a.example/page"]


def test_a_warning_names_each_page_that_was_cut_or_is_too_long() -> None:
    endless = (
        "Filler words everywhere. " * (MAX_PAGE // 25 + 1) + "The Eiffel tower is 330 metres tall."
    )
    found = answer(
        QUESTION,
        [hit("a"), hit("b")],
        page("a", endless),
        page("b", "x", truncated=True, warnings=("Odd charset.",)),
    )
    assert found.text == NO_ANSWER
    assert found.warnings == (
        f"Very long; only the first 200,000 of {len(endless):,} characters were read: a.example.",
        "Odd charset: b.example.",
        "Too large to be fetched whole; its end is missing: b.example.",
    )


def test_long_pages_share_the_effort_limit_and_a_short_one_is_read_whole() -> None:
    """Four pages of 200,000 characters and the ends of their sentences are more than all pages together may take."""
    long = "Filler words are everywhere on this page. " * 4_700
    fact = "The Eiffel tower is 330 metres tall."
    pages = [page(name, long + fact) for name in "abcd"]
    found = answer(QUESTION, [hit(name) for name in "abcde"], *pages, page("e", fact))
    assert [span.url for span in found.spans] == ["https://e.example/page"]
    (warning,) = found.warnings
    assert warning.startswith("Very long; only the first 10")
    assert warning.endswith(
        f"of {len(long + fact):,} characters were read: a.example, b.example, c.example, d.example."
    )
    alone = answer(QUESTION, [hit("a")], pages[0])
    assert (alone.text, alone.warnings) == (f"{fact} [1]", ())


@pytest.mark.parametrize(
    "scrap",
    [
        "tower\n=\n",
        "# tower\n",
        "| tower is tall | b |\n",
        "- a\n",
        "tower。",
        "? ",
        "\ufdfa",
        "tower [a](b) ",
        "```\n",
        "e.g. ",
    ],
)
def test_eight_hostile_pages_are_read_in_part(scrap: str) -> None:
    """There is one limit for all pages together: without it the first four shapes took seconds."""
    names = [f"page{place}" for place in range(8)]
    pages = [page(name, scrap * (200_000 // len(scrap))) for name in names]
    query = SearchQuery(QUESTION.text, max_results=8)
    found = answer(query, [hit(name) for name in names], *pages)
    assert found.warnings[0].startswith("Very long")


@pytest.mark.parametrize("sentences", [3, 300])
@pytest.mark.parametrize("length", range(1, 7))
def test_an_answer_is_at_most_800_characters_of_whole_sentences(
    sentences: int, length: int
) -> None:
    """Sentences of every length must leave room for their marks, and for the line which says that none answers."""
    word = "filler"[:length]
    text = " ".join(
        f"Tall {' '.join(f'{word}{n}x{k}' for k in range(30))} tower." for n in range(sentences)
    )
    found = answer(QUESTION, [hit("a")], page("a", text))
    assert found.spans
    assert len(found.text) <= MAX_ANSWER
    assert all(part.endswith(" tower. [1]") for part in paragraphs_of(found))


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                (
                    "Eiffel",
                    "tower",
                    "tall",
                    "330",
                    ". ",
                    "! ",
                    "\n\n",
                    "U.S.",
                    "東京。",
                    "[9]",
                    "(",
                    "](",
                )
            ),
            max_size=40,
        ).map(" ".join),
        max_size=5,
    )
)
def test_every_paragraph_is_cited_once_at_its_end_by_a_span_that_fits(texts: list[str]) -> None:
    names = [f"page{place}" for place in range(len(texts))]
    found = answer(
        QUESTION,
        [hit(n) for n in names],
        *(page(n, text) for n, text in zip(names, texts, strict=True)),
    )
    assert len(found.text) <= MAX_ANSWER
    if not found.spans:
        assert found.text in (NO_ANSWER, NO_RESULTS)
        return
    paragraphs = paragraphs_of(found)
    numbers = {
        url: n for n, url in enumerate(dict.fromkeys(span.url for span in found.spans), start=1)
    }
    for paragraph, span in zip(paragraphs, found.spans, strict=True):
        assert paragraph.endswith(f" [{numbers[span.url]}]")
        assert found.text[span.start : span.end] == f"[{numbers[span.url]}]"
