"""The direct dependencies of a project, the versions in use, and what a public registry may be asked for.

`read_project` runs in a worker process: files of a project are a stranger's. They are read, never run.

The name of a package of a private index may be private too. So where a setting of a package manager names an index that
is not public, a public registry is asked only for what a lock file calls public. Settings are searched as text: what
cannot be told from a private index counts as one.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from websearch_gateway.docs_index.packages import Ecosystem, package_of, table_of
from websearch_gateway.errors import SearchValidationError

MAX_FILE_BYTES = 8_000_000
MOST_DEPENDENCIES = 500
MOST_REQUIREMENTS = 50
"""The most files of requirements and constraints that are read."""
MANIFESTS = ("pyproject.toml", "requirements*.txt", "package.json")

Versions = dict[str, str]
Specifiers = dict[str, str]
"""The names of direct dependencies, each with what the manifest says of its version."""
Reasons = dict[str, str]
"""Why a public registry is not asked for a package, by name, by scope (`@scope/`), and under "" for all others."""

PUBLIC: Mapping[str, tuple[str, ...]] = {
    "pypi": ("pypi.org", "pypi.python.org", "files.pythonhosted.org", "upload.pypi.org", "test.pypi.org"),
    "npm": ("registry.npmjs.org", "registry.yarnpkg.com"),
}
"""The hosts of the public registries."""
MOST_PARENTS = 8
"""How many folders above a project are searched for that of its repository, whose settings hold for it too."""
USER_FILES = (
    *("~/.pip/pip.conf", "~/.config/pip/pip.conf", "~/Library/Application Support/pip/pip.conf", "/etc/pip.conf"),
    *("~/.config/uv/uv.toml", "/etc/uv/uv.toml", "~/.config/pdm/config.toml"),
    *("/etc/xdg/pip/pip.conf", "/etc/xdg/uv/uv.toml"),
    *("~/.npmrc", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"),
    *("~/.yarnrc", "~/.yarnrc.yml", "~/.bunfig.toml"),
)
_FILE_VARIABLES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("PIP_CONFIG_FILE", "UV_CONFIG_FILE", "PDM_CONFIG_FILE"), ("",)),
    **dict.fromkeys(("NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG"), ("",)),
    "VIRTUAL_ENV": ("pip.conf",),
    "XDG_CONFIG_HOME": ("pip/pip.conf", "uv/uv.toml", "pdm/config.toml"),
}
"""Variables that name a file of settings, or a folder of these."""
_PROJECT_FILES = (
    *("pyproject.toml", "uv.toml", "pdm.toml", "Pipfile", "pip.conf", "pip.ini", ".venv/pip.conf", "venv/pip.conf"),
    *(".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", "bunfig.toml"),
)
_OF_NPM = re.compile("npm|yarn|bun", re.IGNORECASE)
"""In the name of a file or variable: it is of a package manager for JavaScript."""
_URL = re.compile(r"""[\w+.-]{1,20}://(?:[^\s/?#"']*@)?([^\s/?#"'@,;)\]}]*)[^\s"',;\]}]*""")
_NO_INDEX_LINE = re.compile(r"^[ \t]*(?:[#;]|(?:- )?[\w-]{0,20}(?:proxy|spec)\b).*", re.IGNORECASE | re.MULTILINE)
"""Comments, proxies, and the plugins of Yarn."""
_INDEX = re.compile(
    r"""no[-_]index|find[-_]links|(?:index|url|registry|server)["']?[ \t]{0,9}[=: ][ \t]{0,9}\[?["']?[\w./~$]""",
    re.IGNORECASE,
)
"""A setting that names an index otherwise than by an address: a folder, or a variable."""
_SCOPE = re.compile(
    r"""^[^\S\n]*["']?(@[\w.-]+)(?::registry)?["']?[^\S\n]*[=: ][^\S\n]*["']?([^\s"']+)""", re.MULTILINE
)
_OPTION = re.compile(
    r"^[ \t]*(?:-[if][ \t=]*|--(?:extra-index-url|index-url|find-links)[ \t=]+|--(?=no-index))(\S+)", re.MULTILINE
)
_INCLUDED = re.compile(r"^[ \t]*(?:-[rc][ \t]*|--(?:requirement|constraint)[ \t=]+)(\S+)", re.MULTILINE)

