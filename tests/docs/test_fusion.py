"""Three rankings of chunks become one of pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.models import PageFacts, ScoredChunk, SymbolMatch
from websearch_gateway.docs.query import parse
from websearch_gateway.docs.search import rank_pages

QUERY = parse("how to wait")


def chunks(*ids: int) -> list[ScoredChunk]:
    """Chunks in this order; chunk 23 is of page 2."""
    return [ScoredChunk(id_, id_ // 10, 1, 0.0) for id_ in ids]


def sizes(*chunks_of: int, path: str = "guide.html") -> dict[int, PageFacts]:
    """Pages 1, 2 ... with so many chunks each."""
    return {id_: PageFacts("Guide", path, count) for id_, count in enumerate(chunks_of, 1)}


def match(name: str, chunk_id: int, exact: bool = True) -> SymbolMatch:
    return SymbolMatch(name, "api", chunk_id, chunk_id // 10, 1, exact)


def test_a_page_with_many_good_chunks_comes_before_one_with_the_best():
    pages = rank_pages(QUERY, chunks(10, 20, 21, 22), [], [], sizes(1, 3))
    assert [page.page_id for page in pages] == [2, 1]
    assert pages[0].chunk_ids == (20, 21, 22)


def test_the_smaller_of_two_pages_with_equal_chunks_comes_first():
    found = chunks(10, 20, 21, 11)
    assert [page.page_id for page in rank_pages(QUERY, found, [], [], sizes(60, 60))] == [1, 2]
    assert [page.page_id for page in rank_pages(QUERY, found, [], [], sizes(60, 2))] == [2, 1]


def test_a_chunk_that_words_and_vectors_find_comes_first():
    assert rank_pages(QUERY, chunks(10, 20), chunks(20, 30), [], {})[0].page_id == 2


def test_a_question_is_answered_by_a_guide_rather_than_by_a_reference_that_is_as_good():
    found = chunks(30, 10, 20)
    paths = ((3, "a.html"), (1, "ref/a.html"), (2, "howto/b.html"))
    facts = {id_: PageFacts("Waiting", path, 1) for id_, path in paths}
    for asked, order in (
        ("how to wait", [3, 2, 1]),
        ("waiting", [3, 1, 2]),
        ("how to wait in ref", [1, 3, 2]),
    ):
        assert [page.page_id for page in rank_pages(parse(asked), found, [], [], facts)] == order


def test_a_guide_to_something_else_is_none_for_a_question():
    paths = ((3, "a.html"), (1, "ref/a.html"), (2, "howto/b.html"))
    facts = {id_: PageFacts("Sleeping", path, 1) for id_, path in paths}
    ranked = rank_pages(parse("how to wait"), chunks(30, 10, 20), [], [], facts)
    assert [page.page_id for page in ranked] == [3, 1, 2]


def test_a_page_of_a_site_that_the_query_names_comes_first():
    for site, asked in (
        ("zsh", "prompt of zsh"),
        ("jinja2", "a Jinja prompt"),
        ("docs.aiohttp.org", "aiohttp prompt"),
    ):
        facts = {1: PageFacts("Git", "git.html", 9, "ffmpeg"), 2: PageFacts("A", "a.html", 9, site)}
        assert [
            page.page_id for page in rank_pages(parse(asked), chunks(10, 20), [], [], facts)
        ] == [2, 1]
    assert rank_pages(parse("an org prompt"), chunks(10, 20), [], [], facts)[0].page_id == 1


def test_a_plain_word_that_happens_to_be_the_name_of_a_module_defines_nothing():
    module = match("csv", 10, exact=False)
    for asked, defined in (("how do I read a CSV file", 0), ("csv", 1), ("CSV", 1)):
        (page,) = rank_pages(
            parse(asked), chunks(10), [], [module], {1: PageFacts("A", "a.html", 1)}
        )
        assert len(page.defined) == defined


def test_the_definition_of_a_certain_name_comes_first_however_often_others_use_it():
    query = parse("asyncio.timeout in a loop")
    pages = rank_pages(
        query, chunks(10, 11, 12, 13), chunks(10, 11, 12), [match("asyncio.timeout", 90)], {}
    )
    assert [page.page_id for page in pages] == [9, 1]
    assert pages[0].defined[0].name == "asyncio.timeout"


def test_the_last_parts_of_a_longer_name_define_it():
    query = parse("Vec::drain")
    found = [match("std::vec::Vec::drain", 20, False), match("std::vec::Drain", 10, False)]
    assert [
        page.page_id for page in rank_pages(query, chunks(10, 11, 12), chunks(10), found, {})
    ] == [2, 1]


def test_a_page_that_defines_both_command_and_option_comes_first():
    query = parse("pg_restore --jobs")
    found = [match("--jobs", 10), match("--jobs", 20), match("pg_restore", 21)]
    assert [page.page_id for page in rank_pages(query, chunks(10, 11, 12), [], found, {})] == [2, 1]


def test_a_definition_counts_only_with_the_owner_in_the_query():
    query = parse("Popen.wait")
    pages = rank_pages(
        query,
        [],
        [],
        [match("subprocess.Popen.wait", 10, False), match("threading.Event.wait", 20, False)],
        {},
    )
    assert [page.page_id for page in pages] == [1]


def test_a_page_that_is_first_in_every_ranking_has_full_relevance():
    pages = rank_pages(QUERY, chunks(10, 20), chunks(10, 20), [], {})
    assert pages[0].relevance == pytest.approx(1.0)
    assert pages[1].relevance < 1.0


def test_without_a_word_of_the_query_no_page_is_a_perfect_hit():
    assert rank_pages(QUERY, [], chunks(10), [], {})[0].relevance == pytest.approx(0.8 / 1.8)
    assert rank_pages(QUERY, chunks(10), [], [], {})[0].relevance == pytest.approx(1.0)


@given(st.lists(st.integers(10, 99), unique=True), st.lists(st.integers(10, 99), unique=True))
def test_every_candidate_is_in_exactly_one_page(text, near):
    pages = rank_pages(QUERY, chunks(*text), chunks(*near), [], {})
    found = [chunk for page in pages for chunk in page.chunk_ids]
    assert sorted(found) == sorted({*text, *near})
    assert all(chunk // 10 == page.page_id for page in pages for chunk in page.chunk_ids)
    assert all(0 < page.relevance <= 1 for page in pages)


def test_an_announcement_comes_later_unless_the_query_asks_for_one():
    facts = sizes(1, 1) | {1: PageFacts("Notes", "releases/3.2.html", 1)}
    asked = {
        text: rank_pages(parse(text), chunks(10, 20), [], [], facts)
        for text in ("how to wait", "new in 3.2")
    }
    assert [[page.page_id for page in pages] for pages in asked.values()] == [[2, 1], [1, 2]]


def test_a_page_with_the_words_in_its_title_comes_before_one_that_only_uses_them():
    facts = sizes(1, 1, 1) | {2: PageFacts("Guide: Waiting", "wait.html", 1)}
    assert [page.page_id for page in rank_pages(QUERY, chunks(10, 30, 20), [], [], facts)] == [
        2,
        1,
        3,
    ]


def test_a_word_that_all_titles_have_changes_nothing():
    facts = {id_: PageFacts("Wait for Guides", "guide.html", 1) for id_ in (1, 2)}
    assert [page.page_id for page in rank_pages(QUERY, chunks(20, 10), [], [], facts)] == [2, 1]


def test_pages_in_a_folder_that_the_query_names_come_first():
    facts = {
        1: PageFacts("Tables", "django/tables.html", 1),
        2: PageFacts("Tables", "sqlite/tables.html", 1),
    }
    asked = [
        rank_pages(parse(text), chunks(10, 20), [], [], facts)
        for text in ("alter a table", "a SQLite table")
    ]
    assert [[page.page_id for page in pages] for pages in asked] == [[1, 2], [2, 1]]


def test_a_folder_is_named_by_its_decoded_name_and_never_by_a_stop_word():
    def first(text: str, folder: str) -> int:
        facts = {
            1: PageFacts("Tables", "en/tables.html", 1),
            2: PageFacts("Tables", f"{folder}/tables.html", 1),
        }
        return rank_pages(parse(text), chunks(10, 20), [], [], facts)[0].page_id

    assert first("what is a table", "is") == 1
    assert first("create a table in a transaction", "in") == 1
    assert first("参考 table", "%E5%8F%82%E8%80%83") == 2


def test_a_query_of_names_finds_only_pages_that_have_one():
    pages = rank_pages(parse("EADDRINUSE"), chunks(10), chunks(20, 10), [], {})
    assert [page.page_id for page in pages] == [1]
    assert len(rank_pages(parse("EADDRINUSE"), [], chunks(20), [], {})) == 1
    assert len(rank_pages(parse("fix EADDRINUSE"), chunks(10), chunks(20), [], {})) == 2


def test_a_definition_comes_before_a_heading_with_the_name():
    query = parse("sql_prepare")
    heading = SymbolMatch("sql_prepare", "heading", 10, 1, 1, exact=True)
    link = SymbolMatch("sql_prepare", "link", 20, 2, 1, exact=True)
    assert [
        page.page_id for page in rank_pages(query, chunks(10, 20), [], [heading, link], {})
    ] == [2, 1]


def test_a_member_of_the_class_that_the_query_names_comes_first():
    defined = [match("fly_home", 10), match("TernBird.fly_home", 20, exact=False)]
    pages = rank_pages(parse("TernBird fly_home"), chunks(10, 20), [], defined, sizes(1, 1))
    assert [page.page_id for page in pages] == [2, 1]
