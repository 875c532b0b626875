"""The commands of the group `docs`, over folders."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from websearch_gateway.docs.models import Owner
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.entrypoints.cli.docs import docs
from websearch_gateway.evidence.embedders.local import StaticEmbedder


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def said(*arguments: str) -> str:
    result = CliRunner().invoke(docs, [*arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def add(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "a.md").write_text(text)
    said("add", str(folder), folder.name)


def test_where_nothing_is_indexed_every_command_says_so(data: Path) -> None:
    for command in (("list",), ("status",), ("search", "zebra"), ("search", "zebra", "--json")):
        assert "No site is indexed" in said(*command)
    assert "No site is indexed" in said("update", "--all")
    assert "No site is due." in said("update", "--stale", "7d")
    for wrong in (
        (),
        ("x", "--all"),
        ("--all", "--stale", "7d"),
        ("--stale", "7"),
        ("--stale", ""),
    ):
        assert CliRunner().invoke(docs, ["update", *wrong]).exit_code == 2


def test_a_flag_is_a_query(data: Path, tmp_path: Path) -> None:
    add(tmp_path / "book", "# Zebra\n\n`--stripe-count` sets how many stripes a zebra has.")
    (hit,) = json.loads(said("search", "--stripe-count", "-n", "1", "--json"))["results"]
    assert "--stripe-count" in hit["content"]


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every crawl meets a Ctrl-C."""

    async def crawl(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr("websearch_gateway.entrypoints.cli.documentation.watched", crawl)
    # A background job ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("data", "interrupted")
def test_an_interrupted_crawl_names_the_site_and_the_version_to_resume(tmp_path: Path) -> None:
    (tmp_path / "book").mkdir()
    result = CliRunner().invoke(docs, ["add", str(tmp_path / "book"), "--version", "3.1"])
    assert result.exit_code != 0
    assert f"websearch-gateway docs add {tmp_path / 'book'} book 3.1\n" in result.stderr


@pytest.mark.usefixtures("data")
def test_an_interrupted_update_of_stale_sites_resumes_only_those(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    add(tmp_path / "one", "# One\n\nThe zebra eats grass.")
    assert "No site is due." in said("update", "--stale", "1d")
    request.getfixturevalue("interrupted")
    result = CliRunner().invoke(docs, ["update", "--stale", "0m"])
    assert result.exit_code != 0
    assert "websearch-gateway docs update --stale 0m\n" in result.stderr


def test_an_update_of_several_sites_names_those_that_were_not_crawled(
    data: Path, tmp_path: Path
) -> None:
    add(tmp_path / "one", "# One\n\nThe zebra eats grass.")
    add(tmp_path / "two", "# Two\n\nThe walrus sings.")

    async def claim() -> None:
        store = SqliteDocs(data / "docs" / "docs.db", StaticEmbedder().name)
        assert await store.claim(1, Owner("elsewhere", 7, 1.0), 60)
        await store.close()

    asyncio.run(claim())
    message = json.loads(said("update", "--all", "--json"))["message"]
    assert message.startswith("one latest was not crawled: Process 7 on elsewhere")
    assert "two" not in message
