"""Packages by name: where its registry says that the documentation of `pypi:NAME` or `npm:NAME` is, and which packages
a project uses.

Replies of a registry and files of a project are a stranger's: they are parsed in a worker process, never run, and an
address is checked like any other when it is fetched.

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urldefrag, urlsplit

from websearch_gateway.docs_index.crawl.scope import canonical
from websearch_gateway.docs_index.models import Run, quoted
from websearch_gateway.errors import SearchFetchError, SearchProviderParseError, SearchValidationError, shown
from websearch_gateway.models import Deadline
from websearch_gateway.net.fetch import Fetcher

LOOK_UP_SECONDS = 15.0
MAX_REPLY_BYTES = 20_000_000
"""The largest reply of a registry. PyPI's lists the files of every version."""
MOST_LINKS = 100
MOST_NPM_CHARS = 214
"""The most characters of a name (https://docs.npmjs.com/cli/v11/configuring-npm/package-json#name)."""
REPOSITORY_PAGES = ("", "*/docs", "*/docs/*")
"""The globs for the pages of a repository that are documentation: its own page and the folder `docs`."""

Ecosystem = Literal["pypi", "npm"]

_TITLES: Mapping[Ecosystem, str] = {"pypi": "PyPI", "npm": "npm"}
# https://packaging.python.org/en/latest/specifications/name-normalization/
_PYPI_NAME = re.compile(r"[A-Z0-9](?:[A-Z0-9._-]{0,98}[A-Z0-9])?", re.IGNORECASE | re.ASCII)
_NPM_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*", re.IGNORECASE | re.ASCII)
_VERSION = re.compile(r"[A-Z0-9][A-Z0-9.+!_-]{0,60}", re.IGNORECASE | re.ASCII)
_SEPARATORS = re.compile(r"[-_.]+")
# In the order of preference; https://packaging.python.org/en/latest/specifications/well-known-project-urls/
_DOCUMENTATION = ("documentation", "docs", "doc", "readthedocs", "userguide", "manual", "apidocs", "apireference")
_HOME = ("homepage", "home", "website")
_CODE = ("repository", "source", "sourcecode", "github", "gitlab", "code")
CODE_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
_SHORT_HOSTS = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org", "": "github.com"}
_SHORT = re.compile(r"(?:(github|gitlab|bitbucket):)?([\w.-]+/[\w.-]+)", re.ASCII)
_SSH = re.compile(r"(?:ssh://)?git@([\w.-]+)[:/](.+)", re.ASCII)
_NO_PAGES = re.compile(r"https?://(?:www\.)?(?:pypi\.org|npmjs\.com|npmjs\.org)(?:/|$)")


@dataclass(frozen=True, slots=True)
class Package:
    """A package of a registry; `version` is "" for its newest."""

    ecosystem: Ecosystem
    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.ecosystem}:{self.name}{'@' if self.version else ''}{self.version}"


@dataclass(frozen=True, slots=True)
class Documentation:
    """Where the documentation of a version is. `include` are the globs of its pages, if it is a code repository."""

    url: str
    version: str
    include: tuple[str, ...] = ()


def package_named(source: str) -> Package | None:
    """The package that a source names as `pypi:NAME` or `npm:NAME`, with `@VERSION` or without; None if it is none.

    Raises:
        SearchValidationError: no package can have that name or version.
    """
    prefix, colon, rest = source.strip().partition(":")
    if not colon or prefix not in ("pypi", "npm"):
        return None
    ecosystem: Ecosystem = "pypi" if prefix == "pypi" else "npm"
    at = rest.rfind("@")
    name, version = (rest[:at], rest[at + 1 :]) if at > 0 else (rest, "")
    return package_of(ecosystem, name, version) if at != len(rest) - 1 else _refuse(ecosystem, rest)


