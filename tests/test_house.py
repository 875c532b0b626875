"""Limits on the sizes of files and functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "websearch_gateway"
FILES = sorted(PACKAGE.rglob("*.py"))

MOST_LINES_OF_A_FILE = 700
MOST_LINES_OF_A_FUNCTION = 40
"""Its docstring does not count."""


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function of a file, with its number of lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) else 0
            yield f"{path.relative_to(PACKAGE)}: {node.name}", (node.end_lineno or 0) - node.lineno + 1 - documented


def test_files_stay_short() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in FILES}
    assert {str(path): count for path, count in lines.items() if count >= MOST_LINES_OF_A_FILE} == {}


def test_functions_stay_short() -> None:
    lengths = [one for path in FILES for one in _functions(path)]
    assert len(lengths) > 1_000
    assert {name: count for name, count in lengths if count > MOST_LINES_OF_A_FUNCTION} == {}
