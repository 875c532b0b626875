"""`websearch-gateway read` as a person or a script meets it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import typer

from tests.entrypoints.command import Done, run
from tests.patience import PATIENT_PROCESS
from websearch_gateway.entrypoints.cli.asking import number, texts_given
from websearch_gateway.sandbox import Sandbox


@pytest.fixture
def environment(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        **PATIENT_PROCESS,
        **sandbox.environment(),
        "DATA_DIR": str(tmp_path),
        "COLUMNS": "100",
    }


def read(environment: dict[str, str], *arguments: str) -> Done:
    return run(environment, "read", *arguments)


def test_a_part_of_a_page_says_how_to_read_on(
    environment: dict[str, str], sandbox: Sandbox
) -> None:
    done = read(environment, f"{sandbox.url}/pages/tides-explained", "--max-chars", "400")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Why there are two tides a day")
    assert "untrusted-web-text" not in done.stdout
    assert "there is more: --offset" in done.stderr


def test_a_pipe_gets_the_markdown_as_it_is(environment: dict[str, str], sandbox: Sandbox) -> None:
    url = f"{sandbox.url}/pages/tides-explained"
    whole = json.loads(read(environment, url, "--json").stdout)["page_content"]
    assert read({**environment, "COLUMNS": "40"}, url).stdout == whole + "\n"


def test_several_pages_come_in_one_call(environment: dict[str, str], sandbox: Sandbox) -> None:
    good, gone = f"{sandbox.url}/pages/tides-explained", f"{sandbox.url}/pages/special/not-found"
    done = read(environment, good, gone)
    assert done.returncode == 0
    assert f"<!-- {good} -->" in done.stdout
    assert done.stderr.startswith(f"{gone}: FETCH: ")
    assert read(environment, good, gone, "--query", "tides").returncode == 2


def test_queries_show_their_passages_with_scores(
    environment: dict[str, str], sandbox: Sandbox
) -> None:
    url = f"{sandbox.url}/pages/tides-explained"
    done = read(
        environment,
        url,
        "--query",
        "What are spring tides?",
        "--query",
        "penicillin",
        "--max-results",
        "1",
    )
    assert done.returncode == 0, done.stderr
    assert "Spring tides and neap tides" in done.stdout
    assert "Nothing on this page seems to answer query 2" in done.stdout


def test_json_is_the_result_of_the_tool_without_marks(
    environment: dict[str, str], sandbox: Sandbox
) -> None:
    url = f"{sandbox.url}/pages/tides-explained"
    content = json.loads(read(environment, url, "--json").stdout)
    assert content["page_content"].startswith("# Why there are two tides a day")
    assert content["nextOffset"] is None
    found = json.loads(read(environment, url, "--query", "spring tides", "--json").stdout)
    assert found["queries"][0]["results"][0]["score"] > 0.5
    assert found["metadata"]["totalChars"] == content["totalChars"]


def test_what_cannot_be_read_is_one_line_and_exit_code_1(
    environment: dict[str, str], sandbox: Sandbox
) -> None:
    done = read(environment, f"{sandbox.url}/pages/special/not-found")
    assert done.returncode == 1
    assert done.stderr.startswith("FETCH: ")
    assert len(done.stderr.splitlines()) == 1


def test_claims_are_checked_against_a_page(environment: dict[str, str], sandbox: Sandbox) -> None:
    claims = ("The Eiffel Tower is 330 metres tall.", "The Eiffel Tower is 310 metres tall.")
    page = ("--url", f"{sandbox.url}/pages/eiffel-tower")
    shown = run(environment, "check", *claims, *page)
    assert shown.returncode == 0, shown.stderr
    assert f"found  {claims[0]}" in shown.stdout
    assert "“The Eiffel Tower in Paris is 330 metres tall" in shown.stdout
    assert f"differs  {claims[1]}" in shown.stdout
    assert "number: the claim has 310 metres, the page 330 metres" in shown.stdout
    told = json.loads(run(environment, "check", *claims, *page, "--json").stdout)
    assert [one["verdict"] for one in told["claims"]] == ["found", "differs"]


def test_an_answer_quotes_its_pages_where_that_is_wanted(environment: dict[str, str]) -> None:
    asked = ("search", "How tall is the Eiffel Tower?", "--verify-citations")
    (citation, *_) = json.loads(run(environment, *asked, "--json").stdout)["citations"]
    assert citation["support"] in ("verbatim", "quoted")
    assert "330 metres" in citation["quote"]
    assert "330 metres" in run(environment, *asked).stdout.partition("“")[2]


@pytest.mark.parametrize(
    ("kind", "given", "meant"),
    [
        (int, "5", 5),
        (int, "5.0", 5),
        (int, " 5 ", 5),
        (int, "", 8),
        (int, "none", 8),
        (int, "null", 8),
        (float, "0.5", 0.5),
        (float, "2", 2),
    ],
)
def test_a_number_is_understood_as_the_tools_understand_it(
    kind: type[int], given: str, meant: float
) -> None:
    assert number(kind, 8)(given) == meant


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("five", "a whole number"),
        ("true", "a whole number"),
        ("1.5", "a whole number"),
        ("0", "1 to 10"),
        ("11", "1 to 10"),
    ],
)
def test_what_is_no_such_number_is_wrong_usage(given: str, fault: str) -> None:
    with pytest.raises(typer.BadParameter, match=fault):
        number(int, least=1, most=10)(given)


def test_a_pipe_gets_plain_text_and_no_broken_line(
    environment: dict[str, str], sandbox: Sandbox
) -> None:
    url = f"{sandbox.url}/pages/tides-explained"
    printed = [
        run(environment, "raw", "espresso machine", "-n", "2").stdout,
        read(environment, url, "--query", "What are spring tides?").stdout,
        run(environment, "read", "--nonsense").stderr,
        run(environment, "read", "-h").stdout,
    ]
    assert printed[0].startswith("## espresso machine")
    assert printed[1].startswith("## What are spring tides?")
    assert "No such option: --nonsense" in printed[2]
    for text in printed:
        assert not re.search(r"[\u2500-\u257f]", text), text


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (None, ()),
        ([], ()),
        (["null"], ()),
        (["", "none"], ()),
        (["a.org"], ("a.org",)),
        (["a.org", "b.org"], ("a.org", "b.org")),
        (['["a.org", "b.org"]'], ("a.org", "b.org")),
        (['[""]'], ()),
        (["[1] what is a footnote?"], ("[1] what is a footnote?",)),
    ],
)
def test_a_repeatable_option_is_understood_as_a_list_argument_is(
    given: list[str] | None, texts: tuple[str, ...]
) -> None:
    assert texts_given(given) == texts
