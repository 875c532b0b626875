"""Writes the settings of the search providers into server.json, the entry for the MCP registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from websearch_gateway.answers.table import ENGINES
from websearch_gateway.providers.table import PROVIDERS
from websearch_gateway.settings.loading import Settings

FILE = Path(__file__).parents[1] / "server.json"
FIRST = tuple(entry.needs[0] for entry in ENGINES if len(entry.needs) == 1)


def entry() -> str:
    """The whole file: the variables are those of the code, everything else stays."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    (package,) = document["packages"]
    package["environmentVariables"] = variables()
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


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


if __name__ == "__main__":
    FILE.write_text(entry(), encoding="utf-8")
