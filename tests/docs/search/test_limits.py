"""How many results a reply has, and how much of each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from websearch_gateway.base.tokenization import estimate_tokens
from websearch_gateway.docs.models import Chunk, SymbolMatch
from websearch_gateway.docs.search import ranker, reply
from websearch_gateway.docs.search.names import count_defined, is_asked_for, is_certain
from websearch_gateway.docs.search.query import Query, parse
from websearch_gateway.docs.search.ranker import Ranker
from websearch_gateway.docs.search.reply import Result, fit, most_shown, share_out
from websearch_gateway.results import DocsHit


def chunk(text: str, ordinal: int = 0, **more: Any) -> Chunk:
    return Chunk(
        1, "", 1, 1, ordinal, "https://a.example/", "a", "", "A", ("A",), text, 0.0, **more
    )


def result(text: str, *, title: str = "A", names: tuple[str, ...] = (), ordinal: int = 0) -> Result:
    return Result(DocsHit(content=text, page_title=title), chunk(text, ordinal), names, 0, False)


def words(tokens: int) -> str:
    text = "tide " * tokens
    while estimate_tokens(text.strip()) > tokens:
        text = text[:-5]
    assert estimate_tokens(text.strip()) == tokens
    return text.strip()


@pytest.mark.parametrize(
    ("most", "shown"), [(100, 3), (1_200, 3), (1_599, 3), (1_600, 4), (1_999, 4), (2_000, 5)]
)
def test_a_reply_shows_three_texts_and_one_more_for_each_four_hundred_tokens(
    most: int, shown: int
) -> None:
    assert most_shown(most) == shown


async def test_a_reply_has_sixteen_hundred_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Index:
        async def searching(self, act: Any) -> Any:
            return act(None)

    monkeypatch.setattr(ranker, "fit", lambda *values: asked.append(values[-1]))
    monkeypatch.setattr(Ranker, "_results", lambda *_: [])
    await Ranker(Index()).search(Query("tide"), None, [])  # type: ignore[arg-type]
    assert asked == [1_600]


@pytest.mark.parametrize(
    ("overheads", "wants", "most", "shares"),
    [
        ([850], [1_000], 1_000, [150]),
        ([851], [1_000], 1_000, []),
        ([140], [1_000], 200, [60]),
        ([141], [1_000], 200, []),
        ([0, 0], [1_000, 1_000], 1_000, [750, 250]),
        ([0, 0, 0], [100, 1_000, 1_000], 1_000, [100, 540, 360]),
    ],
)
def test_the_first_result_gets_at_least_15_hundredths_and_weighs_one_and_a_half(
    overheads: list[int], wants: list[int], most: int, shares: list[int]
) -> None:
    assert share_out(overheads, wants, most) == shares


def test_titles_get_15_hundredths_of_a_reply_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms: list[int] = []
    monkeypatch.setattr(reply, "share_out", lambda *values: rooms.append(values[-1]) or [])
    monkeypatch.setattr(reply, "page_chunks", lambda *_: [])
    long = result(words(500), title="A title of some length " * 5)
    for count in (4, 5, 20):
        fit(None, [long] * count, parse("tide"), 1_600)  # type: ignore[arg-type]
    assert rooms[0] == 1_600
    assert 1_360 < rooms[1] < 1_600
    assert rooms[2] == 1_360


def test_the_first_text_is_extended_below_450_tokens_and_the_others_below_150(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    extended: list[int] = []

    def noted(db: object, one: Result, enough: int) -> Result:
        extended.append(enough)
        return one

    monkeypatch.setattr(reply, "_extended", noted)
    fit(None, [result(words(60))] * 5, parse("tide"), 1_600)  # type: ignore[arg-type]
    assert extended == [450, 150, 150, 150]


@pytest.mark.parametrize(("tokens", "is_extended"), [(149, True), (150, False)])
def test_a_short_text_is_given_the_next_one_of_its_page_or_the_one_before(
    monkeypatch: pytest.MonkeyPatch, tokens: int, is_extended: bool
) -> None:
    pages = {1: "After.", 0: "Before."}

    def page_chunks(_: object, page: int, start: int, stop: int) -> list[Chunk]:
        return [chunk(pages[start])] if start in pages and stop == start + 1 else []

    monkeypatch.setattr(reply, "page_chunks", page_chunks)
    text = words(tokens)
    (first, last, named) = (
        reply._extended(None, one, 150).hit.content  # type: ignore[arg-type]
        for one in (result(text), result(text, ordinal=1), result(text, ordinal=1, names=("x",)))
    )
    assert first == (f"{text}\n\nAfter." if is_extended else text)
    assert last == (f"Before.\n\n{text}" if is_extended else text)
    assert named == text


@pytest.mark.parametrize(("tokens", "is_shown"), [(39, False), (40, True)])
def test_a_text_of_less_than_forty_tokens_is_only_named(tokens: int, is_shown: bool) -> None:
    telling, short = reply._parted([*[result(words(50))] * 3, result(words(tokens))])
    assert (len(telling), len(short)) == ((4, 0) if is_shown else (3, 1))
    named = result(words(5), names=("tide",))
    assert len(reply._parted([*[result(words(50))] * 3, named])[0]) == 4


def test_short_texts_are_shown_where_fewer_than_three_are_longer() -> None:
    results = [result(words(50)), result(words(50)), result(words(5))]
    assert reply._parted(results) == (results, ())


@pytest.mark.parametrize(("share", "is_from_start"), [(202, True), (200, False)])
def test_a_text_up_to_half_as_long_again_as_its_room_is_shown_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch, share: int, is_from_start: bool
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(reply, "excerpt", lambda *values: asked.append(values) or "")
    one = result(words(300))
    for defines in (False, True):
        one = Result(one.hit, one.chunk, (), 0, defines)
        reply._cut_to_share(one, ("tide",), share, 300)
    assert [bool(values[1]) for values in asked] == [not is_from_start, False]
    assert {values[2] for values in asked} == {share - 1}


@pytest.mark.parametrize(("letters", "count"), [(31, 1), (29, 0)])
def test_a_text_of_which_more_than_seven_tenths_are_links_is_no_text_to_read(
    letters: int, count: int
) -> None:
    link = "[tides](https://a.example/" + "x" * 43 + ")"
    assert len(link) == 70
    assert len(reply._texts([chunk(link + "y" * letters)])) == count


def test_the_anchor_of_a_section_is_the_last_one_before_it() -> None:
    one = chunk("Text", inner=((5, "a"), (9, "b")))
    assert [reply._anchor_of(one, start, ()) for start in (4, 5, 8, 9)] == ["", "a", "a", "b"]


def test_titles_are_named_as_long_as_they_fit() -> None:
    titles = [SimpleNamespace(named=name, tokens=10) for name in "abc"]
    assert reply._fitting(titles, 20) == ["a", "b"]  # type: ignore[comparison-overlap, arg-type]
    assert reply._fitting(titles, 19) == ["a"]  # type: ignore[comparison-overlap, arg-type]


def match(name: str, kind: Any = "api", *, exact: bool = False) -> SymbolMatch:
    return SymbolMatch(name, kind, 1, 1, 1, exact)


@pytest.mark.parametrize(
    ("query", "name", "is_asked"),
    [
        ("asyncio.timeout", "asyncio.timeout", True),
        ("timeout", "asyncio.timeout", True),
        ("timeout", "mytimeout", False),
        ("Popen.wait", "subprocess.Popen.wait", True),
        ("--all", "git --all", False),
        ("--all", "--all", True),
        ("C", "x.C", False),
        ("C", "C", True),
    ],
)
def test_a_definition_is_asked_for_by_its_name_or_its_last_parts(
    query: str, name: str, is_asked: bool
) -> None:
    assert is_asked_for(parse(query), match(name)) is is_asked


def test_a_plain_word_is_no_certain_name_unless_it_is_spelt_so() -> None:
    query = parse("how to read a csv file with tide_high")
    assert [is_certain(query, one) for one in (match("csv"), match("csv", exact=True))] == [
        False,
        True,
    ]
    assert is_certain(query, match("x.tide_high"))


def test_a_heading_counts_half_of_a_definition() -> None:
    query = parse("tide_high of the sea in summer and autumn")
    assert count_defined(query, [match("tide_high")]) == 2
    assert count_defined(query, [match("tide_high", "heading")]) == 1
    assert count_defined(query, [match("gull_high")]) == 0
