"""Which tests `make check` runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
covering = runpy.run_path(str(ROOT / "tools" / "changed_tests.py"))["tests_of"]


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("src/websearch_gateway/base/net/requests.py", ["tests/base/net/test_requests.py"]),
        (
            "src/websearch_gateway/cache/results.py",
            ["tests/cache/test_results.py", "tests/cache/test_results_stale.py"],
        ),
        ("tests/base/net/test_requests.py", ["tests/base/net/test_requests.py"]),
        ("tests/base/net/test_gone.py", []),
        ("README.md", []),
    ],
)
def test_a_change_is_covered_by_the_test_of_its_own_name(path: str, tests: list[str]) -> None:
    assert list(covering(path)) == tests


def test_a_module_without_a_test_of_its_own_is_covered_by_those_of_its_folder() -> None:
    found = list(covering("src/websearch_gateway/upstream/__init__.py"))
    assert "tests/upstream/test_race.py" in found


def test_what_tests_share_is_covered_by_the_tests_of_its_folder() -> None:
    assert "tests/entrypoints/http/test_server.py" in list(
        covering("tests/entrypoints/http/conftest.py")
    )
    assert list(covering("tests/conftest.py")) == []
