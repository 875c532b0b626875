"""What a Python project depends on: pyproject.toml, files of requirements, lock files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from websearch_gateway.docs.packages import table_of
from websearch_gateway.docs.project.files import (
    Specifiers,
    Versions,
    list_at,
    list_of,
    table_at,
    table_in,
    text_in,
)
from websearch_gateway.docs.project.origins import Origins
from websearch_gateway.docs.project.requirements import (
    MOST_REQUIREMENTS,
    note_requirement_indexes,
    requirement,
    spelt,
)

LOCKS = ("poetry.lock", "pdm.lock", "uv.lock", "pylock.toml")
PYPI = "https://pypi.org/"
FOLDER = "."
"""Stands for the source of a package that comes from no index."""

_NOT_PYPI = {"path", "file", "git", "url", "workspace"}
"""Keys of a dependency of uv or Poetry that is no package of an index."""
_LOCAL_SOURCES = {"editable", "directory", "path", "virtual", "git"}
_LOCAL_PACKAGES = {"directory", "vcs"}
"""The same in a uv.lock and in a pylock.toml."""
_PINNED = re.compile(r"\(?={2,3}\s*v?([\w.+!-]+)\)?\s*")


def python_dependencies(folder: Path, pypi: Origins) -> tuple[Specifiers, Versions]:
    """The direct dependencies, and the versions of all packages, as far as a file says them."""
    manifest = table_in(folder / "pyproject.toml", tomllib.loads)
    required = sorted(folder.glob("requirements*.txt"))
    constraints = sorted(folder.glob("constraints*.txt"))
    inputs = sorted(folder.glob("requirements*.in"))
    note_requirement_indexes([*required, *constraints, *inputs], pypi)
    listed = dict(_requirements([*required, *constraints][:MOST_REQUIREMENTS]))
    direct = dict(_declared(manifest)) or dict(_requirements(required))

    no_package_of_an_index = {"", "python", *_from_elsewhere(manifest, pypi)}
    own_name = table_at(manifest, "project").get("name")
    if isinstance(own_name, str):
        no_package_of_an_index.add(spelt(own_name))

    versions: Versions = {}
    for name, specifier in chain(direct.items(), listed.items()):
        pin = _pin(specifier)
        if pin:
            versions[name] = pin
    versions |= _locked(folder, pypi)
    packages = {name: text for name, text in direct.items() if name not in no_package_of_an_index}
    return packages, versions


def _requirements(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for file in files:
        yield from map(requirement, text_in(file).splitlines())


def _pin(specifier: str) -> str:
    """The version of a specifier that allows one only; "" for any other."""
    first = specifier.partition(",")[0].partition("\\")[0].strip()
    pin = _PINNED.fullmatch(first)
    return pin[1] if pin and "*" not in pin[1] else ""


def _declared(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The requirements of a pyproject.toml: its own (PEP 621), its groups (PEP 735), and Poetry's."""
    lists = [
        list_at(manifest, "project", "dependencies"),
        *table_at(manifest, "project", "optional-dependencies").values(),
        *table_at(manifest, "dependency-groups").values(),
    ]
    for lines in lists:
        for line in list_of(lines):
            if isinstance(line, str):
                yield requirement(line)
    for table in _poetry_tables(manifest):
        for name, constraint in table.items():
            yield spelt(name), _poetry_specifier(constraint)


def _poetry_specifier(constraint: Any) -> str:
    text = constraint if isinstance(constraint, str) else table_of(constraint).get("version")
    if isinstance(text, str) and re.match(r"\d", text):
        return f"=={text}"
    return str(text)


def _poetry_tables(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    poetry = table_at(manifest, "tool", "poetry")
    groups = table_at(poetry, "group").values()
    return [
        table_at(poetry, "dependencies"),
        table_at(poetry, "dev-dependencies"),
        *(table_at(group, "dependencies") for group in groups),
    ]


def _from_elsewhere(manifest: Mapping[str, Any], pypi: Origins) -> Iterator[str]:
    """The dependencies that are no packages of an index; notes those of one that the manifest names for them."""
    indexes: dict[str, Any] = {"pypi": PYPI}
    of_uv = list_at(manifest, "tool", "uv", "index")
    of_poetry = list_at(manifest, "tool", "poetry", "source")
    for index in map(table_of, [*of_uv, *of_poetry]):
        indexes[str(index.get("name")).lower()] = index.get("url")
    for table in [table_at(manifest, "tool", "uv", "sources"), *_poetry_tables(manifest)]:
        for name, value in table.items():
            for source in map(table_of, list_of(value) or [value]):
                if _NOT_PYPI & source.keys():
                    yield spelt(name)
                index_name = source.get("index", source.get("source"))
                if index_name is not None:
                    url = indexes.get(str(index_name).lower()) or str(index_name)
                    pypi.note_package(spelt(name), url, "pyproject.toml")


def _locked(folder: Path, pypi: Origins) -> Iterator[tuple[str, str]]:
    """The packages of the lock files with their versions. Notes where each comes from, if its file says it."""
    for lock in LOCKS:
        table = table_in(folder / lock, tomllib.loads)
        packages = [*list_at(table, "package"), *list_at(table, "packages")]
        for package in map(table_of, packages):
            name, version = package.get("name"), package.get("version")
            if not isinstance(name, str):
                continue
            index = _index_of(package, lock)
            if index is not None:
                pypi.note_package(spelt(name), index, lock)
            if isinstance(version, str):
                yield spelt(name), version


def _index_of(package: Mapping[str, Any], lock: str) -> Any:
    """Where a lock file says that a package comes from; None if it does not."""
    source = table_at(package, "source")
    if _LOCAL_SOURCES & source.keys() or _LOCAL_PACKAGES & package.keys():
        return FOLDER
    if lock == "poetry.lock" and not source:
        return PYPI  # Poetry names no other source of a package
    index = source.get("registry") or source.get("url") or package.get("index")
    if index:
        return index
    for file in [*list_at(package, "files"), *list_at(package, "wheels")]:
        url = table_of(file).get("url")
        if url:
            return url
    return None