# https://packaging.python.org/en/latest/specifications/dependency-specifiers/#names
_REQUIREMENT = re.compile(r"\s*([A-Z0-9][A-Z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)", re.IGNORECASE | re.ASCII)
_SPECIFIED = re.compile(r"[<>=!~(\\]|--|$")
"""What may follow a name: anything else is a path or an address."""
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar(?:\.\w+)?|tgz)$", re.IGNORECASE)
_SOURCES = {"path", "file", "git", "url", "workspace", "index", "source"}
"""Keys of a dependency of uv or Poetry that does not come from where the others do."""
_PINNED = re.compile(r"\(?={2,3}\s*v?([\w.+!-]+)\)?\s*")
_NPM_ALIAS = re.compile(r"npm:(@?[^@]+)(?:@(.*))?")
_NPM_EXACT = re.compile(r"=?v?(\d+\.\d+\.\d+[\w.+-]*)")
_NOT_NPM = re.compile(r"(?:workspace|file|link|portal|git[\w+]*|https?|github|patch):|[\w.-]+/[\w.-]+(?:#|$)")
# https://github.com/pnpm/spec/tree/master/lockfile
_PNPM_DIRECT = re.compile(
    r"""^ +['"]?(@?[\w./-]+)['"]?:\n +specifier: .*\n +version: ['"]?([^\s(_'"]+)""", re.MULTILINE
)
_YARN_ENTRY = re.compile(r'^(\S.*):\n  version:? "?([^\s"]+)', re.MULTILINE)
_YARN_KEY = re.compile(r"(@?[^@\s]+)@(?:npm:)?(.*)")
_LOCKED_NAME = re.compile(r"""(?:\s*"[^"]*": \[| {0,2})["']?/?(@[^@/\s"']+/[^@/\s"']+|[^@/\s"']+)[@/]""")
"""Begins what a lock file of Yarn, pnpm or Bun says of a package."""


class _Unusable(Exception):
    """A file that cannot be read; the text says which, and why."""


def withheld(reasons: Mapping[str, str], name: str) -> str:
    """Why a public registry is not asked for a package; "" if it may be."""
    return next(reasons[one] for one in (name, f"{name.partition('/')[0]}/", "") if one in reasons)


