"""The group `docs` on the command line, over a folder."""

import json
import tomllib

import pytest
from typer.testing import CliRunner

from websearch_gateway.entrypoints.cli.commands import cli
from websearch_gateway.settings import config_path

PROSE = "It tells at length how the thing works and when to use it, with all that one must know about it. " * 5


def ran(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, ["docs", *arguments])
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.md").write_text(f"# Zebras\n\nThe zebra eats grass. {PROSE}")
    return str(tmp_path / "book")


def test_a_folder_is_added_searched_read_exported_deleted_and_imported(folder, tmp_path):
    (site,) = json.loads(ran("add", folder, "book", "2", "--json"))["sites"]
    assert (site["status"], site["page_count"], site["version"]) == ("completed", 1, "2")
    assert json.loads(ran("list", "--json"))["sites"][0]["name"] == "book"
    (hit,) = json.loads(ran("search", "zebra", "--json"))["results"]
    assert (hit["site_name"], hit["heading_path"]) == ("book", ["Zebras"])
    assert "grass" in json.loads(ran("read", hit["section_id"], "--json"))["content"]
    assert json.loads(ran("read", hit["url"], "--outline", "--json"))["outline"][0]["section_id"] == hit["section_id"]
    ran("export", "book", str(tmp_path / "book.gz"))
    assert ran("delete", "book") == "Deleted: book 2.\n"
    assert json.loads(ran("search", "zebra", "--json"))["results"] == []
    ran("import", str(tmp_path / "book.gz"))
    assert len(json.loads(ran("search", "zebra", "--json"))["results"]) == 1


def test_a_source_that_is_none_is_refused(tmp_path):
    assert "VALIDATION" in json.loads(ran("add", str(tmp_path / "absent"), "--json", code=1))["error"]["code"]


def test_a_site_added_again_keeps_the_options_that_are_not_given(folder):
    assert json.loads(ran("add", folder, "book", "--exclude", "a.md", "--json", code=1))["sites"][0]["page_count"] == 0
    assert json.loads(ran("add", folder, "book", "--delay", "0", "--json", code=1))["sites"][0]["page_count"] == 0


def test_the_embedder_is_tried_and_noted_in_a_private_file():
    path = config_path()
    path.parent.mkdir(parents=True)
    path.write_text('embedding_model_name = "gone"\nconcurrency = 3\n')
    assert "256 numbers" in ran("config", "--embedder", "built-in")
    assert json.loads(ran("config", "--embedder", "built-in", "--json"))["dimensions"] == 256
    assert tomllib.loads(path.read_text()) == {"concurrency": 3}
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_embedder_that_does_not_answer_is_not_noted():
    ran("config", "--embedder", "ollama", "--host", "127.0.0.1", "--port", "9", "--model", "m", code=1)
    assert not config_path().exists()
