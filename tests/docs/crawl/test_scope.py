import pytest

from websearch_gateway.docs.crawl.scope import (
    LeftOut,
    Scope,
    canonical,
    is_only_followed,
    without_copies,
)
from websearch_gateway.docs.crawl.versions import VersionFolders

START = "https://docs.example.org/3/"


@pytest.mark.parametrize(
    ("url", "spelling"),
    [
        ("http://docs.example.org:80/3/", "http://docs.example.org/3/"),
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
        ("math.log", True),
        ("Array.prototype.map", True),
        ("hashlib.sha256", True),
        ("gull-1.2.log", False),
        ("logo.png", False),
        ("site.tar.gz", False),
        ("_static/base.css", False),
        ("de/a.html", False),
        ("zh-cn/a.html", False),
        ("go/a.html", True),
        ("a/b/a/b/a/b/a/b/", False),
        ("x" * (500 - len(START)), True),
        ("x" * (501 - len(START)), False),
        ("a/b/a/b/a/b/", True),
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


def test_a_glob_of_files_matches_the_index_page_of_a_folder():
    assert Scope.of("file:///d/", include=["*.html"]).contains(
        canonical("file:///d/guide/index.html")
    )
    assert Scope.of("file:///d/", include=["guide/*.html"]).contains(
        canonical("file:///d/guide/index.html")
    )
    assert not Scope.of("file:///d/", include=["api/*.html"]).contains(
        canonical("file:///d/guide/index.html")
    )
    assert not Scope.of("file:///d/", exclude=["old/*.html"]).contains(
        canonical("file:///d/old/index.html")
    )
    assert Scope.of(START, include=["*.html"]).contains(canonical(f"{START}library/index.html"))
    assert Scope.of(START, exclude=["*.html"]).contains(f"{START}library/")


def test_the_remembered_addresses_that_are_left_out_have_a_limit():
    left_out = LeftOut()
    left_out.note({"a": [f"{START}{number}" for number in range(20_005)]})
    assert [(one.count, len(one.urls)) for one in left_out.rows()] == [(20_000, 5)]


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


@pytest.mark.parametrize(
    "path",
    [
        "genindex.html",
        "genindex-A.html",
        "genindex",
        "bookindex.html",
        "index-all.html",
        "search.html",
        "_modules/a",
        "_sidebar.md",
    ],
)
def test_links_of_indexes_are_followed_but_indexes_are_not_indexed(path):
    assert is_only_followed(START + path)
    assert not any(
        map(is_only_followed, (f"{START}library/search-path.html", f"{START}api/search"))
    )


@pytest.mark.parametrize(
    ("path", "title", "is_index"),
    [
        ("classes.html", "Gull: Class Index", True),
        ("classes.html", "Data Structure Index", True),
        ("functions.html", "Class Members", True),
        ("functions_func_b.html", "Gull: Class Members - Functions", True),
        ("functions_vars.html", "Gull: Data Fields - Variables", True),
        ("globals_0x7e.html", "Gull: File Members", True),
        ("globals.html", "Gull: Globals", True),
        ("namespacemembers.html", "Gull: Namespace Members", True),
        ("classes.html", "9. Classes", False),
        ("functions.html", "Chapter 9. Functions and Operators", False),
        ("globals.html", "Global objects", False),
        ("guide.html", "Class Members", False),
        ("classgull_1_1Table-members.html", "Gull: Member List", True),
        ("table-members.html", "List of All Members for Table | Gull 5.15", True),
        ("class-use/Table.html", "Uses of Interface gull.Table (Gull 17 API)", True),
        ("gull/package-use.html", "Uses of Package gull (Gull 17 API)", True),
        ("index-files/index-3.html", "C-Index (Gull 17 API)", True),
        ("serialized-form.html", "Serialized Form (Gull 17 API)", True),
        ("doc-index-H.html", "gull-1.2: Birds (Index - H)", True),
        ("doc-index.html", "gull-1.2: Birds (Index)", True),
        ("board-members.html", "Members of the board", False),
        ("class-use/when.html", "When to use a class", False),
        ("index-1.html", "Index types", False),
        ("serialized-form.html", "What a serialized form is", False),
        ("doc-index.html", "The index of documents", False),
    ],
)
def test_lists_of_names_that_generators_write_are_known_by_their_addresses_and_titles(
    path: str, title: str, is_index: bool
) -> None:
    assert is_only_followed(f"{START}html/{path}", title) is is_index


@pytest.mark.parametrize(
    "url",
    [
        "https://a.org/docs;jsessionid=1F2E/a.html?b=1",
        "https://a.org/docs/a.html;PHPSESSID=12?b=1",
        "https://a.org/(S(lit3py55t21z5v55vlm25s55))/docs/a.html?b=1",
        "https://a.org/docs/(A(x)S(y)F(z))/a.html?b=1",
        "https://a.org/docs/a.html?PHPSESSID=0af3&b=1",
        "https://a.org/docs/a.html?b=1&ASPSESSIONIDQQSDBRAA=JHGD",
        "https://a.org/docs/a.html?session_id=7&b=1&CFID=1&CFTOKEN=2",
        "https://a.org/docs/a.html?b=1&sid=0123456789abcdef0123456789abcdef",
        "https://a.org/docs/a.html?b=1&_=1700000000000",
    ],
)
def test_a_session_is_no_part_of_an_address(url):
    assert canonical(url) == "https://a.org/docs/a.html?b=1"


@pytest.mark.parametrize(
    "query", ["sid=123", "s=search", "token=a", "session=3", "id=0123456789abcdef0123456789abcdef"]
)
def test_what_may_choose_a_page_stays_in_its_address(query):
    assert canonical(f"https://a.org/docs/(1)/a?{query}") == f"https://a.org/docs/(1)/a?{query}"


def test_a_copy_of_a_page_in_markdown_is_left_out_if_the_page_is_there():
    pages = [f"{START}{name}" for name in ("", "a.html", "b/", "c", "alone.md", "license.txt")]
    copies = [
        f"{START}{name}"
        for name in ("index.md", "a.html.md", "a.md", "b/index.html.md", "b.md", "c.txt")
    ]
    assert without_copies([*copies, *pages]) == pages


def versions_of(
    *paths: str, start: str = "https://e.org/", wanted: str = "", before: tuple[str, ...] = ()
) -> list[str]:
    """The paths that are left."""
    folders = VersionFolders(Scope.of(start), wanted)
    folders.keep(f"https://e.org/{path}" for path in before)
    folders.note(f"https://e.org/{path}" for path in paths)
    return [path for path in paths if not folders.other_version(f"https://e.org/{path}")]


@pytest.mark.parametrize(
    ("paths", "left"),
    [
        (("1.0/a", "latest/a", "stable/a", "about"), ["stable/a", "about"]),
        (("1.0/", "latest/"), ["latest/"]),
        (("en/1.0/a", "en/2.0/a", "en/10.1/a", "en/11.0rc1/a", "en/dev/a"), ["en/10.1/a"]),
        (("docs/current/a", "docs/17/a", "docs/16/a"), ["docs/current/a"]),
        (("docs/intro", "docs/1.0/intro", "docs/2.0/intro", "blog/x"), ["docs/intro", "blog/x"]),
        (("main/a", "v1.2/a"), ["v1.2/a"]),
    ],
)
def test_of_versions_side_by_side_the_stable_or_latest_one_is_left(
    paths: tuple[str, ...], left: list[str]
) -> None:
    assert versions_of(*paths) == left


def test_the_version_that_is_wanted_or_was_indexed_before_is_left() -> None:
    paths = ("5.1/a", "v5.2/a", "stable/a")
    assert versions_of(*paths, wanted="5.2.7") == ["v5.2/a"]
    assert versions_of(*paths, wanted="9.9") == ["stable/a"]
    assert versions_of("5.1/a", "5.2/a", before=("5.1/a", "5.1/b", "5.2/c")) == ["5.1/a"]


@pytest.mark.parametrize(
    "paths",
    [
        ("1.0/a", "1.0/b", "about"),
        ("releases/5.1/", "releases/5.2/", "intro"),
        ("2023/a", "2024/a"),
        ("v1/users", "v2/users"),
        ("main/a", "dev/a"),
        ("v1.2.html", "v1.3.html"),
    ],
)
def test_other_folders_with_numbers_are_no_versions(paths: tuple[str, ...]) -> None:
    assert versions_of(*paths) == list(paths)


def test_where_the_start_leads_decides_only_between_numbers() -> None:
    for paths, left in ((("3/a", "3.15/a"), "3/a"), (("latest/a", "stable/a"), "stable/a")):
        folders = VersionFolders(Scope.of("https://e.org/"))
        urls = [f"https://e.org/{path}" for path in paths]
        folders.prefer(urls[0])
        folders.note(urls)
        assert [url for url in urls if not folders.other_version(url)] == [f"https://e.org/{left}"]


def test_a_start_that_is_a_version_has_none_below_it() -> None:
    assert versions_of("5.2/1.0/a", "5.2/2.0/a", start="https://e.org/5.2/") == [
        "5.2/1.0/a",
        "5.2/2.0/a",
    ]


def test_a_summary_names_at_most_twenty_other_versions_the_highest_first():
    folders = VersionFolders(Scope.of("https://e.org/"))
    folders.note(f"https://e.org/1.{number}/" for number in range(30))
    others = folders.summary().partition("Others: ")[2].partition(". Add")[0].split(", ")
    assert (len(others), others[0], others[-1]) == (20, "1.28", "1.9")
