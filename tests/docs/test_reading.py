from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.docs.conftest import chunks_of, commit, definitions, page, version
from tests.opening import Open
from websearch_gateway.base.tokenization import estimate_tokens
from websearch_gateway.docs.models import CrawlOptions, Owner
from websearch_gateway.docs.reading import CUT
from websearch_gateway.docs.reports import statuses
from websearch_gateway.docs.store.docs import this_process
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError
from websearch_gateway.models import DocsReadRequest, DocsSearchRequest

SECTIONS = [
    f"## Zebra {number}\n\n" + f"The zebra number {number} eats grass at noon. " * 40
    for number in range(12)
]


async def test_a_page_is_read_from_its_start_to_its_end_by_the_next_id(
    gateway: Open, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("\n\n".join(SECTIONS))
    async with gateway() as opened:
        docs = opened.docs
        site = await docs.add(str(tmp_path), "book", "1", CrawlOptions())
        await docs.runner.crawl(site.id)
        part = await docs.read(DocsReadRequest(url=f"{tmp_path.as_uri()}/a.md", max_tokens=1_500))
        assert 1_000 < estimate_tokens(part.content) <= 1_500
        seen, ids = part.content, {part.section_id}
        while part.next_section_id is not None and part.next_section_id not in ids:
            part = await docs.read(DocsReadRequest(section_id=part.next_section_id))
            seen, ids = f"{seen}\n\n{part.content}", ids | {part.section_id}
        assert seen == "\n\n".join(section.strip() for section in SECTIONS)


async def test_a_section_has_priority_over_its_neighbours_and_the_next_id_always_advances(
    gateway: Open, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("\n\n".join(SECTIONS))
    async with gateway() as opened:
        docs = opened.docs
        site = await docs.add(str(tmp_path), "book", "1", CrawlOptions())
        await docs.runner.crawl(site.id)
        page = f"{tmp_path.as_uri()}/a.md"
        sections = [
            entry.section_id
            for entry in (await docs.read(DocsReadRequest(url=page, outline=True))).outline
        ]
        for place, section in enumerate(sections):
            own = await docs.read(DocsReadRequest(section_id=section))
            part = await docs.read(DocsReadRequest(section_id=section, around=3, max_tokens=1_500))
            assert own.content in part.content
            assert len(part.content) > len(own.content)
            assert part.next_section_id is None or sections.index(part.next_section_id) > place


async def test_a_url_leads_to_the_section_of_its_anchor_in_any_spelling(
    gateway: Open, tmp_path: Path
) -> None:
    terms = "".join(
        f"<dt id='zoo.z{n}'>zoo.z{n}(x)</dt><dd><p>{'The zebra eats grass. ' * 60}</p></dd>"
        for n in range(6)
    )
    (tmp_path / "zoo page.html").write_text(f"<main><h1>Zoo</h1><dl>{terms}</dl></main>")
    async with gateway() as opened:
        site = await opened.docs.add(str(tmp_path), "zoo", "1")
        await opened.docs.runner.crawl(site.id)
        for url in (
            f"{tmp_path.as_uri()}/zoo%20page.html#zoo.z4",
            f"{tmp_path.as_uri()}/./zoo page.html#zoo%2Ez4",
        ):
            assert "zoo.z4" in (await opened.docs.read(DocsReadRequest(url=url))).content[:40]


@pytest.mark.parametrize("end", ["#\ud800", "#%00", "\0", "\ud800"])
async def test_an_address_that_no_page_can_have_is_refused(
    gateway: Open, tmp_path: Path, end: str
) -> None:
    (tmp_path / "a.md").write_text("# Zebras\n\nZebras eat grass.")
    async with gateway() as opened:
        await opened.docs.runner.crawl((await opened.docs.add(str(tmp_path), "zoo", "1")).id)
        with pytest.raises(SearchValidationError, match="url is not the address of a page"):
            await opened.docs.read(DocsReadRequest(url=f"{tmp_path.as_uri()}/a.md{end}"))


async def test_a_url_with_an_anchor_inside_a_section_is_read_from_there(
    gateway: Open, tmp_path: Path
) -> None:
    terms = "".join(
        f"<dt id='zoo.z{n}'>zoo.z{n}(x)</dt><dd><p>Zebra {n} eats.</p></dd>" for n in range(3)
    )
    row = "<table><tr><th>Name</th><th>Food</th></tr><tr><td><a id='oats'></a>Oats</td><td>Grass</td></tr></table>"
    (tmp_path / "zoo.html").write_text(
        f"<main><h1>Zoo</h1><p>Of zebras.</p><dl>{terms}</dl>{row}</main>"
    )
    async with gateway() as opened:
        await opened.docs.runner.crawl((await opened.docs.add(str(tmp_path), "zoo", "1")).id)
        found = await opened.docs.read(DocsReadRequest(url=f"{tmp_path.as_uri()}/zoo.html#zoo.z1"))
        assert found.content.startswith("**zoo.z1(x)**\n\nZebra 1 eats.")
        assert "Zebra 0" not in found.content
        assert found.url.endswith("zoo.html#zoo.z1")
        assert (
            await opened.docs.read(DocsReadRequest(section_id=found.section_id))
        ).content.startswith("# Zoo")
        assert (
            "Of zebras."
            in (
                await opened.docs.read(DocsReadRequest(url=f"{tmp_path.as_uri()}/zoo.html#oats"))
            ).content
        )


async def test_the_anchor_of_a_definition_within_a_section_leads_to_that_section(
    gateway: Open, tmp_path: Path
) -> None:
    terms = "".join(
        f"<dt id='zoo.z{n}'>zoo.z{n}(x)</dt><dd><p>{'The zebra eats grass. ' * 15}</p></dd>"
        for n in range(30)
    )
    (tmp_path / "zoo.html").write_text(f"<main><h1>Zoo</h1><dl>{terms}</dl></main>")
    async with gateway() as opened:
        site = await opened.docs.add(str(tmp_path), "zoo", "1")
        await opened.docs.runner.crawl(site.id)
        for number in range(30):
            found = await opened.docs.read(
                DocsReadRequest(url=f"{tmp_path.as_uri()}/zoo.html#zoo.z{number}", max_tokens=900)
            )
            assert f"zoo.z{number}(x)" in found.content


@pytest.mark.parametrize(
    "lists",
    [{"blocked_domains": "bad.example.org"}, {"allowed_domains": "good.example.org,127.0.0.1"}],
)
async def test_no_page_of_a_forbidden_domain_is_shown(
    gateway: Open, tmp_path: Path, lists: dict[str, str]
) -> None:
    docs_url = f"sqlite:///{tmp_path}/docs.db"
    (tmp_path / "a.md").write_text("# Zebras\n\nZebras eat grass at home.")
    async with gateway(docs_url=docs_url) as opened:
        folder = await opened.docs.add(str(tmp_path), "folder", "1")
        await opened.docs.runner.crawl(folder.id)
        store = opened.docs.store
        for name in ("good", "bad"):
            base = f"https://{name}.example.org/"
            site = await version(store, name, "1", base)
            await commit(store, site, page(f"{base}a.html", f"Zebras eat grass at {name}."))
            await store.set_status(site, "completed")
        imported = page("https://sub.bad.example.org:8443/x.html", "Zebras eat grass below bad.")
        await commit(
            store, await version(store, "good", "1", "https://good.example.org/"), imported
        )
        section = (
            await store.page_chunks(await store.find_page("https://bad.example.org/a.html", [3]))
        )[0].section_id
    async with gateway(docs_url=docs_url, **lists) as opened:
        docs = opened.docs
        found = await opened.documentation.search(DocsSearchRequest("zebras grass"))
        assert sorted(hit.url.rpartition("/")[0] for hit in found.results) == sorted(
            [tmp_path.as_uri(), "https://good.example.org"]
        )
        assert [site.name for site in await docs.completed()] == ["folder", "good"]
        for url in ("https://good.example.org/a.html", "good.example.org/a.html#s0"):
            assert "good" in (await docs.read(DocsReadRequest(url=url))).content
        for url in (
            "https://bad.example.org/a.html",
            "https://sub.bad.example.org:8443/x.html",
            "http://bad.example.org",
        ):
            with pytest.raises(ForbiddenUrlError):
                await docs.read(DocsReadRequest(url=url))
        with pytest.raises(SearchValidationError, match="No section has this id"):
            await docs.read(DocsReadRequest(section_id=section))
        with pytest.raises(
            SearchValidationError, match="No indexed site has the siteId 'bad'"
        ) as caught:
            await opened.documentation.search(DocsSearchRequest("zebras", site_id="bad"))
        assert "3 (bad" not in caught.value.message
        assert (
            await opened.documentation.search(DocsSearchRequest("zebras", sites_filter="bad"))
        ).results == ()


async def test_a_section_that_is_too_long_is_cut_within_the_limit_and_says_so(
    gateway: Open, tmp_path: Path
) -> None:
    (tmp_path / "code.md").write_text("# Code\n\n```\n" + "line = compute()\n" * 200 + "```\n")
    (tmp_path / "ja.md").write_text(
        "# 説明\n\n" + "この章ではソフトウェアの設定方法を説明します。" * 40
    )
    async with gateway() as opened:
        site = await opened.docs.add(str(tmp_path), "x", "1")
        await opened.docs.runner.crawl(site.id)
        for name in ("code.md", "ja.md"):
            found = await opened.docs.read(
                DocsReadRequest(url=f"{tmp_path.as_uri()}/{name}", max_tokens=100)
            )
            assert estimate_tokens(found.content) <= 100
            assert found.content.endswith(CUT)
            assert found.content.count("```") in (0, 2)


async def test_a_crawl_whose_process_has_ended_has_no_owner_and_says_how_to_go_on(tmp_path):
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    version = await store.add_version("my docs", "3", "https://docs.example.org/", CrawlOptions())
    for owner, command in (
        (Owner(platform.node(), 2**22 + 1, 1.0), "update 'my docs' 3"),
        (this_process(), ""),
    ):
        assert await store.claim(version.id, owner, 60)
        (site,) = (await statuses(store, await store.versions())).sites
        assert (site.owner is None, command in site.reason) == (bool(command), True)
    await store.close()


async def test_links_between_files_define_names_and_name_no_folder(
    gateway: Open, tmp_path: Path
) -> None:
    """A list of links without their targets would define each name itself."""
    (tmp_path / "api").mkdir()
    prose = "The zebra eats grass, and sleeps at night. " * 10
    (tmp_path / "api" / "open.html").write_text(
        f"<main><h1 id='top'>Opening</h1><p>{prose}</p></main>"
    )
    for name in ("a", "b"):
        links = "<li><a href='api/open.html#top'>zoo_open</a></li>"
        (tmp_path / f"{name}.html").write_text(
            f"<main><h1>{name}</h1><p>{prose} {name}</p><ul>{links}</ul></main>"
        )
    async with gateway() as opened:
        site = await opened.docs.add(str(tmp_path), "zoo", "1")
        await opened.docs.runner.crawl(site.id)
        (match,) = await definitions(opened.docs.store, ["zoo_open"], [site.id], 9)
        (chunk,) = await chunks_of(opened.docs.store, [match.chunk_id])
        assert (match.kind, chunk.path) == ("link", "api/open.html")
        text = (await opened.docs.read(DocsReadRequest(url=f"{tmp_path.as_uri()}/a.html"))).content
        assert "[zoo_open](api/open.html#top)" in text
        assert str(tmp_path) not in text
