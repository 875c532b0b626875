"""Makes the folder of the MCP bundle, which `mcpb pack` turns into a file for Claude Desktop and others.

    python -m tools.bundle FOLDER

Its manifest has the tools, settings and version of the code. The client runs the package in the bundle with uv, which
brings Python and the dependencies. https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from websearch_gateway import __version__
from websearch_gateway.answers.table import ENGINES
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.providers.table import PROVIDERS
from websearch_gateway.settings.loading import Settings

ROOT = Path(__file__).parents[1]
FIRST = tuple(entry.needs[0] for entry in ENGINES if len(entry.needs) == 1)
FILES = ("pyproject.toml", "README.md", "LICENSE")


def manifest() -> dict[str, Any]:
    """What the client shows, asks and starts. A setting that is left empty counts as not set."""
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    asked = {variable["name"]: _asked(variable) for variable in variables()}
    listed = set(Settings.model_fields["toolsets"].default)
    start = ("websearch-gateway", "start-mcp-server", "--context", "claude-desktop")
    return {
        "manifest_version": "0.4",
        "name": "websearch-gateway",
        "display_name": entry["title"],
        "version": __version__,
        "description": entry["description"],
        "author": {"name": "websearch-gateway"},
        "license": "Apache-2.0",
        "keywords": ["search", "citations"],
        "server": {
            "type": "uv",
            "entry_point": "src/websearch_gateway/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "--no-dev", *start],
                "env": {name: f"${{user_config.{name.lower()}}}" for name in asked},
            },
        },
        "tools": [
            {"name": tool.name, "description": tool.description.partition("\n")[0]}
            for tool in TOOLS
            if tool.toolset in listed
        ],
        "user_config": {name.lower(): shown for name, shown in asked.items()},
        "compatibility": {"runtimes": {"python": ">=3.11"}},
    }


def variables() -> list[dict[str, Any]]:
    """The settings that a client may ask its user for."""
    needed = [setting for provider in PROVIDERS for setting in provider.needs]
    # Never TOOLSETS: where it is set, `docs` does not join by itself.
    return [_variable(name) for name in dict.fromkeys((*FIRST, *needed))]


def _variable(name: str) -> dict[str, Any]:
    field = Settings.model_fields[name]
    variable: dict[str, Any] = {"name": name.upper(), "description": field.description}
    if "SecretStr" in str(field.annotation):
        variable["isSecret"] = True
    return variable


def _asked(variable: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "string",
        "title": variable["name"],
        "description": variable["description"],
        "required": False,
        "sensitive": variable.get("isSecret", False),
        "default": variable.get(
            "default", ""
        ),  # without one the client would pass the placeholder on
    }


def write(folder: Path) -> None:
    """Write the bundle's files into a new folder."""
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(
        json.dumps(manifest(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    package = Path("src", "websearch_gateway")
    shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