def read_project(
    root: str,
    public: Mapping[str, Sequence[str]] = PUBLIC,
    variables: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """The direct dependencies of the project in a folder: `direct`, a list of ecosystem, name and version ("" if no
    file says it); `versions`, the versions of all packages by ecosystem; `withheld`, the `Reasons` by ecosystem;
    `problem`, why there are none, or "".

    A version is that of a lock file, else of a constraint, else an exact one of the manifest.

    Args:
        public: the hosts of the public registries by ecosystem.
        variables: the variables of the environment that name indexes, or files that do.
        files: settings of package managers outside the project.
    """
    nothing: dict[str, Any] = {"direct": [], "versions": {}, "withheld": {}, "problem": ""}
    pypi, npm = (_Origins(public[ecosystem]) for ecosystem in ("pypi", "npm"))
    try:
        folder = Path(root).expanduser()
        for name, text in _settings(folder, variables or {}, files):
            (npm if _OF_NPM.search(name) else pypi).note_setting(text, name)
        python, python_versions = _python(folder, pypi)
        node, node_versions = _node(folder, npm)
        is_project = any(any(folder.glob(name)) for name in MANIFESTS)
    except (_Unusable, OSError, ValueError, RuntimeError) as error:  # also no home folder, a null character
        return {**nothing, "problem": str(error)}
    if not is_project:
        problem = f"The folder holds none of {', '.join(MANIFESTS)}. Name the folder of a project."
        return {**nothing, "problem": problem}
    direct = [*_rows("pypi", python, python_versions), *_rows("npm", node, node_versions)]
    return {
        "direct": direct[:MOST_DEPENDENCIES],
        "versions": {"pypi": python_versions, "npm": node_versions},
        "withheld": {"pypi": pypi.reasons, "npm": npm.reasons},
        "problem": "",
    }


def _rows(ecosystem: Ecosystem, direct: Specifiers, versions: Versions) -> Iterator[tuple[str, str, str]]:
    for name in direct:
        try:
            yield ecosystem, package_of(ecosystem, name, versions.get(name, "")).name, versions.get(name, "")
        except SearchValidationError:  # no registry has it
            continue


def _read(path: Path) -> str:
    """The text of a file; "" if there is none."""
    try:
        if not path.is_file():
            return ""
        if path.stat().st_size > MAX_FILE_BYTES:
            raise _Unusable(f"{path.name} is larger than {MAX_FILE_BYTES:,} bytes.")
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise _Unusable(f"{path.name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise _Unusable(f"{path.name} is not UTF-8 text.") from error


def _parsed(path: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    """The table in a file; empty if there is none."""
    text = _read(path)
    try:
        return table_of(parse(text)) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _Unusable(f"{path.name} is malformed. Repair it, or name the packages yourself.") from error


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# ---------------------------------------------------------------------- indexes


class _Origins:
    """Where the packages of an ecosystem come from; `reasons` as in `Reasons`, "" for a package from a public host."""

    def __init__(self, public: Collection[str]) -> None:
        self._public = public
        self.reasons: Reasons = {"": ""}

    def note_setting(self, text: str, file: str) -> None:
        """Note the indexes that the text of a setting names."""
        if _OF_NPM.search(file):
            for scope, url in _SCOPE.findall(text):
                self.note_package(f"{scope}/", f"url={url}", file)
            text = _SCOPE.sub("", text)
        if (host := self._stranger(_NO_INDEX_LINE.sub("", text))) and not self.reasons[""]:
            self.reasons[""] = (
                f"It may come from {host} ({file}): no lock file says that it is public, so the public registry is not "
                "asked for it."
            )

    def note_package(self, name: str, text: str, file: str) -> None:
        """Note where a package or scope comes from, by a text with its addresses."""
        if host := self._stranger(text):
            self.reasons[name] = f"It comes from {host} ({file}), so the public registry is not asked for it."
        elif "://" in text:
            self.reasons.setdefault(name, "")

    def _stranger(self, text: str) -> str:
        """Names the first index in a text that is not a public one, by its host; "" if there is none."""
        for url in _URL.finditer(text):
            host = re.sub(r":(?:80|443)$", "", url[1].lower())
            if host not in self._public:
                return host if re.fullmatch(r"[\w.:-]{1,253}", host, re.ASCII) else "another index"
        return "another index" if _INDEX.search(_URL.sub("", text)) else ""


def _settings(folder: Path, variables: Mapping[str, str], files: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names and texts of the settings for a project: the environment's, the user's, its own, and those of the
    folders up to its repository's."""
    for name, value in variables.items():
        inside = _FILE_VARIABLES.get(name.upper(), ())  # npm reads its own in any case
        if not inside:
            yield name, f"index = {value}"
        for file in inside:
            yield name, _read(folder / Path(value).expanduser() / file)
    above = [folder, *folder.resolve().parents[:MOST_PARENTS]]
    end = next((place for place, one in enumerate(above) if (one / ".git").exists()), 0)
    for path in [*(one / name for one in above[: end + 1] for name in _PROJECT_FILES), *map(Path, files)]:
        yield path.name, _read(path) if path.name != "pyproject.toml" else _tool_tables(_parsed(path, tomllib.loads))


def _tool_tables(manifest: Mapping[str, Any]) -> str:
    """The tables of a pyproject.toml that may name an index for all packages, as text."""
    tool = table_of(manifest.get("tool"))
    uv, poetry, pdm, hatch = (table_of(tool.get(name)) for name in ("uv", "poetry", "pdm", "hatch"))
    general = {key: value for key, value in uv.items() if key != "sources"}
    return json.dumps([general, poetry.get("source"), pdm.get("source"), hatch.get("envs")], default=str)


def _requirement_indexes(files: Iterable[Path], pypi: _Origins) -> None:
    """Note the indexes that files of requirements name, and the files that these include."""
    waiting = dict.fromkeys(files)
    seen: set[Path] = set()
    while waiting:
        file = next(iter(waiting))
        del waiting[file]
        if len(seen) == MOST_REQUIREMENTS:
            pypi.note_setting("no-index", file.name)  # a file that is not read may name any index
            break
        seen.add(file)
        text = _read(file).replace("\\\n", " ")
        pypi.note_setting("\n".join(f"url={value}" for value in _OPTION.findall(text)), file.name)
        included = (Path(os.path.normpath(file.parent / one)) for one in _INCLUDED.findall(text) if "://" not in one)
        waiting.update(dict.fromkeys(path for path in included if path not in seen))


def _note_locked(text: str, aliases: Mapping[str, str], npm: _Origins) -> None:
    """Note the addresses of packages in a lock file of Yarn, pnpm or Bun. Some name only those that are not of the
    configured registry."""
    name = ""
    for line in text.splitlines():
        if named := _LOCKED_NAME.match(line):
            name = named[1]
        if name and "://" in (decoded := unquote(line)) and "deprecated:" not in line:
            npm.note_package(aliases.get(name, name), decoded, "the lock file")


# ---------------------------------------------------------------------- Python


def _python(folder: Path, pypi: _Origins) -> tuple[Specifiers, Versions]:
    manifest = _parsed(folder / "pyproject.toml", tomllib.loads)
    direct = dict(_declared(manifest))
    required, constraints = (sorted(folder.glob(f"{kind}*.txt")) for kind in ("requirements", "constraints"))
    _requirement_indexes([*required, *constraints, *sorted(folder.glob("requirements*.in"))], pypi)
    named, limited = ([_requirement(line) for line in _lines(files)] for files in (required, constraints))
    direct = direct or dict(named)
    pinned = [*direct.items(), *named, *limited]
    found = {name: version for name, said in pinned if (version := _pin(said))}
    for lock in ("poetry.lock", "pdm.lock", "uv.lock", "pylock.toml"):
        listed = _parsed(folder / lock, tomllib.loads)
        for package in map(table_of, [*_list(listed.get("package")), *_list(listed.get("packages"))]):
            name = _spelt(str(package.get("name")))
            if isinstance(locked := package.get("version"), str):
                found[name] = locked
            sources = [package.get(key) for key in ("source", "index", "files", "wheels", "sdist", "archive")]
            is_of_pypi = lock == "poetry.lock" and not package.get("source")  # Poetry names only others
            pypi.note_package(name, "https://pypi.org/" if is_of_pypi else json.dumps(sources, default=str), lock)
    own = table_of(manifest.get("project")).get("name")
    without = {"", "python", _spelt(own) if isinstance(own, str) else "", *_from_elsewhere(manifest, pypi)}
    return {name: said for name, said in direct.items() if name not in without}, found


def _lines(files: Sequence[Path]) -> Iterator[str]:
    return (line for file in files[:MOST_REQUIREMENTS] for line in _read(file).splitlines())


def _declared(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The requirements of a pyproject.toml: its own (PEP 621), its groups (PEP 735), and Poetry's."""
    project = table_of(manifest.get("project"))
    tables = [table_of(project.get("optional-dependencies")), table_of(manifest.get("dependency-groups"))]
    lists = [project.get("dependencies"), *(one for table in tables for one in table.values())]
    yield from (_requirement(line) for one in lists for line in _list(one) if isinstance(line, str))
    for table in _poetry(manifest):
        for name, said in table.items():
            text: Any = said if isinstance(said, str) else table_of(said).get("version")
            yield _spelt(name), f"=={text}" if isinstance(text, str) and re.match(r"\d", text) else str(text)


def _poetry(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    poetry = table_of(table_of(manifest.get("tool")).get("poetry"))
    groups = (table_of(group).get("dependencies") for group in table_of(poetry.get("group")).values())
    return [table_of(table) for table in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups)]


def _from_elsewhere(manifest: Mapping[str, Any], pypi: _Origins) -> Iterator[str]:
    """The dependencies that are no packages of an index. Those of an index of their own are noted instead."""
    uv = table_of(table_of(manifest.get("tool")).get("uv"))
    for table in [table_of(uv.get("sources")), *_poetry(manifest)]:
        for name, said in table.items():
            keys = {key for one in (_list(said) or [said]) for key in table_of(one)} & _SOURCES
            if keys & {"index", "source"}:
                pypi.note_package(_spelt(name), "no-index", "pyproject.toml")
            elif keys:
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


def _node(folder: Path, npm: _Origins) -> tuple[Specifiers, Versions]:
    manifest = _parsed(folder / "package.json", json.loads)
    direct: Specifiers = {}
    aliases: dict[str, str] = {}
    for field in ("dependencies", "devDependencies", "optionalDependencies"):
        for name, said in table_of(manifest.get(field)).items():
            if isinstance(said, str) and not _NOT_NPM.match(said):
                alias = _NPM_ALIAS.fullmatch(said)
                aliases[name] = alias[1] if alias else name
                direct[aliases[name]] = alias[2] or "" if alias else said
    found = {name: match[1] for name, said in direct.items() if (match := _NPM_EXACT.fullmatch(said))}
    yarn, pnpm, bun = (_read(folder / name) for name in ("yarn.lock", "pnpm-lock.yaml", "bun.lock"))
    locked = _yarn(yarn, direct)
    locked |= reversed(_PNPM_DIRECT.findall(pnpm.partition("\npackages:")[0]))  # the project's own come first
    for text in (yarn, pnpm, bun):
        _note_locked(text, aliases, npm)
    lock = _parsed(folder / "package-lock.json", json.loads)
    for path, package in {**table_of(lock.get("dependencies")), **table_of(lock.get("packages"))}.items():
        before, _, name = path.rpartition("node_modules/")
        if name and not before:
            said = table_of(package)
            locked[name] = str(said.get("version", ""))
            real = said.get("name") or aliases.get(name, name)
            npm.note_package(str(real), str(said.get("resolved", "")), "package-lock.json")
    return direct, {**found, **{aliases.get(name, name): version for name, version in locked.items() if version}}


def _yarn(text: str, direct: Mapping[str, str]) -> Versions:
    """The versions in a yarn.lock, of either format; of several, the one for what the project asks for."""
    found: Versions = {}
    exact: set[str] = set()
    for keys, version in _YARN_ENTRY.findall(text):
        for key in keys.split(","):
            match = _YARN_KEY.fullmatch(key.strip(' "'))
            if match and match[1] not in exact:
                found[match[1]] = version
                if match[2] == direct.get(match[1]):
                    exact.add(match[1])
    return found
