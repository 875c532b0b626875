import pytest

from websearch_gateway.pages.extraction import blocks, page
from websearch_gateway.pages.extraction.measures import TAG_NUMBER, Measures, words_of

PAGE = (
    "<div class=nav><a href='/'>Home</a></div><h1>A short title</h1>"
    "<ul><li class=card>One, two.</li><li class=card>Three</li><li>Three</li></ul>"
)


def measures_of(markup: str, title: str = "") -> Measures:
    root = page.parse(markup)
    assert root is not None
    return Measures(blocks.outline(root), title)


def test_a_block_has_its_counts_and_its_share_of_links_and_of_the_title() -> None:
    measures = measures_of(PAGE, "Short title")
    assert measures.words.tolist() == [1, 3, 2, 1, 1]
    assert measures.link_share.tolist() == [1, 0, 0, 0, 0]
    assert measures.stops.tolist() == [0, 0, 1, 0, 0]
    assert measures.titled.tolist() == pytest.approx([0, 2 / 3, 0, 0, 0])
    assert measures.repeats.tolist() == [1, 1, 1, 2, 2]


def test_an_element_counts_its_siblings_with_the_same_tag_and_classes() -> None:
    measures = measures_of(PAGE)
    items = measures.tag == TAG_NUMBER["li"]
    assert measures.siblings[items].tolist() == [2, 2, 1]
    assert measures.place.tolist()[-3:] == items.nonzero()[0].tolist()


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("", [0, 0]),
        ("one two three four\nsix seven", [1, 1]),
        ("two three four and six", [0.5, 0]),
        ("something else", [0, 0]),
    ],
    ids=["no opinion", "all", "a part", "none"],
)
def test_a_block_is_compared_with_the_text_of_another_extractor(
    text: str, shares: list[float]
) -> None:
    measures = measures_of("<p>One two three four</p><p>Six seven</p>")
    assert measures.share_in(text).tolist() == shares


def test_words_are_in_lower_case_and_without_punctuation() -> None:
    assert words_of("Tides, twice a DAY.") == ["tides", "twice", "a", "day"]


@pytest.mark.parametrize(
    ("text", "is_prose"),
    [
        ("one two three four five six seven eight.", True),
        ("one two three four five six seven.", False),
        ("one two three four five six seven eight", False),
        (f"{'a ' * 26}<a href=/x>{'a ' * 23}a.</a>", True),
        (f"{'a ' * 24}<a href=/x>{'a ' * 25}a.</a>", False),
    ],
    ids=["sentence", "short", "no stop", "few links", "links"],
)
def test_prose_has_eight_words_a_stop_and_less_than_half_of_it_in_links(
    text: str, *, is_prose: bool
) -> None:
    assert measures_of(f"<p>{text}</p>").is_prose.tolist() == [is_prose]


@pytest.mark.parametrize(("before", "shares"), [(39, True), (40, False)])
def test_a_line_after_the_text_is_known_by_its_first_40_words(before: int, *, shares: bool) -> None:
    assert measures_of(f"<p>{'word ' * before}facebook</p>").share.tolist() == [shares]


@pytest.mark.parametrize(
    ("line", "is_beside"),
    [
        ("Read more: " + "word " * 38, True),
        ("Read more: " + "word " * 39, False),
        ("Photo: " + "word " * 14, True),
        ("Photo: " + "word " * 15, False),
    ],
)
def test_a_line_that_leads_away_or_credits_a_picture_is_short(
    line: str, *, is_beside: bool
) -> None:
    assert measures_of(f"<p>{line}</p>").beside_text().tolist() == [is_beside]


@pytest.mark.parametrize("level", range(1, 7))
def test_a_heading_of_any_level_over_prose_opens_a_section(level: int) -> None:
    prose = "<p>One two three four five six seven eight nine.</p>"
    heading = f"<h{level}>More about the tides</h{level}>"
    assert measures_of(heading + prose).beside_text().tolist() == [False, False]
    assert measures_of(heading).beside_text().tolist() == [True]
