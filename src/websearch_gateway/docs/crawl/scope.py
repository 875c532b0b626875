"""Says which addresses belong to a site, and gives each its canonical spelling. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit, urlunsplit

from websearch_gateway.base import strip_trackers
from websearch_gateway.docs.models import Skipped
from websearch_gateway.models import LONGEST_URL

MAX_URL_CHARS = 500
MAX_REPEATS = 3
"""How often one segment may occur in a path; more is a loop of relative links."""

ELSEWHERE = "on another site"
"""Why an address is not fetched that is no part of the site at all: nobody misses it."""
OUTSIDE = "outside of the start URL's folder"
NO_PAGE = "a type of file without text, or a copy of a page"
EXCLUDED = "--exclude leaves it out"
MOST_LEFT_OUT = 20_000
SHOWN_LEFT_OUT = 5

ByReason = Mapping[str, Sequence[str]]
"""Addresses by the reasons for which they are left out."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_INDEX = re.compile(r"/index\.x?html?$")
# Sessions in paths: of Java and PHP, and `/(S(id))/` of ASP.NET without cookies.
_SESSION = re.compile(
    r";(?:j|php)?sess(?:ion)?_?id=[^/?;]*|/\((?:[A-Z]\([^()/]{1,200}\)){1,5}\)(?=/)", re.IGNORECASE
)
# Sessions in queries, and what jQuery adds against caches.
_SESSION_NAMES = re.compile(
    r"(?:php|j|asp)?sess(?:ion)?_?id|aspsessionid\w*|cfid|cftoken|oscsid|zenid|phpsessid|_",
    re.IGNORECASE,
)
_SID = re.compile(r"(?:sid|s)=[0-9a-f]{16,64}", re.IGNORECASE)
"""A short name may also be that of a story or a search, whose value is no long hexadecimal number."""
_SLASH = re.compile(r"(?<=\w)%2F(?=\w)", re.IGNORECASE)
"""A slash within a segment, as in `@scope%2Fname`: another address than with `/`."""
# Files without text, and duplicates of pages.
_FOLDERS = r"|/_sources/|/_static/|/_images/|/_downloads/|/print\.html$|/cgi-bin/"
_TYPES = (
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|map|xml|rss|atom|inv|zip|t?gz|tar|bz2|xz|7z|rar|whl|jar|deb|rpm"
    r"|exe|dmg|msi|iso|bin|woff2?|ttf|eot|otf|mp[34]|webm|ogg|wav|avi|mov|mobi|ps|csv|log|patch|diff|sig|asc"
    r"|sha256|md5"
)
_CODE = r"m?js|json|py|c|h"
"""In a folder the ending of a file is its type; on the web `/docs/node.js` may be a page."""
_NEVER_IN_FILES = re.compile(rf"{_TYPES}|{_CODE})${_FOLDERS}", re.IGNORECASE)
# A site offers these beside its pages; a folder may consist of them.
_NEVER = re.compile(rf"{_TYPES}|epub|docx?|xlsx?|pptx?|ipynb|pdf)${_FOLDERS}", re.IGNORECASE)
# Words that end the names of members: `math.log`, `Array.map`, `hashlib.sha256`. Documentation has a page for each.
_MEMBER = re.compile(
    r"/[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*"
    r"\.(css|map|xml|inv|zip|tar|bin|csv|log|patch|diff|sig|asc|iso|jar|mov|ps|md5|sha256)$"
)
_COPIES = (".md", ".txt")
_FORMAT = re.compile(r"/?(?:(?<=/)index)?(?:\.html?)?(?:\.md|\.txt)?$")
# The general indexes of Sphinx, DocBook, javadoc, pydoctor and docsify, their help, and what else only leads to pages.
_FOLLOWED = re.compile(
    r"/(?:genindex[^/]*|bookindex|index-all|py-modindex|modindex)(?:\.html)?$|/search\.html$|/_modules/"
    r"|/(?:all(?:classes|packages)-(?:index|frame)|(?:overview|package)-tree|help-doc|(?:name|module|class)Index"
    r"|apidocs-help)\.html$|/_sidebar\.md$",
    re.IGNORECASE,
)


class _List(NamedTuple):
    """The address and the title of a list of names that a generator writes.

    Other sites give such addresses to pages, so the titles must be theirs too.
    """

    path: re.Pattern[str]
    title: re.Pattern[str]


