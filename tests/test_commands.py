"""Every command in a document is run, or is listed below with the reason why not."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from tests.entrypoints.command import run
from tests.entrypoints.http.compatible.conftest import serve, settings_of_server
from tests.patience import PATIENCE, PATIENT_PROCESS
from websearch_gateway.entrypoints.cli.commands import cli
from websearch_gateway.entrypoints.cli.docs import docs_mcp
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "tools" / "README.md"]
)
OURS = {
    "websearch-gateway": typer.main.get_command(cli),
    "docs-mcp": typer.main.get_command(docs_mcp),
}
SECRET = "a-secret-that-stands-for-what-openssl-would-make"
GATEWAY = "http://127.0.0.1:8080"
SHELL = "websearch-gateway|docs-mcp|make|pip|curl|docker|uvx|npm|export|claude|python|firebase"

NOT_RUN = {
    "make": "builds, tests or measures the whole project; that the target exists is tested",
    "pip install": "needs a package index; that the extra exists is tested",
    "python -m venv train": "needs a package index",
    "python tools/": "needs a teacher model and texts, or pages; the tools have tests of their own",
    "uvx --from . websearch-gateway": "run by tests/test_clients.py",
    "websearch-gateway cache migrate sqlite:///": "run by tests/entrypoints/test_backup.py",
    "websearch-gateway docs export atlas backup/": "the same test",
    "websearch-gateway docs import backup/": "the same test again",
    "useradd": "changes this machine",
    "/opt/websearch-gateway/bin/pip": "needs a package index, and changes this machine",
    "install -m": "changes this machine; tests/test_hosting.py checks the unit",
    "systemctl": "needs systemd",
    "sudo -u": "needs the user that `useradd` makes; tests/entrypoints/cli/test_tokens.py run the command",
    "kubectl": "needs a cluster; tests/test_hosting.py checks the manifest",
    "python3 -m venv /opt": "changes this machine",
    "claude mcp add": "its command is run by tests/test_clients.py",
    "claude plugin": "needs the client; tests/test_release.py starts what it starts",
    "websearch-gateway serve --http": "serves until it is stopped; tests/entrypoints/http run it",
    "websearch-gateway cache migrate postgresql://": "run with a server by tests/entrypoints/tools/test_operating.py",
    'echo "$NEW_STATE_URL" | websearch-gateway cache migrate -': "the same",
    "curl https://REGION-PROJECT.cloudfunctions.net": "needs a cloud account",
    'curl -H "Authorization: Bearer $TOKEN" https://search.example.com/': "needs a gateway on the internet",
    "apt-get install chromium": "needs root and a network",
    "gcloud ": "needs a cloud account; the document says that no test runs it",
    "docker": "needs Docker; Dockerfile and compose.yaml are read by tests",
    "openssl rand": "makes a file for Docker",
    "cp ": "makes a file for a cloud account",
    "firebase deploy": "needs a cloud account; tests/functions run the function",
    "npm install --prefix tests/functions": "needs a registry; `make test` runs it",
    "websearch-gateway sandbox -- ": "its command writes to the terminal itself; run by tests/entrypoints/cli/test_demo.py",
    "printf ": "makes a file for the emulator",
    "tests/functions/node_modules/.bin/firebase emulators:start": "run by tests/functions",
}
"""The beginnings of commands that are not run here, and why."""

ELSEWHERE = {
    "https://en.wikipedia.org/wiki/Tide": "{url}/pages/tides-explained",
    "https://docs.python.org/3.12/": "{url}/docs/",
    "http://localhost:11434/v1": "{url}/llm/v1",
    "LLM_MODEL=qwen3:4b": "LLM_MODEL=sandbox-model",
}
"""Addresses on the internet, and their replacements in the sandbox."""


@dataclass(frozen=True)
class Command:
    """One command of a document, its lines joined and its comment cut off."""

    document: Path
    line: str

    @property
    def assignment(self) -> bool:
        return all(
            re.match(r"[A-Z_]+=", word) for word in shlex.split(self.line.removeprefix("export "))
        )

    @property
    def words(self) -> list[str]:
        """The words after the variables in front."""
        words = shlex.split(self.line)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        return words

    @property
    def reason(self) -> str | None:
        """The key of `NOT_RUN` that matches, if any."""
        bare = re.sub(r"^(?:[A-Z_]+=\S+ +)+(?=\w)", "", self.line)
        return next((start for start in NOT_RUN if bare.startswith(start)), None)

    @property
    def runs(self) -> bool:
        return self.reason is None and self.words[:1] in [[name] for name in OURS]


def lines(block: str) -> Iterator[str]:
    """The commands of a block, as a shell reads them. If some have a prompt, the other lines are output."""
    block = block.replace("\\\n", " ")
    wanted = [line for line in block.splitlines() if line.startswith("$ ")] or block.splitlines()
    for line in wanted:
        command = re.sub(r"\s+#\s.*|\s+&$", "", line.removeprefix("$ ").strip())
        inner = re.fullmatch(r'[A-Z_]+="?\$\((.*?)\)"?', command)
        made = re.sub(r"\$\((?:cat|openssl)[^()]*\)", SECRET, inner[1] if inner else command)
        if made and not made.startswith("#"):
            yield re.sub(r"\s+", " ", made)


def commands(document: Path) -> list[Command]:
    blocks = re.findall(
        r"^```(?:console|sh|bash|shell)\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE
    )
    return [Command(document, line) for block in blocks for line in lines(block)]


COMMANDS = {document: commands(document) for document in DOCUMENTS}
EVERY = [command for found in COMMANDS.values() for command in found]
LOCAL = [
    command for command in EVERY if command.line.startswith("curl ") and GATEWAY in command.line
]


@pytest.mark.parametrize(
    "document", [path for path in DOCUMENTS if COMMANDS[path]], ids=lambda path: path.name
)
def test_every_command_is_run_or_says_why_not(document: Path) -> None:
    left = [c for c in COMMANDS[document] if not (c.runs or c.reason or c.assignment or c in LOCAL)]
    assert left == [], "run it, or give a reason in NOT_RUN"


def test_every_reason_belongs_to_a_command() -> None:
    assert {command.reason for command in EVERY} - {None} == set(NOT_RUN)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_command_hides_in_a_block_without_a_language(document: Path) -> None:
    fenceless = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
    if document.name != "AGENTS.md":  # a list of commands with what each does beside it
        assert (
            re.findall(
                rf"^(?: {{4}}|\t)(?:[A-Z_]+=\S+ )*(?:\$ )?(?:{SHELL}) .*", fenceless, re.MULTILINE
            )
            == []
        )


@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if any(c.runs for c in COMMANDS[path])],
    ids=lambda path: path.name,
)
def test_the_commands_of_a_document_run_one_after_the_other(
    document: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Against the sandbox. Exported variables hold for the rest of the document."""
    start = {**PATIENT_PROCESS, **sandbox.environment(), "DATA_DIR": str(tmp_path)}
    environment = {**start, "AUTH_MODE": "secret", "AUTH_SECRET": SECRET}
    for command in COMMANDS[document]:
        line = command.line
        for place, stand_in in ELSEWHERE.items():
            line = line.replace(place, stand_in.format(url=sandbox.url))
        words = shlex.split(line.removeprefix("export "))
        given = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        if command.assignment:
            environment |= {} if "…" in line else given
        elif command.runs:
            program, *arguments = words[len(given) :]
            group = ["docs"] if program == "docs-mcp" else []
            done = run({**environment, **given}, *group, *arguments, text="y\n")
            assert done.returncode == 0, (command.line, done.stderr)
            assert done.stdout.strip(), command.line


