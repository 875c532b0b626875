"""What a test needs that asks each numeric limit of a house what happens when it is spent."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import websearch_gateway

SOURCE = Path(websearch_gateway.__file__).parent
TESTS = Path(__file__).parent
WORDS = frozenset({"MAX", "MOST", "LONGEST", "DEEPEST", "LARGEST", "FARTHEST"})
"""A constant whose name has one of these words is a limit, unless the house's test says why it is none."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit, and an input that is within it, but spends a smaller one.

    Attributes:
        where: the module in the house, and the name.
        small: the value that the input exceeds.
        read: what becomes of the input, as text.
        gone: what is in the text only while the limit is not spent.
        said: what is in it only when the limit is spent, such as a note or an error.
        never: what no reader may see either way.
    """

    where: str
    small: float
    read: Callable[[], str]
    gone: str = ""
    said: str = ""
    never: str = ""


def limits_of(house: str) -> set[str]:
    """The limits in the source of a house, as `module.NAME`."""
    root = SOURCE / house
    found = set()
    for path in root.rglob("*.py"):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        names = _constants(ast.parse(path.read_text("utf-8")))
        found |= {f"{module}.{name}" for name in names if WORDS.intersection(name.split("_"))}
    return found


def _constants(tree: ast.Module) -> Iterator[str]:
    """The names of a module's numbers."""
    for statement in tree.body:
        if isinstance(statement, ast.AnnAssign):
            targets, value = [statement.target], statement.value
        elif isinstance(statement, ast.Assign):
            targets, value = list(statement.targets), statement.value
        else:
            continue
        if value is None or not _is_numeric(value):
            continue
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (name.id for name in names if isinstance(name, ast.Name))


def _is_numeric(value: ast.expr) -> bool:
    parts = (ast.Constant, ast.BinOp, ast.operator, ast.Tuple, ast.Load, ast.UnaryOp, ast.unaryop)
    constants = [part for part in ast.walk(value) if isinstance(part, ast.Constant)]
    is_made_of_constants = all(isinstance(part, parts) for part in ast.walk(value))
    return is_made_of_constants and all(isinstance(one.value, int | float) for one in constants)


def check_that_it_fails_closed(
    limit: Limit, house: str, monkeypatch: pytest.MonkeyPatch, *others: str
) -> None:
    """`others` are further modules that import the limit by name."""
    assert limit.gone or limit.said
    name = limit.where.rpartition(".")[2]
    with monkeypatch.context() as patch:  # first, since results may be cached
        for module in (limit.where.rpartition(".")[0], *others):
            patch.setattr(f"websearch_gateway.{house}.{module}.{name}", limit.small)
        spent = limit.read()
    whole = limit.read()
    assert limit.gone in whole
    assert not limit.gone or limit.gone not in spent
    assert limit.said in spent
    assert not limit.said or limit.said not in whole
    assert not limit.never or limit.never not in whole + spent


def check_that_a_test_holds_it(where: str, place: str) -> None:
    """`place` is `FILE::TEST`; the file must name the limit."""
    file, _, test = place.partition("::")
    text = (TESTS / file).read_text("utf-8")
    assert f"def {test}(" in text, place
    assert where.rpartition(".")[2] in text, f"{file} does not name {where}"
