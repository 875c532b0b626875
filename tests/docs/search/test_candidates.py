"""Three rankings of chunks become one of pages."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.models import PageFacts, ScoredChunk, SiteVersion, SymbolMatch
from websearch_gateway.docs.search import candidates as searched
from websearch_gateway.docs.search.candidates import Candidate, gathered
from websearch_gateway.docs.search.features import WeighedQuery
from websearch_gateway.docs.search.names import is_asked_for
from websearch_gateway.docs.search.query import parse
from websearch_gateway.docs.search.ranker import Ranker, ranked_pages

FACTS = {id_: PageFacts("Guide", "guide.html", 1) for id_ in range(10)}


def chunks(*ids: int) -> list[ScoredChunk]:
    """Chunks in this order; chunk 23 is of page 2."""
    return [ScoredChunk(id_, id_ // 10, 1, 0.5) for id_ in ids]


def match(name: str, chunk_id: int, exact: bool = True, kind: str = "api") -> SymbolMatch:
    return SymbolMatch(name, kind, chunk_id, chunk_id // 10, 1, exact)


def ranked(
    query: str,
    text: Sequence[ScoredChunk],
    near: Sequence[ScoredChunk] = (),
    definitions: Sequence[SymbolMatch] = (),
    facts: Mapping[int, PageFacts] = FACTS,
) -> list[Candidate]:
    """The pages, best first."""
    parsed = parse(query)
    meant = [match for match in definitions if is_asked_for(parsed, match)]
    pages = gathered(parsed, text, near, meant, FACTS | facts)
    weighed = WeighedQuery.among(parsed, pages)
    return [page.candidate for page in ranked_pages(weighed, pages)]


def order(*arguments: object, **facts: object) -> list[int]:
    return [page.page_id for page in ranked(*arguments, **facts)]  # type: ignore[arg-type]


def test_a_page_with_many_good_chunks_comes_before_one_with_the_best():
    pages = ranked("how to wait", chunks(10, 20, 21, 22))
    assert [page.page_id for page in pages] == [2, 1]
    assert list(pages[0].chunks) == [20, 21, 22]


def test_the_smaller_of_two_pages_with_nearly_equal_chunks_comes_first():
    found = chunks(30, 40, 50, 60, 10, 20)
    for size, first in ((2, 1), (90, 2)):
        facts = {1: PageFacts("Guide", "a.html", size), 2: PageFacts("Guide", "b.html", 2)}
        in_order = order("how to wait", found, facts=facts)
        assert min((1, 2), key=in_order.index) == first


def test_a_chunk_that_words_and_vectors_find_comes_first():
    assert order("how to wait", chunks(10, 20), chunks(20, 30))[0] == 2


def test_the_chunk_of_a_definition_comes_first_on_its_page():
    (page,) = ranked("asyncio.timeout", chunks(10, 11), [], [match("asyncio.timeout", 12)])
    assert list(page.chunks) == [12, 10, 11]


def test_a_plain_word_that_happens_to_be_the_name_of_a_module_defines_nothing():
    for asked, defined in (("how do I read a CSV file", 0), ("csv", 1), ("CSV", 1)):
        (page,) = ranked(asked, chunks(10), [], [match("csv", 10, exact=False)])
        assert len(page.defined) == defined


def test_the_definition_of_a_certain_name_comes_first_however_often_others_use_it():
    pages = ranked(
        "asyncio.timeout in a loop",
        chunks(10, 11, 12, 13),
        chunks(10, 11, 12),
        [match("asyncio.timeout", 90)],
    )
    assert [page.page_id for page in pages] == [9, 1]
    assert pages[0].defined[0].name == "asyncio.timeout"


def test_the_last_parts_of_a_longer_name_define_it():
    found = [match("std::vec::Vec::drain", 20, False), match("std::vec::Drain", 10, False)]
    assert order("Vec::drain", chunks(10, 11, 12), chunks(10), found) == [2, 1]


def test_a_page_that_defines_both_command_and_option_comes_first():
    found = [match("--jobs", 10), match("--jobs", 20), match("pg_restore", 21)]
    assert order("pg_restore --jobs", chunks(10, 11, 12), [], found) == [2, 1]


def test_a_definition_counts_only_with_the_owner_in_the_query():
    found = [
        match("subprocess.Popen.wait", 10, False),
        match("threading.Event.wait", 20, False),
    ]
    assert order("Popen.wait", [], [], found) == [1]


def test_a_definition_comes_before_a_heading_with_the_name():
    heading, link = match("sql_prepare", 10, kind="heading"), match("sql_prepare", 20, kind="link")
    assert order("sql_prepare", chunks(10, 20), [], [heading, link]) == [2, 1]


def test_a_member_of_the_class_that_the_query_names_comes_first():
    defined = [match("fly_home", 10), match("TernBird.fly_home", 20, exact=False)]
    assert order("TernBird fly_home", chunks(10, 20), [], defined) == [2, 1]


def test_an_announcement_defines_nothing_for_a_query_that_asks_for_none():
    facts = {1: PageFacts("Notes", "releases/3.2.html", 1)}
    found = [match("sql_prepare", 10)]
    assert order("sql_prepare", chunks(20), [], found, facts) == [2, 1]
    assert order("sql_prepare new in 3.2", chunks(20), [], found, facts) == [1, 2]


@given(st.lists(st.integers(10, 99), unique=True), st.lists(st.integers(10, 99), unique=True))
def test_every_candidate_is_in_exactly_one_page(text, near):
    pages = ranked("how to wait", chunks(*text), chunks(*near))
    found = [chunk for page in pages for chunk in page.chunks]
    assert sorted(found) == sorted({*text, *near})
    assert all(chunk // 10 == page.page_id for page in pages for chunk in page.chunks)


def test_a_page_that_was_removed_in_the_meantime_is_left_out():
    assert gathered(parse("wait"), chunks(10), [], [], {}) == []


@pytest.mark.parametrize(
    ("facts", "first"),
    [
        ({2: PageFacts("Guide: Waiting", "wait.html", 1)}, 2),
        ({1: PageFacts("Notes", "releases/3.2.html", 1)}, 2),
        ({2: PageFacts("Waiting", "howto/b.html", 1), 1: PageFacts("Waiting", "b.html", 1)}, 2),
        ({}, 1),
    ],
)
def test_a_page_that_ranks_lower_comes_first_for_its_title_its_kind_or_as_a_guide(facts, first):
    in_order = order("how to wait", chunks(30, 10, 20), facts=facts)
    assert next(id_ for id_ in in_order if id_ != 3) == first


class Index:
    """Finds as many chunks with all words of a query as it is told, and one more with some of them."""

    def __init__(self, with_all):
        self.with_all = with_all
        self.asked = []

    def search_text(self, query, versions, limit):
        self.asked.append((query.any, limit))
        ids = range(100, 101 + self.with_all) if query.any else range(100, 100 + self.with_all)
        return chunks(*ids)


@pytest.mark.parametrize(
    ("query", "with_all", "asks_for_some"),
    [("tide gull", 9, True), ("tide gull", 10, False), ("tide", 1, False)],
)
def test_chunks_with_some_words_are_looked_for_where_fewer_than_ten_have_all(
    monkeypatch, query, with_all, asks_for_some
):
    limits = []

    def definitions(db, names, versions, limit):
        limits.append(limit)
        return []

    monkeypatch.setattr(searched, "find_symbols", definitions)
    monkeypatch.setattr(searched, "page_facts", lambda db, ids: dict.fromkeys(ids, FACTS[1]))
    index = Index(with_all)
    pages = searched.candidates(index, parse(query), (), [1], 40)
    assert index.asked == [(False, 40), (True, 40)][: 1 + asks_for_some]
    assert limits == [100]
    assert sum(len(page.chunks) for page in pages) == with_all + asks_for_some


def test_a_query_of_names_finds_only_pages_that_have_one(monkeypatch):
    monkeypatch.setattr(searched, "find_symbols", lambda *_: [match("tide_high", 30)])
    monkeypatch.setattr(searched, "page_facts", lambda db, ids: dict.fromkeys(ids, FACTS[1]))
    near = chunks(31, 50)
    for query, pages in (("tide_high", {3}), ("how high is tide_high here", {3, 5})):
        found = searched.candidates(Index(0), parse(query), near, [1], 40)
        assert {page.page_id for page in found if page.page_id != 10} == pages


def test_a_chunk_opposite_to_the_query_is_not_near():
    (page,) = gathered(parse("tide"), (), [ScoredChunk(10, 1, 1, -0.2)], (), FACTS)
    assert page.chunks[10].nearness == 0


class Looking:
    """An index that notes how many chunks near to a query are asked for."""

    def __init__(self):
        self.limits = []

    async def search_vectors(self, vector, ids, limit):
        self.limits.append(limit)
        return []


@pytest.mark.parametrize(("versions", "limit"), [(1, 40), (3, 120), (4, 160), (6, 160)])
async def test_forty_chunks_of_each_of_up_to_four_versions_of_a_site_are_looked_at(versions, limit):
    index = Looking()
    sites = [SiteVersion(at, "heron", str(at), "") for at in range(versions)]
    await Ranker(index)._near([1.0], [*sites, SiteVersion(9, "gull", "1", "")])
    assert index.limits == [limit]
