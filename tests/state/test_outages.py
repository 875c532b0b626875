"""A search is answered in every outage of the state, and the log reports the outage once."""

import contextlib
import signal
import sqlite3

import pytest

from tools.servers import firestore_emulator, postgresql
from websearch_gateway.app import open_gateway
from websearch_gateway.models import SearchRequest
from websearch_gateway.settings import load_settings

QUESTIONS = ["How tall is the Eiffel Tower?", "What is the speed of light in a vacuum?"]


@contextlib.contextmanager
def folder_in_its_place(tmp_path, _):
    (tmp_path / "state.db").mkdir()
    yield f"sqlite:///{tmp_path / 'state.db'}"


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
    [folder_in_its_place, locked_file, silent_postgresql, absent_postgresql, silent_firestore, absent_firestore],
    ids=lambda outage: outage.__name__,
)
async def test_a_search_works_without_its_state(outage, request, sandbox, tmp_path, monkeypatch, caplog):
    if outage is silent_postgresql:
        request.getfixturevalue("postgresql_server")  # skips the test without a server
    if outage is silent_firestore:
        request.getfixturevalue("emulator")
    with outage(tmp_path, monkeypatch) as url:
        async with open_gateway(load_settings(**sandbox.flags(), state_url=url)) as gateway:
            answers = [await gateway.search(SearchRequest(question)) for question in QUESTIONS]
            again = await gateway.search(SearchRequest(QUESTIONS[0]))
    assert all(answer.citations and answer.cache == "miss" for answer in answers)
    assert again.cache == "exact"
    told = [record.getMessage().partition(":")[0] for record in caplog.records if record.levelname == "WARNING"]
    assert {"Answers are cached in this process only", "Rate limits are counted in this process only"} <= set(told)
    assert len(set(told)) == len(told)
    assert "hunter2" not in caplog.text
