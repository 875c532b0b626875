"""What the package ships."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "websearch_gateway"
KINDS = frozenset({".py", ".typed", ".json", ".html", ".css", ".js", ".txt", ".npy", ""})
"""A file of another kind got into the package by accident, and each user would download it."""


def test_the_package_has_only_files_that_it_uses() -> None:
    files = [
        path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert len(files) > 100
    assert [str(path) for path in files if path.suffix not in KINDS] == []
