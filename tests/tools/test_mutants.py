"""Which changes of a module `make mutants` tries."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
tool = runpy.run_path(str(ROOT / "tools" / "mutants.py"))
MODULE = Path("a.py")
SOURCE = """
MOST, NAME = 10, "ä"
WEIGHTS = {"title": 2.5, "body": 1.0}

class Table:
    rows = 3

def is_full(rows):
    limit = 7
    return (rows + 1) >= limit or rows in (5,)
""".encode()


def test_each_named_number_is_halved_and_made_half_as_large_again() -> None:
    pairs = tool["constants"](MODULE, SOURCE)
    changes = [[(mutant.old, mutant.new) for mutant in pair] for pair in pairs]
    assert changes == [
        [("10", "5"), ("10", "15")],
        [("2.5", "1.25"), ("2.5", "3.75")],
        [("3", "2"), ("3", "4")],
    ]


def test_each_comparison_is_turned_where_it_stands() -> None:
    mutants = tool["comparisons"](MODULE, SOURCE)
    lines = [mutant.applied(SOURCE).decode().splitlines()[mutant.line - 1] for mutant in mutants]
    assert lines == [
        "    return (rows + 1) < limit or rows in (5,)",
        "    return (rows + 1) >= limit or rows not in (5,)",
    ]


def test_the_tests_that_mirror_the_module_run_first() -> None:
    tests = tool["tests_of"](Path("evidence/quotes.py"), Path("evidence"))
    assert tests[0] == "tests/evidence/test_quotes.py"
    assert "tests/evidence/test_facts.py" in tests
    assert all(test.startswith("tests/evidence/") for test in tests)
