from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.docs.conftest import BASE, commit, page, vectors, version, with_symbols
from websearch_gateway.base.tokenization import estimate_tokens
from websearch_gateway.docs.models import ChunkDraft, PageDraft, SiteVersion, Symbol
from websearch_gateway.docs.search.ranker import Ranker, newest_first
from websearch_gateway.docs.search.reply import LEAST_CONTENT, share_out
from websearch_gateway.docs.store.docs import SqlDocs
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.results import DocsHit, DocsSearchResponse

LONG = "A sentence about waiting for tasks in a loop. " * 60

VECTOR = StaticEmbedder().encode(["waiting"])


class Asker:
    """Searches as `search_docs` does, and gives the results alone."""

    def __init__(self, index: SqlDocs) -> None:
        self.ranker = Ranker(index)

    async def search(self, text: str, vector, versions, **limits: int) -> list[DocsHit]:
        query, _ = await self.ranker.understood(text, versions)
        found, self.more = await self.ranker.search(query, vector, versions, **limits)
        titles = (*(hit.page_title for hit in found), *(hit.title for hit in self.more))
        self.titles = [title.partition(" > ")[0] for title in titles]
        return found


@pytest.fixture
def ranker(docs) -> Asker:
    return Asker(docs)


async def test_a_result_cites_section_site_and_version(docs, ranker):
    id_ = await version(docs, "python", "3.12")
    await commit(
        docs,
        id_,
        page(
            f"{BASE}a.html", "Tasks can be cancelled.", title="Tasks", headings=("Tasks", "Cancel")
        ),
    )
    (found,) = await ranker.search("cancel a task", VECTOR, await docs.versions())
    assert (found.content, found.url, found.page_title) == (
        "Tasks can be cancelled.",
        f"{BASE}a.html#s0",
        "Tasks",
    )
    assert (found.heading_path, found.site_name, found.site_version) == (
        ("Tasks", "Cancel"),
        "python",
        "3.12",
    )
    assert 0 < found.relevance_score <= 1
    assert (await docs.find_section(found.section_id)).content == found.content


@pytest.mark.parametrize(
    ("text", "headings", "path"),
    [
        (
            "## Sleep\n\nSleeps.\n\n## Cancel\n\nCancels it.",
            ("Tasks", "Sleep"),
            ("Tasks", "Cancel"),
        ),
        (
            "## Sleep\n\nSleeps.\n\n### Cancel\n\nCancels it.",
            ("Tasks", "Sleep"),
            ("Tasks", "Sleep", "Cancel"),
        ),
        ("## Sleep\n\nSleeps.\n\n## Cancel\n\nCancels it.", ("Tasks",), ("Tasks", "Cancel")),
    ],
)
async def test_a_section_that_begins_within_a_chunk_has_its_own_heading(
    docs, ranker, text, headings, path
):
    await commit(docs, await version(docs), page(f"{BASE}a.html", text, headings=headings))
    (found,) = await ranker.search("cancel", VECTOR, await docs.versions())
    assert found.content.splitlines()[0].endswith("# Cancel")
    assert found.heading_path == path


async def test_the_definition_of_a_name_comes_first_with_its_own_anchor(docs, ranker):
    id_ = await version(docs)
    for number in range(5):
        await commit(
            docs,
            id_,
            page(f"{BASE}{number}.html", "Use task.wait here, task.wait there.", title="task.wait"),
        )
    draft = page(f"{BASE}task.html", "About tasks.", "**task.wait(*seconds*)**")
    await commit(docs, id_, with_symbols(draft, Symbol("task.wait", "api", "task.wait", 1)))
    found = await ranker.search("task.wait", VECTOR, await docs.versions())
    assert found[0].url == f"{BASE}task.html#task.wait"
    assert found[0].content == "**task.wait(*seconds*)**"
    assert len(found) + len(ranker.more) == 6


