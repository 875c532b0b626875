import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.models import PageFacts, SiteVersion
from websearch_gateway.docs.query import (
    LONGEST,
    MOST_WORDS,
    asks_for_news,
    counted,
    is_navigation,
    is_news,
    newest_first,
    parse,
    replaced,
    spellings_near,
    unasked_pages,
    words_of,
)


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


def test_a_section_of_many_links_is_judged_from_its_beginning():
    links = "".join(f"- [name {number}](https://a.example/{number})\n" for number in range(20_000))
    assert is_navigation(links)
    assert not is_navigation("A long text about names. " * 1_000 + links)


def test_version_numbers_sort_numerically_and_pre_releases_come_last():
    labels = [
        "3.9",
        "3.12",
        "3.13rc1",
        "main",
        "3.11.2",
        "v3.11.10",
        "latest",
        "4.0-beta",
        "2024-05",
    ]
    versions = [SiteVersion(place, "site", label, "") for place, label in enumerate(labels)]
    assert [version.label for version in newest_first(versions)] == [
        "latest",
        "2024-05",
        "3.12",
        "v3.11.10",
        "3.11.2",
        "3.9",
        "4.0-beta",
        "3.13rc1",
        "main",
    ]


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("blog/2024/05/fast.html", "Fast"),
        ("releases/1.7.html", "Django 1.7"),
        ("release/3.25.html", "CMake 3.25"),
        ("releaselog/3_8_0.html", "SQLite"),
        ("changes.html", "History"),
        ("changelog/changelog_14.html", "1.4"),
        ("glib-changes.html", "Changes"),
        ("whatsnew/3.9.html", "3.9"),
        ("about.html", "What\u2019s New in Python 3.9"),
    ],
)
def test_the_address_or_title_of_an_announcement_says_so(path, title):
    assert is_news(path, title)


@pytest.mark.parametrize(
    "path",
    ["c3ref/db_release_memory.html", "guide/changing.html", "std/newtype.html", "api/history/"],
)
def test_a_page_about_something_similar_is_none(path):
    assert not is_news(path, "Guide")


def test_a_query_asks_for_news_by_its_words():
    assert all(
        map(
            asks_for_news,
            ["what changed in 3.12", "release notes", "new features", "deprecated since"],
        )
    )
    assert not any(map(asks_for_news, ["create a newtype", "how to wait", "renew a lease"]))


@pytest.mark.parametrize(
    "title", ["Gull: Table.h Source File", "table.rs - source", "src/Data/Table.hs"]
)
def test_a_source_file_comes_after_the_page_about_it_unless_it_is_asked_for(title):
    facts = {
        1: PageFacts(title, "a.html", 1),
        2: PageFacts("Tables in an open source library", "b.html", 1),
    }
    assert unasked_pages("sort a table", facts) == {1}
    assert unasked_pages("source of a table", facts) == unasked_pages("Table.h", facts) == set()


def test_a_table_of_contents_is_navigation():
    assert is_navigation(
        "\n".join(f"- [Chapter number {n}](https://docs.example/{n}.html)" for n in range(30))
    )


def test_text_with_links_is_not_navigation():
    text = "The [loop](https://docs.example/loop.html) runs what it is given, and [tasks](https://x.example) wait for it. "
    assert not is_navigation(text * 20)
    assert not is_navigation("")
