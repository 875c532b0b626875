"""What a JavaScript project depends on: package.json, workspaces, and the lock files of npm, Yarn, pnpm and Bun."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from websearch_gateway.docs.packages import table_of
from websearch_gateway.docs.project.files import (
    Specifiers,
    UnusableFile,
    Versions,
    list_of,
    parse_yaml,
    repository,
    table_at,
    table_in,
    text_in,
)
from websearch_gateway.docs.project.origins import Origins
from websearch_gateway.foreign_json import parse_json

NPM_LOCK = "package-lock.json"
_NPM_EXACT = re.compile(r"=?v?(\d+\.\d+\.\d+[\w.+-]*)")
_LOCAL = re.compile(r"(?<![\w@/.-])(@?[\w./-]{1,214}+)@(?:workspace|link|portal|file):", re.ASCII)
"""A package of the project's own in a yarn.lock or bun.lock."""
_BUN_RESOLVED = re.compile(
    r'^[ \t]*+"[^"\n]*+": \["(@?[^"@\n]++)@[^"\n]*+", "(https?://[^"\n]++)"', re.MULTILINE
)


def javascript_dependencies(folder: Path, npm: Origins) -> tuple[Specifiers, Versions]:
    """The direct dependencies, and the versions of all packages, as far as a file says them."""
    direct, aliases = _declared(folder)
    yarn = text_in(folder / "yarn.lock")
    pnpm = text_in(folder / "pnpm-lock.yaml")
    bun = text_in(folder / "bun.lock")
    lock = _Locked()
    _read_yarn(yarn, direct, lock)
    lock.versions.update(_pnpm_versions(pnpm))
    lock.files += [*_pnpm_files(pnpm), *_BUN_RESOLVED.findall(bun)]
    for name, url in lock.files:
        npm.note_package(aliases.get(name, name), url, "the lock file")
    own = _siblings(folder).union(_LOCAL.findall(yarn), _LOCAL.findall(bun))
    own |= _read_npm_lock(folder, aliases, lock.versions, npm)

    versions: Versions = {}
    for name, specifier in direct.items():
        exact = _NPM_EXACT.fullmatch(specifier)
        if exact is not None:
            versions[name] = exact[1]
    for name, version in lock.versions.items():
        if version:
            versions[aliases.get(name, name)] = version
    return {name: text for name, text in direct.items() if name not in own}, versions


@dataclass(slots=True)
class _Locked:
    """What lock files say of packages: their versions, and the addresses of their files."""

    versions: Versions = field(default_factory=dict)
    files: list[tuple[str, str]] = field(default_factory=list)


# A version, a range or a tag. Anything else names a folder, a file or a repository (npm's `npm-package-arg`).
_OF_A_REGISTRY = re.compile(
    r"(?!\.)[\w.+\-^~<>=|*, ]*+(?<!\.tgz)(?<!\.tar\.gz)(?<!\.tar)", re.IGNORECASE | re.ASCII
)
_NPM_ALIAS = re.compile(r"npm:(@?[^@]+)(?:@(.*))?")
UNKNOWN = ":"
"""A specifier that is no version of a registry."""


def _declared(folder: Path) -> tuple[Specifiers, dict[str, str]]:
    """The packages of a registry that a package.json names, and the real names of those that it calls otherwise."""
    manifest = table_in(folder / "package.json", parse_json)
    catalogs = _catalogs(folder)
    direct: Specifiers = {}
    aliases: dict[str, str] = {}
    for kind in ("dependencies", "devDependencies", "optionalDependencies"):
        for name, value in table_at(manifest, kind).items():
            text = _specifier(name, value, catalogs)
            real_name, specifier = _without_alias(name, text)
            if _OF_A_REGISTRY.fullmatch(specifier):
                aliases[name] = real_name
                direct[real_name] = specifier
    return direct, aliases


