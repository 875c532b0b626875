"""What a release consists of: the packages, in an empty environment, the MCP bundle, and the Claude Code plugin."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.patience import PATIENT_PROCESS
from tools import bundle
from websearch_gateway import __version__
from websearch_gateway.entrypoints.tools.table import TOOLS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "websearch_gateway"
NODE = ROOT / "tests" / "node"
UV = Path(sys.executable).with_name("uv")
TWINE = "twine==7.0.0"
PLUGIN = ROOT / ".claude-plugin"
SKILLS = sorted((ROOT / "skills").iterdir())
MOST_SECONDS = 600

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not UV.exists(), reason="uv is not installed: pip install uv"),
]


def run(*command: str | Path, **environment: str) -> str:
    """What a command prints; it must succeed. `environment` is its whole environment, if given."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment or None,
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def tools_of(command: str, *arguments: str, **environment: str) -> set[str]:
    """The names of the tools that a server over stdio lists."""
    server = StdioServerParameters(command=command, args=list(arguments), env=environment)
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        return {tool.name for tool in (await client.list_tools()).tools}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(UV, "build", "--quiet", "--python", sys.executable, "--out-dir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has nothing but the wheel and what it depends on."""
    environment = tmp_path_factory.mktemp("empty") / "venv"
    run(UV, "venv", "--quiet", "--python", sys.executable, environment)
    (wheel,) = packages.glob("*.whl")
    python = environment / "bin" / "python"
    run(
        UV,
        "pip",
        "install",
        "--quiet",
        "--python",
        python,
        "--constraint",
        "constraints.txt",
        wheel,
    )
    return environment


def test_the_index_accepts_the_packages(packages: Path) -> None:
    shown = run(
        UV, "tool", "run", "--from", TWINE, "twine", "check", "--strict", *packages.glob("*.[wt]*")
    )
    assert shown.count("PASSED") == 2


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(packages: Path) -> None:
    (wheel,) = packages.glob("*.whl")
    kept = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert kept == {
        str(path.relative_to(ROOT / "src"))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_answers_from_an_empty_environment(installed: Path, tmp_path: Path) -> None:
    only = {**PATIENT_PROCESS, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    command = installed / "bin" / "websearch-gateway"
    assert run(command, "--version", **only).strip() == __version__
    answered, quoted, *_ = map(json.loads, run(command, "demo", "--json", **only).splitlines())
    assert answered["response"]["provider"].endswith("-web-search")
    assert quoted["response"]["citations"]
    assert "add" in run(installed / "bin" / "docs-mcp", "--help", **only)


@pytest.fixture
def mcpb() -> tuple[str, Path]:
    """The command of the official tool for bundles."""
    node, tool = (
        shutil.which("node"),
        NODE / "node_modules" / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js",
    )
    if node is None or not tool.exists():
        pytest.skip("mcpb is not installed (make .venv/.npm-node)")
    return node, tool


def test_the_official_tool_accepts_and_packs_the_bundle(
    mcpb: tuple[str, Path], tmp_path: Path
) -> None:
    bundle.write(tmp_path / "bundle")
    run(*mcpb, "validate", tmp_path / "bundle" / "manifest.json")
    run(*mcpb, "pack", tmp_path / "bundle", tmp_path / "websearch-gateway.mcpb")
    packed = set(zipfile.ZipFile(tmp_path / "websearch-gateway.mcpb").namelist())
    assert {"manifest.json", "pyproject.toml", bundle.manifest()["server"]["entry_point"]} <= packed


async def test_a_client_starts_the_bundle_with_the_settings_of_its_user(
    mcpb: tuple[str, Path], tmp_path: Path
) -> None:
    bundle.write(tmp_path / "bundle")
    given = json.dumps({"serper_api_key": "sandbox-serper-key"})
    started = json.loads(run(mcpb[0], NODE / "bundle.mjs", tmp_path / "bundle", given))
    settings = started["env"]
    assert (
        settings.items() >= {"SERPER_API_KEY": "sandbox-serper-key", "OPENAI_API_KEY": ""}.items()
    )
    # The cache has the packages that were installed for these tests.
    cached = {"UV_CACHE_DIR": run(UV, "cache", "dir").strip(), "UV_PYTHON": sys.executable}
    environment = {**os.environ, **cached, "HOME": str(tmp_path), **settings}
    assert started["command"] == "uv"
    assert "TOOLSETS" not in settings, "docs would not join by itself"
    assert {"search_web", "get_content"} <= await tools_of(str(UV), *started["args"], **environment)


def test_a_client_is_asked_for_each_setting_once_and_never_for_toolsets() -> None:
    names = [variable["name"] for variable in bundle.variables()]
    assert len(names) == len(set(names))
    assert "PERPLEXITY_API_KEY" in names
    assert "TOOLSETS" not in names


def test_nothing_asks_a_package_index_for_this_project() -> None:
    """Whoever takes the name there would run code on the machines of our users."""
    texts = [
        path
        for folder in ("src", "docs", "deploy", "examples", "skills")
        for path in (ROOT / folder).rglob("*")
    ]
    asking = re.compile(
        r"websearch-gateway\[|(?:pip3? install|pipx install|uvx|uv tool install)(?: -\S+)* [\"']?websearch-gateway\b"
    )
    for path in (*texts, ROOT / "README.md"):
        if path.suffix in (".py", ".md", ".json", ".toml", ".yaml", ".service"):
            assert not asking.search(path.read_text(encoding="utf-8")), path


def test_the_bundle_shows_the_tools_that_are_listed_by_default() -> None:
    shown = {tool["name"] for tool in bundle.manifest()["tools"]}
    assert shown == {
        "search_web",
        "check_claims",
        "web_search",
        "web_search_raw",
        "get_content",
        "read_from_page",
    }


@pytest.fixture(scope="module")
def plugin() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((PLUGIN / "plugin.json").read_text())
    return read


def test_the_marketplace_offers_the_plugin_in_the_root_of_the_repository(
    plugin: dict[str, Any],
) -> None:
    (offered,) = json.loads((PLUGIN / "marketplace.json").read_text())["plugins"]
    assert (offered["name"], offered["source"]) == (plugin["name"], "./")
    assert plugin["version"] == __version__


async def test_the_plugin_starts_the_gateway_of_its_own_folder(
    plugin: dict[str, Any], tmp_path: Path
) -> None:
    (server,) = plugin["mcpServers"].values()
    assert (server["command"], server["args"][:3]) == (
        "uvx",
        ["--from", "${CLAUDE_PLUGIN_ROOT}", "websearch-gateway"],
    )
    script = str(Path(sys.executable).with_name("websearch-gateway"))
    listed = await tools_of(script, *server["args"][3:], DATA_DIR=str(tmp_path))
    assert {"search_web", "search_docs"} <= listed


@pytest.mark.parametrize("skill", SKILLS, ids=lambda path: path.name)
def test_a_skill_has_a_name_a_description_and_only_tools_that_exist(skill: Path) -> None:
    _, head, body = (skill / "SKILL.md").read_text().split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["name"] == skill.name
    assert 100 < len(about["description"]) <= 1024
    assert "Use when" in about["description"]
    tools = {tool.name for tool in TOOLS}
    assert set(re.findall(r"`([a-z]+_[a-z_]+)`", body)) <= tools
    assert len(body.splitlines()) < 100