_LISTS = (
    _List(  # doxygen
        re.compile(
            r"/(?:classes|hierarchy|(?:functions|globals|namespacemembers)(?:_\w{1,9})?)\.html$"
        ),
        re.compile(
            r"\b(?:Class|Data Structure) (?:Index|Hierarchy)|(?:Class|File|Namespace) Members|Data Fields|: Globals"
            r"|^Globals$"
        ),
    ),
    _List(  # doxygen, qdoc
        re.compile(r"-members\.html$"),
        re.compile(r"\bMember List$|^List of All Members for "),
    ),
    _List(  # javadoc
        re.compile(r"/(?:class-use/[^/]+|package-use)\.html$"),
        re.compile(r"^Uses of "),
    ),
    _List(  # javadoc
        re.compile(r"/(?:index-\d+|serialized-form)\.html$"),
        re.compile(r"^\S+-Index\b|^Serialized Form\b"),
    ),
    _List(  # haddock
        re.compile(r"/doc-index[^/]*\.html$"),
        re.compile(r"\(Index(?: - [^()]+)?\)$"),
    ),
)
# Codes that are not common English words: `/it/` and `/no/` are ambiguous.
_LANGUAGE = re.compile(
    r"(?:ar|bg|bn|ca|cs|da|de|el|es|et|fa|fi|fr|he|hi|hr|hu|ja|ka|ko|lt|lv|nl|pl|pt|ro|ru|sk|sl|sr|sv|th|tr|uk|ur|vi|zh)"
    r"(?:[-_][a-z]{2,4})?",
    re.IGNORECASE,
)


def canonical(url: str) -> str:
    """The one spelling of a page's address: no fragment, `index.html`, trackers or default port, the query sorted.

    "" if it is not the address of a page.
    """
    if len(url) > LONGEST_URL:
        return ""
    try:
        url.encode()  # half of a surrogate pair is part of no address
        parts = urlsplit(strip_trackers(url.strip()))
        port = parts.port
    except ValueError:
        return ""
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    is_of_web = scheme in ("http", "https") and host
    if "@" in parts.netloc or not (is_of_web or scheme == "file"):
        return ""
    netloc = f"[{host}]" if ":" in host else host
    if port not in (None, _DEFAULT_PORTS.get(scheme)):
        netloc = f"{netloc}:{port}"
    return urlunsplit((scheme, netloc, _path(parts.path), _query(parts.query), ""))


def _path(path: str) -> str:
    """The one spelling of a path, without its session and its `index.html`."""
    segments = _SLASH.split(_SESSION.sub("", path))
    path = "%2F".join(map(_one_spelling, segments)) or "/"
    return _INDEX.sub("/", _without_dots(path))


def _query(query: str) -> str:
    """The parameters of a query in their order by name, without those of a session."""
    if not query:
        return ""
    parameters = parse_qsl(query, keep_blank_values=True)
    return urlencode(sorted(pair for pair in parameters if not _is_session(*pair)))


def _is_session(name: str, value: str) -> bool:
    return bool(_SESSION_NAMES.fullmatch(name) or _SID.fullmatch(f"{name}={value}"))


def _one_spelling(path: str) -> str:
    return quote(
        unquote(path, errors="surrogateescape"), safe="/!$&'()*+,;=:@~", errors="surrogateescape"
    )


def _without_dots(path: str) -> str:
    """A path with its segments `.` and `..` resolved (RFC 3986, section 5.2.4), which `%2e` may have hidden."""
    if "/." not in path:
        return path
    segments: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    end = "/" if path.endswith(("/.", "/..")) and segments else ""
    return f"/{'/'.join(segments)}{end}"


def without_copies(urls: Collection[str]) -> list[str]:
    """The addresses without the Markdown and text copies of pages that are among them.

    A page `a/` or `a.html` has the copy `a.md`, `a.html.md` or `a/index.md` (https://llmstxt.org).
    """
    pages = {_FORMAT.sub("", url) for url in urls if not url.endswith(_COPIES)}
    return [url for url in urls if not (url.endswith(_COPIES) and _FORMAT.sub("", url) in pages)]


