"""The recipe of docs/adding-an-engine.md, followed to the letter for a made-up vendor in a copy of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipe import copied, insert, run, suite


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return copied(tmp_path, ["tests/answers"], without=Path(__file__))


def renamed(code: str) -> str:
    return (
        code.replace("perplexity", "heron")
        .replace("PERPLEXITY", "HERON")
        .replace("Perplexity", "Heron")
    )


def add_engine(copy: Path) -> None:
    """Steps 1 to 5."""
    package = copy / "src" / "websearch_gateway"
    (package / "answers" / "heron.py").write_text(
        renamed((package / "answers" / "perplexity.py").read_text())
    )
    table = package / "settings" / "loading.py"
    row = '    EngineRow("heron", "Heron", "https://api.heron.example", ("heron/sonar",)),\n'
    insert(table, ")\n\n\nclass _OwnModel", row)
    suite_file = copy / "tests" / "answers" / "test_http_engine.py"
    suite_row = (
        '    (Heron(SecretStr(KEY), "https://h.example"), perplexity("It is 330 m high. [7]")),\n'
    )
    insert(suite_file, "]\nevery_api", suite_row)
    insert(
        suite_file,
        "from websearch_gateway.answers.http_engine",
        "from websearch_gateway.answers.heron import Heron\n",
    )
    vendors = package / "sandbox" / "vendors"
    (vendors / "heron.py").write_text(renamed((vendors / "perplexity.py").read_text()))
    faults = '    "heron": "no_search failed",\n'
    insert(package / "sandbox" / "server.py", '    "perplexity": ', faults)
    insert(
        copy / "docs" / "engines.md",
        "| `llm` |",
        "| `heron` | `HERON_API_KEY` | its own search | a mark |\n",
    )
    for tool, document in (("settings_table", "settings"), ("price_table", "prices")):
        (copy / "docs" / f"{document}.md").write_text(run(copy, f"tools/{tool}.py").stdout)


@pytest.mark.timeout(300)
def test_the_recipe_adds_an_engine_that_answers_in_the_sandbox(copy: Path) -> None:
    add_engine(copy)
    assert "HERON_MODELS" in (copy / "docs" / "settings.md").read_text()
    done = suite(copy, "heron")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "test_engines_in_a_row" not in done.stdout
    assert int(done.stdout.rpartition(" passed")[0].split()[-1]) > 20


@pytest.mark.timeout(300)
def test_the_contract_fails_when_a_part_is_missing(copy: Path) -> None:
    add_engine(copy)
    document = copy / "docs" / "engines.md"
    document.write_text(
        "\n".join(line for line in document.read_text().split("\n") if "| `heron`" not in line)
    )
    done = suite(copy, "heron", "tests/answers/test_contract.py")
    assert done.returncode == 1
    assert "docs/engines.md needs one row for heron" in done.stdout
