"""Changes constants and comparisons of a package, one at a time, and prints which changes its own tests do not notice.

    python tools/mutants.py evidence [--constants 40] [--comparisons 20] [--seed 1]

A constant becomes half and half as large again, a comparison its opposite (`<` becomes `>=`). Each change is made in a
copy of `src`, and only the tests of the package run on it: those that mirror the module first. Exit code 1 if more than
one in five survives.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = Path("websearch_gateway")
FACTORS = (0.5, 1.5)
MOST_SURVIVORS = 0.2
SECONDS = 600
"""A change that makes the tests run longer counts as noticed."""

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


def survives(mutant: Mutant, sources: Path, tests: list[str]) -> bool:
    """Whether all tests pass on the copy of `src` in `sources` with the change made. The copy is as before afterwards."""
    module = sources / PACKAGE / mutant.module
    original = module.read_bytes()
    module.write_bytes(mutant.applied(original))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        module.write_bytes(original)
    return done.returncode == 0


def tests_of(module: Path, package: Path) -> list[str]:
    """The test files of the package: those that mirror the module, then its folder's, then the others."""
    folder = ROOT / "tests" / package
    everything = sorted(folder.rglob("test_*.py")) or sorted(
        folder.parent.glob(f"test_{package.stem}*.py")
    )
    own = f"test_{module.stem}"

    def distance(path: Path) -> tuple[bool, bool]:
        mirrors = path.stem == own or path.stem.startswith(f"{own}_")
        return not mirrors, path.parent != ROOT / "tests" / module.parent

    return [str(path.relative_to(ROOT)) for path in sorted(everything, key=distance)]


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
    arguments = parser.parse_args()
    top = ROOT / "src" / PACKAGE
    modules = sorted((top / arguments.package).rglob("*.py")) or [top / arguments.package]
    texts = {path.relative_to(top): path.read_bytes() for path in modules}
    numbers = [pair for module, text in texts.items() for pair in constants(module, text)]
    turned = [mutant for module, text in texts.items() for mutant in comparisons(module, text)]
    choice = random.Random(arguments.seed)
    chosen = choice.sample(numbers, min(arguments.constants, len(numbers)))
    chosen += [
        (mutant,) for mutant in choice.sample(turned, min(arguments.comparisons, len(turned)))
    ]
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(top, sources / PACKAGE)
        survivors = 0
        for place in chosen:
            alive = [
                mutant
                for mutant in place
                if survives(mutant, sources, tests_of(mutant.module, arguments.package))
            ]
            survivors += bool(alive)
            for mutant in alive:
                print(f"survives  {mutant}", flush=True)
    share = survivors / max(1, len(chosen))
    print(
        f"{survivors} of {len(chosen)} places survive a change ({share:.0%}), seed {arguments.seed}."
    )
    return int(share > MOST_SURVIVORS)


if __name__ == "__main__":
    sys.exit(main())
