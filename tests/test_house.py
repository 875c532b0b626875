"""Limits on the sizes of files, functions and folders, and a docstring for each folder."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "websearch_gateway"
FILES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted({path.parent for path in FILES})

MOST_LINES_OF_A_FILE = 300
"""Blank lines do not count."""
MOST_LINES_OF_A_FUNCTION = 40
"""Its docstring does not count."""
MOST_FILES_OF_A_ROOM = 15
"""Its `__init__` does not count."""


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function of a file, with its number of lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) else 0
            yield f"{path.relative_to(PACKAGE)}: {node.name}", (node.end_lineno or 0) - node.lineno + 1 - documented


def test_files_stay_short() -> None:
    lines = {path: sum(bool(line.strip()) for line in path.read_text().splitlines()) for path in FILES}
    assert {str(path): count for path, count in lines.items() if count > MOST_LINES_OF_A_FILE} == {}


def test_functions_stay_short() -> None:
    lengths = [one for path in FILES for one in _functions(path)]
    assert len(lengths) > 1_000
    assert {name: count for name, count in lengths if count > MOST_LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_a_folder_holds_few_files_and_has_a_docstring(room: Path) -> None:
    files = {path.name for path in room.glob("*.py")}
    assert "__init__.py" in files
    assert len(files) - 1 <= MOST_FILES_OF_A_ROOM
    assert ast.get_docstring(ast.parse((room / "__init__.py").read_text()))
