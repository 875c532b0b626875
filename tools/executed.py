"""Which tests of a package execute which functions, by a run of each test file under coverage; and runs tests quickly.

The answer for a test file is kept in `build/mutants` until the file, what it shares with other tests or a module whose
functions it executes has changed.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = Path("websearch_gateway")
KEPT = ROOT / "build" / "mutants"
IMPORTED = ("hypothesis", "lxml.html", "mcp.server.lowlevel", "numpy", "pydantic_settings")
"""What most tests import and no change concerns: imported once, before the processes that run tests are forked."""
IMPORTED_WARNING = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
SECONDS = 1_800
"""For one test file under coverage."""

COVERAGE = """
[run]
data_file = {folder}/data
parallel = true
concurrency = thread,multiprocessing
patch = subprocess
sigterm = true
"""


class Function(NamedTuple):
    """A function by the line of its `def`."""

    module: str
    line: int


@dataclass(frozen=True)
class FileRun:
    """What the tests of a file execute.

    Attributes:
        seconds: by test, without its parameters.
        executed: the functions by test. Under "" are those that ran outside a test, in another process or to set
            something up: what any test of the file may have needed. None if the file passes only without coverage,
            such as a test that may write no file.
        hashes: of the modules whose functions are executed.
    """

    seconds: dict[str, float]
    executed: dict[str, list[Function]] | None
    hashes: dict[str, str]

    def tests_of(self, functions: set[Function]) -> list[str]:
        """The tests that execute one of the functions, the fastest first; [""] for the whole file."""
        if not self.seconds:
            return []
        if self.executed is None:
            return [""]
        tests = [test for test, executed in self.executed.items() if functions & set(executed)]
        return [""] if "" in tests else sorted(tests, key=lambda test: self.seconds[test])


def run_tests(
    tests: Iterable[str],
    sources: Path,
    seconds: float,
    *options: str,
    record: Path | None = None,
    output: str = os.devnull,
) -> int | None:
    """Run tests on a copy of `src` in a fork of this process, until the first fails.

    Args:
        tests: in their order.
        sources: the copy.
        seconds: until the tests are ended.
        options: further ones of pytest.
        record: becomes JSON: how long each test took.
        output: becomes what pytest prints.

    Returns:
        The exit code of pytest; None if the tests take longer than `seconds`.
    """
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-W", IMPORTED_WARNING, *options, *tests]
    process = multiprocessing.get_context("fork").Process(
        target=_pytest, args=(arguments, sources, record, output)
    )
    process.start()
    process.join(seconds)
    ended = process.exitcode
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return ended


@functools.cache
def executed(test_file: Path, sources: Path) -> FileRun:
    """What the tests of a file execute on the copy of `src` in `sources`.

    Raises:
        SystemExit: a test fails without any change.
    """
    kept = KEPT / f"{_hash(test_file, *_shared_by(test_file))}.json"
    if kept.is_file():
        content = json.loads(kept.read_text())
        if content["executed"] is not None:
            content["executed"] = {
                test: [Function(*function) for function in functions]
                for test, functions in content["executed"].items()
            }
        result = FileRun(**content)
        if all(
            _hash_of(sources / PACKAGE / module) == value for module, value in result.hashes.items()
        ):
            return result
    result = _run(test_file, sources)
    KEPT.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(asdict(result)))
    return result


def innermost(tree: ast.Module, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function around a line, with its decorators and arguments."""
    around = [
        function
        for function in _functions(tree)
        if _first_line(function) <= line <= (function.end_lineno or 0)
    ]
    return max(around, key=_first_line, default=None)


@functools.cache
def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min(part.lineno for part in (function, *function.decorator_list))


def _pytest(arguments: list[str], sources: Path, record: Path | None, output: str) -> None:
    os.setsid()
    os.chdir(ROOT)
    printed = os.open(output, os.O_RDWR | os.O_CREAT)
    for descriptor in (0, 1, 2):
        os.dup2(printed, descriptor)
    os.environ |= {"PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(sources))
    recorder = _Recorder()
    code = pytest.main(arguments, plugins=[recorder])
    if record is not None:
        record.write_text(json.dumps(recorder.seconds))
    sys.exit(code)


class _Recorder:
    """How long each test took, by its name without parameters."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[_without_parameters(report.nodeid)] += report.duration


def _run(test_file: Path, sources: Path) -> FileRun:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rc").write_text(COVERAGE.format(folder=folder))
        record, output = folder / "seconds", folder / "output"
        measured = (
            f"--cov={PACKAGE}",
            f"--cov-config={folder / 'rc'}",
            "--cov-context=test",
            "--cov-report=",
        )
        for options in (measured, ()):
            code = run_tests(
                [str(test_file)],
                sources,
                SECONDS,
                *options,
                record=record,
                output=str(output),
            )
            if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                break
        else:
            printed = output.read_text()[-4_000:]
            raise SystemExit(f"{printed}\n{test_file} fails without a change ({code}).")
        seconds = json.loads(record.read_text())
        if not options:
            return FileRun(seconds, None, {})
        by_test = _functions_by_test(folder, sources / PACKAGE)
        modules = {function.module for functions in by_test.values() for function in functions}
        return FileRun(
            seconds,
            {test: sorted(functions) for test, functions in by_test.items()},
            {module: _hash_of(sources / PACKAGE / module) for module in sorted(modules)},
        )


def _functions_by_test(folder: Path, top: Path) -> dict[str, set[Function]]:
    by_test: dict[str, set[Function]] = defaultdict(set)
    for path in folder.glob("data*"):
        data = coverage.CoverageData(str(path))
        data.read()
        for measured in data.measured_files():
            module = str(Path(measured).relative_to(top))
            function_at = functions_by_line(Path(measured))
            for line, contexts in data.contexts_by_lineno(measured).items():
                if line in function_at:
                    function = Function(module, function_at[line])
                    for context in contexts:
                        by_test[_test(context)].add(function)
    return by_test


@functools.cache
def functions_by_line(module: Path) -> dict[int, int]:
    """For each line in the body of a function: the line of its `def`. The head of an inner function is its own."""
    function_at = {}
    for node in ast.walk(ast.parse(module.read_bytes())):  # outer functions first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = (node.end_lineno or 0) + 1
            for line in range(_first_line(node), last):
                function_at.pop(line, None)
            for line in range(node.body[0].lineno, last):
                function_at[line] = node.lineno
    return function_at


def _test(context: str) -> str:
    """The test of a context `file::test[parameters]|phase`; "" outside the test itself."""
    name, _, phase = context.rpartition("|")
    return _without_parameters(name) if phase == "run" else ""


def _without_parameters(test: str) -> str:
    return test.split("[", 1)[0]


def _shared_by(test_file: Path) -> list[Path]:
    """The files beside the tests of a package that any of them may use."""
    folder = ROOT / Path(*test_file.parts[:2])
    shared = folder.rglob("*") if folder.is_dir() else ()
    return [
        path.relative_to(ROOT)
        for path in sorted({*(ROOT / "tests").glob("*.py"), *shared})
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("test_")
    ]


def _hash(*paths: Path) -> str:
    return hashlib.sha256(
        "".join(f"{path} {_hash_of(ROOT / path)} " for path in paths).encode()
    ).hexdigest()


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def import_shared() -> None:
    """Import what the forked processes share."""
    for name in IMPORTED:
        importlib.import_module(name)
