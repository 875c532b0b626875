"""Changes constants and comparisons of a package, one at a time, and prints which changes its own tests do not notice.

    python -m tools.mutants evidence [--constants 40] [--comparisons 20] [--seed 1] [--near]

A constant becomes half and half as large again, a comparison its opposite (`<` becomes `>=`). Each change is made in a
copy of `src`, and of the package's tests only those run on it that execute a function where the constant or comparison
is used, or name the constant: those that mirror the module first, then the fastest. With `--near` only those that
mirror the module, or those of its folder if none does: quicker, and more survives. Exit code 1 if more than one in five
places survives a change.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import functools
import random
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from tools.executed import (
    PACKAGE,
    ROOT,
    FileRun,
    Function,
    executed,
    import_shared,
    innermost,
    run_tests,
)

FACTORS = (0.5, 1.5)
MOST_SURVIVORS = 0.2
SLOWER, SECONDS = 10, 120
"""A change counts as noticed if its tests take that many times as long as under coverage, and these seconds more."""

NOTICED = (None, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
"""None: it took too long. Interrupted: a test file could not be imported."""

OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}


@dataclass(frozen=True)
class Mutant:
    """One change: the text from `start` to `end` of a module, in bytes, becomes `new`."""

    module: Path
    line: int
    start: int
    end: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes:
        """The module's source with the change made."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.old} -> {self.new}"


def constants(module: Path, source: bytes) -> list[tuple[Mutant, ...]]:
    """For each number that a module or class names: the number halved, and half as large again."""
    tree = ast.parse(source)
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    found = []
    for body in bodies:
        for statement in body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                found += [_changed(module, source, number) for number in _numbers(statement.value)]
    return [mutants for mutants in found if mutants]


def comparisons(module: Path, source: bytes) -> list[Mutant]:
    """For each comparison of two values: its opposite."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = _span(source, node.left), _span(source, node.comparators[0])
            sign = source[left[1] : right[0]].decode()
            opposite = f" {OPPOSITES[type(node.ops[0])]} "
            # Brackets and line breaks around an operand stand between the two: they stay.
            bare = sign.strip(" ()\n")
            new = sign.replace(bare, opposite.strip(), 1)
            found.append(Mutant(module, node.lineno, left[1], right[0], sign.strip(), new))
    return found


def survives(mutant: Mutant, sources: Path, tests: Mapping[str, float]) -> bool:
    """Whether all tests pass on the copy of `src` in `sources` with the change made. The copy is as before afterwards."""
    if not tests:
        return True
    module = sources / PACKAGE / mutant.module
    original = module.read_bytes()
    module.write_bytes(mutant.applied(original))
    try:
        code = run_tests(tests, sources, SLOWER * sum(tests.values()) + SECONDS)
    finally:
        module.write_bytes(original)
    if code not in (*NOTICED, pytest.ExitCode.OK):
        raise SystemExit(f"pytest ended with {code} for {mutant}.")
    return code == pytest.ExitCode.OK


def users(mutant: Mutant, trees: Mapping[Path, ast.Module]) -> set[Function]:
    """The functions that contain the changed place, or use what a module or class defines with it."""
    return set(_users(mutant.module, mutant.line, trees, set()))


def _users(
    module: Path, line: int, trees: Mapping[Path, ast.Module], seen: set[tuple[Path, int]]
) -> Iterator[Function]:
    if (module, line) in seen:
        return
    seen.add((module, line))
    if function := innermost(trees[module], line):
        yield Function(str(module), function.lineno)
        return
    for name in _defined_at(trees[module], line):
        for other, tree in trees.items():
            if other == module or not name.startswith("_"):
                for reader in _readers(tree, name):
                    yield from _users(other, reader, trees, seen)


def _defined_at(tree: ast.Module, line: int) -> list[str]:
    """The names that the statement of a module or class at a line defines."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    statement = max(around, key=lambda node: node.lineno)
    match statement:
        case ast.Assign(targets=targets):
            defined: list[ast.expr] = targets
        case ast.AnnAssign(target=target):
            defined = [target]
        case _:
            return []
    names = (node for target in defined for node in ast.walk(target))
    return [node.id for node in names if isinstance(node, ast.Name)]


def _readers(tree: ast.Module, name: str) -> list[int]:
    return _lines_by_name(tree)[name]


@functools.cache
def _lines_by_name(tree: ast.Module) -> defaultdict[str, list[int]]:
    """The lines that read each name or attribute."""
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            lines[node.id].append(node.lineno)
        elif isinstance(node, ast.Attribute):
            lines[node.attr].append(node.lineno)
    return lines