def package_of(ecosystem: Ecosystem, name: str, version: str = "") -> Package:
    """A package with its name in the one spelling of the registry.

    Raises:
        SearchValidationError: no package can have that name or version.
    """
    pattern = _PYPI_NAME if ecosystem == "pypi" else _NPM_NAME
    if len(name) > MOST_NPM_CHARS or not pattern.fullmatch(name) or (version and not _VERSION.fullmatch(version)):
        return _refuse(ecosystem, f"{name}@{version}" if version else name)
    return Package(ecosystem, _SEPARATORS.sub("-", name).lower() if ecosystem == "pypi" else name, version)


def _refuse(ecosystem: Ecosystem, text: str) -> Package:
    raise SearchValidationError(
        f"{quoted(text)} is no package of {_TITLES[ecosystem]}. Give its name, with a version or without, such as "
        "pypi:django@5.2 or npm:@vue/compiler-core."
    )


@dataclass(frozen=True, slots=True)
class Registries:
    """The registries of packages: the addresses before their own paths."""

    fetcher: Fetcher
    workers: Run
    pypi: str
    npm: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """The variables of the environment that name other indexes for the projects of this machine."""

    def address(self, package: Package) -> str:
        """Where the registry describes a version of a package (https://docs.pypi.org/api/json/,
        https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md)."""
        if package.ecosystem == "npm":
            return f"{self.npm}/{quote(package.name, safe='@~')}/{quote(package.version or 'latest', safe='')}"
        version = f"/{quote(package.version, safe='')}" if package.version else ""
        return f"{self.pypi}/pypi/{package.name}{version}/json"

    async def find(self, package: Package) -> Documentation:
        """Where the documentation of a package is.

        Raises:
            SearchValidationError: there is no such package, it was withdrawn, or it names no documentation.
            SearchFetchError, SearchTimeoutError, SearchProviderParseError: the registry does not answer as it should.
        """
        title, deadline = _TITLES[package.ecosystem], Deadline.after(LOOK_UP_SECONDS)
        body = await self._reply(package, deadline)
        try:
            facts = await self.workers.run(described, package.ecosystem, body, package.version, deadline=deadline)
        except SearchFetchError as error:
            raise SearchProviderParseError(f"The reply of {title} cannot be read.") from error
        instead = "Add the address of its documentation: websearch-gateway docs add URL NAME VERSION"
        if facts["missing"]:
            raise SearchValidationError(f"{title} has no {_wanted(package)}. Check the name and version. {instead}")
        if (reason := facts["withdrawn"]) is not None:
            why = f" ({shown(reason)})" if reason.isprintable() and reason else ""
            raise SearchValidationError(f"{_wanted(package)} was withdrawn from {title}{why}. Name another version.")
        if not facts["url"]:
            raise SearchValidationError(f"{title} names no documentation of {_wanted(package)}. {instead}")
        return Documentation(facts["url"], facts["version"], REPOSITORY_PAGES if facts["is_repository"] else ())

    async def _reply(self, package: Package, deadline: Deadline) -> bytes:
        """The description of a package; empty if the registry has none."""
        place = self.address(package)
        try:
            reply = await self.fetcher.fetch(place, deadline, accept="application/json", max_bytes=MAX_REPLY_BYTES)
        except SearchFetchError as error:
            if error.details.get("status") in (404, 405, 410):
                return b""
            raise
        return reply.body


def _wanted(package: Package) -> str:
    return f"{package.name} {package.version}".strip()


def described(ecosystem: Ecosystem, body: bytes, version: str) -> dict[str, Any]:
    """What a registry's reply says of a package, for `Registries.find`. Runs in a worker process.

    Raises:
        ValueError: the reply is not a description.
    """
    found: dict[str, Any] = {
        "missing": not body,
        "withdrawn": None,
        "url": "",
        "version": version,
        "is_repository": False,
    }
    if not body:
        return found
    reply = json.loads(body)
    if not isinstance(reply, dict):
        raise ValueError("not an object")
    found |= _pypi(reply) if ecosystem == "pypi" else _npm(reply)
    return found if _VERSION.fullmatch(found["version"]) else {**found, "version": version}


