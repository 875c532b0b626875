"""Prints the modules that have no test file of their own name: `tests/a/test_b.py` for `a/b.py`.

Leaves out modules that only declare fields, constants or interfaces: they have no code to run.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "websearch_gateway"


def untested() -> list[str]:
    """Paths below the package, in order."""
    modules = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    return [
        str(path)
        for path in modules
        if not path.name.startswith("__")
        and not _has_test(path)
        and not _only_declares(PACKAGE / path)
    ]


def _has_test(module: Path) -> bool:
    return (ROOT / "tests" / module.parent / f"test_{module.name}").is_file()


def _only_declares(module: Path) -> bool:
    functions = [
        node
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return all(
        isinstance(statement, ast.Expr) for function in functions for statement in function.body
    )


if __name__ == "__main__":
    print(*untested(), sep="\n")
