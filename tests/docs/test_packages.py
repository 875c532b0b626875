"""What registries say of packages, and the sites that are added for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.docs.conftest import empty_database, page
from tests.docs.crawl.small_site import EMBEDDER, FAST, Site, html, library
from tests.loopback import serving
from tests.patience import PATIENCE
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.docs import packages
from websearch_gateway.docs.library import DocsLibrary
from websearch_gateway.docs.packages import (
    REPOSITORY_PAGES,
    described,
    package_named,
    repository_page,
)
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.docs.store.postgres import PostgresDocs
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.errors import (
    SearchFetchError,
    SearchProviderParseError,
    SearchValidationError,
)
from websearch_gateway.models import UNLIMITED
from websearch_gateway.sandbox import Sandbox

QUICK = {"delay": 0, "browser": "never"}


@pytest.fixture(params=["sqlite", "postgresql"])
async def opened(
    request: pytest.FixtureRequest,
    sandbox: Sandbox,
    workers: Workers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[DocsLibrary]:
    """A library on the sandbox, over each database."""
    store: SqlDocs = SqliteDocs(tmp_path / "docs.db", EMBEDDER.name)
    if request.param == "postgresql":
        server = request.getfixturevalue("postgresql_server")
        empty_database(server)
        store = PostgresDocs(server.url, EMBEDDER.name)
    # A busy machine takes longer than a look-up may.
    monkeypatch.setattr(packages, "LOOK_UP_SECONDS", PATIENCE)
    await workers.run(int, deadline=UNLIMITED)
    async with library(store, urlsplit(sandbox.url).port or 0, workers) as made:
        yield made


def package(source: str) -> Any:
    found = package_named(source)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("source", "name", "version"),
    [
        ("pypi:FastAPI", "fastapi", ""),
        ("pypi:Zope.Interface__x@5.2rc1", "zope-interface-x", "5.2rc1"),
        ("npm:vite", "vite", ""),
        ("npm:@vue/compiler-core@3.5.0-beta.1", "@vue/compiler-core", "3.5.0-beta.1"),
    ],
)
def test_a_name_has_one_spelling(source: str, name: str, version: str) -> None:
    assert (package(source).name, package(source).version) == (name, version)


@pytest.mark.parametrize(
    "source", ["https://pypi.org/", "./pypi:x", "pypi", "gem:rails", "file:///pypi:x", ""]
)
def test_any_other_source_is_no_package(source: str) -> None:
    assert package_named(source) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a/b",
        "../x",
        "-x",
        "x-",
        "x@",
        "x@y z",
        "x?y",
        "é",
        "x" * 300,
        "a@1/../2",
        "@a/b/c",
        "x\0",
        "\ud800",
    ],
)
def test_what_no_package_can_be_called_is_refused(name: str) -> None:
    for registry in ("pypi", "npm"):
        if registry == "npm" and name in ("-x", "x-"):
            continue
        with pytest.raises(SearchValidationError, match="is no package of") as refused:
            package_named(f"{registry}:{name}")
        assert refused.value.message.isprintable()


def pypi(links: dict[str, str] | None, **info: Any) -> str:
    body = {"info": {"version": "1", "project_urls": links, **info}}
    return str(described("pypi", json.dumps(body).encode(), "")["url"])


@pytest.mark.parametrize(
    ("links", "url"),
    [
        (
            {"Homepage": "https://h.org", "Documentation": "https://d.org/x/#top"},
            "https://d.org/x/",
        ),
        ({"documentation ": "https://d.org/", "Docs": "https://e.org/"}, "https://d.org/"),
        ({"Source": "https://github.com/a/b", "Read the Docs": "https://r.org/"}, "https://r.org/"),
        ({"API docs (stable)": "https://r.org/", "Homepage": "https://h.org"}, "https://r.org/"),
        (
            {"Documentation": "https://github.com/a/b#readme", "Homepage": "https://h.org/"},
            "https://h.org/",
        ),
        ({"Documentation": "https://github.com/a/b/wiki"}, "https://github.com/a/b/wiki"),
        ({"Homepage": "https://github.com/a/b"}, "https://github.com/a/b"),
        (
            {"Homepage": "https://pypi.org/project/x/", "Code": "https://gitlab.com/a/b.git"},
            "https://gitlab.com/a/b",
        ),
        (
            {
                "Documentation": "UNKNOWN",
                "Docs": "https://me:pw@d.org/",
                "Homepage": "javascript:x",
            },
            "",
        ),
        (None, ""),
    ],
)
def test_the_documentation_is_taken_from_the_labels_that_projects_use(
    links: dict[str, str], url: str
) -> None:
    assert pypi(links) == url


def test_older_fields_are_read_where_a_project_has_no_labels() -> None:
    assert pypi(None, docs_url="https://pythonhosted.org/x/") == "https://pythonhosted.org/x/"
    assert pypi({}, home_page="http://x.org") == "http://x.org"


@pytest.mark.parametrize("end", ["\x1b]0;pwn\x07", "\u202ex", "a b", "a\tb", "\x9b1m"])
def test_an_address_that_would_command_a_terminal_is_none(end: str) -> None:
    address = f"https://evil.example/{end}x"
    assert npm(homepage=address, repository=address)["url"] == ""
    assert pypi({"Documentation": address, "Source": address}) == ""


def test_a_version_that_no_package_can_have_is_left_out() -> None:
    body = json.dumps(
        {"info": {"version": "1\x1b]0;pwn\x07", "project_urls": {"Docs": "https://d.org/"}}}
    )
    assert described("pypi", body.encode(), "1.0")["version"] == "1.0"


def npm(**fields: Any) -> dict[str, Any]:
    return described("npm", json.dumps({"version": "2.0.0", **fields}).encode(), "next")


def test_a_tag_of_npm_stands_for_its_version() -> None:
    found = npm(homepage="https://vite.dev")
    assert (found["version"], found["url"], found["is_repository"]) == (
        "2.0.0",
        "https://vite.dev",
        False,
    )


@pytest.mark.parametrize(
    ("home", "repository", "url", "is_repository"),
    [
        (
            "https://github.com/a/b#readme",
            {"url": "git+https://github.com/a/b.git"},
            "https://github.com/a/b",
            True,
        ),
        (None, "github:a/b", "https://github.com/a/b", True),
        (None, {"url": "git@gitlab.com:a/b.git"}, "https://gitlab.com/a/b", True),
        (
            "https://github.com/a/b/tree/main/packages/c#readme",
            {"url": "git://github.com/a/b.git", "directory": "packages/c"},
            "https://github.com/a/b/blob/HEAD/packages/c/README.md",
            False,
        ),
        (
            None,
            {"url": "https://github.com/a/b", "directory": "../../x"},
            "https://github.com/a/b",
            True,
        ),
        (7, ["a"], "", False),
    ],
)
def test_without_a_home_of_its_own_a_package_of_npm_has_its_repository(
    home: object, repository: object, url: str, is_repository: bool
) -> None:
    found = npm(homepage=home, repository=repository)
    assert (found["url"], found["is_repository"]) == (url, is_repository)


def test_an_address_that_only_looks_like_a_repository_is_none() -> None:
    assert [
        repository_page(url)
        for url in ("file:///etc", "a/b/c", "ftp://x/y.git", "https://u:p@github.com/a/b")
    ] == [""] * 4


@pytest.mark.parametrize("body", [b"[]", b"<html>", b"7", b"{" * 5_000, b"\xff", b'"x"'])
def test_a_reply_that_is_no_description_is_a_typed_error(body: bytes) -> None:
    with pytest.raises(SearchProviderParseError, match="PyPI cannot be read"):
        described("pypi", body, "")


@pytest.mark.parametrize(
    "body", [{}, {"info": None}, {"info": {"project_urls": ["x"], "version": 7, "yanked": "x"}}]
)
def test_fields_of_other_types_are_left_out(body: object) -> None:
    for ecosystem in ("pypi", "npm"):
        assert (
            described(ecosystem, json.dumps(body).encode(), "")["url"] in ("", None)
            or ecosystem == "npm"
        )


async def test_a_package_is_indexed_under_its_name_and_version(
    opened: DocsLibrary, sandbox: Sandbox
) -> None:
    site, note = await opened.add_package(package("pypi:heron-tools"), **QUICK)
    await opened.runner.crawl(site.id)
    (site,) = await opened.store.versions()
    assert (site.name, site.label, site.url, note) == (
        "heron-tools",
        "0.4",
        f"{sandbox.url}/docs/2.0/",
        "",
    )
    assert (site.status, site.page_count) == ("completed", 6)
    again, note = await opened.add_package(package("pypi:Heron_Tools"), **QUICK)
    assert (again.id, note) == (site.id, "")


async def test_a_version_has_its_own_pages_where_the_site_has_them(
    opened: DocsLibrary, sandbox: Sandbox
) -> None:
    site, note = await opened.add_package(package("pypi:heron@1.0"), **QUICK)
    assert (site.name, site.label, site.url, note) == (
        "heron",
        "1.0",
        f"{sandbox.url}/docs/1.0/",
        "",
    )
    other, note = await opened.add_package(package("npm:heron@2.0.0"), **QUICK)
    assert (other.name, other.label, other.url, note) == (
        "heron",
        "2.0.0",
        f"{sandbox.url}/docs/2.0/",
        "",
    )


@pytest.mark.parametrize("busy", ["/docs/1.0/", "/robots.txt"])
async def test_a_site_that_is_busy_is_an_error_and_not_a_site_without_the_version(
    opened: DocsLibrary, busy: str
) -> None:
    site = Site({"/docs/2.0/": html("Heron"), busy: (503, {})})
    async with (
        serving(site.serve) as site.port,
        Fetcher(AddressPolicy([f"127.0.0.1:{site.port}"])) as fetcher,
    ):
        opened.runner.fetcher = fetcher
        with pytest.raises(SearchFetchError):
            await opened.runner.at_version(f"{site.url}2.0/", "1.0")
        if busy != "/robots.txt":
            site.pages.pop(busy)
            assert await opened.runner.at_version(f"{site.url}2.0/", "1.0") == ""


async def test_two_packages_of_one_site_are_crawled_once(opened: DocsLibrary) -> None:
    added = await asyncio.gather(
        *(
            opened.add_package(package(source), **QUICK)
            for source in ("pypi:heron-tools", "npm:heron@2.0.0")
        ),
        opened.add_package(package("pypi:heron-tools"), **QUICK),
    )
    assert len({site.id for site, _ in added}) == 1
    assert [note for _, note in added] == [
        "",
        "npm:heron@2.0.0 is indexed already, as heron-tools 0.4.",
        "",
    ]
    await asyncio.gather(*(opened.runner.crawl(site.id) for site, _ in added))
    assert len(await opened.store.versions()) == 1


@pytest.mark.parametrize(
    "sources", [("pypi:heron", "pypi:heron-tools"), ("pypi:heron-tools", "pypi:heron")]
)
async def test_a_site_and_the_folder_of_its_version_are_crawled_once(
    opened: DocsLibrary, sources: tuple[str, str]
) -> None:
    first, second = [await opened.add_package(package(source), **QUICK) for source in sources]
    assert first[0].id == second[0].id
    assert second[1] == f"{sources[1]} is indexed already, as {first[0].name} {first[0].label}."
    dependency = await opened.documented(package(sources[1]))
    assert dependency.indexed == f"{first[0].name} {first[0].label}"


async def test_a_package_whose_pages_are_part_of_an_indexed_site_is_not_crawled_again(
    opened: DocsLibrary, sandbox: Sandbox
) -> None:
    site = await opened.add(f"{sandbox.url}/", "all", "now", FAST)
    start = f"{sandbox.url}/docs/2.0/"
    await opened.store.add_urls(site.id, {start: 1})
    (task,) = await opened.store.lease_urls(site.id, 1, 0.0)
    await opened.store.commit_page(task, page(start, "The heron stands."), None, ())
    added, note = await opened.add_package(package("pypi:heron-tools"), **QUICK)
    assert (added.id, note) == (site.id, "pypi:heron-tools is indexed already, as all now.")
    other, note = await opened.add_package(package("pypi:heron@1.0"), **QUICK)
    assert (other.url, note) == (f"{sandbox.url}/docs/1.0/", "")


async def test_headers_are_not_sent_to_the_host_that_a_package_names(opened: DocsLibrary) -> None:
    with pytest.raises(
        SearchValidationError, match="Add the site by its address, with the headers"
    ):
        await opened.add_package(package("pypi:heron"), headers=(("authorization", "x"),))
    assert await opened.store.versions() == []


async def test_another_version_of_an_indexed_site_is_not_indexed(
    opened: DocsLibrary, sandbox: Sandbox
) -> None:
    for url in (f"{sandbox.url}/docs/", f"{sandbox.url}/docs/2.0/"):
        site = await opened.add(url, "heron", "2.0", FAST)
        assert (await opened.documented(package("pypi:heron"))).indexed == "heron 2.0"
        assert (await opened.documented(package("pypi:heron@1.0"))).indexed == ""
        await opened.store.delete_version(site.id)


async def test_a_version_that_an_indexed_site_leaves_out_is_a_version_of_its_own(
    opened: DocsLibrary, sandbox: Sandbox
) -> None:
    site = await opened.add(f"{sandbox.url}/docs/2.0/", "heron", "2.0", FAST)
    await opened.runner.crawl(site.id)
    old = f"{sandbox.url}/docs/1.0/"
    await opened.store.add_urls(site.id, {old: 1})
    (task,) = await opened.store.lease_urls(site.id, 1, 0.0)
    await opened.store.finish_url(task, "skipped", "another version of the documentation")
    added, note = await opened.add_package(package("pypi:heron@1.0"), **QUICK)
    assert (added.name, added.label, added.url, note) == ("heron", "1.0", old, "")
    with pytest.raises(SearchValidationError, match="is indexed from"):
        await opened.add(old, "heron", "2.0")


async def test_two_repositories_of_one_host_of_code_are_two_sites(opened: DocsLibrary) -> None:
    named = {
        "npm": "https://github.com/redis/node-redis",
        "pypi": "https://github.com/redis/redis-py",
    }
    await opened.add(named["npm"], "redis", "5.0", FAST)
    for ecosystem, name in (("npm", "redis"), ("pypi", "pypi:redis")):
        assert await opened._free_name(package(f"{ecosystem}:redis"), named[ecosystem]) == name
    assert (
        await opened._free_name(package("npm:redis"), f"{named['npm']}/tree/main/docs") == "redis"
    )


async def test_the_pages_that_a_person_chose_of_a_repository_stay(opened: DocsLibrary) -> None:
    chosen = await opened.add_package(
        package("npm:@harbour/tides"), include=("*/guide/*",), **QUICK
    )
    again = await opened.add_package(package("npm:@harbour/tides"), **QUICK)
    assert again[0].id == chosen[0].id
    assert again[0].options.include == ("*/guide/*",)


async def test_the_same_name_in_two_registries_is_two_sites(opened: DocsLibrary) -> None:
    await opened.add("https://tides.example.org/", "@harbour/tides", "1", FAST)
    site, _ = await opened.add_package(package("npm:@harbour/tides"), **QUICK)
    assert site.name == "npm:@harbour/tides"


async def test_a_package_without_a_site_has_the_page_and_the_docs_folder_of_its_repository(
    opened: DocsLibrary,
) -> None:
    site, _ = await opened.add_package(package("npm:@harbour/tides"), **QUICK)
    assert (site.options.include, site.label) == (REPOSITORY_PAGES, "1.2.0")
    await opened.runner.crawl(site.id)
    (site,) = await opened.store.versions()
    assert (site.status, site.page_count) == ("completed", 2)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("pypi:nobody", r"PyPI has no nobody\. Check .* docs add URL NAME VERSION"),
        ("pypi:heron@9", r"PyPI has no heron 9\."),
        ("npm:@harbour/none", r"npm has no @harbour/none\."),
        ("npm:heron@9.9.9", r"npm has no heron 9\.9\.9\."),
        ("pypi:tern", r"PyPI names no documentation of tern\. Add the address"),
        ("npm:tern", r"npm names no documentation of tern\."),
        (
            "pypi:gull",
            r"gull was withdrawn from PyPI\. Name another version\. .*>breaks all harbours</untrusted",
        ),
    ],
)
async def test_a_package_without_documentation_is_one_error_with_its_remedy(
    opened: DocsLibrary, source: str, message: str
) -> None:
    with pytest.raises(SearchValidationError, match=message):
        await opened.add_package(package(source))
    assert await opened.store.versions() == []


@pytest.mark.parametrize("kind", ["garbage", "status"])
async def test_a_registry_that_fails_is_a_typed_error(
    opened: DocsLibrary, sandbox: Sandbox, kind: str
) -> None:
    sandbox.fault("pypi", kind, **({"status": 503} if kind == "status" else {}))
    with pytest.raises(SearchProviderParseError if kind == "garbage" else Exception) as failed:
        await opened.add_package(package("pypi:heron"))
    assert failed.value.code in ("PARSE", "FETCH")  # type: ignore[attr-defined]


def test_a_name_of_npm_has_at_most_214_characters() -> None:
    assert package(f"npm:{'x' * 214}").name == "x" * 214
    with pytest.raises(SearchValidationError):
        package(f"npm:{'x' * 215}")


@pytest.mark.parametrize(("before", "is_found"), [(99, True), (100, False)])
def test_the_first_hundred_links_of_a_package_are_read(before: int, is_found: bool) -> None:
    links = {f"Link {'x' * at}": "https://x.example/" for at in range(before)}
    assert ("docs.example" in pypi({**links, "Docs": "https://docs.example/"})) is is_found
