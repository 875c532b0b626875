"""The contract of `SqlDocs`, which every backend of the documentation index fulfils."""

import asyncio
import json
import threading
from dataclasses import replace
from statistics import mean

import numpy as np
import pytest

from tests.docs.conftest import (
    BASE,
    chunks_of,
    commit,
    count_words,
    definitions,
    facts_of,
    leased,
    page,
    search_text,
    vectors,
    version,
    with_symbols,
)
from tests.patience import PATIENCE
from websearch_gateway.docs.models import (
    Booking,
    CrawlOptions,
    HostState,
    Owner,
    Skipped,
    StoredPage,
    Symbol,
    TextQuery,
)
from websearch_gateway.docs.store import database, pages, postgres, sqlite
from websearch_gateway.docs.store.database import MOST_SEARCHES
from websearch_gateway.docs.store.docs import this_process

NOW = 2e9


async def found(docs, *phrases: str, versions, any: bool = False) -> list[str]:
    hits = await search_text(docs, TextQuery(phrases, any), versions, 10)
    return [chunk.content for chunk in await chunks_of(docs, [hit.chunk_id for hit in hits])]


async def test_a_version_is_created_once_and_takes_new_options(docs):
    first = await docs.add_version(
        "python", "3", BASE, CrawlOptions(max_pages=5, headers=(("cookie", "a=b"),))
    )
    again = await docs.add_version("python", "3", BASE, CrawlOptions(include=("*/library/*",)))
    assert first.id == again.id
    assert again.status == "queued"
    assert again.options == CrawlOptions(include=("*/library/*",))
    assert first.options.headers == (("cookie", "a=b"),)
    assert [v.id for v in await docs.versions()] == [first.id]


async def test_options_without_a_use_are_not_stored_since_older_gateways_do_not_know_them(docs):
    id_ = await version(docs)
    stored = await docs.searching(
        lambda db: db.execute("SELECT options FROM versions WHERE id = ?", (id_,)).fetchone()
    )
    assert json.loads(stored[0]).keys() == {
        "include",
        "exclude",
        "max_pages",
        "delay",
        "browser",
        "headers",
    }


async def test_a_committed_page_is_found_by_words_in_any_form(docs):
    id_ = await version(docs)
    await commit(
        docs, id_, page(f"{BASE}a.html", "Cancelled tasks raise an error.", "Sleeping is fine.")
    )
    assert await found(docs, "cancel", "task", versions=[id_]) == [
        "Cancelled tasks raise an error."
    ]
    assert await found(docs, "cancel", "sleep", versions=[id_]) == []
    assert len(await found(docs, "cancel", "sleep", versions=[id_], any=True)) == 2
    assert await found(docs, "cancel", versions=[]) == []
    assert await found(docs, "+-", versions=[id_]) == []


async def test_phrases_with_signs_and_parts_of_compound_names_are_found(docs):
    id_ = await version(docs)
    await commit(
        docs,
        id_,
        page(f"{BASE}a.html", "Use `--no-verify` here.", "A ThreadPoolExecutor runs `wait_for`."),
    )
    assert await found(docs, "--no-verify", versions=[id_]) == ["Use `--no-verify` here."]
    assert await found(docs, "wait_for", versions=[id_]) == [
        "A ThreadPoolExecutor runs `wait_for`."
    ]
    assert await found(docs, "executor", versions=[id_]) == [
        "A ThreadPoolExecutor runs `wait_for`."
    ]


async def test_words_inside_chinese_and_japanese_sentences_are_found(docs):
    one = await version(docs)
    texts = (
        "在表上创建索引可以加快查询。",
        "データベースの索引を作成します。",
        "使用asyncio处理超时。",
    )
    task = await commit(docs, one, page(f"{BASE}a.html", *texts))
    assert await found(docs, "索引", versions=[one], any=True) == [texts[0], texts[1]]
    assert await found(docs, "创建索引", versions=[one]) == [texts[0]]
    assert await found(docs, "asyncio", "超时", versions=[one]) == [texts[2]]
    await docs.commit_page(task, page(f"{BASE}a.html", "没有。"), None, ())
    assert await found(docs, "索引", versions=[one]) == []


async def test_a_title_counts_more_than_the_text(docs):
    id_ = await version(docs)
    await commit(
        docs, id_, page(f"{BASE}a.html", "The glob is in the text of this page.", title="Other")
    )
    await commit(docs, id_, page(f"{BASE}b.html", "Something else is in this text.", title="glob"))
    assert (await found(docs, "glob", versions=[id_]))[0].startswith("Something")


