import pytest

from websearch_gateway.docs_index.crawl.scope import (
    MAX_LIKE,
    Scope,
    TrapDetector,
    canonical,
    is_only_followed,
    without_copies,
)

START = "https://docs.example.org/3/"


@pytest.mark.parametrize(
    ("url", "spelling"),
    [
        ("HTTPS://Docs.Example.org:443/3/index.html#x", "https://docs.example.org/3/"),
        ("https://docs.example.org/a?b=2&a=1&utm_source=x", "https://docs.example.org/a?a=1&b=2"),
        ("https://docs.example.org/caf%c3%a9 b", "https://docs.example.org/caf%C3%A9%20b"),
        ("https://docs.example.org", "https://docs.example.org/"),
        ("https://docs.example.org/3/%2e%2e/%2E/x/..", "https://docs.example.org/"),
        ("https://docs.example.org/3/a%2f..%2f.b", "https://docs.example.org/3/.b"),
        ("mailto:a@b.c", ""),
        ("https://user:pw@docs.example.org/", ""),
        ("https://[::1", ""),
        ("https://docs.example.org/?" + "&" * 8_000, ""),
        ("https://x.org/@scope%2fname/a%20b", "https://x.org/@scope%2Fname/a%20b"),
    ],
)
def test_an_address_has_one_spelling(url, spelling):
    assert canonical(url) == spelling
    assert canonical(spelling) == spelling


@pytest.mark.parametrize(
    ("link", "inside"),
    [
        ("library/a.html", True),
        ("https://docs.example.org/3/", True),
        ("https://docs.example.org/30/a.html", False),
        ("../2/a.html", False),
        ("%2e%2e/2/a.html", False),
        ("a/%2e%2E/b.html", True),
        ("http://docs.example.org/3/a.html", False),
        ("https://other.example.org/3/a.html", False),
        ("_sources/a.rst.txt", False),
        ("print.html", False),
        ("print/", True),
        ("node.js", True),
        ("package.json", True),
        ("model.py", True),
        ("io.h", True),
        ("image.PNG", False),
        ("de/a.html", False),
        ("zh-cn/a.html", False),
        ("go/a.html", True),
        ("a/b/a/b/a/b/a/b/", False),
        ("x" * 600, False),
        ("javascript:alert(1)", False),
        ("//[bad", False),
    ],
)
def test_only_links_below_the_start_are_followed(link, inside):
    assert bool(Scope.of(START).link(START, link)) is inside


def test_a_start_without_a_slash_is_a_folder_and_one_with_a_dot_a_page():
    assert Scope.of("https://a.org/docs").contains("https://a.org/docs/x")
    assert Scope.of("https://a.org/docs").contains("https://a.org/docs")
    assert not Scope.of("https://a.org/docs").contains("https://a.org/docs2/x")
    assert Scope.of("https://a.org/docs/intro.html").contains("https://a.org/docs/x")


def test_a_language_in_the_start_url_stays():
    assert Scope.of("https://a.org/de/").contains("https://a.org/de/x")


def test_globs_select_pages_below_the_start():
    scope = Scope.of(START, include=["library/*"], exclude=["*/xml*"])
    assert scope.contains(f"{START}library/a.html")
    assert not scope.contains(f"{START}library/xml.html")
    assert not scope.contains(f"{START}tutorial/a.html")


def test_a_site_moves_within_its_host_and_never_to_a_folder_above_its_own():
    scope = Scope.of("http://example.org/docs/")
    assert scope.may_move_to("https://www.example.org/docs/en/")
    assert scope.may_move_to("https://example.org/en/latest/")
    assert not scope.may_move_to("https://www.example.org/")
    assert not scope.may_move_to("https://elsewhere.org/docs/")


def test_a_site_never_moves_from_https_to_http():
    assert Scope.of("http://example.org/docs/").may_move_to("http://www.example.org/docs/")
    assert not Scope.of("https://example.org/docs/").may_move_to("http://www.example.org/docs/")
    assert not Scope.of("https://example.org/docs/").may_move_to("HTTP://example.org/docs/en/")


def test_addresses_that_differ_in_digits_only_are_limited():
    traps = TrapDetector()
    assert sum(traps.admit(f"https://a.org/calendar/{day}") for day in range(10 * MAX_LIKE)) == MAX_LIKE
    assert traps.admit("https://a.org/page")


def test_a_known_address_is_always_accepted():
    traps = TrapDetector()
    assert all(traps.admit("https://a.org/chapter/1") for _ in range(2 * MAX_LIKE))
    assert traps.admit("https://a.org/chapter/2")


@pytest.mark.parametrize(
    "path",
    ["genindex.html", "genindex-A.html", "genindex", "bookindex.html", "index-all.html", "search.html", "_modules/a"],
)
def test_links_of_indexes_are_followed_but_indexes_are_not_indexed(path):
    assert is_only_followed(START + path)
    assert not any(map(is_only_followed, (f"{START}library/search-path.html", f"{START}api/search")))


def test_a_session_is_no_part_of_an_address():
    assert canonical("https://a.org/docs;jsessionid=1F2E/a.html?b=1") == "https://a.org/docs/a.html?b=1"


def test_a_copy_of_a_page_in_markdown_is_left_out_if_the_page_is_there():
    pages = [f"{START}{name}" for name in ("", "a.html", "b/", "c", "alone.md", "license.txt")]
    copies = [f"{START}{name}" for name in ("index.md", "a.html.md", "a.md", "b/index.html.md", "b.md", "c.txt")]
    assert without_copies([*copies, *pages]) == pages
