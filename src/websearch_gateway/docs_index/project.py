"""The packages that a project depends on directly, and the versions in use, from its manifests and lock files.

The files are only read, never run. Anybody may have written them: `read_project` runs in a worker process.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from websearch_gateway.docs_index.packages import Ecosystem, package_of
from websearch_gateway.errors import SearchValidationError

MAX_FILE_BYTES = 8_000_000
MOST_DEPENDENCIES = 500
MOST_REQUIREMENTS = 50
"""The most files `requirements*.txt` and `constraints*.txt` of a project."""
MANIFESTS = ("pyproject.toml", "requirements*.txt", "package.json")

Versions = dict[str, str]
Specifiers = dict[str, str]
"""The names of direct dependencies, each with what the manifest says of its version."""

# https://packaging.python.org/en/latest/specifications/dependency-specifiers/#names
_REQUIREMENT = re.compile(r"\s*([A-Z0-9][A-Z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)", re.IGNORECASE | re.ASCII)
_SPECIFIED = re.compile(r"[<>=!~(\\]|--|$")
"""What may follow a name: anything else is a path or an address."""
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar(?:\.\w+)?|tgz)$", re.IGNORECASE)
_NOT_PYPI = {"path", "file", "git", "url", "workspace", "index", "source"}
"""Keys of a dependency of uv or Poetry that comes from elsewhere. Its name may be private: nobody asks PyPI for it."""
_PINNED = re.compile(r"\(?={2,3}\s*v?([\w.+!-]+)\)?\s*")
_NPM_ALIAS = re.compile(r"npm:(@?[^@]+)(?:@(.*))?")
_NPM_EXACT = re.compile(r"=?v?(\d+\.\d+\.\d+[\w.+-]*)")
_NOT_NPM = re.compile(r"(?:workspace|file|link|portal|git[\w+]*|https?|github|patch):|[\w.-]+/[\w.-]+(?:#|$)")
_PNPM_NAME = re.compile(r" +['\"]?(@?[\w.-]+(?:/[\w.-]+)?)['\"]?:(?: +(\d[^\s(_]*).*)?")
_PNPM_VERSION = re.compile(r" +version: ['\"]?([^\s(_'\"]+)")
_YARN_VERSION = re.compile(r'  version:? "?([^\s"]+)"?')
_YARN_KEY = re.compile(r'(@?[^@\s",]+)@(?:npm:)?[^,"]*')


class _Unusable(Exception):
    """A file that cannot be read; the text says which, and why."""


def read_project(root: str) -> dict[str, Any]:
    """The direct dependencies of the project in a folder: `direct`, a list of ecosystem, name and version ("" if no
    file says it); `versions`, the versions of all packages by ecosystem; `problem`, why there are none, or "".

    A version is that of a lock file, else of a constraint, else an exact one of the manifest.
    """
    try:
        folder = Path(root).expanduser()
        python, python_versions = _python(folder)
        node, node_versions = _node(folder)
        is_project = any(any(folder.glob(name)) for name in MANIFESTS)
    except (_Unusable, OSError, ValueError, RuntimeError) as error:  # also no home folder, a null character
        return {"direct": [], "versions": {}, "problem": str(error)}
    direct = [*_rows("pypi", python, python_versions), *_rows("npm", node, node_versions)]
    versions = {"pypi": python_versions, "npm": node_versions}
    if not is_project:
        problem = f"The folder holds none of {', '.join(MANIFESTS)}. Name the folder of a project."
        return {"direct": [], "versions": {}, "problem": problem}
    return {"direct": direct[:MOST_DEPENDENCIES], "versions": versions, "problem": ""}


def _rows(ecosystem: Ecosystem, direct: Specifiers, versions: Versions) -> Iterator[tuple[str, str, str]]:
    for name in direct:
        try:
            yield ecosystem, package_of(ecosystem, name, versions.get(name, "")).name, versions.get(name, "")
        except SearchValidationError:  # no registry has it
            continue


def _text(path: Path) -> str:
    """The text of a file; "" if there is none."""
    try:
        if not path.is_file():
            return ""
        if path.stat().st_size > MAX_FILE_BYTES:
            raise _Unusable(f"{path.name} is larger than {MAX_FILE_BYTES:,} bytes.")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise _Unusable(f"{path.name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise _Unusable(f"{path.name} is not UTF-8 text.") from error


def _parsed(path: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    """The table in a file; empty if there is none."""
    text = _text(path)
    try:
        return _table(parse(text)) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _Unusable(f"{path.name} is malformed. Repair it, or name the packages yourself.") from error


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# ---------------------------------------------------------------------- Python


def _python(folder: Path) -> tuple[Specifiers, Versions]:
    manifest = _parsed(folder / "pyproject.toml", tomllib.loads)
    direct = dict(_declared(manifest))
    files = sorted(folder.glob("requirements*.txt")) + sorted(folder.glob("constraints*.txt"))
    lines = [line for file in files[:MOST_REQUIREMENTS] for line in _text(file).splitlines()]
    pinned = dict(_requirement(line) for line in lines)
    if not direct:
        named = [line for file in sorted(folder.glob("requirements*.txt")) for line in _text(file).splitlines()]
        direct = dict(_requirement(line) for line in named)
    found = {name: version for text in (direct, pinned) for name, said in text.items() if (version := _pin(said))}
    for lock in ("poetry.lock", "uv.lock"):
        for package in _list(_parsed(folder / lock, tomllib.loads).get("package")):
            called, locked = _table(package).get("name"), _table(package).get("version")
            if isinstance(called, str) and isinstance(locked, str):
                found[_spelt(called)] = locked
    own = _table(manifest.get("project")).get("name")
    without = {"", "python", _spelt(own) if isinstance(own, str) else "", *_from_elsewhere(manifest)}
    return {name: said for name, said in direct.items() if name not in without}, found


def _declared(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The requirements of a pyproject.toml: its own (PEP 621), its groups (PEP 735), and Poetry's."""
    project = _table(manifest.get("project"))
    tables = [_table(project.get("optional-dependencies")), _table(manifest.get("dependency-groups"))]
    lists = [project.get("dependencies"), *(one for table in tables for one in table.values())]
    for line in (line for one in lists for line in _list(one) if isinstance(line, str)):
        yield _requirement(line)
    for table in _poetry(manifest):
        for name, said in table.items():
            text: Any = said if isinstance(said, str) else _table(said).get("version")
            yield _spelt(name), f"=={text}" if isinstance(text, str) and re.match(r"\d", text) else str(text)