async def test_a_search_sees_only_the_versions_that_it_names(docs):
    old, new = await version(docs, label="3.11"), await version(docs, label="3.12")
    await commit(docs, old, page(f"{BASE}a.html", "An old timeout."), vectors((1, 0)))
    await commit(docs, new, page(f"{BASE}a.html", "A new timeout."), vectors((1, 0)))
    assert await found(docs, "timeout", versions=[new]) == ["A new timeout."]
    assert {hit.version_id for hit in await docs.search_vectors(vectors((1, 0)), [old], 10)} == {
        old
    }


async def test_a_replaced_page_is_found_only_by_its_new_text_and_keeps_equal_chunks(docs):
    id_ = await version(docs)
    task = await commit(
        docs, id_, page(f"{BASE}a.html", "Kept words.", "Former words."), vectors((1, 0), (0, 1))
    )
    (kept,) = await search_text(docs, TextQuery(("kept",)), [id_], 10)
    assert len(await docs.known_vectors(task)) == 2
    await docs.start_generation(id_)
    await commit(
        docs, id_, page(f"{BASE}a.html", "New words.", "Kept words."), vectors((1, 1), (1, 0))
    )
    (again,) = await search_text(docs, TextQuery(("kept",)), [id_], 10)
    assert again.chunk_id == kept.chunk_id
    assert await found(docs, "former", versions=[id_]) == []
    assert await found(docs, "new", versions=[id_]) == ["New words."]
    assert [c.content for c in await docs.page_chunks(kept.page_id)] == [
        "New words.",
        "Kept words.",
    ]


async def test_vectors_rank_by_cosine_and_follow_changes(docs):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "East.", "North."), vectors((1, 0), (0, 1)))
    near = await docs.search_vectors(vectors((0.9, 0.1)), [id_], 10)
    assert [c.content for c in await chunks_of(docs, [hit.chunk_id for hit in near])] == [
        "East.",
        "North.",
    ]
    assert abs(near[0].score - 0.994) < 0.01
    await docs.start_generation(id_)
    await commit(docs, id_, page(f"{BASE}a.html", "East.", "South."), vectors((1, 0), (0, -1)))
    near = await docs.search_vectors(vectors((0, -1)), [id_], 1)
    assert [c.content for c in await chunks_of(docs, [near[0].chunk_id])] == ["South."]
    assert await docs.search_vectors(np.ones((1, 3), np.float32), [id_], 1) == []


async def test_pages_without_vectors_are_listed_and_get_them_later(docs):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "East.", "North."))
    assert (await docs.version(id_)).unembedded == 1
    ((page_id, chunks),) = await docs.unembedded(id_, 10)
    assert [chunk.content for chunk in chunks] == ["East.", "North."]
    await docs.put_vectors(page_id, vectors((1, 0), (0, 1)))
    assert await docs.unembedded(id_, 10) == []
    assert len(await docs.search_vectors(vectors((1, 1)), [id_], 10)) == 2


async def test_symbols_are_found_whole_by_their_last_part_and_in_any_case(docs):
    id_ = await version(docs)
    draft = with_symbols(
        page(f"{BASE}a.html", "First.", "Second."),
        Symbol("asyncio.timeout", "api", "asyncio.timeout", 1),
        Symbol("--timeout", "option", "o", 0),
        Symbol("c++", "heading", "c", 0),
    )
    await commit(docs, id_, draft)
    (match,) = await definitions(docs, ["asyncio.timeout"], [id_], 10)
    assert (match.exact, (await chunks_of(docs, [match.chunk_id]))[0].content) == (True, "Second.")
    assert [m.name for m in await definitions(docs, ["Timeout"], [id_], 10)] == ["asyncio.timeout"]
    assert [m.exact for m in await definitions(docs, ["--timeout", "c++"], [id_], 10)] == [
        True,
        True,
    ]
    assert await definitions(docs, ["c"], [id_], 10) == []


