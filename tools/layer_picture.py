"""Draws the folders of the package and their imports as a mermaid diagram.

`python tools/layer_picture.py` prints it, `--write` puts it into docs/architecture.md. The rows are the layers of
`pyproject.toml`, which import-linter enforces. An arrow is an import between two folders; it is left out where a longer
path of arrows implies it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PACKAGE = "websearch_gateway"


def layers() -> list[list[str]]:
    """The rooms, row by row from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    (rows,) = [contract["layers"] for contract in contracts if contract["id"] == "layers"]
    return [[room.strip() for room in row.split("|")] for row in rows if row != "__main__"]


def imports(rooms: list[str]) -> dict[str, set[str]]:
    """Room -> the rooms that its modules import."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            above, below = room_of(module), room_of(imported)
            if above != below and above in found and below in found:
                found[above].add(below)
    return found


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def reduced(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The edges without those that a longer path implies."""

    def reachable(room: str) -> set[str]:
        return edges[room].union(*(reachable(below) for below in edges[room]))

    return {
        room: below - set().union(*(reachable(each) for each in below))
        for room, below in edges.items()
    }


def picture() -> str:
    """The fenced mermaid block, with a line break at its end."""
    rows = layers()
    edges = reduced(imports([room for row in rows for room in row]))
    lines = ["```mermaid", "flowchart TD"]
    for number, row in enumerate(rows):
        lines.append(f'    subgraph layer{number} [" "]')
        lines.append("        direction LR")
        lines += [f"        {room}" for room in row]
        lines.append("    end")
    lines += [f"    {room} --> {below}" for room in edges for below in sorted(edges[room])]
    return "\n".join([*lines, "```", ""])


def write() -> None:
    document = ROOT / "docs" / "architecture.md"
    text = re.sub(
        r"```mermaid\n.*?```\n", lambda _: picture(), document.read_text(), flags=re.DOTALL
    )
    document.write_text(text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        print(picture(), end="")
