"""The direct dependencies of a project, the versions in use, and the indexes that its packages come from.

`read_project` runs in a worker process: files of a project are a stranger's. They are read, never run.

The name of a package of a private index may be private too. So a public registry is asked only for packages that come
from it: where a setting of a package manager names another index, the lock file must say so.
"""

from __future__ import annotations

import configparser
import optparse
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, product
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import unquote

from websearch_gateway.docs.packages import Ecosystem, package_of, table_of
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.foreign_json import parse_json

MAX_FILE_BYTES = 8_000_000
MOST_DEPENDENCIES = 500
MOST_REQUIREMENTS = 50
"""The most files `requirements*.txt` and `constraints*.txt` of a project."""
MANIFESTS = ("pyproject.toml", "requirements*.txt", "package.json")

Versions = dict[str, str]
Specifiers = dict[str, str]
"""The names of direct dependencies, each with what the manifest says of its version."""

# https://packaging.python.org/en/latest/specifications/dependency-specifiers/#names
_REQUIREMENT = re.compile(
    r"\s*([A-Z0-9][A-Z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)", re.IGNORECASE | re.ASCII
)
_SPECIFIED = re.compile(r"[<>=!~(\\]|--|$")
"""What may follow a name: anything else is a path or an address."""
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar(?:\.\w+)?|tgz)$", re.IGNORECASE)
_NOT_PYPI = {"path", "file", "git", "url", "workspace"}
"""Keys of a dependency of uv or Poetry that is no package of an index."""
_LOCAL_SOURCES = {"editable", "directory", "path", "virtual", "git"}
_LOCAL_PACKAGES = {"directory", "vcs"}
"""The same in a uv.lock and in a pylock.toml."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_PINNED = re.compile(r"\(?={2,3}\s*v?([\w.+!-]+)\)?\s*")
_NPM_ALIAS = re.compile(r"npm:(@?[^@]+)(?:@(.*))?")
_NPM_EXACT = re.compile(r"=?v?(\d+\.\d+\.\d+[\w.+-]*)")
# A version, a range or a tag. Anything else names a folder, a file or a repository (npm's `npm-package-arg`).
_OF_A_REGISTRY = re.compile(
    r"(?!\.)[\w.+\-^~<>=|*, ]*+(?<!\.tgz)(?<!\.tar\.gz)(?<!\.tar)", re.IGNORECASE | re.ASCII
)
_LOCAL = re.compile(r"(?<![\w@/.-])(@?[\w./-]{1,214}+)@(?:workspace|link|portal|file):", re.ASCII)
"""A package of the project's own in a yarn.lock or bun.lock."""
_PNPM_NAME = re.compile(r" +['\"]?(@?[\w.-]+(?:/[\w.-]+)?)['\"]?:(?: +(\d[^\s(_]*).*)?")
_PNPM_VERSION = re.compile(r" +version: ['\"]?([^\s(_'\"]+)")
_YARN_VERSION = re.compile(r'  version:? "?([^\s"]+)"?')
_YARN_KEY = re.compile(r'(@?[^@\s",]+)@(?:npm:)?[^,"]*')


