"""Write docs/settings.md from the settings themselves: `python tools/settings_table.py > docs/settings.md`."""

from __future__ import annotations

import sys

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from websearch_gateway.settings import GROUPS, Settings

HEAD = """# Settings

Environment variables; a TOML file may hold the same names in lower case. Flags win over the environment, the
environment over the file. The file is `--config FILE`, else `$WEBSEARCH_GATEWAY_CONFIG`, else `config.toml` in your
configuration folder. One that holds a key and is readable by others is set to 0600 at the start, with a warning; if
that fails the gateway does not start. `websearch-gateway config` shows what is in force, secrets hidden.
"""

START = {
    "openai_api_key": "Answers written by OpenAI with web search. Without it the answer is quoted from pages.",
    "serper_api_key": "Search that does not depend on DuckDuckGo, which often refuses.",
    "llm_base_url": "Your own model writes from the pages; with `LLM_MODEL`.",
    "daily_budget_usd": "The most that a day may cost, in dollars.",
    "toolsets": "Which tools are listed; add `docs` to search indexed documentation.",
}
"""The settings for a first day, in the order in which somebody needs them."""

FOOT = """
Routes are set in the file only: see [guard.md](guard.md).
"""


def table() -> str:
    """The whole document."""
    return HEAD + _start() + "".join(map(_section, GROUPS)) + FOOT


def _start() -> str:
    rows = "\n".join(f"| `{name.upper()}` | {_default(name)} | {text} |" for name, text in START.items())
    return f"\n## Start here\n\nNone is required.\n\n| name | default | what it does |\n|---|---|---|\n{rows}\n"


def _section(group: type[BaseModel]) -> str:
    rows = "\n".join(
        f"| `{name.upper()}` | {_default(name)} | {field.description} |" for name, field in group.model_fields.items()
    )
    return f"\n## {group.__doc__}\n\n| name | default | what it does |\n|---|---|---|\n{rows}\n"


def _default(name: str) -> str:
    if name == "data_dir":
        return "your data folder"
    default = Settings.model_fields[name].default
    if default is PydanticUndefined or default in (None, "", (), {}):
        return ""
    return f"`{','.join(default) if isinstance(default, tuple) else default}`"


if __name__ == "__main__":
    sys.stdout.write(table())
