"""The recipe of docs/adding-a-reader.md, followed to the letter for a made-up site in a copy of the project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.recipe import copied, insert, suite

CASE = """    "piertalk": Case(
        PierTalk,
        "https://talk.pier.example/abs/2301.00001v2",
        {"/api/query?id_list=2301.00001v2": "piertalk.xml"},
        "Tides on a Flat Sea",
        ("Mira Holm, T. Ahn (2022-12-30)", "## Full text\\n\\nThe plain page."),
        published="2022-12-30",
        more=("https://talk.pier.example/html/2301.00001v2",),
    ),
"""
IMPORT = "from websearch_gateway.pages.sites.piertalk import PierTalk\n"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return copied(tmp_path, ["tests/pages"], without=Path(__file__))


def add_site(copy: Path) -> None:
    """Steps 1 to 6."""
    readers = copy / "src" / "websearch_gateway" / "pages"
    code = (readers / "sites" / "arxiv.py").read_text().replace("ArXiv", "PierTalk")
    code = code.replace("export.arxiv.org", "api.pier.example").replace(
        "arxiv.org", "talk.pier.example"
    )
    (readers / "sites" / "piertalk.py").write_text(code.replace("arxiv", "piertalk"))
    insert(readers / "reader_table.py", '    "arxiv.', '    "piertalk.PierTalk",  # papers\n')
    replies = copy / "tests" / "pages" / "replies"
    shutil.copy(replies / "arxiv.xml", replies / "piertalk.xml")
    cases = copy / "tests" / "pages" / "conftest.py"
    insert(cases, '    "arxiv": Case(', CASE)
    insert(cases, "from websearch_gateway.pages.sites.threads import", IMPORT)
    insert(
        copy / "docs" / "adding-a-reader.md",
        "| arxiv |",
        "| piertalk | papers | `api.pier.example` | as it says |\n",
    )


@pytest.mark.timeout(300)
def test_one_file_one_row_one_recording_one_case_and_one_docs_row_add_a_reader(copy: Path) -> None:
    add_site(copy)
    # The contract suite, the tests of the table.
    done = suite(copy, "piertalk or every_reader_has or every_source_has")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert int(done.stdout.rpartition(" passed")[0].split()[-1]) >= 10


@pytest.mark.timeout(300)
def test_the_tests_of_the_table_name_each_part_that_is_missing(copy: Path) -> None:
    add_site(copy)
    cases, document = copy / "tests" / "pages" / "conftest.py", copy / "docs" / "adding-a-reader.md"
    cases.write_text(cases.read_text().replace(CASE, ""))
    document.write_text(
        "\n".join(line for line in document.read_text().split("\n") if "| piertalk" not in line)
    )
    done = suite(copy, "every", "tests/pages/test_docs.py")
    assert done.returncode == 1
    assert "add a Case of ['piertalk']" in done.stdout
    assert "test_every_reader_has_its_row" in done.stdout


@pytest.mark.timeout(300)
def test_the_contract_suite_fails_without_a_recording(copy: Path) -> None:
    add_site(copy)
    (copy / "tests" / "pages" / "replies" / "piertalk.xml").unlink()
    done = suite(copy, "piertalk", "tests/pages/sites/test_api.py")
    assert done.returncode == 1
    assert "piertalk.xml" in done.stdout