PUBLIC: Mapping[str, tuple[str, ...]] = {
    "pypi": ("pypi.org", "pypi.python.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org", "registry.yarnpkg.com"),
}
"""The hosts of the public registries."""
MOST_PARENTS = 8
"""How many folders above a project are searched for that of its repository, whose settings hold for it too."""
USER_FILES = (
    *(
        "~/.pip/pip.conf",
        "~/.config/pip/pip.conf",
        "~/Library/Application Support/pip/pip.conf",
        "/etc/pip.conf",
    ),
    *("~/.config/uv/uv.toml", "/etc/uv/uv.toml", "~/.config/pdm/config.toml"),
    *("/etc/xdg/pip/pip.conf", "/etc/xdg/uv/uv.toml"),
    *("~/.npmrc", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"),
    *("~/.yarnrc", "~/.yarnrc.yml", "~/.bunfig.toml"),
)
_FILE_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "PIP_CONFIG_FILE": ("pip.conf",),
    "UV_CONFIG_FILE": ("uv.toml",),
    "PDM_CONFIG_FILE": ("config.toml",),
    "NPM_CONFIG_USERCONFIG": (".npmrc",),
    "NPM_CONFIG_GLOBALCONFIG": (".npmrc",),
    "VIRTUAL_ENV": ("pip.conf",),
    "XDG_CONFIG_HOME": ("pip/pip.conf", "uv/uv.toml", "pdm/config.toml"),
}
"""Variables that name a file under any name, with its kind, or a folder of such files."""
_FOLDER_VARIABLES = ("VIRTUAL_ENV", "XDG_CONFIG_HOME")
_PROJECT_FILES = (
    *("pyproject.toml", "uv.toml", "pdm.toml", "Pipfile", "pip.conf", "pip.ini"),
    *(".venv/pip.conf", "venv/pip.conf"),
    *(".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", "bunfig.toml"),
)
# https://pip.pypa.io/en/stable/cli/pip_install/, https://docs.astral.sh/uv/reference/settings/
_INDEX_KEYS = (
    "index-url",
    "pypi-url",
    "extra-index-url",
    "default-index",
    "find-links",
    "no-index",
)
_INDEX_VARIABLE = re.compile(r"(?:PIP|UV|PDM|PIPENV)_\w*(?:INDEX|FIND_LINKS|PYPI)\w*")
_PNPM_TARBALL = re.compile(r"tarball: ['\"]?([^\s,}'\"]+)")
_PNPM_KEY = re.compile(r"""  ['"]?/?((?:@[^/\s]+/)?[^@/\s]+)[@/]""")
_YARN_RESOLVED = re.compile(r'  resolved "([^"]+)"')
_YARN_ARCHIVE = re.compile(r'  resolution: "?(@?[^@"]+)@npm:[^"]*?__archiveUrl=([^"&]+)')
_BUN_RESOLVED = re.compile(
    r'^[ \t]*+"[^"\n]*+": \["(@?[^"@\n]++)@[^"\n]*+", "(https?://[^"\n]++)"', re.MULTILINE
)
MOST_SIBLINGS = 2_000
"""The most packages of a workspace; more may not be looked at, so nothing is asked for."""
DEEPEST_SIBLINGS = 4
"""How many folders `**` stands for in the pattern of a workspace."""


class Origins:
    """Where the packages of an ecosystem come from.

    `private` is an index that is not public and that any package may come from, with the file that names it. `public`
    and `elsewhere` hold the packages, and with a slash at their end the scopes, that come from a public and another.
    """

    def __init__(
        self,
        known: Collection[str] = (),
        private: str = "",
        public: Iterable[str] = (),
        elsewhere: Any = (),
    ) -> None:
        self._known = known
        self.private = private
        self.public = set(public)
        self.elsewhere: dict[str, str] = dict(elsewhere)

    def withheld(self, name: str) -> str:
        """Why a public registry is not asked for a package; "" if it may be."""
        names = (name, f"{name.partition('/')[0]}/")
        for one in names:
            if where := self.elsewhere.get(one):
                return f"It comes from {where}, so the public registry is not asked for it."
        if not self.private or not self.public.isdisjoint(names):
            return ""
        return (
            f"It may come from {self.private}: no lock file says that it is public, so the public registry is not "
            "asked for it."
        )

    def index(self, value: Any, file: str) -> None:
        """Note the indexes of a setting: addresses, or a list of them."""
        for one in value if isinstance(value, list) else str(value).split():
            if not self.private and (host := self._stranger(str(one))):
                self.private = f"{host} ({file})"

    def package(self, name: str, index: Any, file: str) -> None:
        """Note the index or file that a package or scope comes from."""
        if host := self._stranger(str(index)):
            self.elsewhere.setdefault(name, f"{host} ({file})")
        else:
            self.public.add(name)

    def _stranger(self, value: str) -> str:
        """Names an index, by its host, that is not a public one; "" for a public one."""
        url = value.strip("\"' ")
        url = url[url.find("=") + 1 :] if re.match(r"[\w-]+=", url) else url  # uv's `name=url`
        if "$" in url or not re.match(r"[\w+.-]+://", url):
            return "another index" if "$" in url or url.startswith("-") else "a folder"
        host = re.sub(
            r":(?:80|443)$",
            "",
            re.split(r"[/?#]", url.partition("://")[2])[0].rpartition("@")[2].lower(),
        )
        if host in self._known:
            return ""
        return host if re.fullmatch(r"[\w.:-]{1,253}", host, re.ASCII) else "another index"

    def as_json(self) -> dict[str, Any]:
        """The arguments of an equal one, but for the known hosts."""
        return {"private": self.private, "public": sorted(self.public), "elsewhere": self.elsewhere}


