"""The group `docs` on the command line, over a folder."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from websearch_gateway.entrypoints.cli.commands import cli
from websearch_gateway.entrypoints.cli.docs import docs_mcp
from websearch_gateway.settings.loading import config_path, index_variables

PROSE = (
    "It tells at length how the thing works and when to use it, with all that one must know about it. "
    * 5
)


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
    assert (
        json.loads(ran("read", hit["url"], "--outline", "--json"))["outline"][0]["section_id"]
        == hit["section_id"]
    )
    ran("export", "book", str(tmp_path / "book.gz"))
    assert ran("delete", "book") == "Deleted: book 2.\n"
    assert json.loads(ran("search", "zebra", "--json"))["results"] == []
    ran("import", str(tmp_path / "book.gz"))
    (hit,) = json.loads(ran("search", "zebra", "--json"))["results"]
    assert hit["url"] == "imported:///book/2/a.md"
    assert "grass" in json.loads(ran("read", hit["url"], "--json"))["content"]
    assert json.loads(ran("update", "book", "--json", code=1))["error"]["code"] == "VALIDATION"
    ran("export", "book", str(tmp_path / "again.gz"))
    ran("delete", "book")
    ran("import", str(tmp_path / "again.gz"))
    assert json.loads(ran("search", "zebra", "--json"))["results"][0]["url"] == hit["url"]


def test_a_source_that_is_none_is_refused(tmp_path):
    assert (
        "VALIDATION"
        in json.loads(ran("add", str(tmp_path / "absent"), "--json", code=1))["error"]["code"]
    )


def test_a_refused_site_leaves_nothing_behind(tmp_path):
    (tmp_path / "bad.zip").write_text("no zip")
    for source, code in (
        ("http://10.0.0.1/docs/", "FORBIDDEN_URL"),
        (str(tmp_path / "bad.zip"), "FETCH"),
    ):
        assert json.loads(ran("add", source, "--json", code=1))["error"]["code"] == code
    assert json.loads(ran("status", "--json"))["sites"] == []


@pytest.mark.parametrize("arguments", [["-h"], ["add", "-h"], ["search", "-h"], ["serve", "-h"]])
def test_every_command_of_docs_mcp_explains_itself_with_a_short_option(arguments):
    result = CliRunner().invoke(docs_mcp, arguments)
    assert (result.exit_code, "Usage:" in result.stdout) == (0, True)


def test_a_site_added_again_keeps_the_options_that_are_not_given(folder):
    assert (
        json.loads(ran("add", folder, "book", "--exclude", "a.md", "--json", code=1))["sites"][0][
            "page_count"
        ]
        == 0
    )
    assert (
        json.loads(ran("add", folder, "book", "--delay", "0", "--json", code=1))["sites"][0][
            "page_count"
        ]
        == 0
    )


def test_the_embedder_is_tried_and_noted_in_a_private_file():
    path = config_path()
    path.parent.mkdir(parents=True)
    path.write_text('embedding_model_name = "gone"\nconcurrency = 3\n')
    assert "256 numbers" in ran("config", "--embedder", "built-in")
    assert json.loads(ran("config", "--embedder", "built-in", "--json"))["dimensions"] == 256
    assert tomllib.loads(path.read_text()) == {"concurrency": 3}
    assert path.stat().st_mode & 0o777 == 0o600


@contextmanager
def ollama() -> Iterator[tuple[int, list[str]]]:
    """A stand-in that speaks only Ollama's own paths: its port, and the paths that it was asked for."""
    asked = []

    class Ollama(BaseHTTPRequestHandler):
        models: ClassVar[set[str]] = set()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(self.path)
            status, reply = 404, {"error": "404 page not found"}
            if self.path == "/api/pull":
                self.models.add(body["model"])
                status, reply = 200, {"status": "success"}
            elif self.path == "/api/embed" and body["model"] in self.models:
                status, reply = 200, {"embeddings": [[1.0, 0.0, 0.0] for _ in body["input"]]}
            elif self.path == "/api/embed":
                reply = {"error": f"model {body['model']!r} not found, try pulling it first"}
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Ollama) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


