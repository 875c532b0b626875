"""The documentation index is made when it is first used, and its settings are checked before."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.opening import Open
from tests.patience import PATIENCE
from websearch_gateway.app.documentation import LazyDocs, lazy_docs
from websearch_gateway.base.workers.pool import WORKING_FOR
from websearch_gateway.docs.store import docs, pages
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.errors import SearchNotConfiguredError, SearchTimeoutError
from websearch_gateway.models import LOCAL, no_progress
from websearch_gateway.settings.loading import Settings


async def test_the_index_is_made_once_and_closed_only_if_made(
    gateway: Open, tmp_path: Path
) -> None:
    made = []
    unused = LazyDocs(lambda: made.append(1))  # type: ignore[arg-type, func-returns-value]
    await unused.close()
    assert made == []
    async with gateway(docs_url=f"sqlite:///{tmp_path}/docs.db") as opened:
        assert opened.docs is opened.docs


def test_a_gateway_without_documentation_does_not_import_its_index() -> None:
    program = "import sys, websearch_gateway.app.gateway; print([name for name in sys.modules if '.docs.' in name])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


async def test_the_searches_of_one_user_do_not_delay_another(
    gateway: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(pages, "marks", lambda ids: release.wait(PATIENCE) and "?")
    async with gateway() as opened:
        WORKING_FOR.set("alice")
        slow = [
            asyncio.create_task(opened.docs.store.find_page("", [number])) for number in range(20)
        ]
        await asyncio.sleep(0)
        WORKING_FOR.set("bob")
        assert await opened.docs.store.find_section("00") is None
        assert not any(search.done() for search in slow)
        release.set()
        await asyncio.gather(*slow)


@pytest.mark.parametrize("tool", ["search_docs", "read_docs", "list_sites", "docs_status"])
async def test_a_call_ends_at_its_deadline_and_leaves_no_statement_behind(
    gateway: Open, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    endless = (
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT 1 - x FROM n) SELECT count(*) FROM n"
    )
    row = next(one for one in TOOLS if one.name == tool)
    given = {"search_docs": {"query": "a"}, "read_docs": {"section_id": "00"}}.get(tool, {})
    async with gateway(search_deadline_seconds=0.2) as opened:
        await opened.docs.store.versions()
        with monkeypatch.context() as patch:
            patch.setattr(docs, "select", lambda db, *_, **__: db.execute(endless).fetchall())
            with pytest.raises(SearchTimeoutError, match="No answer came"):
                await row.call(opened, row.parse(given), LOCAL, no_progress)
        assert await opened.docs.store.versions() == []


def test_a_missing_library_is_reported_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SearchNotConfiguredError, match="lancedb"):
        lazy_docs(Settings(docs_vectors="lance:///vectors"), None, None, None, None)  # type: ignore[arg-type]


async def test_crawls_end_before_the_processes_and_sockets_that_they_use(gateway: Open) -> None:
    async with gateway() as opened:
        assert opened.closers[-1] == opened.lazy_docs.close, "the last one is closed first"
