"""The recipe of docs/adding-a-reader.md, followed to the letter for a made-up site in a copy of the project."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.recipe import copied, insert, suite

ROW = """
def _piertalk(parts: Parts) -> SourceReader:
    from websearch_gateway.readers.sites.piertalk import PierTalk

    return parts.api(PierTalk())


"""
CASE = """    "piertalk": Case(
        PierTalk,
        "https://talk.pier.example/item?id=900",
        {"/api/v1/items/900": "piertalk.json"},
        "Show HN: Tide tables in a terminal",
        ("41 points, posted by lena.", "## Comment by kit"),
        published="2024-02-03",
    ),
"""
IMPORT = "from websearch_gateway.readers.sites.piertalk import PierTalk\n"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return copied(tmp_path, ["tests/readers"], without=Path(__file__))


def add_site(copy: Path) -> None:
    """Steps 1 to 6."""
    readers = copy / "src" / "websearch_gateway" / "readers"
    code = (readers / "sites" / "hackernews.py").read_text().replace("HackerNews", "PierTalk")
    code = code.replace("news.ycombinator.com", "talk.pier.example").replace("hn.algolia.com", "api.pier.example")
    (readers / "sites" / "piertalk.py").write_text(code.replace("hackernews", "piertalk"))
    insert(readers / "__init__.py", "def _arxiv(parts", ROW.lstrip())
    insert(readers / "__init__.py", "    _arxiv,", "    _piertalk,  # threads\n")
    replies = copy / "tests" / "readers" / "replies"
    shutil.copy(replies / "hackernews.json", replies / "piertalk.json")
    cases = copy / "tests" / "readers" / "conftest.py"
    insert(cases, '    "arxiv": Case(', CASE)
    insert(cases, "from websearch_gateway.readers.sites.reddit import", IMPORT)
    insert(
        copy / "docs" / "adding-a-reader.md", "| arxiv |", "| piertalk | threads | `api.pier.example` | as it says |\n"
    )


def contract(copy: Path) -> subprocess.CompletedProcess[str]:
    """The contract suite over the new case, and the tests of the table."""
    return suite(copy, "piertalk or every_reader_has or every_source_has")


@pytest.mark.timeout(300)
def test_one_file_one_row_one_recording_one_case_and_one_docs_row_add_a_reader(copy: Path) -> None:
    add_site(copy)
    done = contract(copy)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert int(done.stdout.rpartition(" passed")[0].split()[-1]) >= 10


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("left_out", "said"),
    [("case", "add a Case of ['piertalk']"), ("row", "test_every_reader_has_its_row"), ("recording", "piertalk.json")],
)
def test_the_contract_suite_fails_when_a_part_is_missing(copy: Path, left_out: str, said: str) -> None:
    add_site(copy)
    tests, document = copy / "tests" / "readers", copy / "docs" / "adding-a-reader.md"
    if left_out == "case":
        (tests / "conftest.py").write_text((tests / "conftest.py").read_text().replace(CASE, ""))
    elif left_out == "row":
        document.write_text("\n".join(line for line in document.read_text().split("\n") if "| piertalk" not in line))
    else:
        (tests / "replies" / "piertalk.json").unlink()
    done = contract(copy)
    assert done.returncode == 1
    assert said in done.stdout
