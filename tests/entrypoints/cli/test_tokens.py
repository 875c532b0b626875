"""`websearch-gateway token`, against the state that servers share."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.entrypoints.command import Done, run


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "DATA_DIR": str(tmp_path), "COLUMNS": "200"}


def listed(environment: dict[str, str]) -> dict[str, dict[str, object]]:
    tokens = json.loads(run(environment, "token", "list", "--json").stdout)["tokens"]
    return {token["name"]: token for token in tokens}


def test_a_token_is_shown_once_and_listed_with_its_limits(
    environment: dict[str, str], tmp_path: Path
) -> None:
    options = (
        "--scope",
        "search ops",
        "--rate-limit",
        "100/10Minutes",
        "--daily-budget",
        "2",
        "--expires",
        "90d",
    )
    made = run({**environment, "AUTH_MODE": "token"}, "token", "create", "ann", *options)
    assert made.returncode == 0
    secret = made.stdout.strip()
    assert secret.startswith("wsg_")
    assert "shown once" in made.stderr
    assert "AUTH_MODE" not in made.stderr
    shown = run(environment, "token", "list").stdout
    for told in ("ann", "search ops", "100/10minutes", "$2.00", "$0.00"):
        assert told in shown
    assert secret not in shown
    (ann,) = listed(environment).values()
    assert (ann["dailyBudgetUsd"], ann["callsToday"], ann["lastUsedAt"], ann["hasExpired"]) == (
        2.0,
        0,
        None,
        False,
    )
    assert all(
        secret.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
    )


def test_a_server_that_would_not_accept_it_is_named(environment: dict[str, str]) -> None:
    assert "AUTH_MODE=token; here it is none" in run(environment, "token", "create", "ann").stderr


def test_rotating_makes_a_second_token_and_revoking_ends_both(environment: dict[str, str]) -> None:
    first = json.loads(run(environment, "token", "create", "ann", "--json").stdout)
    second = json.loads(
        run(environment, "token", "rotate", "ann", "--overlap", "1h", "--json").stdout
    )
    assert first["token"] != second["token"]
    assert (first["name"], first["scopes"], second["expiresAt"]) == (
        "ann",
        ["read", "search"],
        None,
    )
    assert run(environment, "token", "revoke", "ann").stdout == "Revoked ann (2 tokens).\n"
    assert listed(environment) == {}
    assert "token create NAME" in run(environment, "token", "list").stdout


def refused(done: Done) -> str:
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr


def test_what_cannot_be_done_is_one_line(environment: dict[str, str]) -> None:
    run(environment, "token", "create", "ann")
    assert "already" in refused(run(environment, "token", "create", "ann"))
    assert "no scope nope" in refused(run(environment, "token", "create", "bob", "--scope", "nope"))
    assert "no token 'bob'" in refused(run(environment, "token", "revoke", "bob"))
    assert "no token 'bob'" in refused(run(environment, "token", "rotate", "bob"))
    for command in ("create", "rotate", "revoke"):
        assert "memory://" in refused(
            run({**environment, "STATE_URL": "memory://"}, "token", command, "ann")
        )


def test_a_token_that_no_file_can_keep_is_not_shown(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    unusable = {**environment, "DATA_DIR": str(tmp_path / "file")}
    assert "wsg_" not in refused(run(unusable, "token", "create", "ann"))


@pytest.mark.parametrize(
    "option",
    [
        ("--rate-limit", "many"),
        ("--daily-budget", "-1"),
        ("--daily-budget", "nan"),
        ("--expires", "soon"),
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_wrong_usage(
    environment: dict[str, str], option: tuple[str, str]
) -> None:
    done = run(environment, "token", "create", "ann", *option)
    assert done.returncode == 2
    assert option[0] in done.stderr