async def test_an_option_is_that_of_the_program_that_the_query_names(docs, ranker):
    texts = {"mill": "Grinds it.", "batch": "Groups jobs: write a template of groups, one a line."}
    for name, text in texts.items():
        url = f"https://{name}.example/"
        id_ = await version(docs, name, url=url)
        draft = page(f"{url}write.html", f"## -g\n\n{text}", title=f"{name} jobs")
        await commit(docs, id_, with_symbols(draft, Symbol("-g", "option", "-g", 0)))
    for query, site in {
        "write a template of jobs with -g": "batch",
        "mill -g write a template of jobs": "mill",
    }.items():
        first, *_ = await ranker.search(query, None, await docs.versions())
        assert first.url.startswith(f"https://{site}.example/")


async def test_a_definition_elsewhere_comes_first_if_the_site_that_a_query_names_has_none(
    docs, ranker
):
    texts = {"click": "## Click\n\nA click, and a click.", "dom": "## onpress\n\nHears it."}
    for name, text in texts.items():
        url = f"https://{name}.example/"
        id_ = await version(docs, name, url=url)
        draft = page(f"{url}a.html", text, title=name)
        symbols = [Symbol("onpress", "api", "onpress", 0)] if name == "dom" else []
        await commit(docs, id_, with_symbols(draft, *symbols))
    first, *_ = await ranker.search("click onpress", None, await docs.versions())
    assert first.url == "https://dom.example/a.html#s0"


async def test_an_operator_that_a_page_defines_is_found(docs, ranker):
    id_ = await version(docs)
    draft = page(f"{BASE}arrow.html", "About arrows.", "The arrow -> names the type of a result.")
    await commit(docs, id_, with_symbols(draft, Symbol("->", "api", "", 1)))
    found = await ranker.search("->", VECTOR, await docs.versions())
    assert found[0].url.startswith(f"{BASE}arrow.html")


async def test_a_word_that_no_page_has_becomes_the_most_frequent_near_one(docs, ranker):
    id_ = await version(docs)
    texts = [
        "Borrow it.",
        "He borrows it.",
        "They sorrow.",
        "More sorrow.",
        "Their sorrow.",
        "A barow.",
        "Headers.",
    ]
    await commit(docs, id_, page(f"{BASE}a.html", *texts))
    for wrong, right in (("borow", "borrow"), ("haeders", "headers")):
        _, instead = await ranker.ranker.understood(f"{wrong} zzzzzz", await docs.versions())
        assert instead == {wrong: right}


async def test_the_newest_version_represents_the_others(docs, ranker):
    for label in ("3.9", "3.12", "3.13rc1"):
        base = f"https://docs.example.org/{label}/"
        id_ = await version(docs, "python", label, base)
        await commit(docs, id_, page(f"{base}a.html", "Tasks can be cancelled."))
    (found,) = await ranker.search("cancel tasks", VECTOR, await docs.versions())
    assert (found.site_version, [one.site_version for one in found.also_in]) == (
        "3.12",
        ["3.9", "3.13rc1"],
    )
    assert found.also_in[0].url == "https://docs.example.org/3.9/a.html#s0"
    (old,) = await ranker.search("cancel tasks 3.9", VECTOR, await docs.versions())
    assert (old.site_version, old.also_in) == ("3.9", ())


async def test_a_page_and_its_markdown_twin_are_one_result(docs, ranker):
    id_ = await version(docs)
    for name in ("a.html", "a.html.md", "b/", "b/index.md"):
        await commit(docs, id_, page(BASE + name, "Tasks can be cancelled."))
    found = await ranker.search("cancel tasks", VECTOR, await docs.versions())
    assert len(found) == 2
    assert all(one.also_in == () for one in found)


async def test_pages_of_different_sites_are_never_merged(docs, ranker):
    for name in ("python", "rust"):
        base = f"https://{name}.example.org/"
        await commit(
            docs,
            await version(docs, name, "1", base),
            page(f"{base}a.html", "Tasks can be cancelled."),
        )
    assert {
        found.site_name
        for found in await ranker.search("cancel tasks", VECTOR, await docs.versions())
    } == {
        "python",
        "rust",
    }


