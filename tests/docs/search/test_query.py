import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.search.query import MOST_WORDS, parse


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("asyncio.timeout cancel after deadline", ("asyncio.timeout",)),
        ("std::vector push_back", ("std::vector", "push_back")),
        ("how does lru_cache work", ("lru_cache",)),
        ("ThreadPoolExecutor default", ("ThreadPoolExecutor",)),
        ("git commit --no-verify", ("--no-verify",)),
        ("python -X importtime", ("-X",)),
        ("PATH variable", ("PATH",)),
        ("what does print() do", ("print",)),
        ("templates in c++", ("c++",)),
        ("c# async", ("c#",)),
        ("dates in .net", (".net",)),
        ("operator[] of a map", ("operator[]",)),
        ("lists:foldl/3 with an index", ("lists:foldl",)),
        ("tide_server:call", ("tide_server:call",)),
        ("see http://a.example at 12:30", ("a.example",)),
        ("remove duplicates from a list", ()),
        ("opt-in features", ()),
    ],
)
def test_names_of_code_are_symbols(text, symbols):
    assert parse(text).symbols == symbols


def test_stop_words_are_not_looked_up_unless_there_is_nothing_else():
    assert parse("how to remove duplicates from a list").phrases == ("remove", "duplicates", "list")
    assert parse("how to").phrases == ("how", "to")


def test_a_quoted_phrase_stays_together():
    query = parse('"yield from" generators')
    assert query.phrases == ("yield from", "generators")


def test_acronyms_and_brands_are_uncertain_symbols():
    query = parse("connect PostgreSQL from JSON with json.loads")
    assert query.symbols == ("json.loads", "PostgreSQL", "JSON")
    assert query.certain == ("json.loads",)
    assert parse("catch DetachedInstanceError or NullPointerException").certain == (
        "DetachedInstanceError",
        "NullPointerException",
    )


@pytest.mark.parametrize(
    ("text", "version", "rest"),
    [
        ("python 3.12 match statement", "3.12", "python match statement"),
        ("match statement in v15", "15", "match statement in"),
        ("at most 15 connections", None, "at most 15 connections"),
        ("python 3.9 walrus", None, "python 3.9 walrus"),
    ],
)
def test_a_word_that_is_the_label_of_a_version_filters(text, version, rest):
    query = parse(text, {"3.12", "15", "latest"})
    assert (query.version, query.text) == (version, rest)


def test_a_short_query_may_be_a_name_as_a_whole():
    assert parse("abstract base class").whole == ("abstract base class",)
    assert parse("why are default values shared between objects").whole == ()


@pytest.mark.parametrize(
    "asked",
    [
        "what is a context manager",
        "What's a context manager?",
        "what does a context manager mean?",
        "definition of context manager",
    ],
)
def test_a_question_for_what_a_name_means_asks_for_its_definition(asked):
    assert parse(asked).whole == ("context manager",)


@pytest.mark.parametrize("name", ["C++", "C#", "operator[]", "->", "std::vector<T>"])
def test_a_name_that_ends_with_signs_keeps_them_in_such_a_question(name):
    asked = [
        f"what is {name}",
        f"What is {name}?",
        f"what is `{name}`?",
        f'what does "{name}" mean?',
    ]
    assert {parse(text).whole for text in asked} == {(name,)}


def test_the_label_of_a_message_is_no_part_of_it():
    assert parse("fatal: ERROR: deadlock detected").phrases == ("deadlock", "detected")
    assert parse("error: failed").phrases == ("error", "failed")


@given(st.text(max_size=300))
def test_any_text_has_a_query_of_bounded_size_without_repetitions(text):
    query = parse(text, {"1.0"})
    assert len(set(query.phrases)) == len(query.phrases)
    assert set(query.symbols) <= set(query.phrases)
    assert set(query.certain) <= set(query.symbols)
    assert all(phrase.strip() for phrase in query.phrases)


def test_a_very_long_query_is_cut():
    assert len(parse("word%d " * 500 % tuple(range(500))).phrases) == MOST_WORDS


def test_a_chinese_question_is_looked_up_by_its_pairs_of_characters():
    assert parse("asyncio 创建索引").phrases == ("asyncio", "创建", "建索", "索引")
    assert parse('"创建索引"').phrases == ("创建索引",)


@pytest.mark.parametrize(("count", "whole"), [(5, True), (6, False)])
def test_a_query_of_at_most_five_words_may_be_a_name(count, whole):
    text = " ".join(f"w{number}" for number in range(count))
    assert bool(parse(text).whole) is whole


def test_thirty_two_words_of_a_query_are_searched_for():
    words = [f"word{number}" for number in range(40)]
    assert parse(" ".join(words)).phrases == tuple(words[:32])
