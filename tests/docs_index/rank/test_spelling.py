"""Misspelt words become those of the index."""

import pytest

from websearch_gateway.docs_index.rank.spelling import LONGEST, near, nearest, replaced, words_of


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("windw", "window"), ("partiton", "partition"), ("exampels", "examples"), ("lazzy", "lazy"), ("tipe", "type")],
)
def test_a_word_is_near_to_one_that_differs_by_one_letter(wrong, right):
    assert right in near(wrong)


def test_the_most_frequent_near_word_with_the_same_first_letter_is_the_nearest():
    counts = {"borrow": 90, "barow": 10, "sorow": 500}
    assert nearest(["borow", "zzzzz"], counts) == {"borow": "borrow"}


def test_only_words_of_plain_letters_are_looked_up():
    text = f"The l\u00ednea of sqlite3_prepar_v2, how {'x' * (LONGEST + 1)}, Linea"
    assert words_of(text) == ["linea", "prepar"]


def test_a_word_is_replaced_wherever_it_stands():
    assert replaced("Windw or my_windw(windw)?", {"windw": "window"}) == "window or my_window(window)?"