def test_ollama_is_reached_on_any_port_which_the_command_asks_for(folder):
    with ollama() as (port, asked):
        said = CliRunner().invoke(
            cli, ["docs", "config"], input=f"ollama\n127.0.0.1\n{port}\nall-minilm\n"
        )
        assert said.exit_code == 0, said.output
        assert "Port of Ollama [11434]" in said.output
        assert "vectors of 3 numbers" in said.output
        assert asked == ["/api/embed", "/api/pull", "/api/embed"]
        assert tomllib.loads(config_path().read_text()) == {
            "embedding_server_url": f"http://127.0.0.1:{port}/api",
            "embedding_model_name": "all-minilm",
        }
        (site,) = json.loads(ran("add", folder, "book", "--json"))["sites"]
        assert (site["status"], site["unembedded"]) == ("completed", 0)
        assert json.loads(ran("search", "grass", "--json"))["warnings"] == []
        assert set(asked) == {"/api/embed", "/api/pull"}


@pytest.mark.parametrize("host", ["http://localhost", "a b", "localhost:9/x"])
def test_a_host_that_is_an_address_of_its_own_is_refused(host):
    ran("config", "--embedder", "ollama", "--host", host, "--port", "9", "--model", "m", code=2)


def test_an_embedder_that_does_not_answer_is_not_noted():
    ran(
        "config",
        "--embedder",
        "ollama",
        "--host",
        "127.0.0.1",
        "--port",
        "9",
        "--model",
        "m",
        code=1,
    )
    assert not config_path().exists()


def test_the_pages_of_a_folder_with_a_base_url_have_addresses_of_the_web_everywhere(
    folder, tmp_path
):
    book = tmp_path / "book"
    (book / "b").mkdir()
    link = '<link rel="canonical" href="https://elsewhere.example/">'
    page = f"<main><h1>Lions</h1><p>The lion eats zebras. {PROSE}</p><a href='../a.md'>Zebras</a></main>"
    (book / "b" / "index.html").write_text(
        f"<html><head>{link}<title>Lions</title></head><body>{page}</body></html>"
    )
    add = ("add", folder, "book", "2", "--base-url", "https://docs.example.org/3.12", "--json")
    (site,) = json.loads(ran(*add))["sites"]
    assert (site["url"], site["page_count"]) == ("https://docs.example.org/3.12/", 2)
    assert json.loads(ran("list", "--json"))["sites"][0]["url"] == "https://docs.example.org/3.12/"

    def found() -> None:
        answer = json.loads(ran("search", "zebras", "--json"))
        hits = answer["results"] + answer["more"]
        pages = {hit["url"].partition("#")[0] for hit in hits}
        assert pages == {"https://docs.example.org/3.12/a.md", "https://docs.example.org/3.12/b/"}
        assert (
            "grass"
            in json.loads(ran("read", "https://docs.example.org/3.12/a.md", "--json"))["content"]
        )
        assert all("file:" not in json.dumps(hit) for hit in hits)

    found()
    ids = [hit["section_id"] for hit in json.loads(ran("search", "zebras", "--json"))["results"]]
    (site,) = json.loads(ran("update", "https://docs.example.org/3.12/", "--json"))["sites"]
    assert (site["page_count"], site["status"]) == (2, "completed")
    (site,) = json.loads(ran("add", folder, "book", "2", "--json"))["sites"]
    assert site["url"] == "https://docs.example.org/3.12/"
    found()
    ran("export", "book", str(tmp_path / "book.gz"))
    assert str(tmp_path).encode() not in gzip.decompress((tmp_path / "book.gz").read_bytes())
    ran("delete", "book")
    ran("import", str(tmp_path / "book.gz"))
    found()
    assert [
        hit["section_id"] for hit in json.loads(ran("search", "zebras", "--json"))["results"]
    ] == ids
    assert (
        "another machine" in json.loads(ran("update", "book", "--json", code=1))["error"]["message"]
    )


