"""Packages by name: where its registry says that the documentation of `pypi:NAME` or `npm:NAME` is.

Replies of a registry are a stranger's: they are parsed in a worker process, and an address is checked like any other
when it is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, urldefrag, urlsplit

from websearch_gateway.base import Fetcher, quoted_line
from websearch_gateway.docs.crawl.scope import canonical
from websearch_gateway.docs.models import Run, quoted
from websearch_gateway.errors import (
    SearchFetchError,
    SearchProviderParseError,
    SearchValidationError,
)
from websearch_gateway.foreign_json import parse_json, reading_reply
from websearch_gateway.models import Deadline

LOOK_UP_SECONDS = 15.0
MAX_REPLY_BYTES = 20_000_000
"""The largest reply of a registry. PyPI's lists the files of every version."""
MOST_LINKS = 100
MOST_NPM_CHARS = 214
"""The most characters of a name (https://docs.npmjs.com/cli/v11/configuring-npm/package-json#name)."""
REPOSITORY_PAGES = ("", "*/docs", "*/docs/*")
"""The globs for the pages of a repository that are documentation: its own page and the folder `docs`."""

_UNKNOWN_PACKAGE = (404, 405, 410)
"""The statuses by which registries say that there is no such package."""

Ecosystem = Literal["pypi", "npm"]

_TITLES: Mapping[Ecosystem, str] = {"pypi": "PyPI", "npm": "npm"}
# https://packaging.python.org/en/latest/specifications/name-normalization/
_PYPI_NAME = re.compile(r"[A-Z0-9](?:[A-Z0-9._-]{0,98}[A-Z0-9])?", re.IGNORECASE | re.ASCII)
_NPM_NAME = re.compile(
    r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*", re.IGNORECASE | re.ASCII
)
_VERSION = re.compile(r"[A-Z0-9][A-Z0-9.+!_-]{0,60}", re.IGNORECASE | re.ASCII)
_SEPARATORS = re.compile(r"[-_.]+")
# In the order of preference; https://packaging.python.org/en/latest/specifications/well-known-project-urls/
_DOCUMENTATION = (
    "documentation",
    "docs",
    "doc",
    "readthedocs",
    "userguide",
    "manual",
    "apidocs",
    "apireference",
)
_HOME = ("homepage", "home", "website")
_CODE = ("repository", "source", "sourcecode", "github", "gitlab", "code")
CODE_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
_SHORT_HOSTS = {
    "github": "github.com",
    "gitlab": "gitlab.com",
    "bitbucket": "bitbucket.org",
    "": "github.com",
}
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
    """The package that a source names as `pypi:NAME` or `npm:NAME`, with `@VERSION` or without; None for any other source.

    Raises:
        SearchValidationError: no package can have that name or version.
    """
    prefix, colon, rest = source.strip().partition(":")
    if not colon or prefix not in ("pypi", "npm"):
        return None
    ecosystem: Ecosystem = "pypi" if prefix == "pypi" else "npm"
    at = rest.rfind("@")
    if at == len(rest) - 1:  # without a name, or without the version that it announces
        return _refuse(ecosystem, rest)
    if at <= 0:  # the sign of a scope: `@vue/compiler-core`
        return package_of(ecosystem, rest)
    return package_of(ecosystem, rest[:at], rest[at + 1 :])


def package_of(ecosystem: Ecosystem, name: str, version: str = "") -> Package:
    """A package with its name in the one spelling of the registry.

    Raises:
        SearchValidationError: no package can have that name or version.
    """
    pattern = _PYPI_NAME if ecosystem == "pypi" else _NPM_NAME
    is_name = len(name) <= MOST_NPM_CHARS and pattern.fullmatch(name)
    is_version = not version or _VERSION.fullmatch(version)
    if not is_name or not is_version:
        return _refuse(ecosystem, f"{name}@{version}" if version else name)
    if ecosystem == "pypi":
        name = _SEPARATORS.sub("-", name).lower()
    return Package(ecosystem, name, version)


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
        title = _TITLES[package.ecosystem]
        wanted = f"{package.name} {package.version}".strip()
        deadline = Deadline.after(LOOK_UP_SECONDS)
        body = await self._reply(package, deadline)
        try:
            facts = await self.workers.run(
                described, package.ecosystem, body, package.version, deadline=deadline
            )
        except SearchFetchError as error:
            raise SearchProviderParseError(f"The reply of {title} cannot be read.") from error
        instead = (
            "Add the address of its documentation: websearch-gateway docs add URL NAME VERSION"
        )
        if facts["missing"]:
            raise SearchValidationError(
                f"{title} has no {wanted}. Check the name and version. {instead}"
            )
        reason = facts["withdrawn"]
        if reason is not None:
            why = f" Its maintainers say: {quoted_line(reason)}" if reason else ""
            raise SearchValidationError(
                f"{wanted} was withdrawn from {title}. Name another version.{why}"
            )
        if not facts["url"]:
            raise SearchValidationError(f"{title} names no documentation of {wanted}. {instead}")
        include = REPOSITORY_PAGES if facts["is_repository"] else ()
        return Documentation(facts["url"], facts["version"], include)

    async def _reply(self, package: Package, deadline: Deadline) -> bytes:
        """What the registry says of a package; empty if it knows none."""
        try:
            reply = await self.fetcher.fetch(
                self.address(package),
                deadline,
                accept="application/json",
                max_bytes=MAX_REPLY_BYTES,
            )
        except SearchFetchError as error:
            if error.details.get("status") in _UNKNOWN_PACKAGE:
                return b""
            raise
        return reply.body


