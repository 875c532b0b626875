"""No result of the documentation index is larger than MAX_REPLY_TOKENS, and one that was cut says so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from websearch_gateway.pipeline.reply.docs import fit_docs, fit_docs_status, fit_outline, fit_sites
from websearch_gateway.pipeline.reply.size import BYTES_PER_TOKEN, size_of
from websearch_gateway.results.docs import (
    DocsFailure,
    DocsHit,
    DocsOutlineEntry,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSite,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
)

TOKENS = 2_000
ROOM = TOKENS * BYTES_PER_TOKEN
URL = "https://docs.example/" + "a" * 100
SIZES = st.lists(st.integers(0, 9_000), max_size=50)


def found(sizes: list[int]) -> DocsSearchResponse:
    return DocsSearchResponse(results=tuple(DocsHit(content="日 word" * (size // 6), url=URL) for size in sizes))


@given(SIZES)
@settings(max_examples=50, deadline=None)
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
    assert fitted.next_section_id == (str(len(fitted.outline)) if len(fitted.outline) < count else None)
    assert fitted.truncated == (len(fitted.outline) < count)


@pytest.mark.parametrize(("count", "told"), [(3, 0), (500, 1)])
def test_the_first_sites_are_listed(count: int, told: int) -> None:
    sites = DocsSites(sites=tuple(DocsSite(name=str(number), url=URL) for number in range(count)))
    fitted = fit_sites(sites, TOKENS)
    assert size_of(fitted) <= ROOM
    assert len(fitted.warnings) == told
    assert fitted.sites == sites.sites[: len(fitted.sites)]


@given(st.lists(st.integers(0, 100), max_size=100))
@settings(max_examples=30, deadline=None)
def test_any_status_fits(counts: list[int]) -> None:
    failure = DocsFailure(url=URL, reason="FETCH")
    whole = DocsStatus(sites=tuple(DocsSiteStatus(name="n", failures=(failure,) * count) for count in counts))
    fitted = fit_docs_status(whole, TOKENS)
    assert size_of(fitted) <= ROOM
    assert ("left out" in fitted.message) == (fitted != whole) == (size_of(whole) > ROOM)