@dataclass(frozen=True, slots=True)
class Scope:
    """The origin and folder of a start URL. `include` and `exclude` are globs over the path below that folder.

    `of_files` says that the pages are files of a folder or archive.
    """

    origin: str
    folder: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    of_files: bool = False

    @classmethod
    def of(
        cls,
        start: str,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        *,
        of_files: bool = False,
    ) -> Scope:
        """The scope of a start URL. A last segment without a dot is a folder."""
        parts = urlsplit(canonical(start))
        head, _, last = parts.path.rpartition("/")
        folder = f"{head}/{last}/" if last and "." not in last else f"{head}/"
        of_files = of_files or parts.scheme == "file" or "!/" in folder
        return cls(
            f"{parts.scheme}://{parts.netloc}", folder, tuple(include), tuple(exclude), of_files
        )

    def may_move_to(self, final: str) -> bool:
        """Whether the start URL may redirect to `final`: on the same site, not to a folder above its own, and not from
        https to http, which would send the site's headers in the clear. A file leads nowhere."""
        if self.of_files:
            return False
        there = Scope.of(final)
        is_wider = self.folder != there.folder and self.folder.startswith(there.folder)
        is_clear = self.origin.startswith("https:") and not there.origin.startswith("https:")
        return _site(there.origin) == _site(self.origin) and not is_wider and not is_clear

    def contains(self, url: str) -> bool:
        """Whether a canonical address may be fetched for this site."""
        return not self.refusal(url)

    def refusal(self, url: str) -> str:
        """Why a canonical address is not fetched for this site; "" if it may be."""
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            return ELSEWHERE
        if len(url) > MAX_URL_CHARS:
            return f"an address of more than {MAX_URL_CHARS} characters"
        if not parts.path.startswith(self.folder) and parts.path + "/" != self.folder:
            return OUTSIDE
        below = parts.path[len(self.folder) :]
        if self._is_no_page(parts.path):
            return NO_PAGE
        first, slash, _ = below.partition("/")
        if slash and _LANGUAGE.fullmatch(first):
            return "in another language"
        segments = Counter(filter(None, below.split("/")))
        if max(segments.values(), default=0) > MAX_REPEATS:
            return "a loop of links"
        names = [below, parts.path]
        names_as_file = names
        if parts.path.endswith("/"):  # the canonical address lacks it
            names_as_file = [*names, f"{below}index.html", f"{parts.path}index.html"]
        # On the web, what `--exclude "*.html"` names may be copies of the folders.
        if _matches(names_as_file if self.of_files else names, self.exclude):
            return EXCLUDED
        if self.include and not _matches(names_as_file, self.include):
            return "--include leaves it out"
        return ""

    def _is_no_page(self, path: str) -> bool:
        if self.of_files:
            return bool(_NEVER_IN_FILES.search(path))
        without_ending = path.rpartition(".")[0] if member_ending(path) else path
        return bool(_NEVER.search(without_ending))

    def link(self, base: str, target: str) -> str:
        """The canonical address of a link, if it may be fetched; "" otherwise."""
        url, refusal = self.place(base, target)
        return "" if refusal else url

    def place(self, base: str, target: str) -> tuple[str, str]:
        """The canonical address of a link, and why it is not fetched, as in `refusal`."""
        try:
            url = canonical(urljoin(base, target))
        except ValueError:
            url = ""
        return url, self.refusal(url) if url else ELSEWHERE


class LeftOut:
    """The addresses of a site that never become pages, by reason: each once, up to `MOST_LEFT_OUT`."""

    def __init__(self) -> None:
        self._by_reason: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def note(self, left_out: ByReason) -> None:
        """Note addresses by their reasons."""
        for reason, urls in left_out.items():
            room = MOST_LEFT_OUT - sum(map(len, self._by_reason.values()))
            self._by_reason[reason] |= dict.fromkeys(urls[:room])

    def below(self, folder: str) -> int:
        """How many were noted because they lie outside of the start URL's folder, in this one."""
        return sum(url.startswith(folder) for url in self._by_reason.get(OUTSIDE, ()))

    def rows(self) -> list[Skipped]:
        """How many were noted for each reason, and some of them."""
        return [
            Skipped(reason, len(urls), tuple(urls)[:SHOWN_LEFT_OUT])
            for reason, urls in self._by_reason.items()
        ]


def sorted_out(
    urls: Iterable[tuple[str, str]], most: int = MOST_LEFT_OUT
) -> tuple[list[str], ByReason]:
    """The addresses that `Scope.place` gives without a refusal, and the others of the same origin, up to `most` of
    them for a reason. Each is named once."""
    pages: dict[str, None] = {}
    left_out: dict[str, dict[str, None]] = {}
    for url, refusal in urls:
        if not refusal:
            pages[url] = None
        elif refusal != ELSEWHERE:
            left_out.setdefault(refusal, {})[url] = None
    return list(pages), {reason: list(refused)[:most] for reason, refused in left_out.items()}


def member_ending(url: str) -> str:
    """The ending of an address that may name a file or a member, such as `log` of `math.log`; "" of any other."""
    member = _MEMBER.search(urlsplit(url).path)
    return member[1] if member else ""


def is_only_followed(url: str, title: str = "") -> bool:
    """Whether a page has links worth following and nothing to index: a general index, a search form, source code."""
    path = urlsplit(url).path
    if _FOLLOWED.search(path):
        return True
    return any(names.path.search(path) and names.title.search(title) for names in _LISTS)


def _matches(names: Sequence[str], globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for name in names for glob in globs)


def _site(origin: str) -> str:
    return origin.partition("://")[2].removeprefix("www.")
