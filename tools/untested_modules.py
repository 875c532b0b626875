"""Prints the modules that have no test file of their own name: `tests/a/test_b.py` for `a/b.py`. The list shrinks."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "websearch_gateway"


def untested() -> list[str]:
    """Paths below the package, in order."""
    modules = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    return [str(path) for path in modules if not path.name.startswith("__") and not _has_test(path)]


def _has_test(module: Path) -> bool:
    return (ROOT / "tests" / module.parent / f"test_{module.name}").is_file()


if __name__ == "__main__":
    print(*untested(), sep="\n")
