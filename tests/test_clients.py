"""The commands and configurations that docs/clients.md gives work."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from websearch_gateway import __version__
from websearch_gateway.settings.loading import Settings

ROOT = Path(__file__).parents[1]
SCRIPT = Path(sys.executable).with_name("websearch-gateway")
DEFAULT_TOOLS = {
    "search_web",
    "check_claims",
    "web_search",
    "web_search_raw",
    "get_content",
    "read_from_page",
}
CONTEXTS = {
    "Claude Code": "claude-code",
    "Claude Desktop": "claude-desktop",
    "Codex": "codex",
    "Cursor": "cursor",
    "VS Code": "vscode",
    "Gemini CLI": "gemini",
}
SERVE = ("start-mcp-server", "--context")


@dataclass(frozen=True)
class Snippet:
    """One fenced block of docs/clients.md under its client's heading."""

    client: str
    language: str
    text: str

    @property
    def entry(self) -> dict[str, Any]:
        """The server's entry, under the name that the client gives it."""
        if self.language == "sh":
            return _claude_command(self.text)
        config = json.loads(self.text) if self.language == "json" else tomllib.loads(self.text)
        (servers,) = [
            value
            for key, value in config.items()
            if key in ("mcpServers", "mcp_servers", "servers")
        ]
        assert list(servers) == ["websearch"]
        entry: dict[str, Any] = servers["websearch"]
        return entry


def _claude_command(line: str) -> dict[str, Any]:
    words = shlex.split(line.replace("\\\n", " "))
    assert words[:3] == ["claude", "mcp", "add"]
    if "--" not in words:
        return {
            "url": next(word for word in words if word.startswith("https://")),
            "headers": words[-1],
        }
    command, *arguments = words[words.index("--") + 1 :]
    return {"command": command, "args": arguments}


def _snippets() -> Iterator[Snippet]:
    text = (ROOT / "docs" / "clients.md").read_text()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        client = section.partition("\n")[0]
        for language, body in re.findall(r"```(sh|json|toml)\n(.*?)```", section, re.DOTALL):
            yield Snippet(client, language, body)


SNIPPETS = list(_snippets())
LOCAL = [snippet for snippet in SNIPPETS if "command" in snippet.entry]
SHARED = [snippet for snippet in SNIPPETS if "command" not in snippet.entry]


PLACE = "/path/to/websearch-gateway"
"""The placeholder for a clone in every snippet: the package is on no index."""


def test_every_client_has_its_snippet() -> None:
    assert [snippet.client for snippet in LOCAL] == list(CONTEXTS)


@pytest.mark.parametrize("snippet", LOCAL, ids=lambda snippet: snippet.client)
def test_every_snippet_has_the_same_command_with_the_name_of_its_client(snippet: Snippet) -> None:
    *command, name = snippet.entry["args"]
    assert (snippet.entry["command"], command) == (
        "uvx",
        ["--from", PLACE, "websearch-gateway", *SERVE],
    )
    assert name == CONTEXTS[snippet.client]


async def test_the_command_of_the_snippets_serves_the_tools(tmp_path: Path) -> None:
    """As uvx runs it from a clone, which the last test here does."""
    server = StdioServerParameters(
        command=str(SCRIPT), args=[*SERVE, "codex"], env={"DATA_DIR": str(tmp_path)}
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        listing = await client.list_tools()
    assert {tool.name for tool in listing.tools} == DEFAULT_TOOLS


@pytest.mark.parametrize("snippet", LOCAL, ids=lambda snippet: snippet.client)
def test_the_variables_of_a_snippet_are_settings(snippet: Snippet) -> None:
    names = [*snippet.entry.get("env", {}), *snippet.entry.get("env_vars", [])]
    assert all(name.lower() in Settings.model_fields for name in names)


def test_the_readme_starts_the_gateway_from_a_clone_too() -> None:
    text = (ROOT / "README.md").read_text()
    (claude,) = re.findall(r"`(claude mcp add [^`]+)`", text)
    entry = _claude_command(claude)
    assert (entry["command"], entry["args"]) == (
        "uvx",
        ["--from", "$PWD", "websearch-gateway", "start-mcp-server"],
    )


def test_the_readme_leaves_configurations_to_the_page_of_clients_and_fits_a_screen_and_a_half() -> (
    None
):
    text = (ROOT / "README.md").read_text()
    assert "```json" not in text
    assert len(text.splitlines()) <= 90


def test_no_document_runs_the_package_by_its_name_alone() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"uvx\W+websearch-gateway", document.read_text()), document.name


@pytest.mark.parametrize("snippet", SHARED, ids=lambda snippet: snippet.client)
def test_the_snippets_of_a_shared_gateway_have_its_endpoint_and_no_token(snippet: Snippet) -> None:
    entry = snippet.entry
    assert (entry.get("url") or entry["httpUrl"]).endswith("/mcp")
    assert re.search(r"Bearer \$|WEBSEARCH_TOKEN", str(entry))


def test_the_registry_entry_names_no_package_that_somebody_else_could_publish() -> None:
    """A client installs and runs what the entry names; the name is not ours on any package index."""
    entry = json.loads((ROOT / "server.json").read_text())
    assert entry["version"] == __version__
    assert len(entry["description"]) <= 100, "the registry accepts at most 100 characters"
    assert "packages" not in entry
    (remote,) = entry["remotes"]
    assert remote["url"].endswith("/mcp")
    assert re.findall(r"{(\w+)}", remote["url"]) == list(remote["variables"])
    assert all(header["isSecret"] for header in remote["headers"])


@pytest.mark.timeout(300)
def test_uvx_starts_the_gateway_from_its_repository(tmp_path: Path) -> None:
    uvx = shutil.which("uvx", path=f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}")
    if uvx is None:
        pytest.skip("uvx is not installed: pip install uv")
    place = f"git+file://{ROOT}" if (ROOT / ".git").exists() else "."
    # The cache has the packages that were installed for these tests.
    cache = subprocess.check_output([Path(uvx).with_name("uv"), "cache", "dir"], text=True).strip()
    done = subprocess.run(
        [uvx, "--python", sys.executable, "--from", place, "websearch-gateway", "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(tmp_path), "UV_CACHE_DIR": cache},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == __version__