def _pypi(reply: dict[str, Any]) -> dict[str, Any]:
    info = table_of(reply.get("info"))
    labels: dict[str, str] = {}
    for label, url in list(table_of(info.get("project_urls")).items())[:MOST_LINKS]:
        labels.setdefault(re.sub(r"[^a-z]", "", label.lower()), _text(url))
    named = [labels.get(name, "") for name in _DOCUMENTATION]
    named += [url for label, url in labels.items() if "documentation" in label or "docs" in label]
    homes = [*(labels.get(name, "") for name in _HOME), _text(info.get("home_page"))]
    codes = [labels.get(name, "") for name in _CODE]
    url, is_repository = _chosen([*named, _text(info.get("docs_url"))], homes, codes)
    withdrawn = _text(info.get("yanked_reason")) if info.get("yanked") is True else None
    return {"version": _text(info.get("version")), "url": url, "is_repository": is_repository, "withdrawn": withdrawn}


def _npm(reply: dict[str, Any]) -> dict[str, Any]:
    code = reply.get("repository")
    table = {"url": code} if isinstance(code, str) else table_of(code)
    repository, folder = repository_page(_text(table.get("url"))), _text(table.get("directory")).strip("/")
    if repository and re.fullmatch(r"[\w@-][\w@.-]*(?:/[\w@-][\w@.-]*)*", folder, re.ASCII):
        repository = f"{repository}/blob/HEAD/{folder}/README.md"
    url, is_repository = _chosen([], [urldefrag(_text(reply.get("homepage"))).url], [repository])
    return {"version": _text(reply.get("version")), "url": url, "is_repository": is_repository}


def _chosen(named: Iterable[str], homes: Iterable[str], codes: Iterable[str]) -> tuple[str, bool]:
    """The first usable address, and whether it is a code repository. A home page on a code host is one."""
    pages = list(filter(None, map(repository_page, codes)))
    for url in filter(_is_page, named):
        if not (_is_on_code_host(url) and len(urlsplit(url).path.strip("/").split("/")) == 2):
            return urldefrag(url).url, False
    for url in filter(_is_page, homes):
        own = repository_page(url)
        if not _is_on_code_host(url) and not any(f"{page}/".startswith(f"{own}/") for page in pages):
            return urldefrag(url).url, False
    pages += map(repository_page, [*named, *homes])
    page = next(filter(None, pages), "")
    return page, bool(page) and "/blob/" not in page


def repository_page(url: str) -> str:
    """The web page of a code repository, from any form that package.json allows; "" for any other text.

    https://docs.npmjs.com/cli/v11/configuring-npm/package-json#repository
    """
    url = urldefrag(url.strip()).url.removeprefix("git+")
    if short := _SHORT.fullmatch(url):
        url = f"https://{_SHORT_HOSTS[short[1] or '']}/{short[2]}"
    elif ssh := _SSH.fullmatch(url):
        url = f"https://{ssh[1]}/{ssh[2]}"
    elif url.startswith("git://"):
        url = f"https://{url.removeprefix('git://')}"
    url = url.rstrip("/").removesuffix(".git")
    return url if _is_page(url) else ""


def _is_on_code_host(url: str) -> bool:
    return (urlsplit(url).hostname or "").removeprefix("www.") in CODE_HOSTS


def _is_page(url: str) -> bool:
    page = canonical(url) if url.startswith(("https://", "http://")) and url.isprintable() and " " not in url else ""
    return bool(page) and page.isascii() and not _NO_PAGES.match(url)


def table_of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value.strip()[:2_000] if isinstance(value, str) else ""


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
    for kind in ("dependencies", "devDependencies", "optionalDependencies"):
        for name, said in table_of(manifest.get(kind)).items():
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
