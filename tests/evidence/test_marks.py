"""Every citation is visible: as a mark or a link in the answer, as marks for models, as links for apps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from websearch_gateway.evidence.citations import by_page, repair
from websearch_gateway.evidence.marks import Cited, linked, numbered, with_marks
from websearch_gateway.models import Span

TOWER = "https://tower.example/height"
RIVER = "https://river.example/length_(km)"
LINK = f"([tower.example]({TOWER}))"


def cited(text: str, piece: str, number: int = 1, url: str = TOWER) -> Cited:
    start = text.index(piece)
    return Cited(start, start + len(piece), number, url)


def test_a_claim_without_a_mark_gets_the_number_of_its_page_behind_it() -> None:
    text = "It is 330 m high. The river is long, and deep."
    high, river = cited(text, "It is 330 m high."), cited(text, "The river is long", 2, RIVER)
    written, places = with_marks(text, [high, river])
    assert written == "It is 330 m high. [1] The river is long [2], and deep."
    assert [written[place.start : place.end] for place in places] == [
        "It is 330 m high.",
        "The river is long",
    ]


def test_a_claim_of_several_pages_has_all_their_marks() -> None:
    text = "It is 330 m high."
    both = [cited(text, text), cited(text, text, 2, RIVER), cited(text, "330 m high.", 2, RIVER)]
    assert with_marks(text, both)[0] == "It is 330 m high. [1][2]"


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        (f"It is 330 m high. {LINK} Yes.", LINK),
        (f"It is 330 m high. {LINK} Yes.", f"It is 330 m high. {LINK}"),
        (f"It is 330 m high. {LINK} Yes.", "It is 330 m high."),
        (f"It is 330 m high, says {TOWER}.", TOWER),
        (f"The [official page]({TOWER}) says 330 m.", "official page"),
    ],
)
def test_a_link_that_the_engine_wrote_stays_as_it_is(text: str, piece: str) -> None:
    assert with_marks(text, [cited(text, piece)]) == (text, [cited(text, piece)])


@pytest.mark.parametrize(("between", "is_shown"), [(".  ", True), (".   ", False)])
def test_a_link_up_to_three_characters_behind_a_claim_shows_its_source(
    between: str, is_shown: bool
) -> None:
    text = f"It is high{between}{LINK}"
    written, _ = with_marks(text, [cited(text, "It is high")])
    assert (written == text) is is_shown


def test_marks_are_numbered_as_the_list_and_those_of_pages_outside_the_list_go() -> None:
    text = "High. [4] Long. [2][7] Cold. [9]"
    places = [cited(text, "[4]"), cited(text, "[2]", 2, RIVER)]
    dropped = [
        cited(text, "[7]", 1, "https://a.example"),
        cited(text, "[9]", 2, "https://b.example"),
    ]
    written, moved = with_marks(text, places, dropped)
    assert written == "High. [1] Long. [2] Cold."
    assert [written[place.start : place.end] for place in moved] == ["[1]", "[2]"]


@pytest.mark.parametrize(
    ("text", "piece", "marked"),
    [
        ("Run `pip install x` now.", "Run `pip install", "Run `pip install x` [1] now."),
        (f"See [the page]({RIVER}) now.", "See [the", f"See [the page]({RIVER}) [1] now."),
        (
            "Run:\n\n```\npip install x\n```\n\nDone.",
            "pip install x",
            "Run:\n\n```\npip install x\n```\n\n[1]\n\nDone.",
        ),
    ],
)
def test_a_mark_never_stands_inside_a_link_or_code(text: str, piece: str, marked: str) -> None:
    assert with_marks(text, [cited(text, piece)])[0] == marked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"It is 330 m high. {LINK} It sways.", "It is 330 m high. [1] It sways."),
        (f"It is 330 m high, says {TOWER}.", "It is 330 m high, says [1]."),
        (f"[tower.example]({TOWER}): 330 m", "[1] : 330 m"),
        (f"The [official page]({TOWER}) says 330 m.", "The official page [1] says 330 m."),
        ("It is 330 m high. [1]", "It is 330 m high. [1]"),
    ],
)
def test_models_get_marks_in_place_of_links_and_no_word_is_lost(text: str, shown: str) -> None:
    links = [
        piece
        for piece in (LINK, f"[tower.example]({TOWER})", f"[official page]({TOWER})", TOWER, "[1]")
        if piece in text
    ]
    assert numbered(text, [cited(text, links[0])]) == shown


def test_apps_get_links_in_place_of_marks_and_each_place_is_the_link() -> None:
    text = f"High. [1] Long [2][1], and {LINK}. Old."
    old = cited(text, "Old.", 2, RIVER)
    marked, places = with_marks(
        text, [cited(text, "[1]"), cited(text, "[2]", 2, RIVER), cited(text, LINK), old]
    )
    written, links = linked(
        marked, [*places, Cited(marked.index("[2][1]") + 3, marked.index("[2][1]") + 6, 1, TOWER)]
    )
    river = f"([river.example]({RIVER}))"
    assert written == f"High. {LINK} Long {river} {LINK}, and {LINK}. Old. {river}"
    assert [written[link.start : link.end] for link in links] == [LINK, river, LINK, LINK, river]


def test_a_bracket_without_a_partner_does_not_end_a_link() -> None:
    written, _ = linked("High. [1]", [Cited(6, 9, 1, "https://tower.example/a)b")])
    assert written == "High. ([tower.example](https://tower.example/a%29b))"


pieces = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        (
            LINK,
            TOWER,
            f"[a]({RIVER})",
            "[1]",
            "[12]",
            "【1†x】",
            "`code`",
            "```\nx\n```\n",
            "| a |\n",
            ". ",
            "(",
            "]",
            " ",
        )
    ),
)
spans = st.lists(
    st.builds(
        Span, st.sampled_from((TOWER, RIVER)), st.just(""), st.integers(0, 120), st.integers(0, 120)
    ),
    max_size=6,
)


@given(st.lists(pieces, max_size=10).map(" ".join), spans)
def test_every_place_is_visible_in_each_form_of_any_text(text: str, claims: list[Span]) -> None:
    pages = by_page(repair(text, claims))
    places = [
        Cited(span.start, span.end, rank, page[0].url)
        for rank, page in enumerate(pages, start=1)
        for span in page
    ]
    marked, moved = with_marks(text, places)
    assert len(moved) == len(places)
    assert all(0 <= place.start < place.end <= len(marked) for place in moved)
    assert all(f"[{place.number}]" in marked or place.url in marked for place in moved)
    assert all(f"[{place.number}]" in numbered(marked, moved) for place in moved)
    written, links = linked(marked, moved)
    assert {place.url for place in links} == {place.url for place in moved}
    assert all(link.url in written[link.start : link.end] for link in links)


@pytest.mark.parametrize(
    "after",
    [
        "(https://evil.example)",
        ": https://evil.example",
        "(see there) more",
        ":\nhttps://x.example",
    ],
)
def test_text_behind_a_claim_does_not_make_a_link_or_a_definition_of_its_mark(after: str) -> None:
    """An engine writes what stands behind the place that it cites."""
    claims = ["A claim", "A claim\n", *(["[1]", "x\n\n[1]"] if after[0] == ":" else [])]
    for claim in claims:
        text = claim + after
        start, end = max(0, text.find("[1]")), len(claim)
        written, places = with_marks(text, [Cited(start, end, 1, "https://a.example/")])
        for shown in (written, numbered(written, places)):
            html = MarkdownIt("commonmark").render(shown)
            assert "href" not in html, shown
            known: dict[str, object] = {}
            MarkdownIt("commonmark").parse(shown, known)
            assert not known.get("references"), shown


def test_a_mark_in_place_of_a_link_is_not_joined_to_the_brackets_behind_it() -> None:
    text = "A claim ([a.example](https://a.example/))(https://evil.example)"
    cited = [Cited(0, 7, 1, "https://a.example/")]
    written, places = with_marks(text, cited)
    assert "](https://evil" not in numbered(written, places)


@pytest.mark.parametrize("label", ["1", "[1]", " 1 ", "^1", "\\[1\\]", "**1**"])
def test_a_link_of_the_engine_that_looks_like_our_mark_shows_where_it_leads(label: str) -> None:
    """An engine writes it, and a reader would take it for the page that is verified."""
    text = f"A claim. It is so [{label}](https://evil.example/phish)."
    written, places = with_marks(text, [Cited(0, 7, 1, "https://a.example/")])
    for shown in (written, numbered(written, places), linked(written, places)[0]):
        assert "[evil.example](https://evil.example/phish)" in shown
    assert "A claim [1]. It is so" in numbered(written, places)


def test_a_number_that_links_to_the_page_it_cites_becomes_its_mark() -> None:
    text = "A claim [7](https://a.example/)."
    written, places = with_marks(text, [Cited(0, 7, 1, "https://a.example/")])
    assert numbered(written, places) == "A claim [1]."
