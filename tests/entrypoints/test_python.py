"""The gateway as a library, against the sandbox."""

from __future__ import annotations

import asyncio
import gc
import inspect
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

from tests.patience import PATIENCE
from websearch_gateway import Claim, Gateway, SearchError, SyncGateway, models
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.entrypoints import python
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

QUESTION = "How tall is the Eiffel Tower?"


@pytest.fixture
def settings(sandbox: Sandbox, tmp_path: Path) -> dict[str, Any]:
    return {**sandbox.flags(), "data_dir": tmp_path, "rate_limit": "none"}


def test_importing_loads_nothing() -> None:
    code = "import sys, websearch_gateway; print(sorted(set(sys.modules) & {'pydantic', 'openai', 'asyncio', 'numpy'}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.strip() == "[]"


async def test_a_program_reads_a_section_its_neighbours_and_the_outline_of_its_page(
    settings: dict[str, Any],
) -> None:
    folder = settings["data_dir"] / "pages"
    folder.mkdir()
    prose = (
        "This tells at length how the thing works and when to use it, with all that one must know of it. "
        * 20
    )
    chapters = "\n\n".join(
        f"## Chapter {number}\n\nThe {number} of it. {prose}" for number in ("one", "two", "three")
    )
    (folder / "book.md").write_text(f"# The book\n\n{chapters}\n")
    async with open_gateway(Settings(**settings)) as opened:
        site = await opened.docs.add(str(folder), "book")
        await opened.docs.runner.crawl(site.id)
    async with Gateway(**settings) as gateway:
        found = (await gateway.search_docs("Chapter two")).results[0]
        alone = await gateway.read_docs(section_id=found.section_id)
        around = await gateway.read_docs(section_id=found.section_id, around=1)
        outline = await gateway.read_docs(url=found.url, outline=True)
        with pytest.raises(SearchError, match="sectionId or url"):
            await gateway.read_docs()
    assert [f"The {number} of it" in alone.content for number in ("one", "two", "three")] == [
        False,
        True,
        False,
    ]
    assert all(f"The {number} of it" in around.content for number in ("one", "two", "three"))
    assert (outline.content, len(outline.outline)) == ("", 3)
    assert outline.outline[1].section_id == found.section_id


async def test_a_program_asks_finds_and_reads(settings: dict[str, Any]) -> None:
    stages: list[str] = []

    async def tell(message: str) -> None:
        stages.append(message)

    async with Gateway(**settings) as gateway:
        answer = await gateway.search(QUESTION, max_results=2, progress=tell)
        found = await gateway.web_search("espresso machine", max_results=2, read_pages=False)
        page = await gateway.read(found.results[0].link, max_chars=80)
        passages = await gateway.passages(found.results[0].link, "How often?", max_results=1)
        raw = await gateway.raw_search(["tides", "knots"], max_results=1)
        # A program has no other server.
        await gateway.search("polymarket odds on the height of the eiffel tower")
        with pytest.raises(SearchError) as caught:
            await gateway.search("x")
    assert "330 metres" in answer.text
    assert answer.citations[0].spans
    assert stages
    assert len(found.results) == 2
    assert page.next_offset is not None
    assert len(passages.queries[0].results) == 1
    assert [query.query for query in raw.queries] == ["tides", "knots"]
    assert caught.value.code == "VALIDATION"


async def test_an_argument_of_another_type_is_refused_with_what_to_pass(
    settings: dict[str, Any],
) -> None:
    async with Gateway(**settings) as opened:
        gateway: Any = opened
        calls = {
            "`query` must be text": gateway.search(5),
            "`freshness_hours` must be a whole number or None": gateway.search(
                "tides", freshness_hours=[1]
            ),
            "`include_answers` must be True or False": gateway.search(
                "tides", include_answers="no"
            ),
            "`verify_citations` must be True or False or None": gateway.search(
                "tides", verify_citations=1
            ),
            "`providers` must be a list of texts": gateway.web_search("tides", providers=(5,)),
            "`freshness` must be one of day, week, month, year or None": gateway.news(
                "tides", freshness=[1]
            ),
            "`page` must be a whole number": gateway.web_search("tides", page="1"),
            "`use_cache` must be True or False": gateway.web_search("tides", use_cache="no"),
            "`include_domains` must be a list of texts": gateway.web_search(
                "tides", include_domains="a.example"
            ),
            "`queries` must be a list of texts": gateway.raw_search([5]),
            "`language` must be text or None": gateway.raw_search("tides", language=5),
            "`url` must be text": gateway.read(5),
            "`refresh` must be True or False": gateway.read("https://a.example/", refresh=None),
            "`queries` must be a list of texts.": gateway.passages("https://a.example/", [5]),
            "`max_results` must be a whole number": gateway.passages(
                "https://a.example/", "tides", max_results=True
            ),
            "`claim` must be text": gateway.check_claims([5]),
            "`urls` must be a list of texts": gateway.check_claims([Claim("It is tall.", [5])]),  # type: ignore[arg-type]
            "`claims` must be a list of texts and `Claim`s": gateway.check_claims("It is tall."),
            "`queries` must be a list of texts, not a generator.": gateway.raw_search(
                one for one in ["a"]
            ),
            "`claims` must be a list of texts and `Claim`s, not a generator.": gateway.check_claims(
                iter(["a"])
            ),
            "`page` must be a whole number.": gateway.web_search("tides", page=np.float64(2)),
            "`max_tokens` must be a whole number": gateway.search_docs("tides", max_tokens="x"),
            "`query` must be text.": gateway.search_docs(None),
            "`url` must be text or None": gateway.read_docs(url=5),
        }
        for demand, call in calls.items():
            with pytest.raises(SearchError) as caught:
                await call
            assert (caught.value.code, demand in caught.value.message) == ("VALIDATION", True), (
                caught.value
            )
        assert (await gateway.raw_search(["tides"], max_results=1)).queries
        assert (await gateway.web_search("tides", providers=["serper"], max_results=1)).results


