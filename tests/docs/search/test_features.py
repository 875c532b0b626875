"""The features of a page and of a section for a query, and their product."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.models import Chunk, PageFacts
from websearch_gateway.docs.search.candidates import Candidate, ChunkRanks
from websearch_gateway.docs.search.features import (
    PageFeatures,
    SectionFeatures,
    WeighedQuery,
    page_features,
    section_features,
    tokens_in,
)
from websearch_gateway.docs.search.model import fitted_weights, score
from websearch_gateway.docs.search.query import parse
from websearch_gateway.docs.search.sections import sections_of

WEIGHTS = {"retri": 5.0, "upload": 3.0, "timeout": 2.0}
QUERY = "retry uploads timeout"


def found(
    text: str,
    query: str = QUERY,
    weights: Mapping[str, float] = WEIGHTS,
    *,
    ordinal: int = 0,
    above: tuple[str, ...] = ("Limits", "Timeout"),
) -> SectionFeatures:
    """The features of the last section of a chunk that has words of the query."""
    chunk = Chunk(1, "", 1, 1, ordinal, "https://a.example/", "a", "", "A", above, text, 0.0)
    weighed = WeighedQuery.among(parse(query, weights=weights), [])
    return section_features(weighed, sections_of(chunk, weighed.beginnings, ())[-1])


def page(
    title: str = "Guide", path: str = "a.html", site: str = "", chunks: int = 1, **ranks: float
) -> Candidate:
    """A page with one chunk that was found."""
    facts = PageFacts(title, path, chunks, site)
    chunk_ranks = ChunkRanks(**{"words": 1.0} | ranks)
    return Candidate(1, 1, facts, {1: chunk_ranks}, (), tokens_in(title))


def of_page(query: str, candidate: Candidate, *titles: str) -> PageFeatures:
    """The features of a page beside others with these titles."""
    others = [page(title, "b.html") for title in titles]
    return page_features(WeighedQuery.among(parse(query), [candidate, *others]), candidate)


def test_every_feature_has_a_weight_and_the_product_is_their_sum():
    weights = fitted_weights()
    assert all(isinstance(weight, float) for weight in (*weights.page, *weights.section))
    assert score((1.0, 2.0), (0.5, -1.0)) == pytest.approx(-1.5)


def test_words_count_by_their_weights_each_once():
    assert found("Retry, retry an upload.").words == pytest.approx(0.8)


@pytest.mark.parametrize(("between", "close"), [(150, 0.8), (250, 0.5)])
def test_words_are_close_within_two_hundred_characters(between, close):
    assert found(f"Retry {'x' * between} upload").close == pytest.approx(close)


def test_of_words_that_pass_out_of_reach_the_others_stay_close():
    far = "x" * 250
    assert found(f"Retry {far} upload and timeout {far} retry").close == pytest.approx(0.5)
    assert found(f"Upload {far} retry, upload").close == pytest.approx(0.8)


def test_words_of_the_heading_are_those_of_the_first_line():
    assert found("## Uploads\n\nRetry them.").heading == pytest.approx(0.3)
    assert found("Uploads.\n\nRetry them.").heading == 0.0


def test_words_of_the_headings_above_are_those_of_the_path():
    assert found("## Uploads").path == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [("retry uploads", 0.5), ("retry uploads timeout", 1.0), ("uploads retry", 0)],
)
def test_pairs_follow_each_other_as_in_the_query(text, pairs):
    assert found(text).pairs == pytest.approx(pairs)


def test_the_message_of_an_error_is_a_long_run_of_words():
    query = "error: too many open files in system"
    assert found("It says `too many open files`.", query=query).run == pytest.approx(3 / 4)
    assert found("Open files, open many. Many open", query=query).run == pytest.approx(1 / 4)


@pytest.mark.parametrize(("count", "rich"), [(0, 0.0), (6, 0.5), (12, 1.0), (40, 1.0)])
def test_a_section_with_twelve_words_of_the_query_is_rich(count, rich):
    assert found("upload " * count).rich == rich


def test_code_links_and_a_start_inside_a_section_are_seen():
    assert found("```\nupload()\n```").code == 1.0
    assert found("upload", ordinal=1).inside == 1.0
    assert found("[upload](https://a.example/)").links == 1.0


@given(st.text(max_size=300), st.text(max_size=100))
def test_all_features_of_a_section_are_shares(text, query):
    assert all(0 <= value <= 1 + 1e-9 for value in found(text, query=query, weights={}))


def test_a_word_of_the_title_counts_by_how_few_titles_have_it():
    titles = ("Tide: gulls", "Tide: terns", "Tide: crabs")
    wanted = of_page("crabs of tide", page("Tide: crabs"), *titles).title
    assert wanted > 0.99
    assert of_page("crabs of tide", page("Tide: gulls"), *titles).title < 0.2


def test_a_query_of_names_alone_does_not_look_at_titles():
    assert of_page("EADDRINUSE", page("EADDRINUSE")).title == 0.0


@pytest.mark.parametrize(
    ("query", "site", "path", "named"),
    [
        ("prompt of zsh", "zsh", "a.html", 1.0),
        ("a Jinja prompt", "jinja2", "a.html", 1.0),
        ("aiohttp prompt", "docs.aiohttp.org", "a.html", 1.0),
        ("an org prompt", "docs.aiohttp.org", "a.html", 0.0),
        ("a SQLite table", "db", "sqlite/tables.html", 1.0),
        ("alter a table", "db", "sqlite/tables.html", 0.0),
        ("参考 table", "db", "%E5%8F%82%E8%80%83/tables.html", 1.0),
        ("create a table in a transaction", "db", "in/tables.html", 0.0),
        ("a tables.html page", "db", "tables.html", 0.0),
    ],
)
def test_a_query_names_a_site_or_its_top_folder_by_a_word_that_is_no_stop_word(
    query, site, path, named
):
    assert of_page(query, page(path=path, site=site)).named == named


@pytest.mark.parametrize(
    ("query", "title", "path", "guide"),
    [
        ("how to wait", "Waiting", "howto/b.html", 1.0),
        ("how to wait", "Waiting", "ref/b.html", 0.0),
        ("how to wait", "Sleeping", "howto/b.html", 0.0),
        ("waiting", "Waiting", "howto/b.html", 0.0),
    ],
)
def test_a_guide_is_one_for_a_question_about_its_title(query, title, path, guide):
    assert of_page(query, page(title, path)).guide == guide


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("blog/2024/05/fast.html", "Fast"),
        ("releases/1.7.html", "Django 1.7"),
        ("release/3.25.html", "CMake 3.25"),
        ("releaselog/3_8_0.html", "SQLite"),
        ("changes.html", "History"),
        ("changelog/changelog_14.html", "1.4"),
        ("glib-changes.html", "Changes"),
        ("whatsnew/3.9.html", "3.9"),
        ("about.html", "What\u2019s New in Python 3.9"),
    ],
)
def test_an_announcement_is_unasked_unless_the_query_is_about_news(path, title):
    for query in ("create a newtype", "how to wait", "renew a lease"):
        assert of_page(query, page(title, path)).unasked == 1.0
    for query in ("what changed in 3.12", "release notes", "new features", "deprecated since"):
        assert of_page(query, page(title, path)).unasked == 0.0


@pytest.mark.parametrize(
    "path",
    ["c3ref/db_release_memory.html", "guide/changing.html", "std/newtype.html", "api/history/"],
)
def test_a_page_about_something_similar_announces_nothing(path):
    assert of_page("how to wait", page("Guide", path)).unasked == 0.0


@pytest.mark.parametrize(
    "title", ["Gull: Table.h Source File", "table.rs - source", "src/Data/Table.hs"]
)
def test_a_source_file_is_unasked_unless_the_query_is_about_source(title):
    assert of_page("sort a table", page(title)).unasked == 1.0
    assert of_page("source of a table", page(title)).unasked == 0.0
    assert of_page("Table.h", page(title)).unasked == 0.0
    assert of_page("sort a table", page("Tables in an open source library")).unasked == 0.0