async def test_titles_and_headings_are_shown_up_to_a_length(docs):
    id_ = await version(docs)
    draft = page(
        f"{BASE}a.html", "A zebra.", title="zebra " * 50_000, headings=("A", "grass " * 50_000)
    )
    await commit(docs, id_, draft)
    (chunk,) = await docs.page_chunks(await docs.find_page(draft.url, [id_]))
    assert (len(chunk.page_title), [len(heading) for heading in chunk.heading_path]) == (
        300,
        [1, 300],
    )
    assert len(await search_text(docs, TextQuery(("grass",)), [id_], 10)) == 1


async def test_of_many_names_that_end_alike_the_best_are_found(docs):
    id_, other = await version(docs), await version(docs, "other")
    for number in range(3):
        crowd = [Symbol(f"module{number}.class{n}.timeout", "api", "", 0) for n in range(300)]
        await commit(docs, id_, with_symbols(page(f"{BASE}{number}.html", "One."), *crowd))
    few = [
        Symbol("z.Timeout", "heading"),
        Symbol("z.timeout", "option"),
        Symbol("TIMEOUT", "heading"),
    ]
    await commit(docs, id_, with_symbols(page(f"{BASE}few.html", "One."), *few))
    await commit(
        docs, other, with_symbols(page(f"{BASE}o.html", "One."), Symbol("o.timeout", "heading"))
    )
    asked = ["module1.class299.timeout", "timeout", "z.timeout"]
    names = [match.name for match in await definitions(docs, asked, [id_], 10)]
    assert names[:4] == ["module1.class299.timeout", "z.timeout", "TIMEOUT", "z.Timeout"]
    assert len(names) == 10
    assert [match.name for match in await definitions(docs, asked, [other], 10)] == ["o.timeout"]


async def test_a_version_has_a_cap_of_names_that_end_alike_and_a_warning_names_its_site(
    docs, monkeypatch, caplog
):
    monkeypatch.setattr(pages, "MOST_ALIKE", 5)
    id_, other = await version(docs, "crowded", "1"), await version(docs, "other")
    for number in range(4):
        names = [Symbol(f"m{number}.c{n}.get", "api", "", 0) for n in range(2)]
        await commit(
            docs,
            id_,
            with_symbols(page(f"{BASE}{number}.html", "One."), *names, Symbol(f"m{number}", "api")),
        )
    await commit(docs, other, with_symbols(page(f"{BASE}o.html", "One."), Symbol("o.get", "api")))
    assert len(await definitions(docs, ["get"], [id_], 100)) == 5
    assert len(await definitions(docs, ["get"], [id_, other], 100)) == 6
    assert len(await definitions(docs, ["m3"], [id_], 100)) == 1
    assert [record.message for record in caplog.records] == [
        "'crowded 1' defines 5 names that end in 'get'; further ones are left out"
    ]


ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT 1 - x FROM n) SELECT count(*) FROM n"


async def test_a_cancelled_search_stops_its_statement(docs):
    await docs.versions()
    running = threading.Event()
    ended = threading.Event()

    def act(db):
        running.set()
        try:
            db.execute(ENDLESS).fetchall()
        finally:
            ended.set()

    search = asyncio.create_task(docs.file.search(act))
    await asyncio.to_thread(running.wait)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert ended.is_set()
    assert await docs.versions() == []


async def test_searches_run_beside_each_other(docs):
    await docs.versions()
    together = threading.Barrier(MOST_SEARCHES, timeout=PATIENCE)
    searches = [docs.file.search(lambda _: together.wait()) for _ in range(MOST_SEARCHES)]
    assert sorted(await asyncio.gather(*searches)) == list(range(MOST_SEARCHES))


async def test_a_section_and_a_page_are_found_again(docs):
    id_ = await version(docs)
    task = await commit(docs, id_, page(f"{BASE}sub/a.html", "One.", "Two.", "Two."))
    first, second, third = await docs.page_chunks(await docs.find_page(task.url, [id_]))
    assert len({first.section_id, second.section_id, third.section_id}) == 3
    assert await docs.find_section(second.section_id) == second
    assert (second.url, second.path, second.ordinal) == (f"{BASE}sub/a.html#s1", "sub/a.html", 1)
    assert await docs.find_section("no hex") is None
    alias = await leased(docs, id_, f"{BASE}other.html")
    await docs.finish_url(alias, "alias", alias_of=task.url)
    assert await docs.find_page(alias.url, [id_]) == first.page_id