async def test_whole_numbers_of_numpy_are_whole_numbers(settings: dict[str, Any]) -> None:
    async with Gateway(**settings) as opened:
        gateway: Any = opened
        answer = await gateway.search(
            QUESTION, max_results=np.int64(2), freshness_hours=np.uint8(24)
        )
        found = await gateway.web_search(
            "tides", max_results=np.int32(1), page=np.int64(1), read_pages=False
        )
        again = await gateway.web_search("tides", max_results=1, read_pages=False)
        docs = await gateway.search_docs("tides", max_results=np.int64(3))
        for refused in (np.True_, np.float32(2), np.array([2])):
            with pytest.raises(SearchError, match="`max_results` must be a whole number"):
                await gateway.web_search("tides", max_results=refused)
    assert (answer.filters.freshness.requested, len(found.results), again.cache) == (24, 1, "exact")
    assert docs.results == ()


async def test_an_argument_that_does_not_exist_is_named_whatever_its_value(
    settings: dict[str, Any],
) -> None:
    async with Gateway(**settings) as opened:
        gateway: Any = opened
        calls = (
            gateway.search("tides", limt=5),
            gateway.search_docs("tides", limt="5"),
            gateway.read_docs(limt=5),
        )
        for call in calls:
            with pytest.raises(TypeError, match="unexpected keyword argument 'limt'"):
                await call


def test_the_types_of_a_request_are_worked_out_once() -> None:
    """That takes a hundred times as long as the rest of the check."""
    assert python._hints(models.SearchRequest) is python._hints(models.SearchRequest)


async def test_outside_its_block_it_says_what_to_write() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Gateway().search(QUESTION)
    with pytest.raises(RuntimeError, match="with SyncGateway"):
        SyncGateway().search(QUESTION)


async def test_a_setting_that_does_not_exist_is_named() -> None:
    with pytest.raises(SearchNotConfiguredError, match="opnai_api_key"):
        async with Gateway(opnai_api_key="sk-x"):
            pass


async def test_the_synchronous_one_works_beside_a_running_loop(settings: dict[str, Any]) -> None:
    with SyncGateway(**settings) as gateway:
        assert "330 metres" in gateway.search(QUESTION).text
        with pytest.raises(SearchError):
            gateway.search("x")
    with pytest.raises(SearchNotConfiguredError), SyncGateway(concurrency="none"):
        pass


def test_closing_ends_the_calls_of_other_threads(settings: dict[str, Any]) -> None:
    began = threading.Event()

    async def never_ends(_: str) -> None:
        began.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor() as threads:
        with SyncGateway(**settings) as gateway:
            asked = threads.submit(gateway.search, QUESTION, progress=never_ends)
            assert began.wait(PATIENCE)
        with pytest.raises(CancelledError):
            asked.result(PATIENCE)
    gc.collect()  # warns of a connection that the call opened while the others were being closed


def test_a_call_that_begins_while_the_gateway_closes_ends_too(settings: dict[str, Any]) -> None:
    began = asyncio.Event()
    asked: list[Future[None]] = []

    async def never_ends() -> None:
        began.set()
        await asyncio.Event().wait()

    async def another_thread_calls() -> None:
        asked.append(threads.submit(gateway._wait, never_ends()))
        await began.wait()

    with ThreadPoolExecutor() as threads:
        with SyncGateway(**settings) as gateway:
            opened = gateway._gateway._gateway
            opened.closers = (another_thread_calls, *opened.closers)
        with pytest.raises(CancelledError):
            asked[0].result(PATIENCE)


async def test_a_program_checks_claims(settings: dict[str, Any], sandbox: Sandbox) -> None:
    tall = "The Eiffel Tower is 330 metres tall."
    async with Gateway(**settings) as gateway:
        found = await gateway.check_claims(
            [tall, Claim(tall, (f"{sandbox.url}/pages/tides-explained",))]
        )
    assert [one.verdict for one in found.claims] == ["found", "not_found"]


@pytest.mark.parametrize(
    ("options", "request_"),
    [
        (python.SearchOptions, models.SearchRequest),
        (python.WebSearchOptions, models.WebSearchRequest),
        (python.RawSearchOptions, models.RawSearchRequest),
        (python.ReadOptions, models.ContentRequest),
        (python.PassageOptions, models.PassagesRequest),
    ],
)
def test_a_program_may_set_every_field_of_a_request(options: Any, request_: type[Any]) -> None:
    """But for what is asked, which has no default, the topic, for which there is a call, and what other APIs set."""
    settable = {field.name for field in fields(request_) if field.default is not MISSING} - {
        "topic",
        "shortest",
    }
    known = get_type_hints(request_)
    assert get_type_hints(options) == {name: known[name] for name in settable}


@pytest.mark.parametrize("kind", [Gateway, SyncGateway])
def test_help_lists_every_option_of_a_call(kind: type) -> None:
    shown = str(inspect.signature(kind.search))
    assert "max_results: 'int' = Ellipsis" in shown
    assert "include_domains: 'tuple[str, ...]' = Ellipsis" in shown
    calls = (
        "search",
        "web_search",
        "news",
        "raw_search",
        "read",
        "passages",
        "search_docs",
        "read_docs",
    )
    assert [call for call in calls if "**" in str(inspect.signature(getattr(kind, call)))] == []