def _without_alias(name: str, text: str) -> tuple[str, str]:
    """The real name and the specifier of a package that a project may call otherwise: `"old": "npm:react@16"`."""
    alias = _NPM_ALIAS.fullmatch(text)
    if alias is None:
        return name, text
    return alias[1], alias[2] or ""


def _specifier(name: str, value: Any, catalogs: Mapping[str, Any]) -> str:
    text = value.strip() if isinstance(value, str) else UNKNOWN
    if not text.startswith("catalog:"):
        return text
    catalog = text.removeprefix("catalog:").strip() or "default"
    listed = table_at(catalogs, catalog).get(name)
    return listed.strip() if isinstance(listed, str) else UNKNOWN


def _catalogs(folder: Path) -> dict[str, Any]:
    """The versions that `catalog:` and `catalog:NAME` stand for, from the pnpm-workspace.yaml that is the nearest."""
    for place in repository(folder):
        workspace = table_in(place / "pnpm-workspace.yaml", parse_yaml)
        if workspace:
            return {"default": workspace.get("catalog"), **table_at(workspace, "catalogs")}
    return {}


def _read_npm_lock(
    folder: Path, aliases: Mapping[str, str], versions: Versions, npm: Origins
) -> set[str]:
    """Read a package-lock.json, of any format, into `versions`. Returns the names of the project's own packages."""
    lock = table_in(folder / NPM_LOCK, parse_json)
    for name, value in table_at(lock, "dependencies").items():
        package = table_of(value)
        versions[name] = str(package.get("version", ""))
        url = package.get("resolved")
        if isinstance(url, str):
            npm.note_package(aliases.get(name, name), url, NPM_LOCK)
    own: set[str] = set()
    for path, value in table_at(lock, "packages").items():
        package = table_of(value)
        before, is_installed, name = path.partition("node_modules/")
        if not is_installed and path:  # a folder of the project
            own.add(str(package.get("name") or PurePosixPath(path).name))
        elif package.get("link") is True:
            own.add(name)
        elif not before and name:
            versions[name] = str(package.get("version", ""))
            url = package.get("resolved")
            if isinstance(url, str) and "://" in url:
                real_name = str(package.get("name") or aliases.get(name, name))
                npm.note_package(real_name, url, NPM_LOCK)
    return own


MOST_SIBLINGS = 2_000
"""The most packages of a workspace; more may not be looked at, so nothing is asked for."""
DEEPEST_SIBLINGS = 4
"""How many folders `**` stands for in the pattern of a workspace."""


def _siblings(folder: Path) -> set[str]:
    """The names of the packages of the workspaces that the project is, or that it lies in. They are its own.

    Raises:
        UnusableFile: there are too many.
    """
    names: set[str] = set()
    for root in repository(folder):
        for pattern in _workspace_patterns(root):
            for file in _members(root, pattern):
                name = table_in(file, parse_json).get("name")
                if isinstance(name, str):
                    names.add(name)
                if len(names) > MOST_SIBLINGS:
                    raise UnusableFile(f"The workspace has more than {MOST_SIBLINGS:,} packages.")
    return names


def _workspace_patterns(root: Path) -> Iterator[str]:
    workspaces = table_in(root / "package.json", parse_json).get("workspaces")
    lists = (
        table_of(workspaces).get("packages") or workspaces,
        table_in(root / "pnpm-workspace.yaml", parse_yaml).get("packages"),
        table_in(root / "lerna.json", parse_json).get("packages"),
    )
    for patterns in lists:
        yield from map(str, list_of(patterns))


def _members(root: Path, pattern: str) -> Iterator[Path]:
    """The manifests in the folders that a pattern of a workspace names."""
    parts = PurePosixPath(pattern.removeprefix("./")).parts
    if pattern.startswith(("!", "/")) or ".." in parts or not parts:
        return
    any_depth = ["*/" * depth for depth in range(DEEPEST_SIBLINGS)]
    choices = [any_depth if part == "**" else [f"{part}/"] for part in parts]
    for chosen in islice(product(*choices), MOST_SIBLINGS):
        for file in root.glob("".join(chosen) + "package.json"):
            if "node_modules" not in file.parts:
                yield file


