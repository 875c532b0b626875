"""Write docs/settings.md from the settings themselves: `python tools/settings_table.py > docs/settings.md`."""

from __future__ import annotations

import sys

from pydantic_core import PydanticUndefined

from websearch_gateway.settings import Settings

HEAD = """# Settings

Environment variables; a TOML file may hold the same names in lower case. Flags win over the environment, the
environment over the file. The file is `--config FILE`, else `$WEBSEARCH_GATEWAY_CONFIG`, else `config.toml` in your
configuration folder. `websearch-gateway config` shows what is in force, secrets hidden.

| name | default | what it does |
|---|---|---|
"""

FOOT = """
Routes are set in the file only: see [guard.md](guard.md).
"""


def table() -> str:
    """The whole document."""
    rows = [
        f"| `{name.upper()}` | {_default(name)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return HEAD + "\n".join(rows) + "\n" + FOOT


def _default(name: str) -> str:
    if name == "data_dir":
        return "your data folder"
    default = Settings.model_fields[name].default
    if default is PydanticUndefined or default in (None, "", ()):
        return ""
    return f"`{','.join(default) if isinstance(default, tuple) else default}`"


if __name__ == "__main__":
    sys.stdout.write(table())
