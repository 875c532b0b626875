"""Write docs/settings.md from the settings themselves: `python tools/settings_table.py > docs/settings.md`."""

from __future__ import annotations

import sys

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from websearch_gateway.settings.loading import GROUPS, Settings

HEAD = """# Settings

Set these as environment variables, or in a TOML file with the names in lower case. Flags win over the environment, and
the environment wins over the file. The file is `--config FILE`, else `$WEBSEARCH_GATEWAY_CONFIG`, else `config.toml` in
your configuration folder. If it holds a key and others can read it, the gateway sets its mode to 0600 and warns; if it
cannot, it does not start. `websearch-gateway config` shows the settings in force and hides secrets.
"""

START = {
    "openai_api_key": "OpenAI writes the answers, with web search. Without it the gateway quotes pages.",
    "serper_api_key": "A search that works without DuckDuckGo, which often refuses.",
    "llm_base_url": "Your own model writes the answers; set `LLM_MODEL` too.",
    "daily_budget_usd": "The most that a day may cost, in dollars.",
    "toolsets": "The tools that clients see; add `docs` to search indexed documentation.",
}
"""The settings for a first day, in the order in which somebody needs them."""


def table() -> str:
    """The whole document."""
    return HEAD + _start() + "".join(map(_section, GROUPS))


def _start() -> str:
    rows = "\n".join(
        f"| `{name.upper()}` | {_default(name)} | {text} |" for name, text in START.items()
    )
    return f"\n## Start here\n\nNo setting is required.\n\n| name | default | what it does |\n|---|---|---|\n{rows}\n"


def _section(group: type[BaseModel]) -> str:
    rows = "\n".join(
        f"| `{name.upper()}` | {_default(name)} | {field.description} |"
        for name, field in group.model_fields.items()
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