async def test_addresses_are_leased_once_and_retried_when_they_are_due(docs):
    id_ = await version(docs)
    assert await docs.add_urls(id_, {f"{BASE}a": 0, f"{BASE}b": 1}) == 2
    assert await docs.add_urls(id_, {f"{BASE}a": 0}) == 0
    assert sorted(await docs.known_urls(id_)) == [f"{BASE}a", f"{BASE}b"]
    (first,) = await docs.lease_urls(id_, 1, NOW)
    (second,) = await docs.lease_urls(id_, 5, NOW)
    assert (first.url, second.depth) == (f"{BASE}a", 1)
    await docs.finish_url(first, "due", "HTTP 503", due=NOW + 30)
    await docs.finish_url(second, "failed", "HTTP 404")
    assert await docs.lease_urls(id_, 5, NOW) == []
    assert await docs.next_due(id_) == NOW + 30
    (again,) = await docs.lease_urls(id_, 5, NOW + 30)
    assert again.attempts == 1
    assert [(f.url, f.reason) for f in await docs.failures(id_)] == [(f"{BASE}b", "HTTP 404")]


async def test_what_was_left_out_is_counted_by_its_reason(docs):
    id_ = await version(docs)
    await docs.add_urls(id_, {f"{BASE}{number}": 0 for number in range(6)})
    reasons = [
        "noindex",
        "noindex",
        "noindex",
        "",
        *(f"redirects out of scope: https://a.org/{n}" for n in range(2)),
    ]
    for task, reason in zip(await docs.lease_urls(id_, 9, NOW), reasons, strict=True):
        await docs.finish_url(task, "skipped", reason)
    assert [(one.reason, one.count, one.urls) for one in (await docs.skipped([id_]))[id_]] == [
        ("noindex", 3, (f"{BASE}0", f"{BASE}2")),
        ("redirects out of scope", 2, (f"{BASE}4", f"{BASE}5")),
    ]
    assert await docs.skipped([]) == {}
    other = await version(docs, "other")
    await docs.note_left_out(other, [Skipped("noindex", 9, ("w",))])
    for count in (7, 5):
        await docs.note_left_out(
            id_, [Skipped("noindex", 1, ("x",)), Skipped("a loop of links", count, ("y", "z"))]
        )
    both = await docs.skipped([id_, other])
    assert [(one.reason, one.count) for one in both[other]] == [("noindex", 9)]
    assert [(one.reason, one.count) for one in both[id_]] == [
        ("a loop of links", 7),
        ("noindex", 4),
        ("redirects out of scope", 2),
    ]
    await docs.add_version("python", "3", BASE, CrawlOptions(exclude=("x",)))
    assert "a loop of links" not in [one.reason for one in (await docs.skipped([id_]))[id_]]


async def test_a_site_with_many_reasons_hides_those_of_no_other_site(docs, monkeypatch):
    monkeypatch.setattr("websearch_gateway.docs.store.docs.MOST_REASONS", 3)
    many, one = await version(docs), await version(docs, "other")
    for id_, count in ((many, 7), (one, 1)):
        await docs.add_urls(id_, {f"{BASE}{number}": 0 for number in range(count)})
        for number, task in enumerate(await docs.lease_urls(id_, 9, NOW)):
            await docs.finish_url(task, "skipped", f"reason {number}")
    found = await docs.skipped([many, one])
    assert [kind.reason for kind in found[one]] == ["reason 0"]
    assert len(found[many]) == 3


async def test_a_claim_excludes_others_until_it_expires_is_released_or_its_owner_dies(docs, clock):
    id_ = await version(docs)
    elsewhere, other = Owner("far", 1, 1.0), Owner("farther", 2, 1.0)
    await docs.add_urls(id_, {f"{BASE}a": 0})
    assert await docs.claim(id_, elsewhere, 60)
    assert await docs.lease_urls(id_, 1, NOW)
    assert not await docs.claim(id_, other, 60)
    clock.now += 61
    assert await docs.claim(id_, other, 60)
    assert len(await docs.lease_urls(id_, 1, NOW)) == 1  # the address that the former owner had
    await docs.release(id_, elsewhere)
    assert not await docs.claim(id_, elsewhere, 60)
    await docs.release(id_, other)
    mine = this_process()
    # No process has this number.
    assert await docs.claim(id_, Owner(mine.machine, 2**22 + 1, 1.0), 60)
    assert await docs.claim(id_, mine, 60)
    assert (await docs.version(id_)).owner == mine


