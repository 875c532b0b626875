"""Limits on the sizes of files and functions, and a floor for modules that only one other uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "websearch_gateway"
FILES = sorted(PACKAGE.rglob("*.py"))

MOST_LINES_OF_A_FILE = 700
MOST_LINES_OF_A_FUNCTION = 40
"""Its docstring does not count."""
FEWEST_LINES_OF_A_HELPER = 80
"""A shorter module with a single importer belongs into that importer."""
TABLES = (
    "providers",
    "answers",
    "readers/sites",
    "readers/formats",
    "sandbox/vendors",
    "entrypoints/cli",
    "entrypoints/http/compatible",
)
"""Folders whose modules are rows of a table, however short."""
KINDS = frozenset({".py", ".typed", ".json", ".html", ".css", ".js", ".txt", ".npy", ""})
"""What the package ships: a file of another kind got into it by accident, and each user would download it."""


@cache
def _nodes(path: Path) -> list[ast.AST]:
    """All nodes of a file, its module first."""
    return list(ast.walk(ast.parse(path.read_text())))


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function of a file, with its number of lines."""
    for node in _nodes(path):
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


def test_the_package_has_only_files_that_it_uses() -> None:
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert len(files) > len(FILES)
    assert [str(path) for path in files if path.suffix not in KINDS] == []


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    """The modules of ours that a file imports, and whether it does so at its top and not in a function."""
    module, *nodes = _nodes(path)
    assert isinstance(module, ast.Module)
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE.name):
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                yield name.removeprefix(f"{PACKAGE.name}."), node in module.body


def test_a_short_module_with_one_importer_lives_in_it() -> None:
    importers: dict[str, set[tuple[Path, bool]]] = {}
    for path in FILES:
        for name, at_the_top in _imports(path):
            importers.setdefault(name, set()).add((path, at_the_top))
    assert len(importers) > len(FILES) / 2
    lonely = []
    for path in FILES:
        place = path.relative_to(PACKAGE).with_suffix("")
        used = importers.get(".".join(place.parts), set())
        is_short = len(path.read_text().splitlines()) < FEWEST_LINES_OF_A_HELPER
        # An import in a function keeps the module out of memory until then.
        if is_short and len({each for each, _ in used}) == 1 and any(at_the_top for _, at_the_top in used):
            lonely.append(str(place))
    assert [place for place in lonely if not place.startswith(TABLES)] == []
