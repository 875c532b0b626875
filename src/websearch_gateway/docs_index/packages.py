"""Packages by name: where its registry says that the documentation of `pypi:NAME` or `npm:NAME` is.

`read_project` lists the packages that a project depends on directly, and the versions in use, from its manifests and
lock files, which are only read, never run.

Replies of a registry and files of a project are a stranger's: both are parsed in a worker process, and an address is
checked like any other when it is fetched.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urldefrag, urlsplit

from websearch_gateway.docs_index.crawl.scope import canonical
from websearch_gateway.docs_index.models import Fetch, Run, quoted
from websearch_gateway.errors import SearchFetchError, SearchProviderParseError, SearchValidationError, shown
from websearch_gateway.models import Deadline

LOOK_UP_SECONDS = 15.0
MAX_REPLY_BYTES = 20_000_000
"""The largest reply of a registry. npm's has every version of a package: the largest are fetched for one version."""
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

    fetcher: Fetch
    workers: Run
    pypi: str
    npm: str

    def address(self, package: Package) -> str:
        """Where the registry describes a package (https://docs.pypi.org/api/json/,
        https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md)."""
        if package.ecosystem == "npm":
            return f"{self.npm}/{quote(package.name, safe='@~')}"
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
        places = [self.address(package)]
        if package.ecosystem == "npm":
            places.append(f"{places[0]}/{quote(package.version or 'latest', safe='')}")
        for place in places:
            try:
                reply = await self.fetcher.fetch(place, deadline, accept="application/json", max_bytes=MAX_REPLY_BYTES)
            except SearchFetchError as error:
                if error.details.get("status") in (404, 405, 410):
                    return b""
                if error.details.get("reason") != "too_large" or place == places[-1]:
                    raise
            else:
                return reply.body
        return b""


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
    found |= _pypi(reply) if ecosystem == "pypi" else _npm(reply, version)
    return found if _VERSION.fullmatch(found["version"]) else {**found, "version": version}


def _pypi(reply: dict[str, Any]) -> dict[str, Any]:
    info = _table(reply.get("info"))
    labels: dict[str, str] = {}
    for label, url in list(_table(info.get("project_urls")).items())[:MOST_LINKS]:
        labels.setdefault(re.sub(r"[^a-z]", "", label.lower()), _text(url))
    named = [labels.get(name, "") for name in _DOCUMENTATION]
    named += [url for label, url in labels.items() if "documentation" in label or "docs" in label]
    homes = [*(labels.get(name, "") for name in _HOME), _text(info.get("home_page"))]
    codes = [labels.get(name, "") for name in _CODE]
    url, is_repository = _chosen([*named, _text(info.get("docs_url"))], homes, codes)
    withdrawn = _text(info.get("yanked_reason")) if info.get("yanked") is True else None
    return {"version": _text(info.get("version")), "url": url, "is_repository": is_repository, "withdrawn": withdrawn}


def _npm(reply: dict[str, Any], version: str) -> dict[str, Any]:
    tags = _table(reply.get("dist-tags"))
    version = _text(tags.get(version or "latest")) or version
    versions = reply.get("versions")
    own = _table(versions.get(version)) if isinstance(versions, dict) else reply
    if not own:
        return {"missing": "unpublished" not in _table(reply.get("time")), "withdrawn": "unpublished"}
    code = own.get("repository") or reply.get("repository")
    table = {"url": code} if isinstance(code, str) else _table(code)
    repository, folder = repository_page(_text(table.get("url"))), _text(table.get("directory")).strip("/")
    if repository and re.fullmatch(r"[\w@-][\w@.-]*(?:/[\w@-][\w@.-]*)*", folder, re.ASCII):
        repository = f"{repository}/blob/HEAD/{folder}/README.md"
    home = urldefrag(_text(own.get("homepage") or reply.get("homepage"))).url
    url, is_repository = _chosen([], [home], [repository])
    return {"version": _text(own.get("version")) or version, "url": url, "is_repository": is_repository}


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


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value.strip()[:2_000] if isinstance(value, str) else ""


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
        return _table(parse(text)) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _Unusable(f"{path.name} is malformed. Repair it, or name the packages yourself.") from error


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# ---------------------------------------------------------------------- Python


def _python(folder: Path) -> tuple[Specifiers, Versions]:
    manifest = _parsed(folder / "pyproject.toml", tomllib.loads)
    direct = dict(_declared(manifest))
    files = sorted(folder.glob("requirements*.txt")) + sorted(folder.glob("constraints*.txt"))
    lines = [line for file in files[:MOST_REQUIREMENTS] for line in _read(file).splitlines()]
    pinned = dict(_requirement(line) for line in lines)
    if not direct:
        named = [line for file in sorted(folder.glob("requirements*.txt")) for line in _read(file).splitlines()]
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
    tables = [
        _table(project.get("optional-dependencies")),
        _table(manifest.get("dependency-groups")),
    ]
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
    locked = {**_yarn(_read(folder / "yarn.lock"), direct), **_pnpm(_read(folder / "pnpm-lock.yaml"))}
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