async def died(docs, id_: int, number: int) -> bool:
    """Claim the version for a process that has ended, of which there are many."""
    return await docs.claim(id_, Owner(this_process().machine, 2**22 + number, 1.0), 60)


async def test_an_address_at_which_two_owners_in_a_row_died_fails_the_version_and_is_named(docs):
    id_ = await version(docs)
    await docs.add_urls(id_, {f"{BASE}{number}": 0 for number in range(20)})
    assert await died(docs, id_, 1)
    (done, *_) = await docs.lease_urls(id_, 16, NOW)
    await docs.finish_url(done, "done")
    assert await died(docs, id_, 2)
    (first,) = await docs.lease_urls(id_, 16, NOW)  # alone, since it may be the one
    await docs.finish_url(first, "done")
    (second,) = await docs.lease_urls(id_, 16, NOW)
    assert not await docs.claim(id_, this_process(), 60)
    failed = await docs.version(id_)
    assert (failed.status, failed.owner) == ("failed", None)
    assert f"died at {second.url}." in failed.reason
    await docs.set_status(id_, "queued")
    assert await docs.claim(id_, this_process(), 60)
    (again,) = await docs.lease_urls(id_, 16, NOW)
    await docs.finish_url(again, "done")
    left = [await docs.lease_urls(id_, 16, NOW) for _ in range(5)]
    assert [len(tasks) for tasks in left[:3]] == [1, 1, 1], "the others that were in work"
    assert sum(map(len, left)) == 17, "those that waited are not suspect"


async def test_a_list_at_which_two_owners_in_a_row_died_fails_the_version_and_is_named(docs):
    id_ = await version(docs)
    for number, lists in enumerate([["a", "b"], ["a"], ["b"], ["b", ""], [], ["a", "b"]], 1):
        assert await died(docs, id_, number), lists
        for name in lists:
            await docs.note_reading(id_, name)
    assert await died(docs, id_, 9)
    await docs.note_reading(id_, "b")
    assert not await died(docs, id_, 10)
    assert "died at b." in (await docs.version(id_)).reason


async def test_an_owner_that_ended_by_itself_or_lost_its_claim_did_not_die(docs, clock):
    id_ = await version(docs)
    await docs.add_urls(id_, {f"{BASE}{number}": 0 for number in range(20)})
    mine = this_process()
    for number in range(3):
        await docs.claim(id_, mine, 60)
        await docs.note_reading(id_, "a")
        assert len(await docs.lease_urls(id_, 16, NOW)) == 16
        if number < 2:
            await docs.release(id_, mine)
    clock.now += 61
    assert await docs.claim(id_, Owner(mine.machine, 1, 0.0), 60)
    assert len(await docs.lease_urls(id_, 16, NOW)) == 16


async def test_a_released_crawl_is_queued_for_another_process(docs):
    id_ = await version(docs)
    owner = Owner("here", 1, 1.0)
    await docs.claim(id_, owner, 60)
    await docs.set_status(id_, "crawling")
    await docs.release(id_, owner)
    assert (await docs.version(id_)).status == "queued"
    await docs.claim(id_, owner, 60)
    await docs.set_status(id_, "paused", "429")
    await docs.release(id_, owner)
    assert (await docs.version(id_)).status == "paused"


async def test_a_page_is_removed_when_two_generations_miss_it(docs):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "Stays."), links=[f"{BASE}b.html"])
    await commit(docs, id_, page(f"{BASE}b.html", "Goes."))
    assert await docs.finish_generation(id_)
    for expected in (["Goes."], []):
        await docs.start_generation(id_)
        for task in await docs.lease_urls(id_, 10, NOW):
            await docs.finish_url(task, "gone" if task.url.endswith("b.html") else "done")
        assert await docs.finish_generation(id_)
        assert await found(docs, "goes", versions=[id_]) == expected
    # The start page is linked by nobody: crawls add it anew.
    assert await found(docs, "stays", versions=[id_]) == []


async def test_a_failed_page_stays(docs):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "Stays."), links=[f"{BASE}a.html"])
    for _ in range(3):
        await docs.start_generation(id_)
        for task in await docs.lease_urls(id_, 10, NOW):
            await docs.finish_url(task, "failed", "HTTP 500")
        assert await docs.finish_generation(id_)
    assert await found(docs, "stays", versions=[id_]) == ["Stays."]