def _poetry(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    poetry = _table(_table(manifest.get("tool")).get("poetry"))
    groups = (_table(group).get("dependencies") for group in _table(poetry.get("group")).values())
    return [_table(table) for table in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups)]


def _from_elsewhere(manifest: Mapping[str, Any]) -> Iterator[str]:
    sources = _table(_table(_table(manifest.get("tool")).get("uv")).get("sources"))
    for table in [sources, *_poetry(manifest)]:
        for name, said in table.items():
            if any(_NOT_PYPI & _table(one).keys() for one in (_list(said) or [said])):
                yield _spelt(name)


def _requirement(line: str) -> tuple[str, str]:
    """The name and the specifier of a requirement; empty for options, comments, paths and addresses."""
    match = _REQUIREMENT.match(line)
    if match is None or _ARCHIVE.search(match[1]) or not _SPECIFIED.match(match[2]):
        return "", ""
    return _spelt(match[1]), match[2].strip()


def _pin(said: str) -> str:
    match = _PINNED.fullmatch(said.partition(",")[0].partition("\\")[0].strip())
    return match[1] if match and "*" not in match[1] else ""


def _spelt(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# ---------------------------------------------------------------------- JavaScript


def _node(folder: Path) -> tuple[Specifiers, Versions]:
    manifest = _parsed(folder / "package.json", json.loads)
    direct: Specifiers = {}
    aliases: dict[str, str] = {}
    for field in ("dependencies", "devDependencies", "optionalDependencies"):
        for name, said in _table(manifest.get(field)).items():
            if isinstance(said, str) and not _NOT_NPM.match(said):
                alias = _NPM_ALIAS.fullmatch(said)
                aliases[name] = alias[1] if alias else name
                direct[aliases[name]] = alias[2] or "" if alias else said
    found = {name: match[1] for name, said in direct.items() if (match := _NPM_EXACT.fullmatch(said))}
    locked = {**_yarn(_text(folder / "yarn.lock"), direct), **_pnpm(_text(folder / "pnpm-lock.yaml"))}
    lock = _parsed(folder / "package-lock.json", json.loads)
    for name, package in _table(lock.get("dependencies")).items():
        locked[name] = str(_table(package).get("version", ""))
    for path, package in _table(lock.get("packages")).items():
        before, _, name = path.partition("node_modules/")
        if not before and name:
            locked[name] = str(_table(package).get("version", ""))
    return direct, {**found, **{aliases.get(name, name): version for name, version in locked.items() if version}}


def _pnpm(text: str) -> Versions:
    """The versions that a pnpm-lock.yaml gives to the dependencies of the project itself, not to those of packages.

    https://github.com/pnpm/spec/tree/master/lockfile
    """
    found: Versions = {}
    name = ""
    specifiers: str | None = None  # the blanks before the key of this name, as long as its block goes on
    for line in text.splitlines():
        if re.match(r"(?:packages|snapshots):", line):
            break
        if specifiers is not None and (not line.strip() or line.startswith(f"{specifiers} ")):
            continue
        specifiers = line.partition("s")[0] if line.strip() == "specifiers:" else None
        if (version := _PNPM_VERSION.match(line)) and name:
            found.setdefault(name, version[1])
        elif (named := _PNPM_NAME.fullmatch(line)) and named[1] not in ("specifier", "version"):
            name = named[1]
            if named[2]:
                found.setdefault(name, named[2])
    return found


def _yarn(text: str, direct: Mapping[str, str]) -> Versions:
    """The versions in a yarn.lock, of either format; of several, the one for what the project asks for."""
    found: Versions = {}
    exact: set[str] = set()
    keys: list[str] = []
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            keys = [key.strip().strip('"') for key in line.rstrip(":").split(",")]
        elif version := _YARN_VERSION.match(line):
            for key in keys:
                match = _YARN_KEY.fullmatch(key)
                if match is None or match[1] in exact:
                    continue
                found[match[1]] = version[1]
                if key.partition("@npm:")[2] == direct.get(match[1]) or key == f"{match[1]}@{direct.get(match[1])}":
                    exact.add(match[1])
            keys = []
    return found
