"""Commands that run in a sandbox: what they inherit, and how they end."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.entrypoints.command import run
from tests.patience import PATIENCE, PATIENT_PROCESS
from websearch_gateway.sandbox import environment as sandbox_settings

Shell = Callable[[dict[str, str], str], tuple[int, str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, **PATIENT_PROCESS, "DATA_DIR": str(tmp_path)}


def in_sandbox(environment: dict[str, str], *command: str) -> subprocess.Popen[str]:
    """A command with the settings of a sandbox of its own."""
    program = [sys.executable, "-m", "websearch_gateway", "sandbox", "--", *command]
    return subprocess.Popen(
        program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def shell(capfd: pytest.CaptureFixture[str]) -> Shell:
    """Runs a script in a sandbox of this process; gives its exit code and its output."""

    def run_script(environment: dict[str, str], script: str) -> tuple[int, str]:
        capfd.readouterr()
        done = run(environment, "sandbox", "--", "sh", "-c", script)
        return done.returncode, capfd.readouterr().out

    return run_script


def test_a_command_in_the_sandbox_has_all_its_settings_and_data_of_its_own(
    environment: dict[str, str], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATA_DIR")
    code, said = shell({}, "env; exit 7")
    inside = dict(line.split("=", 1) for line in said.splitlines() if re.match(r"[A-Z_]+=", line))
    assert code == 7
    url = inside["OPENAI_BASE_URL"].removesuffix("/openai/v1")
    assert sandbox_settings(url).items() <= inside.items()
    assert not Path(inside["DATA_DIR"]).exists()
    assert shell(environment, 'echo "$DATA_DIR"')[1].strip() == environment["DATA_DIR"]


def test_no_upstream_key_state_or_index_of_the_caller_reaches_a_command_in_the_sandbox(
    environment: dict[str, str], shell: Shell, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('llm_base_url = "http://model.example/v1"\n')
    outside = [
        "STATE_URL",
        "DOCS_URL",
        "EMBEDDING_SERVER_URL",
        "RERANKER_URL",
        "LLM_BASE_URL",
        "llm_api_key",
    ]
    outside += ["ANSWER_ENGINES", "SEARCH_PROVIDERS", "GITHUB_TOKEN"]
    kept = {
        "PORT": "1",
        "LOG_LEVEL": "ERROR",
        "AUTH_JWKS_URL": "x",
        "PUBLIC_URL": "x",
        "MY_URL": "x",
    }
    theirs = {**dict.fromkeys(outside, "x"), **kept, "WEBSEARCH_GATEWAY_CONFIG": str(file)}
    _, said = shell({**environment, **theirs}, 'env; wc -c < "$WEBSEARCH_GATEWAY_CONFIG"')
    inside = dict(line.split("=", 1) for line in said.splitlines() if re.match(r"\w+=", line))
    assert not set(outside) & inside.keys()
    assert kept.items() <= inside.items()
    assert inside["WEBSEARCH_GATEWAY_CONFIG"] != str(file)
    assert said.splitlines()[-1].strip() == "0"


@pytest.mark.parametrize(
    ("script", "code"), [("true", 0), ("kill -KILL $$", 137), ("exec nothing-like-this", 127)]
)
def test_the_exit_code_of_a_command_in_the_sandbox_is_passed_on(
    environment: dict[str, str], shell: Shell, script: str, code: int
) -> None:
    assert shell(environment, script)[0] == code


def test_a_command_that_does_not_exist_is_told(environment: dict[str, str]) -> None:
    done = run(environment, "sandbox", "--", "nothing-like-this")
    assert (done.returncode, done.stderr) == (127, "There is no command nothing-like-this.\n")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_a_command_in_the_sandbox(
    environment: dict[str, str], sent: signal.Signals
) -> None:
    script = f"import signal, sys; signal.signal({sent:d}, lambda *_: sys.exit(9)); print('ready', flush=True); "
    with in_sandbox(environment, sys.executable, "-c", script + "signal.pause()") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(sent)
        assert running.wait(PATIENCE) == 9


IN_FRONT = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Makes stdin the terminal of this process, and runs a program in its foreground."""

APART = """
import os, signal
os.setpgrp()
wanted = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("ready", flush=True)
print(signal.sigwait(wanted).name)
"""
"""Waits for a signal outside the foreground, where the terminal's own Ctrl-C does not come."""


def test_ctrl_c_at_a_terminal_is_left_to_the_terminal(environment: dict[str, str]) -> None:
    """It sends Ctrl-C to the command as well."""
    master, terminal = pty.openpty()
    program = [
        sys.executable,
        "-c",
        IN_FRONT,
        "-m",
        "websearch_gateway",
        "sandbox",
        "--",
        sys.executable,
        "-c",
        APART,
    ]
    with subprocess.Popen(program, env=environment, stdin=terminal, stdout=terminal) as running:
        os.close(terminal)
        with open(master, "r+b", buffering=0) as person:
            said = b""
            for wanted, act in (
                (b"ready", lambda: person.write(b"\x03")),
                (b"^C", running.terminate),  # the echo: the signal has been sent
                (b"SIG", running.wait),
            ):
                while wanted not in said:
                    said += person.read(1024)
                act()
    assert b"SIGTERM" in said