class _Unusable(Exception):
    """A file that cannot be read; the text says which, and why."""


def read_project(
    root: str,
    public: Mapping[str, Sequence[str]] = PUBLIC,
    variables: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """The direct dependencies of the project in a folder: `direct`, a list of ecosystem, name and version ("" if no
    file says it); `versions`, the versions of all packages by ecosystem; `origins`, the arguments of `Origins` by
    ecosystem; `problem`, why there are none, or "".

    A version is that of a lock file, else of a constraint, else an exact one of the manifest.

    Args:
        public: the hosts of the public registries by ecosystem.
        variables: the variables of the environment that name indexes, or files that do.
        files: settings of package managers outside the project.
    """
    pypi, npm = (Origins(public[ecosystem]) for ecosystem in ("pypi", "npm"))
    try:
        folder = Path(root).expanduser()
        for name, value in (variables or {}).items():
            _read_variable(name, value, folder, pypi, npm)
        for path in chain(_settings(folder), map(Path, files)):
            _read_indexes(path, pypi, npm)
        python, python_versions = _python(folder, pypi)
        node, node_versions = _node(folder, npm)
        is_project = any(any(folder.glob(name)) for name in MANIFESTS)
    # Also no home folder, a null character.
    except (
        _Unusable,
        OSError,
        ValueError,
        RuntimeError,
    ) as error:
        return {"direct": [], "versions": {}, "origins": {}, "problem": str(error)}
    direct = [*_rows("pypi", python, python_versions), *_rows("npm", node, node_versions)]
    if not is_project:
        problem = f"The folder holds none of {', '.join(MANIFESTS)}. Name the folder of a project."
        return {"direct": [], "versions": {}, "origins": {}, "problem": problem}
    return {
        "direct": direct[:MOST_DEPENDENCIES],
        "versions": {"pypi": python_versions, "npm": node_versions},
        "origins": {"pypi": pypi.as_json(), "npm": npm.as_json()},
        "problem": "",
    }


def _rows(
    ecosystem: Ecosystem, direct: Specifiers, versions: Versions
) -> Iterator[tuple[str, str, str]]:
    for name in direct:
        try:
            yield (
                ecosystem,
                package_of(ecosystem, name, versions.get(name, "")).name,
                versions.get(name, ""),
            )
        except SearchValidationError:  # no registry has it
            continue


def _read(path: Path) -> str:
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
    text = _read(path)
    try:
        return table_of(parse(text)) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _Unusable(
            f"{path.name} is malformed. Repair it, or name the packages yourself."
        ) from error


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# ---------------------------------------------------------------------- indexes


def _settings(folder: Path) -> Iterator[Path]:
    """The files that may name indexes for a project: its own, and those of the folders up to its repository's."""
    yield from (place / name for place in _repository(folder) for name in _PROJECT_FILES)


def _repository(folder: Path) -> list[Path]:
    """The folder of the project, and those above it up to that of its repository."""
    above = [folder, *folder.resolve().parents[:MOST_PARENTS]]
    end = next((place for place, one in enumerate(above) if (one / ".git").exists()), 0)
    return above[: end + 1]


def _read_variable(variable: str, value: str, folder: Path, pypi: Origins, npm: Origins) -> None:
    kinds = _FILE_VARIABLES.get(variable.upper(), ())  # npm reads its own in any case
    path = folder / Path(value).expanduser() if kinds else folder
    for kind in kinds:
        _read_indexes(
            path / kind if variable in _FOLDER_VARIABLES else path,
            pypi,
            npm,
            kind.rpartition("/")[2],
        )
    if variable.startswith("PIP_") and not kinds:
        value = _without_added_folders(variable.removeprefix("PIP_"), value)
    if not kinds:
        (pypi if _INDEX_VARIABLE.fullmatch(variable) else npm).index(value, variable)


def _read_indexes(path: Path, pypi: Origins, npm: Origins, kind: str = "") -> None:
    """Note the indexes in a file; its name says its kind, unless `kind` does."""
    name, shown = (
        kind or path.name,
        "/".join(path.parts[-2:]) if path.parent.name in (".venv", "venv") else path.name,
    )
    if name in ("pip.conf", "pip.ini"):
        _read_pip(path, pypi)
    elif name.removeprefix(".") == "bunfig.toml":
        install = table_of(_parsed(path, tomllib.loads).get("install"))
        for scope, said in [
            ("", install.get("registry")),
            *table_of(install.get("scopes")).items(),
        ]:
            if url := table_of(said).get("url") if isinstance(said, dict) else said:
                _note_npm(npm, f"@{scope.lstrip('@')}" if scope else "", url, shown)
    elif name in ("pyproject.toml", "uv.toml", "pdm.toml", "config.toml", "Pipfile"):
        _read_python(_parsed(path, tomllib.loads), pypi, name)
    elif name in (".npmrc", "npmrc", ".yarnrc"):
        for key, url in _npm_settings(_read(path), separator=" " if name == ".yarnrc" else "="):
            scope, _, setting = key.rpartition(":")
            if setting == "registry":
                _note_npm(npm, scope, url, shown)
    else:
        for scope, url in _yaml_registries(_parsed(path, _yaml)):
            _note_npm(npm, scope, url, shown)


def _npm_settings(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """The keys and values of a .npmrc, or of a .yarnrc of Yarn 1."""
    for line in map(str.strip, text.splitlines()):
        if line.startswith(("#", ";", "[")):
            continue
        key, found, value = line.partition(separator)
        if not found and separator == "=":
            key, _, value = line.partition(" ")
        yield key.strip("\"' \t"), value.strip("\"' \t")


def _yaml(text: str) -> Any:
    """The value of a YAML text.

    Raises:
        ValueError: it is malformed.
    """
    import yaml

    try:
        return yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error


def _note_npm(npm: Origins, scope: str, url: Any, file: str) -> None:
    if scope:
        npm.package(f"{scope}/", url, file)
    else:
        npm.index(url, file)


def _yaml_registries(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The registries of a .yarnrc.yml or pnpm-workspace.yaml, each with its scope, or "" for that of all packages.

    A table in place of an address may hold any index.
    """
    found: list[tuple[str, Any]] = [
        ("", settings[key]) for key in ("npmRegistryServer", "registry") if key in settings
    ]
    for key, name in (("npmScopes", "npmRegistryServer"), ("registries", "")):
        table = settings.get(key)
        if table is not None and not isinstance(table, dict):
            found.append(("", table))
        for scope, said in table_of(table).items():
            url = table_of(said).get(name) if name else said
            if url is not None:
                found.append(("" if scope == "default" else f"@{str(scope).lstrip('@')}", url))
    for scope, url in found:
        yield scope, url if isinstance(url, str) else "-"


def _read_pip(path: Path, pypi: Origins) -> None:
    # https://pip.pypa.io/en/stable/topics/configuration/
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(_read(path))
    except configparser.Error as error:
        raise _Unusable(
            f"{path.name} is malformed. Repair it, or name the packages yourself."
        ) from error
    for section in parser.sections():
        for key, value in parser.items(section):
            if value and key.replace("_", "-") in _INDEX_KEYS:
                _note_pip(
                    pypi, key.replace("_", "-"), _without_added_folders(key, value), path.name
                )


def _without_added_folders(key: str, value: str) -> str:
    """A setting of pip without the folders that it looks in besides its index, which it asks for every name anyway."""
    if key.lower().replace("_", "-") not in ("find-links", "extra-index-url"):
        return value
    return " ".join(
        one for one in value.split() if "$" in one or re.match(r"(?!file:)[\w+.-]+://", one)
    )


def _note_pip(pypi: Origins, key: str, value: Any, file: str) -> None:
    if key != "no-index":
        pypi.index(value, file)
    elif str(value).lower() in ("true", "1", "yes", "on"):
        pypi.index("--no-index", file)


def _read_python(manifest: Mapping[str, Any], pypi: Origins, file: str) -> None:
    """Note the indexes of a pyproject.toml, a uv.toml, a configuration of PDM or a Pipfile."""
    tool = table_of(manifest.get("tool"))
    uv = table_of(tool.get("uv")) if file == "pyproject.toml" else manifest
    for table in (uv, table_of(uv.get("pip"))):
        for key in _INDEX_KEYS:
            if key in table:
                _note_pip(pypi, key, table[key], file)
    sources = [
        *_list(uv.get("index")),
        *_list(table_of(tool.get("pdm")).get("source")),
        *_list(manifest.get("source")),
    ]
    poetry = _list(table_of(tool.get("poetry")).get("source"))
    for source in map(table_of, [*sources, *poetry, manifest.get("pypi")]):
        if source.get("url") and not (
            source.get("explicit") is True or source.get("priority") == "explicit"
        ):
            pypi.index([source["url"]], file)
    for env in table_of(table_of(tool.get("hatch")).get("envs")).values():
        for name, value in table_of(table_of(env).get("env-vars")).items():
            if _INDEX_VARIABLE.fullmatch(name):
                pypi.index(value, file)


def _requirement_indexes(files: Iterable[Path], pypi: Origins) -> None:
    """Note the indexes that files of requirements name, and the files that these include."""
    waiting = dict.fromkeys(files)
    seen: set[Path] = set()
    while waiting:
        file = next(iter(waiting))
        del waiting[file]
        if file in seen:
            continue
        if len(seen) == MOST_REQUIREMENTS:
            pypi.index("-i", file.name)  # a file that is not read may name any index
            break
        seen.add(file)
        for line in _logical_lines(_read(file)):
            options = _pip_options(line)
            if options is None:  # pip would refuse the line: it may mean any index
                pypi.index("-i", file.name)
                continue
            urls = [
                options.index_url,
                *(options.extra_index_url or ()),
                *(options.find_links or ()),
            ]
            pypi.index([url for url in urls if url], file.name)
            if options.no_index:
                pypi.index("--no-index", file.name)
            for included in (*(options.requirement or ()), *(options.constraint or ())):
                if "://" not in included:
                    waiting[Path(os.path.normpath(file.parent / included))] = None


def _logical_lines(text: str) -> Iterator[str]:
    """The lines of a file of requirements as pip reads them: joined at a backslash, and without comments."""
    pending = ""
    for line in text.splitlines():
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            pending += line[:-1] + " "
            continue
        whole, pending = pending + line, ""
        yield _COMMENT.sub("", whole).strip()
    if pending.strip():
        yield _COMMENT.sub("", pending).strip()


class _PipParser(optparse.OptionParser):
    """pip reads the options of a line with `optparse`, which also takes the beginnings of their names."""

    def error(self, msg: str) -> NoReturn:
        raise ValueError(msg)


@cache
def _pip_parser() -> optparse.OptionParser:
    """The options that pip takes in a file of requirements
    (https://pip.pypa.io/en/stable/reference/requirements-file-format/#supported-options)."""
    parser = _PipParser(add_help_option=False)
    parser.add_option("-i", "--index-url", "--pypi-url", dest="index_url")
    for names in (
        ("--extra-index-url",),
        ("-f", "--find-links"),
        ("-r", "--requirement"),
        ("-c", "--constraint"),
        ("-e", "--editable"),
        ("--no-binary",),
        ("--only-binary",),
        ("--trusted-host",),
        ("--use-feature",),
        ("--global-option",),
        ("--config-settings", "--config-setting", "-C"),
        ("--hash",),
    ):
        parser.add_option(*names, action="append")
    for name in ("--no-index", "--prefer-binary", "--require-hashes", "--pre"):
        parser.add_option(name, action="store_true")
    return parser


LONGEST_LINE = 20_000
"""The longest line with options of pip that is read; one with fifty hashes has some 4,000 characters."""
_NO_OPTIONS = optparse.Values(
    dict.fromkeys(
        ("index_url", "extra_index_url", "find_links", "no_index", "requirement", "constraint")
    )
)


@lru_cache(maxsize=1_000)
def _pip_options(line: str) -> optparse.Values | None:
    """The options of a line; None if pip would refuse it."""
    words = line.split()
    first = next((place for place, word in enumerate(words) if word.startswith("-")), None)
    if first is None:
        return _NO_OPTIONS
    if len(line) > LONGEST_LINE:
        return None
    try:
        return _pip_parser().parse_args(shlex.split(" ".join(words[first:])))[0]
    except ValueError:
        return None


# ---------------------------------------------------------------------- Python


def _python(folder: Path, pypi: Origins) -> tuple[Specifiers, Versions]:
    manifest = _parsed(folder / "pyproject.toml", tomllib.loads)
    direct = dict(_declared(manifest))
    files = sorted(folder.glob("requirements*.txt")) + sorted(folder.glob("constraints*.txt"))
    _requirement_indexes([*files, *sorted(folder.glob("requirements*.in"))], pypi)
    lines = [line for file in files[:MOST_REQUIREMENTS] for line in _read(file).splitlines()]
    pinned = dict(_requirement(line) for line in lines)
    if not direct:
        named = [
            line
            for file in sorted(folder.glob("requirements*.txt"))
            for line in _read(file).splitlines()
        ]
        direct = dict(_requirement(line) for line in named)
    pins = (
        (name, _PINNED.fullmatch(said.partition(",")[0].partition("\\")[0].strip()))
        for name, said in chain(direct.items(), pinned.items())
    )
    found = {name: pin[1] for name, pin in pins if pin and "*" not in pin[1]} | dict(
        _locked(folder, pypi)
    )
    own = table_of(manifest.get("project")).get("name")
    without = {
        "",
        "python",
        _spelt(own) if isinstance(own, str) else "",
        *_from_elsewhere(manifest, pypi),
    }
    return {name: said for name, said in direct.items() if name not in without}, found


def _declared(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The requirements of a pyproject.toml: its own (PEP 621), its groups (PEP 735), and Poetry's."""
    project = table_of(manifest.get("project"))
    tables = [
        table_of(project.get("optional-dependencies")),
        table_of(manifest.get("dependency-groups")),
    ]
    lists = [project.get("dependencies"), *(one for table in tables for one in table.values())]
    for line in (line for one in lists for line in _list(one) if isinstance(line, str)):
        yield _requirement(line)
    for table in _poetry(manifest):
        for name, said in table.items():
            text: Any = said if isinstance(said, str) else table_of(said).get("version")
            yield (
                _spelt(name),
                f"=={text}" if isinstance(text, str) and re.match(r"\d", text) else str(text),
            )


def _poetry(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    poetry = table_of(table_of(manifest.get("tool")).get("poetry"))
    groups = (
        table_of(group).get("dependencies") for group in table_of(poetry.get("group")).values()
    )
    return [
        table_of(table)
        for table in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups)
    ]


def _from_elsewhere(manifest: Mapping[str, Any], pypi: Origins) -> Iterator[str]:
    """The dependencies that are no packages of an index; notes those of one that the manifest names for them."""
    uv, poetry = (table_of(table_of(manifest.get("tool")).get(tool)) for tool in ("uv", "poetry"))
    named = map(table_of, [*_list(uv.get("index")), *_list(poetry.get("source"))])
    indexes = {
        "pypi": "https://pypi.org/",
        **{str(one.get("name")).lower(): one.get("url") for one in named},
    }
    for table in [table_of(uv.get("sources")), *_poetry(manifest)]:
        for name, said in table.items():
            sources = [table_of(one) for one in (_list(said) or [said])]
            if any(_NOT_PYPI & source.keys() for source in sources):
                yield _spelt(name)
            for index in (source.get("index", source.get("source")) for source in sources):
                if index is not None:
                    url = indexes.get(str(index).lower()) or str(index)
                    pypi.package(_spelt(name), url, "pyproject.toml")


def _locked(folder: Path, pypi: Origins) -> Iterator[tuple[str, str]]:
    """The packages of the lock files with their versions. Notes where each comes from, if its file says it."""
    for lock in ("poetry.lock", "pdm.lock", "uv.lock", "pylock.toml"):
        listed = _parsed(folder / lock, tomllib.loads)
        for package in map(
            table_of, [*_list(listed.get("package")), *_list(listed.get("packages"))]
        ):
            if not isinstance(name := package.get("name"), str):
                continue
            source = table_of(package.get("source"))
            files = [
                table_of(one).get("url")
                for key in ("files", "wheels")
                for one in _list(package.get(key))
            ]
            index = (
                source.get("registry")
                or source.get("url")
                or package.get("index")
                or next(filter(None, files), None)
            )
            if lock == "poetry.lock" and not source:
                index = "https://pypi.org/"  # Poetry names no other source of a package
            if _LOCAL_SOURCES & source.keys() or _LOCAL_PACKAGES & package.keys():
                index = "."  # a folder
            if index is not None:
                pypi.package(_spelt(name), index, lock)
            if isinstance(version := package.get("version"), str):
                yield _spelt(name), version


def _requirement(line: str) -> tuple[str, str]:
    """The name and the specifier of a requirement; empty for options, comments, paths and addresses."""
    match = _REQUIREMENT.match(line)
    if match is None or _ARCHIVE.search(match[1]) or not _SPECIFIED.match(match[2]):
        return "", ""
    return _spelt(match[1]), match[2].strip()


def _spelt(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# ---------------------------------------------------------------------- JavaScript


def _node(folder: Path, npm: Origins) -> tuple[Specifiers, Versions]:
    manifest = _parsed(folder / "package.json", parse_json)
    catalogs = _catalogs(folder)
    own = _siblings(folder)
    direct: Specifiers = {}
    aliases: dict[str, str] = {}
    for field in ("dependencies", "devDependencies", "optionalDependencies"):
        for name, said in table_of(manifest.get(field)).items():
            text = said.strip() if isinstance(said, str) else ":"
            if text.startswith("catalog:"):
                listed = table_of(
                    catalogs.get(text.removeprefix("catalog:").strip() or "default")
                ).get(name)
                text = listed.strip() if isinstance(listed, str) else ":"
            alias = _NPM_ALIAS.fullmatch(text)
            wanted = (alias[2] or "") if alias else text
            if _OF_A_REGISTRY.fullmatch(wanted):
                aliases[name] = alias[1] if alias else name
                direct[aliases[name]] = wanted
    found = {
        name: match[1] for name, said in direct.items() if (match := _NPM_EXACT.fullmatch(said))
    }
    yarn, pnpm, bun = (_read(folder / name) for name in ("yarn.lock", "pnpm-lock.yaml", "bun.lock"))
    of_yarn, yarn_files = _yarn(yarn, direct)
    locked = {**of_yarn, **_pnpm(pnpm)}
    for name, url in [*yarn_files, *_pnpm_files(pnpm), *_BUN_RESOLVED.findall(bun)]:
        npm.package(aliases.get(name, name), url, "the lock file")
    lock_name = "package-lock.json"
    lock = _parsed(folder / lock_name, parse_json)
    for name, package in table_of(lock.get("dependencies")).items():
        locked[name] = str(table_of(package).get("version", ""))
        if isinstance(url := table_of(package).get("resolved"), str):
            npm.package(aliases.get(name, name), url, lock_name)
    for path, package in table_of(lock.get("packages")).items():
        before, inside, name = path.partition("node_modules/")
        if not inside and path:  # a folder of the project
            own.add(str(table_of(package).get("name") or PurePosixPath(path).name))
        elif table_of(package).get("link") is True:
            own.add(name)
        elif not before and name:
            locked[name] = str(table_of(package).get("version", ""))
            if isinstance(url := table_of(package).get("resolved"), str) and "://" in url:
                npm.package(
                    str(table_of(package).get("name") or aliases.get(name, name)), url, lock_name
                )
    own.update(_LOCAL.findall(yarn), _LOCAL.findall(bun))
    direct = {name: said for name, said in direct.items() if name not in own}
    return direct, {
        **found,
        **{aliases.get(name, name): version for name, version in locked.items() if version},
    }


def _catalogs(folder: Path) -> dict[str, Any]:
    """The versions that `catalog:` and `catalog:NAME` stand for, from the pnpm-workspace.yaml that is the nearest."""
    for place in _repository(folder):
        workspace = _parsed(place / "pnpm-workspace.yaml", _yaml)
        if workspace:
            return {"default": workspace.get("catalog"), **table_of(workspace.get("catalogs"))}
    return {}


def _siblings(folder: Path) -> set[str]:
    """The names of the packages of the workspaces that the project is, or that it lies in. They are its own.

    Raises:
        _Unusable: there are too many.
    """
    names: set[str] = set()
    for root in _repository(folder):
        manifest = _parsed(root / "package.json", parse_json)
        listed = manifest.get("workspaces")
        patterns = [
            *_list(table_of(listed).get("packages") or listed),
            *_list(_parsed(root / "pnpm-workspace.yaml", _yaml).get("packages")),
            *_list(_parsed(root / "lerna.json", parse_json).get("packages")),
        ]
        for pattern in patterns:
            for file in _members(root, str(pattern)):
                name = _parsed(file, parse_json).get("name")
                if isinstance(name, str):
                    names.add(name)
                if len(names) > MOST_SIBLINGS:
                    raise _Unusable(f"The workspace has more than {MOST_SIBLINGS:,} packages.")
    return names


def _members(root: Path, pattern: str) -> Iterator[Path]:
    """The manifests in the folders that a pattern of a workspace names."""
    parts = PurePosixPath(pattern.removeprefix("./")).parts
    if pattern.startswith(("!", "/")) or ".." in parts or not parts:
        return
    choices = [
        ["*/" * depth for depth in range(DEEPEST_SIBLINGS)] if part == "**" else [f"{part}/"]
        for part in parts
    ]
    for chosen in islice(product(*choices), MOST_SIBLINGS):
        for file in root.glob("".join(chosen) + "package.json"):
            if "node_modules" not in file.parts:
                yield file


def _pnpm(text: str) -> Versions:
    """The versions that a pnpm-lock.yaml gives to the dependencies of the project itself, not to those of packages.

    https://github.com/pnpm/spec/tree/master/lockfile
    """
    found: Versions = {}
    name = ""
    specifiers: str | None = (
        None  # the blanks before the key of this name, as long as its block goes on
    )
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


def _yarn(text: str, direct: Mapping[str, str]) -> tuple[Versions, list[tuple[str, str]]]:
    """The versions in a yarn.lock, of either format; of several, the one for what the project asks for. Also
    the addresses of the packages' files, where it names them."""
    found: Versions = {}
    files: list[tuple[str, str]] = []
    exact: set[str] = set()
    keys: list[str] = []
    name = ""
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            keys = [key.strip().strip('"') for key in line.rstrip(":").split(",")]
            named = _YARN_KEY.match(line.strip().strip('"'))
            name = named[1] if named else ""
        elif version := _YARN_VERSION.match(line):
            for key in keys:
                match = _YARN_KEY.fullmatch(key)
                if match is None or match[1] in exact:
                    continue
                found[match[1]] = version[1]
                if (
                    key.partition("@npm:")[2] == direct.get(match[1])
                    or key == f"{match[1]}@{direct.get(match[1])}"
                ):
                    exact.add(match[1])
            keys = []
        elif (resolved := _YARN_RESOLVED.match(line)) and name:
            files.append((name, resolved[1]))
        elif archive := _YARN_ARCHIVE.match(line):
            files.append((archive[1], unquote(archive[2])))
    return found, files


def _pnpm_files(text: str) -> Iterator[tuple[str, str]]:
    """The same of a pnpm-lock.yaml, which says it of files that do not come from the configured registry."""
    name = ""
    for line in text.partition("\npackages:")[2].splitlines():
        if key := _PNPM_KEY.match(line):
            name = key[1]
        elif (tarball := _PNPM_TARBALL.search(line)) and name:
            yield name, tarball[1]