@pytest.fixture(scope="module")
def gateway_address(_running_sandbox: Sandbox) -> Iterator[str]:
    yield from serve(settings_of_server(_running_sandbox))


@pytest.mark.parametrize("command", LOCAL, ids=lambda command: command.document.name)
def test_the_requests_with_curl_in_a_document_succeed(
    command: Command, gateway_address: str
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    asked = [word.replace(GATEWAY, gateway_address) for word in command.words]
    done = subprocess.run(
        [*asked, "--silent", "--show-error", "--fail", "--noproxy", "*"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={"PATH": os.environ["PATH"], "TOKEN": ""},
    )
    assert done.returncode == 0, done.stderr
    assert ("callsToday" if "/v1/usage" in command.line else "330 metres") in done.stdout


def test_every_make_target_that_a_document_names_exists() -> None:
    targets = set(
        re.findall(
            r"^([\w./$()-]+):", (ROOT / "Makefile").read_text().replace("$(VENV)", ".venv"), re.M
        )
    )
    for document in DOCUMENTS:
        named = re.findall(
            r"(?:`|^|\s{4})make ([a-z][\w-]*|\.venv/\S+?)(?=[`\s])",
            document.read_text(),
            re.MULTILINE,
        )
        assert set(named) <= targets, document.name


def test_every_extra_that_a_document_names_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for document in DOCUMENTS:
        for named in re.findall(r"(?:websearch-gateway|\.)\[([a-z,]+)\]", document.read_text()):
            assert set(named.split(",")) <= set(extras), document.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_running_text_is_one_of_ours_with_its_options(document: Path) -> None:
    for text in re.findall(r"`((?:websearch-gateway|docs-mcp)\s[^`]+)`", document.read_text()):
        program, *words = shlex.split(text)
        command, known = OURS[program], {"--help", "-h", "--version", "--install-completion"}
        while words and (inside := getattr(command, "commands", {}).get(words[0])):
            command, words = inside, words[1:]
        # No command follows: nothing, an option or a placeholder does.
        if hasattr(command, "commands"):
            assert not words or words[0].startswith("-") or words[0] in ("…", "COMMAND"), text
        known |= {option for parameter in command.params for option in parameter.opts}
        ours = words[: words.index("--")] if "--" in words else words
        assert {word for word in ours if word.startswith("-") and word != "-"} <= known, text


def test_lines_that_only_assign_in_a_document_name_settings() -> None:
    """Those of OpenTelemetry, of a shell and of compose.yaml are not ours."""
    foreign = {"NEW_STATE_URL", "POSTGRES_PASSWORD", "SEARXNG_SECRET"}
    for command in EVERY:
        if command.assignment:
            names = {
                word.partition("=")[0] for word in shlex.split(command.line.removeprefix("export "))
            }
            assert {name.lower() for name in names - foreign} <= set(Settings.model_fields), (
                command.line
            )