_PNPM_NAME = re.compile(r" +['\"]?(@?[\w.-]+(?:/[\w.-]+)?)['\"]?:(?: +(\d[^\s(_]*).*)?")
_PNPM_VERSION = re.compile(r" +version: ['\"]?([^\s(_'\"]+)")


def _pnpm_versions(text: str) -> Versions:
    """The versions that a pnpm-lock.yaml gives to the dependencies of the project itself, not to those of packages.

    https://github.com/pnpm/spec/tree/master/lockfile
    """
    versions: Versions = {}
    name = ""
    # The blanks before the key `specifiers`, as long as its block goes on.
    indent: str | None = None
    for line in text.splitlines():
        if re.match(r"(?:packages|snapshots):", line):
            break
        is_in_block = not line.strip() or line.startswith(f"{indent} ")
        if indent is not None and is_in_block:
            continue
        indent = line.partition("s")[0] if line.strip() == "specifiers:" else None
        version = _PNPM_VERSION.match(line)
        if name and version:
            versions.setdefault(name, version[1])
            continue
        package = _PNPM_NAME.fullmatch(line)
        if package and package[1] not in ("specifier", "version"):
            name = package[1]
            if package[2]:
                versions.setdefault(name, package[2])
    return versions


_PNPM_TARBALL = re.compile(r"tarball: ['\"]?([^\s,}'\"]+)")
_PNPM_KEY = re.compile(r"""  ['"]?/?((?:@[^/\s]+/)?[^@/\s]+)[@/]""")


def _pnpm_files(text: str) -> Iterator[tuple[str, str]]:
    """The addresses of the files that do not come from the configured registry."""
    name = ""
    for line in text.partition("\npackages:")[2].splitlines():
        key = _PNPM_KEY.match(line)
        tarball = _PNPM_TARBALL.search(line)
        if key:
            name = key[1]
        elif name and tarball:
            yield name, tarball[1]


_YARN_VERSION = re.compile(r'  version:? "?([^\s"]+)"?')
_YARN_KEY = re.compile(r'(@?[^@\s",]+)@(?:npm:)?[^,"]*')
_YARN_RESOLVED = re.compile(r'  resolved "([^"]+)"')
_YARN_ARCHIVE = re.compile(r'  resolution: "?(@?[^@"]+)@npm:[^"]*?__archiveUrl=([^"&]+)')


def _read_yarn(text: str, direct: Mapping[str, str], lock: _Locked) -> None:
    """Read a yarn.lock, of either format. Of several versions of a package, the one for what the project asks for
    counts."""
    exact: set[str] = set()  # the packages for which the version that the project asks for was read
    keys: list[str] = []
    name = ""
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            keys = [key.strip().strip('"') for key in line.rstrip(":").split(",")]
            first_key = _YARN_KEY.match(line.strip().strip('"'))
            name = first_key[1] if first_key else ""
        elif version := _YARN_VERSION.match(line):
            for key in keys:
                package = _YARN_KEY.fullmatch(key)
                if package is None or package[1] in exact:
                    continue
                lock.versions[package[1]] = version[1]
                if _is_for(key, package[1], direct.get(package[1])):
                    exact.add(package[1])
            keys = []
        elif name and (resolved := _YARN_RESOLVED.match(line)):
            lock.files.append((name, resolved[1]))
        elif archive := _YARN_ARCHIVE.match(line):
            lock.files.append((archive[1], unquote(archive[2])))


def _is_for(key: str, name: str, specifier: str | None) -> bool:
    """Whether a key of a yarn.lock is for what the project itself asks for: `react@npm:^18` or `react@^18`."""
    return key.partition("@npm:")[2] == specifier or key == f"{name}@{specifier}"