def test_an_archive_may_have_a_base_url_too(folder, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", folder)
    ran("add", archive, "book", "--base-url", "http://docs.example.org", "--json")
    (hit,) = json.loads(ran("search", "zebra", "--json"))["results"]
    assert hit["url"] == "http://docs.example.org/a.md"


@pytest.mark.parametrize(
    "base",
    [
        *(
            "docs.example.org",
            "file:///tmp/",
            "https://me:secret@docs.example.org/",
            "https://e.org/?a",
        ),
        *(
            "https://e.org/#a",
            "https://" + "e" * 400 + ".org/",
            "https://\ud800/",
            "javascript:alert(1)",
        ),
    ],
)
def test_a_base_url_is_an_address_of_the_web_without_a_login(folder, base):
    error = json.loads(ran("add", folder, "--base-url", base, "--json", code=1))["error"]
    assert (error["code"], "secret" in error["message"]) == ("VALIDATION", False)
    assert json.loads(ran("status", "--json"))["sites"] == []


def test_a_base_url_is_for_files_and_stays_the_same(folder):
    refused = json.loads(
        ran("add", "https://e.org/docs/", "--base-url", "https://e.org/", "--json", code=1)
    )
    assert "website has its own" in refused["error"]["message"]
    ran("add", folder, "book")
    moved = json.loads(ran("add", folder, "book", "--base-url", "https://e.org/", "--json", code=1))
    assert "delete that one first" in moved["error"]["message"]


def test_a_base_url_of_a_blocked_domain_is_refused(folder, monkeypatch):
    monkeypatch.setenv("BLOCKED_DOMAINS", "e.org")
    refused = json.loads(ran("add", folder, "--base-url", "https://docs.e.org/", "--json", code=1))[
        "error"
    ]
    assert refused["code"] == "FORBIDDEN_URL"


def test_no_command_but_delete_knows_a_site_of_a_blocked_domain(folder, tmp_path, monkeypatch):
    ran("add", folder, "book", "--base-url", "https://docs.e.org/")
    monkeypatch.setenv("BLOCKED_DOMAINS", "e.org")
    for command in ("list", "status"):
        assert json.loads(ran(command, "--json"))["sites"] == []
    written = tmp_path / "book.gz"
    for command in (("status", "book"), ("export", "book", str(written)), ("update", "book")):
        refused = json.loads(ran(*command, "--json", code=1))["error"]
        assert (refused["code"], "docs.e.org" in refused["message"]) == ("VALIDATION", False), (
            command
        )
    assert not written.exists()
    assert "Deleted: book latest." in ran("delete", "book", "--json")
    monkeypatch.delenv("BLOCKED_DOMAINS")
    assert json.loads(ran("list", "--json"))["sites"] == []


def test_a_page_of_a_folder_never_sends_the_crawl_to_the_web(folder, tmp_path):
    (tmp_path / "book" / "index.html").write_text(
        "<html><head><meta http-equiv='refresh' content='0; url=https://docs.e.org/other/'></head></html>"
    )
    (site,) = json.loads(
        ran("add", folder, "book", "--base-url", "https://docs.e.org/book/", "--json")
    )["sites"]
    assert (site["status"], site["page_count"], site["url"]) == (
        "completed",
        1,
        "https://docs.e.org/book/",
    )


def test_a_package_is_added_by_its_name(sandbox, monkeypatch):
    for name, value in sandbox.environment().items():
        monkeypatch.setenv(name, value)
    (site,) = json.loads(
        ran("add", "pypi:heron@1.0", "--delay", "0", "--max-pages", "2", "--json")
    )["sites"]
    assert (site["name"], site["version"], site["url"]) == (
        "heron",
        "1.0",
        f"{sandbox.url}/docs/1.0/",
    )
    error = json.loads(ran("add", "pypi:nobody", "--json", code=1))["error"]
    assert (error["code"], "docs add URL NAME" in error["message"]) == ("VALIDATION", True)


@pytest.fixture
def project(sandbox, monkeypatch, tmp_path):
    """A project that uses packages of the sandbox's registries."""
    for name in index_variables():  # of the machine that runs the tests
        monkeypatch.delenv(name)
    for name, value in sandbox.environment().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "it").mkdir()
    names = '["heron", "Heron_Tools", "tern", "nobody"]'
    (tmp_path / "it" / "pyproject.toml").write_text(
        f'[project]\nname = "it"\ndependencies = {names}\n'
    )
    (tmp_path / "it" / "uv.lock").write_text('[[package]]\nname = "heron"\nversion = "1.0"\n')
    (tmp_path / "it" / "package.json").write_text('{"dependencies": {"heron": "2.0.0"}}')
    return str(tmp_path / "it")