async def test_a_site_that_seems_to_vanish_is_kept(docs):
    id_ = await version(docs)
    for number in range(30):
        await commit(docs, id_, page(f"{BASE}{number}.html", f"Page {number}."))
    for expected in (True, False):
        await docs.start_generation(id_)
        for task in await docs.lease_urls(id_, 100, NOW):
            await docs.finish_url(task, "gone")
        assert await docs.finish_generation(id_) is expected
    assert (await docs.version(id_)).page_count == 30


async def test_a_page_with_the_same_body_is_found(docs):
    id_ = await version(docs)
    draft = page(f"{BASE}a.html", "Same.")
    await commit(docs, id_, draft)
    other = await leased(docs, id_, f"{BASE}b.html")
    assert await docs.find_body(other, draft.body_hash) == draft.url
    assert await docs.find_body(other, "another") is None


async def test_a_deleted_version_leaves_nothing_behind(docs):
    kept, gone = await version(docs, label="1"), await version(docs, label="2")
    await commit(docs, kept, page(f"{BASE}a.html", "Same words."), vectors((1, 0)))
    await commit(docs, gone, page(f"{BASE}a.html", "Same words."), vectors((1, 0)))
    await docs.delete_version(gone)
    assert await docs.version(gone) is None
    assert await found(docs, "same", versions=[kept, gone]) == ["Same words."]
    assert len(await docs.search_vectors(vectors((1, 0)), [kept], 10)) == 1


async def test_the_data_of_a_host_is_stored(docs, clock):
    assert await docs.host("https://a") == HostState("https://a")
    await docs.put_robots("https://a", "User-agent: *")
    await docs.pause_host("https://a", NOW, "HTTP 429")
    assert await docs.host("https://a") == HostState(
        "https://a", "User-agent: *", clock.now, NOW, "HTTP 429"
    )


async def test_the_last_of_several_copies_of_a_page_is_searched(docs):
    id_ = await version(docs)
    drafts = [
        page(f"{BASE}a.html", "Same here.", f"Only in {word}.") for word in ("first", "second")
    ]
    await docs.put_pages(id_, [StoredPage(draft.url, draft, (), 1.0, None) for draft in drafts])
    found = {
        word: await search_text(docs, TextQuery((word,)), [id_], 9)
        for word in ("first", "second", "same")
    }
    assert [len(found[word]) for word in ("first", "second", "same")] == [0, 1, 1]


async def test_the_facts_of_a_page_are_its_title_path_and_number_of_chunks(docs):
    id_ = await version(docs)
    for number in range(3):
        await commit(
            docs, id_, page(f"{BASE}{number}.html", *(f"Text {n}." for n in range(number + 1)))
        )
    ids = [await docs.find_page(f"{BASE}{number}.html", [id_]) for number in range(3)]
    facts = await facts_of(docs, [*ids, 999])
    assert [(facts[id_].path, facts[id_].chunks) for id_ in ids] == [
        ("0.html", 1),
        ("1.html", 2),
        ("2.html", 3),
    ]
    assert {one.title for one in facts.values()} == {page(BASE, "Text").title}
    assert await facts_of(docs, []) == {}


async def test_words_are_counted_in_every_form(docs):
    id_ = await version(docs)
    await commit(docs, id_, page(f"{BASE}a.html", "Two windows.", "A window and a door."))
    counts = await count_words(docs, ["window", "windows", "door", "gate"])
    assert counts == {"window": 2, "windows": 2, "door": 1}
    assert await count_words(docs, []) == {}


async def test_words_are_counted_again_after_a_change(docs):
    id_ = await version(docs)
    for count in (1, 2):
        await commit(docs, id_, page(f"{BASE}{count}.html", "A window."))
        assert await count_words(docs, ["window"]) == {"window": count}
        assert await count_words(docs, ["window"]) == {"window": count}


async def test_many_spellings_are_counted_as_few_are(docs):
    id_ = await version(docs)
    await commit(
        docs,
        id_,
        page(f"{BASE}a.html", "Two windows and a window.", "A winding stair.", "Fenêtre, dör."),
    )
    spellings = [f"wind{letter}w" for letter in "abcdefghijklmnopqrstuvwxyz"]
    spellings += ["windows", "winding", "wind", "stair", "fenetre", "fenêtre", "dor", "c++"]
    spellings += [f"{letter}indow" for letter in "abcdefghijklmnopqrstuvwxyz"]
    few = {}
    for one in spellings:
        few |= await count_words(docs, [one])
    assert await count_words(docs, spellings) == few
    assert {"window", "windows", "winding", "stair"} <= few.keys()


