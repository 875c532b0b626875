"""Which changes `make mutants` tries, and which tests it runs on one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import executed, mutants
from tools.executed import FileRun, Function

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
    pairs = mutants.constants(MODULE, SOURCE)
    changes = [[(mutant.old, mutant.new) for mutant in pair] for pair in pairs]
    assert changes == [
        [("10", "5"), ("10", "15")],
        [("2.5", "1.25"), ("2.5", "3.75")],
        [("3", "2"), ("3", "4")],
    ]


def test_each_comparison_is_turned_where_it_stands() -> None:
    turned = mutants.comparisons(MODULE, SOURCE)
    lines = [mutant.applied(SOURCE).decode().splitlines()[mutant.line - 1] for mutant in turned]
    assert lines == [
        "    return (rows + 1) < limit or rows in (5,)",
        "    return (rows + 1) >= limit or rows not in (5,)",
    ]


READ = """
_MOST = 10
TWICE = 2 * _MOST
SHARE = 0.5

@cache
def own(rows, most=_MOST):
    def inner():
        return rows > 7
    return inner

class Table:
    share: float = SHARE

NAMED = {name: 2 for name in "ab"}
"""
ELSEWHERE = """
from a import TWICE

_MOST = 3

def by_name():
    return TWICE

def another():
    return _MOST

def by_attribute(table):
    return table.share

def look_up():
    return a.NAMED

def say(table):
    return table.name
"""


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("_MOST = 10", {("a.py", 7), ("b.py", 6)}),  # a default, and through a further constant
        ("SHARE = 0.5", {("b.py", 12)}),
        ("NAMED = {", {("b.py", 15)}),  # and not what reads another `name`
        ("rows > 7", {("a.py", 8)}),
    ],
)
def test_the_functions_that_use_a_changed_place_are_found(
    text: str, users: set[tuple[str, int]]
) -> None:
    trees = {MODULE: ast.parse(READ), Path("b.py"): ast.parse(ELSEWHERE)}
    line = READ[: READ.index(text)].count("\n") + 1
    place = mutants.Mutant(MODULE, line, 0, 0, "", "")
    assert mutants.users(place, trees) == {Function(*user) for user in users}


def test_the_line_of_a_body_belongs_to_the_innermost_function(tmp_path: Path) -> None:
    module = tmp_path / "a.py"
    module.write_text(READ)
    assert executed.functions_by_line(module) == {9: 8, 10: 7}


FUNCTION, OTHER = Function("a.py", 1), Function("a.py", 9)


@pytest.mark.parametrize(
    ("in_tests", "tests"),
    [
        ({"slow": [FUNCTION], "fast": [FUNCTION, OTHER], "other": [OTHER]}, ["fast", "slow"]),
        ({"slow": [FUNCTION], "": [FUNCTION]}, [""]),  # in a worker, or to set something up
        ({"slow": [OTHER]}, []),
        (None, [""]),  # unknown
    ],
)
def test_only_tests_that_execute_the_function_run_and_fast_ones_first(
    in_tests: dict[str, list[Function]] | None, tests: list[str]
) -> None:
    test_file = FileRun({"slow": 9.0, "fast": 1.0, "other": 0.1}, in_tests, {})
    assert test_file.tests_of({FUNCTION}) == tests


def test_the_fastest_file_runs_first() -> None:
    module = Path("evidence/quotes.py")
    text = "LEAST_LETTERS = 4\n\ndef quoted(words):\n    return len(words) >= LEAST_LETTERS\n"
    place = mutants.constants(module, text.encode())[0][0]
    runs = {
        Path(f"tests/evidence/{name}.py"): FileRun({name: seconds}, {name: functions}, {})
        for name, seconds, functions in (
            ("test_quotes", 9.0, [Function(str(module), 3)]),
            ("test_facts", 0.1, [Function(str(module), 3)]),
            ("test_marks", 0.1, []),
        )
    }
    tests = mutants.tests_for(place, {module: ast.parse(text)}, runs)
    assert list(tests.items()) == [("test_facts", 0.1), ("test_quotes", 9.0)]


def test_the_tests_near_a_module_are_those_that_mirror_it_or_those_of_its_folder() -> None:
    files = [
        Path(f"tests/pages/{name}.py")
        for name in ("test_html", "formats/test_html_tables", "formats/test_feed", "test_htmlx")
    ]
    assert mutants.near_first(Path("pages/formats/html.py"), files)[0] == files[:2]
    assert mutants.near_first(Path("pages/formats/rtf.py"), files) == (
        files[1:3],
        [files[0], files[3]],
    )
