"""How a package offers names without loading the modules that define them.

The package's `__init__` imports its names under `if TYPE_CHECKING:`, where editors and type checkers read them. At run
time `lazy` finds the same lines and imports a module when one of its names is first asked for, so that importing one
name of a package does not load all of it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any


def lazy(package: ModuleSpec) -> tuple[Callable[[str], Any], list[str]]:
    """The `__getattr__` and `__all__` of a package.

    Args:
        package: the `__spec__` of the package.
    """
    homes = _homes(package)

    def resolve(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package.name!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package.name], name, value)
        return value

    return resolve, sorted(homes)


def _homes(package: ModuleSpec) -> dict[str, str]:
    """Each name that the package offers, with the module that defines it."""
    source = package.loader.get_source(package.name)  # type: ignore[union-attr]
    homes = {}
    for block in ast.parse(source).body:
        if not isinstance(block, ast.If):
            continue
        for statement in block.body:
            if isinstance(statement, ast.ImportFrom) and statement.module:
                homes.update({alias.name: statement.module for alias in statement.names})
    return homes