@pytest.mark.parametrize("most", [300, 1_000, 2_000, 6_000])
async def test_a_reply_is_never_larger_than_its_budget(docs, ranker, most):
    id_ = await version(docs)
    for number in range(12):
        await commit(
            docs,
            id_,
            page(f"{BASE}{number}.html", f"Page {number}. {LONG}", LONG, title=f"Waiting {number}"),
        )
    found = await ranker.search("waiting for tasks", VECTOR, await docs.versions(), max_tokens=most)
    reply = DocsSearchResponse(results=tuple(found), more=tuple(ranker.more))
    assert estimate_tokens(reply.model_dump_json()) <= most + 20  # the names of its fields
    assert found
    assert all(one.content for one in found)


async def test_a_short_section_is_extended_if_there_is_room(docs, ranker):
    id_ = await version(docs)
    await commit(
        docs, id_, page(f"{BASE}a.html", "Waiting for tasks.", "What follows on the page.")
    )
    (found,) = await ranker.search("waiting for tasks", VECTOR, await docs.versions())
    assert found.content == "Waiting for tasks.\n\nWhat follows on the page."


async def test_the_short_end_of_a_page_is_given_the_text_before_it(docs, ranker):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "What the page is about.", "Waiting for tasks."))
    (found,) = await ranker.search("waiting for tasks", VECTOR, await docs.versions())
    assert (found.content, found.url) == (
        "What the page is about.\n\nWaiting for tasks.",
        f"{BASE}a.html#s1",
    )


async def test_a_definition_begins_its_result_if_others_come_before_it_in_the_section(docs, ranker):
    id_ = await version(docs)
    text = "`task.run`()\n\nRuns it.\n\n`task.wait`()\n\nWaits for it."
    inner = ((0, "task.run"), (text.index("`task.wait`"), "task.wait"))
    chunk = ChunkDraft(0, len(text), ("Tasks",), "tasks", "", "", inner)
    symbols = tuple(Symbol(name, "api", name, 0) for _, name in inner)
    await commit(
        docs,
        id_,
        PageDraft(f"{BASE}a.html", "Tasks", text, (chunk,), symbols, body_hash="hash", etag='"1"'),
    )
    (found,) = await ranker.search("task.wait", VECTOR, await docs.versions())
    assert (found.content, found.url) == (
        "`task.wait`()\n\nWaits for it.",
        f"{BASE}a.html#task.wait",
    )


async def test_a_page_of_two_sites_of_which_one_begins_below_the_other_is_that_of_the_deeper_one(
    docs, ranker
):
    outer, inner = await version(docs, "outer"), await version(docs, "inner", "2", f"{BASE}2.0/")
    for id_ in (outer, inner):
        await commit(docs, id_, page(f"{BASE}2.0/a.html", "The walrus sleeps."))
    await commit(docs, outer, page(f"{BASE}b.html", "Where the walrus eats."))
    both = await ranker.search("walrus", None, await docs.versions())
    assert sorted((one.site_name, one.url.partition("#")[0]) for one in both) == [
        ("inner", f"{BASE}2.0/a.html"),
        ("outer", f"{BASE}b.html"),
    ]
    (alone,) = await ranker.search(
        "walrus", None, [one for one in await docs.versions() if one.id == inner]
    )
    assert alone.site_name == "inner"
    pages = [
        await docs.find_page(f"{BASE}2.0/a.html", versions)
        for versions in ([outer, inner], [inner], [outer])
    ]
    assert pages[0] == pages[1] != pages[2]


async def test_the_address_of_an_imported_page_keeps_its_spelling_before_an_anchor(docs, ranker):
    base = "imported:///gull/1/"
    id_ = await version(docs, "gull", "1", base)
    draft = page(f"{base}a.html", "**gull.fly()**\n\nFly away.")
    await commit(docs, id_, with_symbols(draft, Symbol("gull.fly", "api", "gull.fly", 0)))
    (found,) = await ranker.search("gull.fly", None, await docs.versions())
    assert found.url == f"{base}a.html#gull.fly"