def tests_for(
    mutant: Mutant, trees: Mapping[Path, ast.Module], test_files: Mapping[Path, FileRun]
) -> dict[str, float]:
    """The tests that may notice a change, by file, the fastest file first; with their seconds."""
    functions = users(mutant, trees)
    names = [name for name in _defined_at(trees[mutant.module], mutant.line) if name.isupper()]
    chosen = {}
    for path, test_file in test_files.items():
        if any(re.search(rf"\b{name}\b", (ROOT / path).read_text()) for name in names):
            tests = [""]
        else:
            tests = test_file.tests_of(functions)
        if tests:
            chosen[path] = {
                test or str(path): test_file.seconds[test]
                if test
                else sum(test_file.seconds.values())
                for test in tests
            }

    fastest_first = sorted(chosen, key=lambda path: sum(chosen[path].values()))
    return {test: seconds for path in fastest_first for test, seconds in chosen[path].items()}


def near_first(module: Path, files: list[Path]) -> tuple[list[Path], list[Path]]:
    """The test files that mirror a module, or those of its folder if none does; and all others."""
    own = re.compile(rf"test_{module.stem}(_.*)?")
    folder = "tests" / module.parent
    near = [path for path in files if own.fullmatch(path.stem)]
    near = near or [path for path in files if path.parent == folder]
    return near, [path for path in files if path not in near]


def files_of(package: Path) -> list[Path]:
    """The test files of a package."""
    folder = ROOT / "tests" / package
    files = (
        folder.rglob("test_*.py")
        if folder.is_dir()
        else folder.parent.glob(f"test_{package.stem}*.py")
    )
    return sorted(path.relative_to(ROOT) for path in files)


def _numbers(value: ast.expr) -> Iterator[ast.Constant]:
    for node in ast.walk(value):
        is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
        if is_number and node.value not in (0, 1):
            yield node


def _changed(module: Path, source: bytes, number: ast.Constant) -> tuple[Mutant, ...]:
    start, end = _span(source, number)
    old = source[start:end].decode()
    new = []
    for factor in FACTORS:
        value = number.value * factor  # type: ignore[operator]
        text = str(round(value)) if isinstance(number.value, int) else repr(value)
        if text != old:
            new.append(Mutant(module, number.lineno, start, end, old, text))
    return tuple(new)


def _span(source: bytes, node: ast.expr) -> tuple[int, int]:
    lines = source.splitlines(keepends=True)
    before = [0]
    for line in lines:
        before.append(before[-1] + len(line))
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return before[node.lineno - 1] + node.col_offset, before[
        node.end_lineno - 1
    ] + node.end_col_offset


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package", type=Path, help="a folder or module below the package")
    parser.add_argument("--constants", type=int, default=40)
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--near", action="store_true", help="only with the tests near the module")
    arguments = parser.parse_args()
    top = ROOT / "src" / PACKAGE
    texts = {path.relative_to(top): path.read_bytes() for path in sorted(top.rglob("*.py"))}
    trees = {module: ast.parse(text) for module, text in texts.items()}
    ours = {
        module: text for module, text in texts.items() if module.is_relative_to(arguments.package)
    }
    numbers = [pair for module, text in ours.items() for pair in constants(module, text)]
    turned = [(mutant,) for module, text in ours.items() for mutant in comparisons(module, text)]
    choice = random.Random(arguments.seed)
    chosen = choice.sample(numbers, min(arguments.constants, len(numbers)))
    chosen += choice.sample(turned, min(arguments.comparisons, len(turned)))
    survivors = 0
    import_shared()
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(top, sources / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        # Compiled modules that are checked by content: two changes in a second may have one size.
        compileall.compile_dir(sources, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        files = files_of(arguments.package)
        for tried, place in enumerate(chosen, start=1):
            steps = near_first(place[0].module, files)[: 1 if arguments.near else 2]
            for mutant in place:
                is_noticed = any(
                    not survives(mutant, sources, tests_for(mutant, trees, runs))
                    for runs in ({path: executed(path, sources) for path in step} for step in steps)
                )
                if not is_noticed:
                    survivors += 1
                    print(f"survives, {survivors} of {tried}: {mutant}", flush=True)
                    break
    share = survivors / max(1, len(chosen))
    print(
        f"{survivors} of {len(chosen)} places survive a change ({share:.0%}), seed {arguments.seed}."
    )
    return int(share > MOST_SURVIVORS)


if __name__ == "__main__":
    sys.exit(main())