async def test_most_links_with_a_name_define_it_where_they_lead(docs):
    id_ = await version(docs)
    target, other = f"{BASE}prepare.html", f"{BASE}other.html"
    await commit(docs, id_, page(target, "How a statement is made."))
    await commit(docs, id_, page(other, "Something else."))
    for number in range(3):
        linked = f"Use [sql_prepare()]({target}) or [`Run`]({other}) or [more words]({target})."
        await commit(
            docs,
            id_,
            page(
                f"{BASE}{number}.html", f"{linked} [rare_name]({other})" if not number else linked
            ),
        )
    for _ in range(2):  # the second time replaces what the first found
        await docs.name_linked_pages(id_)
        names = ["sql_prepare", "Run", "more", "rare_name"]
        found = {
            (one.name, one.kind, one.page_id) for one in await definitions(docs, names, [id_], 9)
        }
        assert found == {
            ("sql_prepare", "link", await docs.find_page(target, [id_])),
            ("Run", "link", await docs.find_page(other, [id_])),
        }
    assert len(await definitions(docs, ["sql_prepare"], [id_], 9)) == 1


async def test_a_linked_name_leads_to_its_section(docs):
    id_ = await version(docs)
    target = page(f"{BASE}zoo/", "About it.", "How a zoo is run.", "How a cage is cleaned.")
    await commit(docs, id_, with_symbols(target, Symbol("clean_cage", "heading", "", 2)))
    links = f"[run_zoo]({BASE}zoo/index.html#s1) [clean_cage]({BASE}zoo/#gone)"
    for number in range(2):
        await commit(docs, id_, page(f"{BASE}{number}.html", f"{links} {number}"))
    await docs.name_linked_pages(id_)
    for name, text in (("run_zoo", "How a zoo is run."), ("clean_cage", "How a cage is cleaned.")):
        first, *_ = await definitions(docs, [name], [id_], 9)
        assert (first.kind, (await chunks_of(docs, [first.chunk_id]))[0].content) == ("link", text)


async def test_a_name_that_links_lead_to_several_pages_from_is_not_defined(docs):
    id_ = await version(docs)
    for name in ("a", "b"):
        await commit(docs, id_, page(f"{BASE}{name}.html", f"Page {name}."))
        for number in range(2):
            await commit(
                docs,
                id_,
                page(f"{BASE}{name}{number}.html", f"See [run_it]({BASE}{name}.html) {number}."),
            )
    await docs.name_linked_pages(id_)
    assert await definitions(docs, ["run_it"], [id_], 9) == []


async def test_the_anchors_inside_a_chunk_are_kept_with_their_places(docs):
    id_ = await version(docs)
    draft = page(f"{BASE}a.html", "One. Two. Three.")
    (chunk,) = draft.chunks
    await commit(
        docs, id_, replace(draft, chunks=(replace(chunk, inner=((5, "two"), (10, "a:b"))),))
    )
    page_id = await docs.find_page(f"{BASE}a.html", [id_])
    (stored,) = await docs.page_chunks(page_id)
    assert (stored.anchor, stored.inner) == (chunk.anchor, ((5, "two"), (10, "a:b")))
    ((_, copied),) = await docs.pages_after(id_, 0, 9)
    assert copied.draft.chunks[0].inner == stored.inner


async def test_both_databases_rank_by_the_same_measure(docs):
    id_ = await version(docs)
    texts = [
        "window door door",
        "window " * 5,
        "door",
        "a window of a house with a roof and a wall",
        "roof roof wall",
    ]
    for number, text in enumerate(texts):
        await commit(docs, id_, page(f"{BASE}{number}.html", text, title=f"Page {number}"))
    found = await search_text(docs, TextQuery(("window", "roof"), any=True), [id_], 9)
    lengths = [len(text.split()) + len(["Page", "0", "A"]) for text in texts]
    weights = {
        word: postgres.idf(len(texts), sum(word in text for text in texts))
        for word in ("window", "roof")
    }
    places = [{word: [(0, 1.0)] * text.split().count(word) for word in weights} for text in texts]
    scores = [
        postgres.score(weights, held, length, mean(lengths))
        for held, length in zip(places, lengths, strict=True)
    ]
    assert [one.score for one in found] == pytest.approx(sorted(filter(None, scores), reverse=True))


