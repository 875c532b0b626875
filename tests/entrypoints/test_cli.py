"""The command line as a person or a script meets it: real processes, the sandbox as the outside world."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.entrypoints.command import run, start
from tests.patience import PATIENCE, PATIENT_PROCESS
from websearch_gateway import __version__
from websearch_gateway.entrypoints.cli.commands import cli
from websearch_gateway.sandbox import OPENAI_KEY, Sandbox

QUESTION = "How tall is the Eiffel Tower?"


@pytest.fixture
def environment(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        **PATIENT_PROCESS,
        **sandbox.environment(),
        "DATA_DIR": str(tmp_path),
        "COLUMNS": "100",
    }


def test_search_prints_the_answer_with_numbered_sources(environment: dict[str, str]) -> None:
    done = run(environment, "search", QUESTION)
    assert done.returncode == 0
    assert "330 metres" in done.stdout
    assert "[1]" in done.stdout
    assert "/pages/eiffel-tower" in done.stdout
    assert done.stderr == ""


def test_a_terminal_that_lacks_a_character_still_shows_the_answer(
    environment: dict[str, str],
) -> None:
    done = start({**environment, "PYTHONIOENCODING": "ascii"}, "search", QUESTION)
    assert (done.returncode, done.stderr) == (0, "")
    assert "330 metres" in done.stdout


def test_where_nothing_can_be_written_the_answer_ends_with_one_warning(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = run(
        {**environment, "DATA_DIR": str(tmp_path / "file"), "COLUMNS": "400"}, "search", QUESTION
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "330 metres" in done.stdout
    assert (
        done.stdout.count(
            "lost when it ends. Let DATA_DIR name a folder that can be written, or set STATE_URL"
        )
        == 1
    )
    assert "BUDGET" not in done.stdout
    checked = run({**environment, "DATA_DIR": str(tmp_path / "file")}, "doctor", "--json")
    (state,) = (check for check in json.loads(checked.stdout)["checks"] if check["name"] == "state")
    assert (state["status"], "STATE_URL=memory://" in state["remedy"]) == ("warn", True)
    cleared = run({**environment, "DATA_DIR": str(tmp_path / "file")}, "cache", "clear", "--yes")
    assert cleared.returncode == 1
    assert "the file is not" in cleared.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_process_that_may_write_no_files_still_answers(environment: dict[str, str]) -> None:
    command = f"ulimit -f 0; exec {sys.executable} -m websearch_gateway search '{QUESTION}'"
    quiet = {**environment, "LOG_LEVEL": "ERROR"}  # a busy machine warns that a cache was slow
    done = subprocess.run(
        ["sh", "-c", command], env=quiet, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "330 metres" in done.stdout
    assert "The state file cannot be used" in done.stdout


def test_search_json_is_the_response_of_the_tool(environment: dict[str, str]) -> None:
    response = json.loads(
        run({**environment, "OPENAI_MODELS": "gpt-6-luna"}, "search", QUESTION, "--json").stdout
    )
    assert response["provider"] == "gpt-6-luna-web-search"
    assert response["citations"][0]["rank"] == 1


def test_search_without_the_written_answer_lists_sources_only(environment: dict[str, str]) -> None:
    response = json.loads(run(environment, "search", QUESTION, "--no-answer", "--json").stdout)
    assert response["text"] == ""
    assert response["citations"][0]["textSnippet"]


@pytest.mark.parametrize(
    "command", [["serve"], ["serve", "--http"], ["start-mcp-server"]], ids=" ".join
)
def test_a_server_that_cannot_start_tells_programs_so_too(
    environment: dict[str, str], command: list[str]
) -> None:
    done = start(
        {**environment, "CONCURRENCY": "0", "PYTHONPROFILEIMPORTTIME": "1"}, *command, "--json"
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "NOT_CONFIGURED"
    assert "pydantic_settings" in done.stderr
    assert not re.search(r"\b(mcp|starlette)\b", done.stderr), "a wrong setting is told at once"


def test_a_spent_limit_says_once_when_to_try_again(environment: dict[str, str]) -> None:
    limited = {**environment, "RATE_LIMIT": "1/hour"}
    run(limited, "search", QUESTION)
    told = run(limited, "search", "What is a comet?").stderr
    assert told.startswith(
        "RATE_LIMIT: The limit of 1/hour for you (RATE_LIMIT) is reached. Try again in "
    )
    assert told.count(" s.") == 1


def test_an_error_is_one_line_on_stderr_and_exit_code_1(environment: dict[str, str]) -> None:
    done = run(environment, "search", "ab")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("VALIDATION: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_person_is_not_sent_to_a_server_for_agents(environment: dict[str, str]) -> None:
    assert (
        run(environment, "search", "polymarket odds on the height of the eiffel tower").returncode
        == 0
    )


def test_an_error_is_json_too_when_asked_for(environment: dict[str, str]) -> None:
    done = run(environment, "search", "ab", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "VALIDATION"


def test_wrong_usage_is_exit_code_2(environment: dict[str, str]) -> None:
    assert run(environment, "search").returncode == 2
    assert run(environment, "no-such-command").returncode == 2


def test_a_wrong_key_is_told_without_showing_it(environment: dict[str, str]) -> None:
    wrong = "sk-proj-wrong0123456789abcdefghijkl"
    done = run({**environment, "OPENAI_API_KEY": wrong}, "search", QUESTION)
    assert done.stderr.startswith("AUTH: ")
    assert wrong not in done.stderr


def test_config_shows_every_setting_and_no_secret(environment: dict[str, str]) -> None:
    shown = json.loads(run(environment, "config", "--json").stdout)
    assert shown["OPENAI_API_KEY"] == "(set)"
    assert (shown["RATE_LIMIT"], shown["CONCURRENCY"]) == (None, 64)
    table = run(environment, "config").stdout
    assert "OPENAI_API_KEY" in table
    assert OPENAI_KEY not in table


def test_a_settings_file_is_read_and_the_environment_wins_over_it(
    environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text('rate_limit = "5/minute"\ncache_ttl_seconds = 7\n')
    shown = json.loads(
        run(
            {**environment, "CACHE_TTL_SECONDS": "9"}, "config", "--json", "--config", str(file)
        ).stdout
    )
    assert shown["RATE_LIMIT"] == "5/minute"
    assert shown["CACHE_TTL_SECONDS"] == 9


def test_an_unusable_setting_is_named_without_its_value(environment: dict[str, str]) -> None:
    done = run(
        {**environment, "CONCURRENCY": "sk-pasted-into-the-wrong-variable"}, "search", QUESTION
    )
    assert done.returncode == 1
    assert "CONCURRENCY" in done.stderr
    assert "sk-pasted" not in done.stderr


def test_doctor_calls_every_upstream(environment: dict[str, str]) -> None:
    checks = {
        check["name"]: check
        for check in json.loads(run(environment, "doctor", "--json").stdout)["checks"]
    }
    assert {
        checks[name]["status"]
        for name in ("openai", "serper", "tavily", "brave", "duckduckgo", "state")
    } == {"ok"}


def test_doctor_fits_a_terminal_of_80_columns_and_cuts_no_address(
    environment: dict[str, str],
) -> None:
    keyless = {name: "" for name in environment if name.endswith("_API_KEY")} | {
        "SEARXNG_BASE_URL": ""
    }
    lines = run({**environment, **keyless, "COLUMNS": "80"}, "doctor").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line]
    assert lines[0].split() == ["·", "openai", "OPENAI_API_KEY", "is", "not", "set."]


def test_doctor_says_what_is_wrong_and_how_to_mend_it(environment: dict[str, str]) -> None:
    done = run({**environment, "BRAVE_API_KEY": "BSA-wrong", "OPENAI_API_KEY": ""}, "doctor")
    assert "BRAVE_API_KEY" in done.stdout
    assert "OPENAI_API_KEY is not set" in done.stdout.replace("\n", " ")
    assert "BSA-wrong" not in done.stdout


def test_demo_shows_an_answer_a_fallback_a_cached_answer_and_a_refusal(
    environment: dict[str, str],
) -> None:
    done = run(environment, "demo", "--json")
    answer, fallback, cached, refused, docs, own = map(json.loads, done.stdout.splitlines())
    assert answer["response"]["provider"].endswith("-web-search")
    assert fallback["response"]["fallback"]["from"] == "openai"
    assert fallback["response"]["citations"]
    assert cached["response"]["cache"] == "exact"
    assert refused["error"]["code"] == "VALIDATION"
    assert docs["docs"]["results"][0]["page_title"] == "Timeouts and retries"
    assert own["response"]["provider"] == "sandbox-model-over-serper"
    assert own["response"]["citations"]


def test_demo_looks_the_same_to_a_person(environment: dict[str, str]) -> None:
    shown = run(environment, "demo").stdout
    for expected in (
        "330 metres",
        "raw-search",
        "from the cache",
        "polymarket",
        "Timeouts and retries",
    ):
        assert expected in shown
    page, command = shown.splitlines()[-2:]
    assert page.endswith("http://127.0.0.1:8080/play:")
    assert command.endswith(" sandbox -- websearch-gateway serve --http")


def test_sandbox_prints_its_address_and_the_settings_of_every_engine(
    environment: dict[str, str],
) -> None:
    command = [sys.executable, "-m", "websearch_gateway", "sandbox", "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        lines = [server.stdout.readline().rstrip()]
        while not lines[-1].startswith("# export LLM_MODEL"):
            lines.append(server.stdout.readline().rstrip())
        server.terminate()
    url = re.search(r"http://127\.0\.0\.1:\d+", lines[0])
    assert url
    assert f"export OPENAI_BASE_URL={url[0]}/openai/v1" in lines
    for setting in (
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "PERPLEXITY_API_KEY",
        "LLM_BASE_URL",
        "LLM_MODEL",
    ):
        assert [line for line in lines if line.startswith(f"# export {setting}=")], setting


def test_pages_news_and_raw_results_are_found(environment: dict[str, str]) -> None:
    web = run(environment, "web", "espresso machine", "-n", "2")
    assert web.returncode == 0
    assert "[2] " in web.stdout
    assert "/pages/descale-espresso-machine" in web.stdout
    news = json.loads(run(environment, "news", "storm", "--json", "--freshness", "year").stdout)
    assert news["results"]
    none = json.loads(
        run(environment, "web", "espresso", "--include-domain", "example.org", "--json").stdout
    )
    assert none["results"] == []
    assert "/pages/" in run(environment, "raw", "espresso machine", "tides").stdout


def test_a_terminal_shows_the_stage_while_it_lasts(environment: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "websearch_gateway", "search", QUESTION]
    with subprocess.Popen(
        command, env={**environment, "TERM": "xterm"}, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the end of a terminal
            while piece := os.read(ours, 65_536):
                shown += piece
        os.close(ours)
        assert process.wait(PATIENCE) == 0
    assert b"Starting" in shown or b"Searching" in shown
    assert "330 metres" in shown.decode()


def test_help_has_a_short_form(environment: dict[str, str]) -> None:
    assert "news" in run(environment, "-h").stdout
    assert "--max-results" in run(environment, "web", "-h").stdout


def test_arguments_after_two_dashes_are_settings_of_the_server(environment: dict[str, str]) -> None:
    for wrong in (["--nope", "1"], ["--toolsets"], ["--openai-api-key", "sk-x"], ["stray"]):
        assert run(environment, "start-mcp-server", "--context", "x", "--", *wrong).returncode == 2
    told = run(environment, "start-mcp-server", "--json", "--", "--concurrency", "0").stdout
    assert "CONCURRENCY" in json.loads(told)["error"]["message"]


def test_a_key_is_made_with_its_entry(environment: dict[str, str]) -> None:
    made = json.loads(
        run(
            environment, "token", "mint", "--static", "--user", "alice", "--scope", "read", "--json"
        ).stdout
    )
    assert made["authTokensEntry"].startswith("alice:")
    assert made["authTokensEntry"].endswith(":read")
    shown = run(environment, "token", "mint", "--static").stdout
    assert "wsg_" in shown
    assert "developer:" in shown


def test_the_version_is_told(environment: dict[str, str]) -> None:
    assert run(environment, "--version").stdout.strip() == __version__


def test_a_shell_completes_commands_by_the_script_that_is_shown(
    environment: dict[str, str],
) -> None:
    assert (
        "_WEBSEARCH_GATEWAY_COMPLETE=complete_bash"
        in run(environment, "--show-completion", "bash").stdout
    )
    asked = {
        "_WEBSEARCH_GATEWAY_COMPLETE": "complete_bash",
        "COMP_WORDS": "websearch-gateway sta",
        "COMP_CWORD": "1",
    }
    result = CliRunner().invoke(
        cli, [], env={**environment, **asked}, prog_name="websearch-gateway"
    )
    assert result.stdout.split() == ["stats", "start-mcp-server"]