async def test_lists_of_links_come_last(docs, ranker):
    id_ = await version(docs)
    links = "\n".join(f"- [Waiting for tasks {n}]({BASE}{n}.html)" for n in range(20))
    await commit(docs, id_, page(f"{BASE}contents.html", links, title="Waiting for tasks"))
    await commit(docs, id_, page(f"{BASE}a.html", "Waiting for tasks takes time."))
    found = await ranker.search("waiting for tasks", VECTOR, await docs.versions())
    assert [one.url for one in found] == [f"{BASE}a.html#s0", f"{BASE}contents.html#s0"]


async def test_a_page_is_shown_by_its_text_and_not_by_its_list_of_links(docs, ranker):
    id_ = await version(docs)
    links = "\n".join(f"- [Waiting for tasks {n}]({BASE}{n}.html)" for n in range(20))
    await commit(
        docs,
        id_,
        page(f"{BASE}a.html", links, "Waiting for tasks takes time, says this long text of tasks."),
    )
    for number in range(12):
        await commit(
            docs,
            id_,
            page(
                f"{BASE}{number}.html", "A word about waiting for the tasks of others.", title="B"
            ),
        )
    found = await ranker.search("waiting for tasks", VECTOR, await docs.versions())
    assert found[0].content == "Waiting for tasks takes time, says this long text of tasks."


async def test_the_beginning_of_a_page_is_shown_where_it_is_as_good_as_the_best_section(
    docs, ranker
):
    id_ = await version(docs)
    texts = [
        f"Uploading files {text}"
        for text in ("is simple: say where to.", "is slow for some.", "is slow.")
    ]
    await commit(docs, id_, page(f"{BASE}a.html", *texts, title="Uploading files"))
    (found,) = await ranker.search("uploading files", None, await docs.versions())
    assert found.url == f"{BASE}a.html#s0"
    (found,) = await ranker.search("uploading files slow", None, await docs.versions())
    assert found.url == f"{BASE}a.html#s2"


async def test_the_section_with_the_words_of_the_query_in_its_heading_is_shown_from_there(
    docs, ranker
):
    id_ = await version(docs)
    rest = "Remember to mark the filter as safe when you write custom filters."
    own = "## Writing custom filters\n\nDecorate a function:\n\n```\n@register.filter\n```"
    draft = page(
        f"{BASE}a.html",
        f"The end of tags.\n\n{own}",
        rest,
        title="Extending",
        headings=("Extending",),
    )
    await commit(docs, id_, draft)
    (found,) = await ranker.search("how do I write a custom filter", None, await docs.versions())
    assert found.content.startswith("## Writing custom filters")
    assert rest in found.content


async def test_the_section_whose_heading_has_the_asked_words_in_a_row_is_shown(docs, ranker):
    id_ = await version(docs)
    other = "## Column and Filter\n\nEach stands in a list of its own, on the left."
    asked = "## Filter a Column\n\nIt shows some rows only, on the right side."
    both = page(
        f"{BASE}a.html", "Lists.", f"{other}\n\n{asked}", title="Lists", headings=("Lists",)
    )
    await commit(docs, id_, both)
    (found,) = await ranker.search("how do I filter a column", None, await docs.versions())
    assert found.content.removeprefix("Lists.\n\n").startswith("## Filter a Column")


async def test_the_name_of_the_site_does_not_choose_the_section(docs, ranker):
    id_ = await version(docs, "shop")
    backup = "## Backups\n\nCopy the folder to keep a backup of the data.\n\nStop it for a backup."
    moving = "## Moving\n\nThe data of a shop can be moved to a new shop. A backup helps."
    both = page(f"{BASE}a.html", "Care.", f"{moving}\n\n{backup}", title="Care", headings=("Care",))
    await commit(docs, id_, both)
    (found,) = await ranker.search("make a backup of the shop", None, await docs.versions())
    assert found.content.removeprefix("Care.\n\n").startswith("## Backups")