def test_the_dependencies_of_a_project_are_listed_and_indexed_only_with_a_yes(project, sandbox):
    listed = json.loads(ran("add", "--project", project, "--json"))
    assert [(one["package"], one["version"], one["indexed"]) for one in listed["dependencies"]] == [
        ("pypi:heron", "1.0", ""),
        ("pypi:heron-tools", "", ""),
        ("pypi:tern", "", ""),
        ("pypi:nobody", "", ""),
        ("npm:heron", "2.0.0", ""),
    ]
    assert "names no documentation" in listed["dependencies"][2]["problem"]
    assert "3 are not indexed. Index them with: --yes" in ran("add", "--project", project)
    assert json.loads(ran("status", "--json"))["sites"] == []
    quick = ("--delay", "0", "--max-pages", "2", "--browser", "never", "--json")
    done = json.loads(ran("add", "--project", project, "--yes", *quick))
    assert {(site["name"], site["version"], site["url"]) for site in done["sites"]} == {
        ("heron", "1.0", f"{sandbox.url}/docs/1.0/"),
        ("heron-tools", "0.4", f"{sandbox.url}/docs/2.0/"),
    }
    assert [one["indexed"] for one in done["dependencies"]] == [
        "heron 1.0",
        "heron-tools 0.4",
        "",
        "",
        "heron-tools 0.4",
    ]
    assert "Nothing is left to index" in ran("add", "--project", project, "--yes")


@pytest.mark.parametrize(
    "given",
    [("--header", "Authorization: x"), ("--base-url", "https://e.org/"), ("--version", "1")],
)
def test_what_is_meant_for_one_site_is_refused_for_a_project(project, given):
    error = json.loads(ran("add", "--project", project, "--yes", *given, "--json", code=1))["error"]
    assert (error["code"], "Add that site by its address" in error["message"]) == (
        "VALIDATION",
        True,
    )
    assert json.loads(ran("status", "--json"))["sites"] == []


def test_a_package_has_the_version_that_the_project_uses(project, sandbox):
    quick = ("--delay", "0", "--max-pages", "2", "--json")
    (site,) = json.loads(ran("add", "pypi:Heron", "--project", project, *quick))["sites"]
    assert (site["version"], site["url"]) == ("1.0", f"{sandbox.url}/docs/1.0/")
    assert (
        "name one"
        in json.loads(ran("add", "https://e.org/", "--project", project, "--json", code=1))[
            "error"
        ]["message"]
    )


def test_no_registry_is_asked_for_what_may_come_from_a_private_index(project, sandbox, monkeypatch):
    (Path(project) / "pip.conf").write_text(
        "[global]\nindex-url = https://me:secret@pkg.corp.example/simple\n"
    )
    (Path(project) / ".npmrc").write_text("registry=https://npm.corp.example/\n")
    listed = json.loads(ran("add", "--project", project, "--yes", "--json"))
    assert len(listed["dependencies"]) == 5
    assert all(
        "corp.example" in one["problem"] and not one["url"] for one in listed["dependencies"]
    )
    assert "secret" not in json.dumps(listed)
    error = json.loads(ran("add", "pypi:heron", "--project", project, "--json", code=1))["error"]
    assert "leave out --project" in error["message"]
    (Path(project) / "pip.conf").unlink()
    (Path(project) / ".npmrc").unlink()
    monkeypatch.setenv("UV_INDEX_URL", "https://pkg.corp.example/simple")
    monkeypatch.setenv("npm_config_registry", "https://npm.corp.example/")
    assert all(
        one["problem"]
        for one in json.loads(ran("add", "--project", project, "--json"))["dependencies"]
    )
    assert sandbox.calls("pypi") == sandbox.calls("npm") == 0


def test_a_project_that_cannot_be_read_is_one_clear_error(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project")
    error = json.loads(ran("add", "--project", str(tmp_path), "--json", code=1))["error"]
    assert (error["code"], "pyproject.toml is malformed" in error["message"]) == (
        "VALIDATION",
        True,
    )
    assert (
        "none of pyproject.toml"
        in json.loads(ran("add", "--project", "/", "--json", code=1))["error"]["message"]
    )
    ran("add", code=2)


@pytest.mark.parametrize(("answer", "count"), [("n", 0), ("y", 2)])
def test_a_person_is_asked_before_the_dependencies_are_indexed(
    project, sandbox, tmp_path, answer, count
):
    ours, theirs = os.openpty()
    command = [
        sys.executable,
        "-m",
        "websearch_gateway",
        "docs",
        "add",
        "--project",
        project,
        "--delay",
        "0",
    ]
    environment = {**os.environ, "DATA_DIR": str(tmp_path / "data")}
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run(
        [*command, "--max-pages", "1"],
        stdin=theirs,
        capture_output=True,
        text=True,
        env=environment,
        timeout=100,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "Index the documentation of 3 packages?" in done.stdout
    assert ("Nothing was added." in done.stdout, done.stdout.count("completed")) == (
        count == 0,
        count,
    )
