"""How rare the words of a query are, and what is near to those that no page has."""

import pytest

from websearch_gateway.docs.search.spelling import (
    LONGEST,
    counted,
    replaced,
    spellings_near,
    words_of,
)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("windw", "window"),
        ("partiton", "partition"),
        ("exampels", "examples"),
        ("lazzy", "lazy"),
        ("tipe", "type"),
    ],
)
def test_a_word_is_near_to_one_that_differs_by_one_letter(wrong, right):
    assert right in spellings_near(wrong)


def test_only_words_of_plain_letters_are_looked_up():
    text = f"The l\u00ednea of sqlite3_prepar_v2, how {'x' * (LONGEST + 1)}, Linea"
    assert words_of(text) == ["linea", "prepar"]


def test_a_word_weighs_more_the_fewer_have_it_and_a_wrong_one_as_much_as_the_right_one():
    known = {"window": 20, "server": 500, "gate": 3}
    instead, weights = counted(
        "the windw of a server", lambda words: {w: known[w] for w in words if w in known}, 1_000
    )
    assert instead == {"windw": "window"}
    assert list(weights) == ["window", "server"]
    assert weights["window"] > 3 > 1.2 > weights["server"]
    assert set(counted("a gate", lambda words: {}, 0)[1].values()) == {0.0}


def test_a_word_is_replaced_wherever_it_stands():
    assert (
        replaced("Windw or my_windw(windw)?", {"windw": "window"}) == "window or my_window(window)?"
    )