async def test_the_short_end_of_a_page_without_room_for_the_text_before_it_stands_alone(
    docs, ranker
):
    id_ = await version(docs)
    before = "## Requests\n\n" + "Data is sent as text, and JSON is text. " * 60
    await commit(
        docs,
        id_,
        page(f"{BASE}a.html", before, "## Replies\n\nReturn JSON from a view as a dictionary."),
    )
    (found,) = await ranker.search(
        "return JSON from a view", None, await docs.versions(), max_tokens=300
    )
    assert found.content == "## Replies\n\nReturn JSON from a view as a dictionary."


async def test_a_section_that_nearly_fits_is_shown_from_its_beginning(docs, ranker):
    id_ = await version(docs)
    start = "## Locks\n\nA lock keeps others out. " + "It is held for a while. " * 44
    await commit(
        docs, id_, page(f"{BASE}a.html", f"{start}\n\nA deadlock of two processes ends by itself.")
    )
    (found,) = await ranker.search(
        "deadlock of two processes", None, await docs.versions(), max_tokens=300
    )
    assert found.content.startswith("## Locks")


async def test_a_page_without_headings_is_found(docs, ranker):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "Tasks can be paused.", headings=()))
    (found,) = await ranker.search("pause tasks", None, await docs.versions())
    assert found.content == "Tasks can be paused."


async def test_the_first_result_goes_on_with_the_text_after_its_chunk(docs, ranker):
    id_ = await version(docs)
    text = "## Pausing\n\nTo pause a task, write this:" + " It takes a moment." * 40
    await commit(docs, id_, page(f"{BASE}a.html", text, "```\npause(task)\n```", title="Guide"))
    (found,) = await ranker.search("pausing", None, await docs.versions())
    assert found.content.startswith("## Pausing")
    assert found.content.endswith("```\npause(task)\n```")


async def test_a_last_section_that_does_not_fit_is_cut_itself_and_not_the_text_before_it(
    docs, ranker
):
    id_ = await version(docs)
    texts = ("Pausing takes a while. " * 60, "## Pausing\n\n" + "Tasks can be paused. " * 60)
    await commit(docs, id_, page(f"{BASE}a.html", *texts, title="Guide"))
    (found,) = await ranker.search("pausing", None, await docs.versions(), max_tokens=350)
    assert found.content.startswith("## Pausing\n\nTasks can be paused.")


async def test_a_page_with_the_words_of_the_query_in_one_place_comes_before_one_with_more_of_each(
    docs, ranker
):
    id_ = await version(docs)
    scattered = (
        f"Retry, retry. {'It waits. ' * 40} Uploads. {'It waits. ' * 40} Timeouts, and a timeout."
    )
    together = f"{'It runs. ' * 60} Retry uploads after a timeout. {'It runs. ' * 60}"
    await commit(docs, id_, page(f"{BASE}a.html", scattered, title="Harbours"))
    await commit(docs, id_, page(f"{BASE}b.html", together, title="Notes"))
    found = await ranker.search("retry uploads timeout", None, await docs.versions())
    assert [one.page_title for one in found] == ["Notes", "Harbours"]


async def test_a_word_with_two_last_letters_that_may_differ_is_found(docs, ranker):
    id_ = await version(docs)
    await commit(
        docs,
        id_,
        page(f"{BASE}a.html", "The letters of ASCII, and radii of Hawaii.", title="Letters"),
    )
    for asked in ("ascii letters", "radii", "hawaii"):
        (found,) = await ranker.search(asked, None, await docs.versions())
        assert found.page_title == "Letters"


async def test_the_section_about_the_rarest_word_is_shown_rather_than_one_about_common_words(
    docs, ranker
):
    id_ = await version(docs)
    for number in range(60):
        await commit(
            docs,
            id_,
            page(f"{BASE}{number}.html", f"Server request {number}.", title=f"Server {number}"),
        )
    text = "## A request and its server\n\nA server has requests.\n\n## Middlewares\n\nWrite a middleware."
    await commit(docs, id_, page(f"{BASE}a.html", text, title="Advanced"))
    found = await ranker.search("middleware for each server request", None, await docs.versions())
    assert found[0].content.startswith("## Middlewares")


