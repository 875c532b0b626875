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


@pytest.mark.parametrize(("letters", "count"), [(4, 0), (5, 1), (25, 1), (26, 0)])
def test_words_of_five_to_twenty_five_letters_are_looked_up(letters, count):
    assert len(words_of("q" * letters)) == count


@pytest.mark.parametrize(("unknown", "replaced_words", "looks"), [(2, 2, 2), (3, 3, 1), (4, 3, 1)])
def test_three_words_of_a_query_are_replaced_by_near_ones(unknown, replaced_words, looks):
    """With so many, only words that begin alike are looked up."""
    wrong = ["windw", "serverr", "lazzy", "partiton"][:unknown]
    known = {"window": 1, "server": 1, "lazy": 1, "partition": 1}
    asked = []

    def count(words):
        asked.append(words)
        return {word: known[word] for word in words if word in known}

    instead, _ = counted(" ".join(wrong), count, 10)
    assert len(instead) == replaced_words
    assert len(asked[0]) == unknown
    asked.clear()
    counted(" ".join(f"qqqq{letter}" for letter in "abcd"[:unknown]), count, 10)
    assert len(asked) == 1 + min(3, unknown) * looks


def test_the_most_frequent_spelling_with_the_same_first_letter_is_taken():
    known = {"tide": 5, "tidal": 9, "xidel": 50}
    instead, _ = counted(
        "tidel", lambda words: {word: known[word] for word in words if word in known}, 10
    )
    assert instead == {"tidel": "tidal"}