def described(ecosystem: Ecosystem, body: bytes, version: str) -> dict[str, Any]:
    """What a registry's reply says of a package, for `Registries.find`. Runs in a worker process.

    Raises:
        SearchProviderParseError: the reply is not a description.
    """
    facts: dict[str, Any] = {"missing": not body, "withdrawn": None, "url": "", "version": version}
    if not body:
        return facts
    with reading_reply(f"The reply of {_TITLES[ecosystem]} cannot be read."):
        reply = parse_json(body)
        facts |= _pypi(reply) if ecosystem == "pypi" else _npm(reply)
    if not _VERSION.fullmatch(facts["version"]):
        facts["version"] = version
    return facts


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
    return {
        "version": _text(info.get("version")),
        "url": url,
        "is_repository": is_repository,
        "withdrawn": withdrawn,
    }


def _npm(reply: dict[str, Any]) -> dict[str, Any]:
    code = reply.get("repository")
    table = {"url": code} if isinstance(code, str) else table_of(code)
    repository = repository_page(_text(table.get("url")))
    folder = _text(table.get("directory")).strip("/")
    if repository and re.fullmatch(r"[\w@-][\w@.-]*(?:/[\w@-][\w@.-]*)*", folder, re.ASCII):
        repository = f"{repository}/blob/HEAD/{folder}/README.md"
    url, is_repository = _chosen([], [urldefrag(_text(reply.get("homepage"))).url], [repository])
    return {"version": _text(reply.get("version")), "url": url, "is_repository": is_repository}


def _chosen(named: Iterable[str], homes: Iterable[str], codes: Iterable[str]) -> tuple[str, bool]:
    """The first usable address, and whether it is a code repository. A home page on a code host is one."""
    repositories = list(filter(None, map(repository_page, codes)))
    for url in filter(_is_page, named):
        is_repository = _is_on_code_host(url) and urlsplit(url).path.strip("/").count("/") == 1
        if not is_repository:
            return urldefrag(url).url, False
    for url in filter(_is_page, homes):
        home = f"{repository_page(url)}/"
        is_of_code = any(f"{repository}/".startswith(home) for repository in repositories)
        if not is_of_code and not _is_on_code_host(url):
            return urldefrag(url).url, False
    repositories += map(repository_page, [*named, *homes])
    page = next(filter(None, repositories), "")
    return page, bool(page) and "/blob/" not in page


def repository_page(url: str) -> str:
    """The web page of a code repository, from any form that package.json allows; "" for any other text.

    https://docs.npmjs.com/cli/v11/configuring-npm/package-json#repository
    """
    url = urldefrag(url.strip()).url.removeprefix("git+")
    short, ssh = _SHORT.fullmatch(url), _SSH.fullmatch(url)
    if short:
        url = f"https://{_SHORT_HOSTS[short[1] or '']}/{short[2]}"
    elif ssh:
        url = f"https://{ssh[1]}/{ssh[2]}"
    elif url.startswith("git://"):
        url = f"https://{url.removeprefix('git://')}"
    url = url.rstrip("/").removesuffix(".git")
    return url if _is_page(url) else ""


def _is_on_code_host(url: str) -> bool:
    return (urlsplit(url).hostname or "").removeprefix("www.") in CODE_HOSTS


def _is_page(url: str) -> bool:
    is_web_address = url.startswith(("https://", "http://")) and url.isprintable()
    if not is_web_address or " " in url:
        return False
    page = canonical(url)
    return bool(page) and page.isascii() and not _NO_PAGES.match(url)


def table_of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value.strip()[:2_000] if isinstance(value, str) else ""
