"""A search is answered in every outage of the state, and the log reports the outage once."""

import contextlib
import signal
import sqlite3

import pytest

from tools.servers import firestore_emulator, postgresql
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import SearchRequest
from websearch_gateway.settings.loading import load_settings

QUESTIONS = ["How tall is the Eiffel Tower?", "What is the speed of light in a vacuum?"]


@pytest.mark.parametrize("place", ["file/state.db", "folder", "/proc/nobody/state.db"])
async def test_a_search_works_and_pays_where_nothing_can_be_written(
    place, sandbox, tmp_path, caplog
):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    settings = load_settings(
        **sandbox.flags(), state_url=f"sqlite:///{tmp_path / place}", daily_budget_usd=0.08
    )
    async with open_gateway(settings) as gateway:
        answers = [
            await gateway.search(SearchRequest(question)) for question in (*QUESTIONS, QUESTIONS[0])
        ]
        spent = (await gateway.operations.server_stats()).days[0].usd
        checks = {check.name: check for check in (await gateway.doctor.examine()).checks}
        cached = await gateway.cache.stats()
    assert answers[0].provider == "gpt-5-nano-web-search"
    assert answers[1].fallback.reason.startswith("BUDGET: DAILY_BUDGET_USD"), (
        "the budget holds in memory"
    )
    assert answers[2].cache == "exact"
    assert spent == pytest.approx(sum(answer.cost_usd for answer in answers))
    (told,) = (
        record.getMessage() for record in caplog.records if "budget_" not in record.getMessage()
    )
    assert all(told in answer.warnings for answer in answers)
    assert told == f"{checks['state'].finding} {checks['state'].remedy}"
    assert checks["state"].status == "warn"
    assert told in cached.warnings


async def test_a_disk_that_fills_up_changes_neither_the_bill_nor_the_limits(sandbox, tmp_path):
    settings = load_settings(**sandbox.flags(), data_dir=tmp_path, rate_limit="2/hour")
    async with open_gateway(settings) as gateway:
        first = await gateway.search(SearchRequest(QUESTIONS[0]))
        await gateway.cache.state._file._read("PRAGMA max_page_count = 1", {})
        second = await gateway.search(SearchRequest(QUESTIONS[1]))
        with pytest.raises(SearchRateLimitError):
            await gateway.search(SearchRequest("What is a tide?"))
        spent = (await gateway.operations.server_stats()).days[0].usd
    assert first.warnings == ()
    assert "its disk is full" in second.warnings[-1]
    assert spent == pytest.approx(first.cost_usd + second.cost_usd)


@contextlib.contextmanager
def locked_file(tmp_path, _):
    path = tmp_path / "state.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other_process:
        other_process.execute("PRAGMA journal_mode = WAL")
        other_process.execute("BEGIN EXCLUSIVE")
        yield f"sqlite:///{path}"


@contextlib.contextmanager
def silent_postgresql(*_):
    with postgresql() as server:
        server.signal(signal.SIGSTOP)
        yield server.url


@contextlib.contextmanager
def absent_postgresql(*_):
    yield "postgresql://somebody:hunter2@127.0.0.1:1/x"


@contextlib.contextmanager
def silent_firestore(_, monkeypatch):
    with firestore_emulator() as emulator:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", emulator.host)
        emulator.process.send_signal(signal.SIGSTOP)
        yield "firestore://demo-gateway/x"


@contextlib.contextmanager
def absent_firestore(_, monkeypatch):
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:1")
    yield "firestore://demo-gateway/x"


@pytest.mark.parametrize(
    "outage",
    [locked_file, silent_postgresql, absent_postgresql, silent_firestore, absent_firestore],
    ids=lambda outage: outage.__name__,
)
async def test_a_search_works_without_its_state(
    outage, request, sandbox, tmp_path, monkeypatch, caplog
):
    if outage is silent_postgresql:
        request.getfixturevalue("postgresql_server")  # skips the test without a server
    if outage is silent_firestore:
        request.getfixturevalue("emulator")
    with outage(tmp_path, monkeypatch) as url:
        async with open_gateway(
            load_settings(**sandbox.flags(), state_url=url, rate_limit="20/minute")
        ) as gateway:
            answers = [await gateway.search(SearchRequest(question)) for question in QUESTIONS]
            again = await gateway.search(SearchRequest(QUESTIONS[0]))
    assert all(answer.citations and answer.cache == "miss" for answer in answers)
    assert again.cache == "exact"
    told = [
        record.getMessage().partition(":")[0]
        for record in caplog.records
        if record.levelname == "WARNING"
    ]
    assert {
        "Answers are cached in this process only",
        "Rate limits are counted in this process only",
    } <= set(told)
    assert len(set(told)) == len(told)
    assert "hunter2" not in caplog.text
