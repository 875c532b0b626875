"""Results within the size of a reply."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_gateway.entrypoints.reply.fitting import (
    fit_answer,
    fit_content,
    fit_docs,
    fit_docs_status,
    fit_outline,
    fit_passages,
    fit_raw,
    fit_similar,
    fit_sites,
    fit_web,
)
from websearch_gateway.entrypoints.reply.sizes import BYTES_PER_TOKEN, MOST_WARNINGS
from websearch_gateway.results import (
    Citation,
    DocsFailure,
    DocsHit,
    DocsOutlineEntry,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSite,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
    ErrorInfo,
    PageContent,
    PagePassage,
    PagePassages,
    PageWindow,
    QueryPassages,
    RawQuery,
    RawSearchResponse,
    SearchResponse,
    SimilarAnswer,
    SimilarAnswers,
    SourceInfo,
    WebResult,
    WebSearchResponse,
    WireModel,
    size_of,
)

TOKENS = 2_000
ROOM = TOKENS * BYTES_PER_TOKEN
TEXTS = st.builds(
    lambda text, times: text * times,
    st.sampled_from(
        ["a", "word ", '"\\', "\n", "日本", "👩‍👩‍👧", "e\u0301", "[x](https://a.example/b) "]
    ),
    st.integers(0, 3_000),
)


def web(*pages: str, link: str = "https://a.example/") -> WebSearchResponse:
    return WebSearchResponse(
        results=tuple(
            WebResult(
                title="A title",
                link=link,
                snippet="A snippet.",
                page_content=page,
                provider="brave",
            )
            for page in pages
        )
    )


def fits(result: WireModel, room: int = ROOM) -> bool:
    return size_of(result) <= room


def test_a_result_that_fits_comes_back_whole() -> None:
    response = web("short", "pages")
    assert fit_web(response, TOKENS) == response


def test_pages_share_the_room_by_rank_and_a_warning_names_the_cut() -> None:
    fitted = fit_web(web(*["word " * 2_000] * 10), TOKENS)
    sizes = [len(result.page_content) for result in fitted.results]
    assert fits(fitted)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 4 * sizes[-1]
    assert "10 of 10 pages" in fitted.warnings[-1]
    assert "`get_content` with `offset` " in fitted.results[0].page_content


def test_the_offset_of_a_cut_page_is_the_end_of_its_text() -> None:
    page = "".join(f"sentence {number}. " for number in range(1_000))
    (result,) = fit_web(web(page), TOKENS).results
    text, _, rest = result.page_content.partition("\n\n*(Cut")
    offset = int(rest.split("`offset` ")[1].split(" ")[0])
    assert page.startswith(text)
    assert page[:offset].rstrip() == text


def test_fifty_results_keep_title_link_and_snippet() -> None:
    fitted = fit_web(web(*["word " * 1_600] * 50), 20_000)
    assert fits(fitted, 60_000)
    assert len(fitted.results) == 50
    assert all(
        result.title and result.link and result.snippet and result.page_content
        for result in fitted.results
    )


def test_links_that_exceed_the_room_are_dropped_with_a_warning() -> None:
    fitted = fit_web(web(*["text"] * 50, link="https://a.example/" + "a" * 1_500), TOKENS)
    assert fits(fitted)
    assert 0 < len(fitted.results) < 50
    assert "do not fit at all" in fitted.warnings[-1]


@given(st.lists(TEXTS, max_size=50))
@settings(max_examples=20)
def test_any_pages_fit(pages: list[str]) -> None:
    assert fits(fit_web(web(*pages), TOKENS))


@given(TEXTS, st.integers(0, 5_000))
@settings(max_examples=20)
def test_cut_windows_joined_are_the_page(text: str, offset: int) -> None:
    content = PageContent(
        url="https://a.example/", page_content=text[offset:], title="T", total_chars=len(text)
    )
    pieces, at = [], offset
    while True:
        window = fit_content(content.model_copy(update={"page_content": text[at:]}), TOKENS)
        assert fits(window)
        pieces.append(window.page_content)
        if window.next_offset is None:
            break
        assert window.next_offset > at
        at = window.next_offset
    assert "".join(pieces) == text[offset:]


def test_a_cut_window_says_where_to_read_on() -> None:
    fitted = fit_content(PageContent(page_content="word " * 5_000, next_offset=25_100), TOKENS)
    assert fitted.next_offset == 100 + len(fitted.page_content)
    assert f"`offset` {fitted.next_offset}" in fitted.warnings[-1]


def test_several_pages_share_the_room_and_each_says_where_to_read_on() -> None:
    long, short = (
        PageWindow(page_content="word " * 2_000, total_chars=10_000),
        PageWindow(page_content="brief"),
    )
    failed = PageWindow(page_content="**This page**", error=ErrorInfo(code="FETCH"))
    fitted = fit_content(PageContent(pages=(long, failed, short, long)), TOKENS)
    assert fits(fitted)
    assert [page.next_offset for page in fitted.pages] == [
        len(fitted.pages[0].page_content),
        None,
        None,
        len(fitted.pages[3].page_content),
    ]
    assert min(len(page.page_content) for page in fitted.pages if page.next_offset) > 1_000
    assert fitted.warnings[-1].startswith("2 of 4 pages are cut")


@given(st.lists(st.lists(TEXTS, max_size=8), min_size=1, max_size=20))
@settings(max_examples=20)
def test_the_best_passage_of_each_query_comes_first(texts: list[list[str]]) -> None:
    found = PagePassages(
        queries=tuple(
            QueryPassages(
                query=str(number), results=tuple(PagePassage(text=text) for text in passages)
            )
            for number, passages in enumerate(texts)
        )
    )
    fitted = fit_passages(found, TOKENS)
    assert fits(fitted)
    assert [query.query for query in fitted.queries] == [query.query for query in found.queries]
    lost = sum(len(query.results) for query in found.queries) - sum(
        len(query.results) for query in fitted.queries
    )
    assert bool(lost) == any(str(lost) in warning for warning in fitted.warnings)


def test_the_nearest_passage_of_a_query_is_left_out_where_there_is_no_room_for_it() -> None:
    near = PagePassage(text="word " * 200)
    found = PagePassages(
        queries=tuple(QueryPassages(query=str(number), nearest=near) for number in range(20))
    )
    fitted = fit_passages(found, TOKENS)
    assert fits(fitted)
    assert fitted.queries[0].nearest == near
    assert fitted.queries[-1].nearest is None
    assert (
        fit_passages(PagePassages(queries=found.queries[:1]), TOKENS).queries == found.queries[:1]
    )


def raw(queries: int, items: int, pagemap: str) -> RawSearchResponse:
    item = {
        "title": "T",
        "link": "https://a.example/",
        "snippet": "S",
        "pagemap": {"metatags": [{"a": pagemap}]},
    }
    result = {"kind": "customsearch#search", "items": [item] * items}
    return RawSearchResponse(
        queries=tuple(RawQuery(query=str(n), result=result) for n in range(queries))
    )


@pytest.mark.parametrize(("queries", "items"), [(1, 50), (20, 10), (20, 50)])
def test_raw_queries_share_the_room_and_lose_pagemaps_first(queries: int, items: int) -> None:
    fitted = fit_raw(raw(queries, items, "x" * 1_000), TOKENS)
    assert fits(fitted)
    assert len(fitted.queries) == queries
    counts = [len(query.result["items"]) for query in fitted.queries]
    assert max(counts) - min(counts) <= 2
    assert min(counts) > 0
    assert "fewer queries" in fitted.warnings[-1]


def test_raw_replies_with_a_huge_frame_keep_their_items() -> None:
    result = {"kind": "k", "context": "x" * 100_000, "items": [{"link": "https://a.example/"}]}
    fitted = fit_raw(RawSearchResponse(queries=(RawQuery(query="q", result=result),)), TOKENS)
    assert fits(fitted)
    assert fitted.queries[0].result == {"kind": "k", "items": [{"link": "https://a.example/"}]}


@given(TEXTS, st.integers(0, 50))
@settings(max_examples=20)
def test_a_cut_answer_keeps_the_citations_of_its_remaining_text(text: str, count: int) -> None:
    ends = [len(text) * number // max(1, count) for number in range(1, count + 1)]
    citations = tuple(
        Citation(url="https://a.example/" + "a" * 100, start_index=0, end_index=end) for end in ends
    )
    sources = tuple(SourceInfo(url="https://b.example/" + "b" * 200) for _ in range(count))
    fitted = fit_answer(SearchResponse(text=text, citations=citations, sources=sources), TOKENS)
    assert fits(fitted)
    assert text.startswith(fitted.text)
    assert all(citation.end_index <= len(fitted.text) for citation in fitted.citations)


def test_a_page_whose_place_was_cut_off_becomes_a_source() -> None:
    citation = Citation(url="https://a.example/", title="A", start_index=0, end_index=60_000)
    fitted = fit_answer(SearchResponse(text="word " * 12_000, citations=(citation,)), TOKENS)
    assert (fitted.citations, [source.url for source in fitted.sources]) == (
        (),
        ["https://a.example/"],
    )


def test_the_nearest_similar_answers_are_kept() -> None:
    found = SimilarAnswers(
        results=tuple(SimilarAnswer(query=str(n), text="word " * 300) for n in range(20))
    )
    fitted = fit_similar(found, TOKENS)
    assert fits(fitted)
    assert [answer.query for answer in fitted.results] == ["0", "1", "2"]
    assert "17 answers" in fitted.warnings[0]


def test_warnings_are_limited_too() -> None:
    fitted = fit_answer(SearchResponse(warnings=("w" * 5_000,) * 500), TOKENS * 10)
    assert len(fitted.warnings) == MOST_WARNINGS + 1
    assert "470 more" in fitted.warnings[-1]
    assert fits(fitted, 20_000)


URL = "https://docs.example/" + "a" * 100
SIZES = st.lists(st.integers(0, 9_000), max_size=50)


def found(sizes: list[int]) -> DocsSearchResponse:
    return DocsSearchResponse(
        results=tuple(DocsHit(content="日 word" * (size // 6), url=URL) for size in sizes)
    )


@given(SIZES)
@settings(max_examples=20)
def test_any_sections_fit_and_a_warning_names_the_missing_ones(sizes: list[int]) -> None:
    whole = found(sizes)
    fitted = fit_docs(whole, TOKENS)
    assert size_of(fitted) <= ROOM
    assert bool(fitted.warnings) == (fitted != whole) == (size_of(whole) > ROOM)


def test_the_best_section_keeps_most_of_its_text() -> None:
    fitted = fit_docs(found([60_000] * 5), TOKENS)
    lengths = [len(hit.content) for hit in fitted.results]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 500
    assert "5 of 5 sections are cut" in fitted.warnings[0]


@given(st.integers(0, 500))
def test_an_outline_is_cut_after_its_first_entries(count: int) -> None:
    entries = tuple(DocsOutlineEntry(section_id=str(number), url=URL) for number in range(count))
    fitted = fit_outline(DocsReadResponse(outline=entries), TOKENS)
    assert size_of(fitted) <= ROOM
    assert fitted.outline == entries[: len(fitted.outline)]
    assert fitted.next_section_id == (
        str(len(fitted.outline)) if len(fitted.outline) < count else None
    )
    assert fitted.truncated == (len(fitted.outline) < count)


@pytest.mark.parametrize(("count", "told"), [(3, 0), (500, 1)])
def test_the_first_sites_are_listed(count: int, told: int) -> None:
    sites = DocsSites(sites=tuple(DocsSite(name=str(number), url=URL) for number in range(count)))
    fitted = fit_sites(sites, TOKENS)
    assert size_of(fitted) <= ROOM
    assert len(fitted.warnings) == told
    assert fitted.sites == sites.sites[: len(fitted.sites)]


@given(st.lists(st.integers(0, 100), max_size=100))
@settings(max_examples=20)
def test_any_status_fits(counts: list[int]) -> None:
    failure = DocsFailure(url=URL, reason="FETCH")
    whole = DocsStatus(
        sites=tuple(DocsSiteStatus(name="n", failures=(failure,) * count) for count in counts)
    )
    fitted = fit_docs_status(whole, TOKENS)
    assert size_of(fitted) <= ROOM
    assert ("left out" in fitted.message) == (fitted != whole) == (size_of(whole) > ROOM)
