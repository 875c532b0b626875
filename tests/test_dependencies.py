"""Every imported package is a declared dependency, so that each installer installs it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMES_WITH = {
    "cryptography": "pyjwt",  # its extra `crypto`
    "grpc": "google-cloud-firestore",
    "h11": "uvicorn",
    "mcp_types": "mcp",
    "psycopg_pool": "psycopg",  # its extra `pool`
    "pyarrow": "lancedb",
    "requests": "youtube-transcript-api",
}
"""Modules that a declared dependency brings as a part of its interface."""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for group in project["optional-dependencies"].values() for one in group]
    return {
        _normal(re.split(r"[\[<>=;!~ ]", one, maxsplit=1)[0])
        for one in (*project["dependencies"], *extras)
    }


def _imported() -> set[str]:
    names: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    return (
        {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"websearch_gateway"}
    )


def test_every_module_that_is_imported_comes_with_a_declared_dependency() -> None:
    sources = packages_distributions()
    declared = _declared()
    missing = {
        name
        for name in _imported()
        if name in sources
        and declared.isdisjoint({COMES_WITH.get(name, ""), *map(_normal, sources[name])})
    }
    assert missing == set()


def test_the_extra_of_lxml_that_trafilatura_needs_is_declared() -> None:
    """pip 23.2, which Python 3.11 brings, leaves `lxml[html_clean]` out; then no page can be read."""
    assert "lxml-html-clean" in _declared()
