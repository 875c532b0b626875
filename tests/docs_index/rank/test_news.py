"""Announcements are told from guides and references."""

import pytest

from websearch_gateway.docs_index.rank.news import asks_for_news, is_news


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
    "path", ["c3ref/db_release_memory.html", "guide/changing.html", "std/newtype.html", "api/history/"]
)
def test_a_page_about_something_similar_is_none(path):
    assert not is_news(path, "Guide")


def test_a_query_asks_for_news_by_its_words():
    assert all(map(asks_for_news, ["what changed in 3.12", "release notes", "new features", "deprecated since"]))
    assert not any(map(asks_for_news, ["create a newtype", "how to wait", "renew a lease"]))