async def test_a_search_for_any_phrase_looks_for_the_rare_ones_and_ranks_by_all(docs, monkeypatch):
    monkeypatch.setattr(database, "MOST_MATCHED", 3)
    id_ = await version(docs)
    texts = ["rare", "rare common", *["common"] * 3, *["other"] * 20]
    for number, text in enumerate(texts):
        await commit(docs, id_, page(f"{BASE}{number}.html", text, title=f"Page {number}"))
    assert await found(docs, "common", "rare", versions=[id_], any=True) == ["rare common", "rare"]
    assert len(await found(docs, "common", "nowhere", versions=[id_], any=True)) == 4
    assert await found(docs, "nowhere", "neither", versions=[id_], any=True) == []


async def test_chunks_with_several_of_many_phrases_are_ranked_before_all_that_have_one(
    docs, monkeypatch
):
    monkeypatch.setattr(sqlite, "MOST_RANKED", 4)
    one, other = await version(docs), await version(docs, "other")
    words = ["north", "east", "south"]
    for id_ in (one, other):
        texts = [f"{word} {number}" for word in words for number in range(5)]
        texts += [f"north east {id_}", f"east south north {id_}"]
        for number, text in enumerate(texts):
            await commit(docs, id_, page(f"{BASE}{number}.html", text))
    for versions in ([other], [one, other]):
        hits = await search_text(docs, TextQuery(tuple(words), any=True), versions, len(versions))
        best = [chunk.content for chunk in await chunks_of(docs, [hit.chunk_id for hit in hits])]
        assert best == [f"east south north {id_}" for id_ in versions]
    assert await found(docs, *words, versions=[other + 1], any=True) == []


async def test_requests_to_a_host_are_booked_one_after_the_other(docs, clock):
    assert await docs.reserve("https://a", 5) == Booking(clock.now + 5, is_ours=True)
    assert [await docs.reserve("https://a", 5) for _ in range(2)] == [
        Booking(clock.now + 5, is_ours=False)
    ] * 2
    assert (await docs.reserve("https://b", 5)).is_ours
    clock.now += 5
    assert (await docs.reserve("https://a", 5)).is_ours
    await docs.pause_host("https://a", clock.now + 100, "HTTP 429")
    await docs.pause_host("https://a", clock.now + 50, "HTTP 503")
    assert await docs.reserve("https://a", 5) == Booking(clock.now + 100, is_ours=False)
    assert (await docs.host("https://a")).reason == "HTTP 429"


async def test_only_its_owner_can_move_a_booking(docs, clock):
    mine = await docs.reserve("https://a", 5)
    moved = await docs.rebook("https://a", mine, clock.now + 2)
    assert moved == Booking(clock.now + 2, is_ours=True)
    assert (await docs.reserve("https://a", 5)).until == clock.now + 2
    assert await docs.rebook("https://a", mine, clock.now + 9) == mine
    clock.now += 2
    other = await docs.reserve("https://a", 5)
    assert await docs.rebook("https://a", moved, clock.now) == moved
    assert (await docs.reserve("https://a", 5)).until == other.until


async def test_a_pause_that_ends_before_a_booking_is_kept(docs, clock):
    mine = await docs.reserve("https://a", 5)
    await docs.pause_host("https://a", clock.now + 4, "429")
    await docs.rebook("https://a", mine, clock.now + 1)
    assert (await docs.reserve("https://a", 5)).until >= clock.now + 4
    clock.now += 5
    again = await docs.reserve("https://a", 5)
    assert (await docs.rebook("https://a", again, clock.now + 1)).until == clock.now + 1


async def test_searches_and_commits_run_at_the_same_time(docs):
    id_ = await version(docs)
    await docs.add_urls(id_, {f"{BASE}{n}.html": 0 for n in range(40)})
    tasks = await docs.lease_urls(id_, 40, NOW)

    async def write() -> None:
        for task in tasks:
            await docs.commit_page(
                task, page(task.url, f"Number {task.id} here."), vectors((1, 0)), ()
            )

    async def read() -> None:
        for _ in range(40):
            hits = await search_text(docs, TextQuery(("number",)), [id_], 100)
            assert len(await chunks_of(docs, [hit.chunk_id for hit in hits])) == len(hits)

    await asyncio.gather(write(), read(), read())
    assert (await docs.version(id_)).page_count == 40