async def test_the_beginning_of_a_section_is_shown_if_only_a_later_chunk_of_it_is_found(
    docs, ranker
):
    id_ = await version(docs)
    texts = (
        "## Pausing\n\nHalt it at first.",
        "Then wait for long.",
        "Then wait for seconds until the tasks end.",
    )
    await commit(
        docs,
        id_,
        page(f"{BASE}a.html", *texts, title="Guide", headings=("Guide", "Pausing")),
    )
    (found,) = await ranker.search("seconds of pausing", None, await docs.versions())
    assert found.content.startswith("## Pausing")


async def test_a_section_with_more_words_of_the_query_is_shown_in_place_of_the_definition(
    docs, ranker
):
    id_ = await version(docs)
    draft = page(
        f"{BASE}a.html",
        "link_all() links.",
        "To link_all in private, say PRIVATE or public: private link_all.",
    )
    await commit(docs, id_, with_symbols(draft, Symbol("link_all", "api", "link_all", 0)))
    for asked, shown in (("link_all private public", "s1"), ("link_all", "link_all")):
        (found,) = await ranker.search(asked, VECTOR, await docs.versions())
        assert found.url == f"{BASE}a.html#{shown}"


async def test_a_name_of_several_words_is_defined_where_it_ends_a_longer_one(docs, ranker):
    id_ = await version(docs)
    for number in range(3):
        text = "A map entry has or_insert. Call or_insert on the entry of a map."
        await commit(
            docs, id_, page(f"{BASE}{number}.html", text, text, title="Map entry or_insert")
        )
    draft = page(
        f"{BASE}entry.html", "About entries.", "`or_insert(value)` puts a value.", title="Entry"
    )
    await commit(
        docs, id_, with_symbols(draft, Symbol("std::Entry::or_insert", "api", "or_insert", 1))
    )
    found = await ranker.search("map entry or_insert", VECTOR, await docs.versions())
    assert found[0].url == f"{BASE}entry.html#or_insert"


async def test_a_long_definition_is_shown_from_its_beginning(docs, ranker):
    id_ = await version(docs)
    text = (
        f"`Admin.columns`\n\nSays which columns are shown.\n\n```\ncolumns = ['a']\n```\n\n{LONG}"
    )
    chunk = ChunkDraft(0, len(text), ("Admin",), "Admin.columns")
    symbol = Symbol("Admin.columns", "api", "Admin.columns", 0)
    await commit(
        docs,
        id_,
        PageDraft(
            f"{BASE}a.html", "Admin", text, (chunk,), (symbol,), body_hash="hash", etag='"1"'
        ),
    )
    (found,) = await ranker.search("Admin.columns", VECTOR, await docs.versions(), max_tokens=400)
    assert found.content.startswith(
        "`Admin.columns`\n\nSays which columns are shown.\n\n```\ncolumns = ['a']\n```"
    )


async def test_words_alone_suffice_and_vectors_find_pages_without_the_words(docs, ranker):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "Tasks can be cancelled."))
    await commit(docs, id_, page(f"{BASE}b.html", "Sleeping for a while."), VECTOR)
    assert [one.url for one in await ranker.search("cancel", None, await docs.versions())] == [
        f"{BASE}a.html#s0"
    ]
    assert len(await ranker.search("cancel", VECTOR, await docs.versions())) == 2


async def test_a_long_page_far_from_the_query_is_not_before_the_only_page_with_its_words(
    docs, ranker
):
    id_ = await version(docs)
    embedder = StaticEmbedder()
    code, text = [f"line_{n} = compute({n})" for n in range(20)], "A map with quadratic probing."
    await commit(docs, id_, page(f"{BASE}code.html", *code), embedder.encode(code))
    await commit(docs, id_, page(f"{BASE}map.html", text), embedder.encode([text]))
    found = await ranker.search(
        "quadratic probing", embedder.encode(["quadratic probing"]), await docs.versions()
    )
    assert found[0].url == f"{BASE}map.html#s0"


