from __future__ import annotations

import pytest

from websearch_gateway.pages.visibility.selectors import ROOT, Condition, parse_selector

TAG, CLASS, ID = 1, 1 << 30, 1 << 60


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("p", TAG),
        ("*", 0),
        ("ul > li.wide", 2 * TAG + CLASS),
        ("#top .wide", ID + CLASS),
        ("a[href]", TAG + CLASS),
        (":root", CLASS),
        ("p:first-child", TAG + CLASS),
        ("p:not(.wide, #top)", TAG + ID),
        (":is(p, .wide)", CLASS),
        (":where(.wide)", 0),
        ("p:has(> img.wide)", 2 * TAG + CLASS),
    ],
)
def test_a_selector_has_the_specificity_of_css(text: str, weight: int) -> None:
    selector = parse_selector(text)
    assert selector is not None
    assert selector.weight == weight
    assert not selector.is_loose


@pytest.mark.parametrize(
    "text",
    [
        "",
        ">",
        "a:hover",
        "p::before",
        "p:-moz-odd",
        "p:contains(x)",
        "p:nth-child(x)",
        "p:has(a:hover)",
        "p % q",
    ],
)
def test_a_selector_that_matches_nothing_at_load_is_none(text: str) -> None:
    assert parse_selector(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "p:new-in-css",
        "p:nth-child(2 of .wide)",
        "p:is(div p)",
        "p:has(div p)",
        "p:not(div p)",
        "a b c d e f g h i",
        ":is(:is(:is(:is(p))))",
    ],
)
def test_a_selector_that_is_not_judged_wholly_is_loose(text: str) -> None:
    selector = parse_selector(text)
    assert selector is not None
    assert selector.is_loose


def test_compounds_stand_from_the_element_outwards() -> None:
    selector = parse_selector("main > ul li.wide")
    assert selector is not None
    assert [compound.keys for compound in selector.compounds] == [{"li", ".wide"}, {"ul"}, {"main"}]
    assert selector.joints == (" ", ">")


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("li.wide#top", {"#top"}),
        ("li.wide", {".wide"}),
        ("li[hidden]", {"[hidden  "}),
        (":where(.wide, .long)", {".wide", ".long"}),
        ("*", {""}),
    ],
)
def test_a_rule_is_looked_up_by_the_rarest_key_of_its_subject(
    text: str, subjects: set[str]
) -> None:
    selector = parse_selector(text)
    assert selector is not None
    assert selector.compounds[0].subjects == subjects


@pytest.mark.parametrize(
    ("comparison", "value", "actual", "is_met"),
    [
        ("", "", "anything", True),
        ("=", "a", "a", True),
        ("=", "a", "A", False),
        ("i=", "a", "A", True),
        ("~=", "b", "a b c", True),
        ("~=", "b", "abc", False),
        ("^=", "a", "abc", True),
        ("^=", "", "abc", False),
        ("$=", "c", "abc", True),
        ("*=", "b", "abc", True),
        ("*=", "", "abc", False),
        ("|=", "en", "en-GB", True),
        ("|=", "en", "english", False),
    ],
)
def test_an_attribute_meets_a_condition(
    comparison: str, value: str, actual: str, is_met: bool
) -> None:
    assert Condition("lang", comparison, value).is_met_by(actual) is is_met


def test_the_root_is_a_condition_of_its_own() -> None:
    selector = parse_selector(":root")
    assert selector is not None
    assert selector.compounds[0].keys == {ROOT.key}
