"""Files of a project, as text and as tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from websearch_gateway.docs.packages import table_of

MAX_FILE_BYTES = 8_000_000

Specifiers = dict[str, str]
"""The names of direct dependencies, each with what the manifest says of its version."""
Versions = dict[str, str]


class UnusableFile(Exception):
    """A file that cannot be read; the text says which, and why."""


def malformed(path: Path) -> UnusableFile:
    return UnusableFile(f"{path.name} is malformed. Repair it, or name the packages yourself.")


def text_in(path: Path) -> str:
    """The text of a file; "" if there is none."""
    try:
        if not path.is_file():
            return ""
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnusableFile(f"{path.name} is larger than {MAX_FILE_BYTES:,} bytes.")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UnusableFile(f"{path.name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path.name} is not UTF-8 text.") from error


def table_in(path: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    """The table in a file; empty if there is none."""
    text = text_in(path)
    if not text.strip():
        return {}
    try:
        return table_of(parse(text))
    except (ValueError, RecursionError) as error:
        raise malformed(path) from error


def parse_yaml(text: str) -> Any:
    """The value of a YAML text.

    Raises:
        ValueError: it is malformed.
    """
    import yaml

    try:
        return yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error


def table_at(value: Any, *keys: str) -> dict[str, Any]:
    """The table below these keys of a table; an empty one if there is anything else."""
    for key in keys:
        value = table_of(value).get(key)
    return table_of(value)


def list_of(value: Any) -> list[Any]:
    """`value` if it is a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def list_at(value: Any, *keys: str) -> list[Any]:
    """The list below these keys of a table; an empty one if there is anything else."""
    *above, last = keys
    return list_of(table_at(value, *above).get(last))


MOST_PARENTS = 8
"""How many folders above a project are searched for that of its repository, whose settings hold for it too."""


def repository(folder: Path) -> list[Path]:
    """The folder of the project, and those above it up to that of its repository."""
    above = [folder, *folder.resolve().parents[:MOST_PARENTS]]
    for place, parent in enumerate(above):
        if (parent / ".git").exists():
            return above[: place + 1]
    return [folder]