async def test_no_versions_or_no_words_find_nothing(docs, ranker):
    await version(docs)
    assert await ranker.search("cancel", VECTOR, []) == []
    assert await ranker.search("+++", VECTOR, await docs.versions()) == []


@pytest.mark.parametrize(("with_all", "is_found"), [(9, True), (10, False)])
async def test_pages_with_some_words_follow_if_fewer_than_ten_chunks_have_all(
    docs, ranker, with_all, is_found
):
    id_ = await version(docs)
    for number in range(with_all):
        await commit(docs, id_, page(f"{BASE}{number}.html", "The tern dives.", title="Birds"))
    await commit(docs, id_, page(f"{BASE}some.html", "The tern sleeps.", title="Nests"))
    await ranker.search("tern dives", None, await docs.versions(), limit=20, max_tokens=8_000)
    assert ("Nests" in ranker.titles) is is_found


@pytest.mark.parametrize(("cosine", "is_found"), [(0.65, True), (0.55, False)])
async def test_a_chunk_with_less_than_six_tenths_of_the_best_similarity_is_no_candidate(
    docs, ranker, cosine, is_found
):
    id_ = await version(docs)
    near, far = vectors((1.0, 0.0)), vectors((cosine, (1 - cosine**2) ** 0.5))
    await commit(docs, id_, page(f"{BASE}near.html", "Gulls.", title="Near"), near)
    await commit(docs, id_, page(f"{BASE}far.html", "Terns.", title="Far"), far)
    await ranker.search("walrus", near, await docs.versions())
    assert ("Far" in ranker.titles) is is_found


@pytest.mark.parametrize(("before", "is_first"), [(5, True), (6, False)])
async def test_the_first_six_pages_are_ordered_by_their_sections(docs, ranker, before, is_first):
    id_ = await version(docs)
    for number in range(before):
        text = f"A tern dives. {'It waits. ' * number}"
        await commit(docs, id_, page(f"{BASE}{number}.html", text, title=f"Birds {number}"))
    text = f"{'It sleeps. ' * 40}\n\n## Terns\n\nOne dives."
    await commit(docs, id_, page(f"{BASE}last.html", text, title="Nests"))
    await ranker.search("terns", None, await docs.versions())
    assert (ranker.titles[0] == "Nests") is is_first


@pytest.mark.parametrize(("chunks_before", "is_shown"), [(1, True), (2, False)])
async def test_the_sections_of_the_two_best_chunks_of_a_page_are_compared(
    docs, ranker, chunks_before, is_shown
):
    id_ = await version(docs)
    before = [f"A tern dives, said tern {number}." for number in range(chunks_before)]
    last = f"{'It sleeps. ' * 40}\n\n## Terns\n\nOne dives."
    await commit(docs, id_, page(f"{BASE}a.html", "Nests.", *before, last))
    (found,) = await ranker.search("terns", None, await docs.versions())
    assert found.url.endswith(f"#s{chunks_before + 1}") is is_shown


@pytest.mark.parametrize(("copies", "count"), [(6, 6), (7, 5)])
async def test_five_more_pages_than_results_are_considered_since_some_are_copies(
    docs, ranker, copies, count
):
    id_ = await version(docs)
    names = ["a.html", "a.htm", "a.md", "a.rst", "a.txt", "a.html.md", "a.htm.md"][:copies]
    for name in names:
        await commit(docs, id_, page(BASE + name, "A tern dives.", title="Tern"))
    for number in range(12):
        text = f"A tern dives. {'It waits. ' * (number + 5)}"
        await commit(docs, id_, page(f"{BASE}{number}.html", text, title="Nests"))
    await ranker.search("tern", None, await docs.versions(), limit=6)
    assert len(ranker.titles) == count


