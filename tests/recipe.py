"""A copy of the project in which a recipe of docs/ is followed to the letter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
HELPERS = [
    f"tests/{path.name}"
    for path in (ROOT / "tests").glob("*.py")
    if not path.name.startswith("test_")
]
SHARED = ("pyproject.toml", "server.json", *HELPERS)


def copied(folder: Path, parts: Iterable[str], without: Path) -> Path:
    """Copy the `parts` of the project and the files that all tests share, except the test file `without`."""
    # But with compiled modules, whose dates stay valid.
    ignored = shutil.ignore_patterns("node_modules")
    for name in ("src", "docs", "tools", "bench", *SHARED, *parts):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / without.relative_to(ROOT)).unlink()
    return folder


def insert(path: Path, before: str, line: str) -> None:
    """Put `line` before the only occurrence of `before`."""
    text = path.read_text()
    assert text.count(before) == 1, (path.name, before)
    path.write_text(text.replace(before, line + before))


def suite(copy: Path, wanted: str, *files: str) -> subprocess.CompletedProcess[str]:
    """Run the copy's tests whose names match `wanted` (pytest's -k), all or those in some `files`."""
    return run(
        copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", wanted, *(files or ["tests"])
    )


def run(copy: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy, with the copy's code."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COVERAGE", "PYTEST"))
    }
    environment = {**inherited, "PYTHONPATH": str(copy / "src")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
