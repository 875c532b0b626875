"""Backup and restore, by the very commands of docs/upgrade.md."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from tests.entrypoints.command import Done, run
from tests.patience import PATIENT_PROCESS
from websearch_gateway.sandbox import Sandbox

DOCUMENT = (Path(__file__).parents[2] / "docs" / "upgrade.md").read_text()
COMMANDS = [
    line
    for block in re.findall(r"^```console\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
QUESTION = "How tall is the Eiffel Tower?"


def typed(environment: dict[str, str], line: str) -> Done:
    words = shlex.split(line)
    given = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    done = run({**environment, **given}, *words[len(given) + 1 :])
    assert done.returncode == 0, (line, done.stderr)
    return done


def test_what_is_backed_up_is_there_after_a_restore(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "backup").mkdir()
    environment = {
        **os.environ,
        **PATIENT_PROCESS,
        **sandbox.environment(),
        "DATA_DIR": str(tmp_path / "data"),
    }
    limits = ("--rate-limit", "100/10minutes", "--daily-budget", "2")
    assert run(environment, "token", "create", "ann", *limits).returncode == 0
    assert run(environment, "search", QUESTION).returncode == 0
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "guide.md").write_text(
        "# Timeouts\n\nSet a timeout with the option `--patience`.\n"
    )
    added = run(environment, "docs", "add", str(tmp_path / "site"), "atlas")
    assert added.returncode == 0, added.stderr
    assert len(COMMANDS) == 4
    for line in COMMANDS[:2]:
        typed(environment, line)
    lost = {**environment, "DATA_DIR": str(tmp_path / "new")}
    for line in COMMANDS[2:]:
        typed(lost, line)
    restored = {**lost, "STATE_URL": "sqlite:///restored.db"}
    (ann,) = json.loads(run(restored, "token", "list", "--json").stdout)["tokens"]
    assert (ann["name"], ann["rateLimit"], ann["dailyBudgetUsd"]) == ("ann", "100/10minutes", 2.0)
    spent = [
        json.loads(run(each, "stats", "--json").stdout)["days"][0]["usd"]
        for each in (environment, restored)
    ]
    assert spent[0] == spent[1] > 0
    assert json.loads(run(restored, "search", QUESTION, "--json").stdout)["cache"] == "exact"
    found = json.loads(run(restored, "docs", "search", "timeout", "--json").stdout)
    assert found["results"]