RESULTS = st.lists(st.tuples(st.integers(10, 200), st.integers(1, 2_500)), max_size=20)


@given(RESULTS, st.integers(0, 10_000))
def test_a_reply_never_exceeds_its_limit(results, most):
    overheads, wants = [one for one, _ in results], [want for _, want in results]
    shares = share_out(overheads, wants, most)
    assert sum(shares) + sum(overheads[: len(shares)]) <= most
    assert all(
        min(want, LEAST_CONTENT) <= share <= want
        for share, want in zip(shares, wants, strict=False)
    )


def test_every_result_gets_its_whole_text_if_there_is_room():
    assert share_out([50, 50], [300, 700], 2_000) == [300, 700]


def test_without_room_the_first_result_gets_more_and_the_last_are_left_out():
    shares = share_out([100] * 10, [1_000] * 10, 1_000)
    assert len(shares) == 5
    assert shares[0] == max(shares)


def test_the_first_gets_enough_to_answer_however_many_follow():
    assert share_out([100] * 10, [600] * 10, 1_600)[0] >= 240
    assert share_out([100] * 10, [30] * 10, 1_600) == [30] * 10


async def test_another_order_is_taken_over_but_for_definitions_and_the_best_place_has_the_best_score(
    docs,
):
    id_ = await version(docs)
    for number in range(3):
        await commit(
            docs,
            id_,
            page(f"{BASE}{number}.html", f"Use task.wait {'wait ' * number} here.", title="Use"),
        )
    draft = page(f"{BASE}task.html", "About tasks.", "**task.wait(*seconds*)**")
    await commit(docs, id_, with_symbols(draft, Symbol("task.wait", "api", "task.wait", 1)))
    read: list[str] = []

    async def backwards(query: str, texts: Sequence[str]) -> list[int]:
        read.extend(texts)
        return [*reversed(range(len(texts)))]

    asker = Asker(docs)
    own = await asker.search("task.wait", VECTOR, await docs.versions())
    found = await asker.search("task.wait", VECTOR, await docs.versions(), reorder=backwards)
    assert [one.url for one in found] == [own[0].url, *(one.url for one in reversed(own[1:]))]
    assert [one.relevance_score for one in found] == [one.relevance_score for one in own]
    assert len(read) == len(own) - 1
    assert (
        len(
            await asker.search(
                "task.wait", VECTOR, await docs.versions(), limit=2, reorder=backwards
            )
        )
        <= 2
    )


async def test_a_section_is_relevant_by_the_words_that_it_holds_and_without_any_at_most_by_half(
    docs, ranker
):
    id_ = await version(docs)
    near = StaticEmbedder().encode(["waiting for tasks"])
    for name, text in (("a", "Waiting for tasks."), ("b", "Waiting."), ("c", "Sleeping.")):
        await commit(docs, id_, page(f"{BASE}{name}.html", text, title=name, headings=()), near)
    found = await ranker.search("waiting for tasks", near, await docs.versions())
    assert [hit.relevance_score for hit in found] == pytest.approx([1.0, 0.709, 0.5], abs=0.01)
    found = await ranker.search("waiting for tasks", None, await docs.versions())
    assert found[0].relevance_score == 1.0


@pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
async def test_a_reranker_reads_the_first_twenty_sections_and_the_others_follow(docs):
    id_ = await version(docs)
    for number in range(24):
        await commit(docs, id_, page(f"{BASE}{number}.html", "Wait here.", title=f"W{number}"))
    read: list[str] = []

    async def backwards(query: str, texts: Sequence[str]) -> list[int]:
        read.extend(texts)
        return [*reversed(range(len(texts)))]

    asker = Asker(docs)
    versions = await docs.versions()
    limits = {"limit": 24, "max_tokens": 20_000}
    own = [hit.url for hit in await asker.search("wait", None, versions, **limits)]
    found = await asker.search("wait", None, versions, reorder=backwards, **limits)
    assert [hit.url for hit in found] == [*reversed(own[:20]), *own[20:]]
    assert len(read) == 20


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
