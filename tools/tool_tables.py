"""Writes the tables of docs/tools.md from the tools themselves: `python tools/tool_tables.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from websearch_gateway.entrypoints.tools.table import TOOLS, Tool

DOCUMENT = Path(__file__).parents[1] / "docs" / "tools.md"


def with_tables(document: str) -> str:
    """The document with new tables between their marks."""
    document = _replaced(document, "tools", _tools())
    return _replaced(document, "arguments", _arguments())


def _replaced(document: str, name: str, rows: str) -> str:
    block = rf"(<!-- {name}: made by tools/tool_tables.py -->\n).*?(<!-- end -->)"
    return re.sub(block, lambda found: found[1] + rows + found[2], document, flags=re.DOTALL)


def _tools() -> str:
    rows = [f"| `{tool.name}` | {tool.toolset} | {tool.title} |" for tool in TOOLS]
    return "\n".join(["| tool | toolset | what it is for |", "|---|---|---|", *rows, ""])


def _arguments() -> str:
    rows = [row for tool in TOOLS for row in _of_tool(tool)]
    head = ["| tool | argument | value | without it | what it is |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _of_tool(tool: Tool) -> Iterator[str]:
    schema = tool.arguments.model_json_schema(by_alias=True)
    name = f"`{tool.name}`"
    for argument, declared in schema.get("properties", {}).items():
        required = argument in schema.get("required", ())
        default = "required" if required else _shown(declared.get("default"))
        about = declared.get("description", "")
        yield f"| {name} | `{argument}` | {_value(declared)} | {default} | {about} |"
        name = ""


_TYPES = {"string": "text", "integer": "number", "number": "number", "boolean": "true, false"}


def _value(declared: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    kinds = [kind for kind in declared.get("anyOf", [declared]) if kind.get("type") != "null"]
    kind: Mapping[str, Any] = {**declared, **kinds[0]}
    if "enum" in kind:
        return ", ".join(map(str, kind["enum"]))
    if kind.get("type") == "array":
        item = _TYPES.get(kind["items"].get("type", ""), "objects")
        most = f", at most {kind['maxItems']}" if "maxItems" in kind else ""
        return f"list of {'texts' if item == 'text' else item}{most}"
    name = _TYPES.get(kind.get("type", ""), "object")
    least, most = kind.get("minimum"), kind.get("maximum")
    if least is not None and most is not None:
        return f"{least:,}-{most:,}"
    longest = kind.get("maxLength")
    return f"{name}, up to {longest:,} characters" if longest else name


def _shown(default: Any) -> str:
    if default is None or default in ("", []):
        return ""
    return f"`{json.dumps(default)}`".replace('"', "")


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
