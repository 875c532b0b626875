"""Says which addresses belong to a site, and gives each its canonical spelling. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit, urlunsplit

from websearch_gateway.base import strip_trackers
from websearch_gateway.docs.models import Skipped
from websearch_gateway.models import LONGEST_URL

MAX_URL_CHARS = 500
MAX_DEPTH = 30
MAX_REPEATS = 3
"""How often one segment may occur in a path; more is a loop of relative links."""

ELSEWHERE = "on another site"
"""Why an address is not fetched that is no part of the site at all: nobody misses it."""
OUTSIDE = "outside of the start URL's folder"
NO_PAGE = "a type of file without text, or a copy of a page"
EXCLUDED = "--exclude leaves it out"
MOST_LEFT_OUT = 20_000
SHOWN_LEFT_OUT = 5

Found = Mapping[str, Sequence[str]]
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
_DIGITS = re.compile(r"\d+")
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
# Lists of names that generators write. Other sites give such addresses to pages, so the titles must be theirs too.
_LISTS = tuple(
    (re.compile(path), re.compile(title))
    for path, title in (
        (
            r"/(?:classes|hierarchy|(?:functions|globals|namespacemembers)(?:_\w{1,9})?)\.html$",
            r"\b(?:Class|Data Structure) (?:Index|Hierarchy)|(?:Class|File|Namespace) Members|Data Fields|: Globals"
            r"|^Globals$",
        ),
        (r"-members\.html$", r"\bMember List$|^List of All Members for "),  # doxygen, qdoc
        (r"/(?:class-use/[^/]+|package-use)\.html$", r"^Uses of "),  # javadoc
        (r"/(?:index-\d+|serialized-form)\.html$", r"^\S+-Index\b|^Serialized Form\b"),  # javadoc
        (r"/doc-index[^/]*\.html$", r"\(Index(?: - [^()]+)?\)$"),  # haddock
    )
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
    scheme = parts.scheme.lower()
    if (
        scheme not in ("http", "https", "file")
        or (scheme != "file" and not parts.hostname)
        or "@" in parts.netloc
    ):
        return ""
    host = parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    netloc = name if port in (None, _DEFAULT_PORTS.get(scheme)) else f"{name}:{port}"
    path = "%2F".join(map(_one_spelling, _SLASH.split(_SESSION.sub("", parts.path)))) or "/"
    path = _INDEX.sub("/", _without_dots(path))
    parameters = parse_qsl(parts.query, keep_blank_values=True) if parts.query else ()
    query = urlencode(sorted(one for one in parameters if not _is_session(*one)))
    return urlunsplit((scheme, netloc, path, query, ""))


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
        if max(Counter(filter(None, below.split("/"))).values(), default=0) > MAX_REPEATS:
            return "a loop of links"
        names = [below, parts.path]
        # The canonical address lacks it. On the web, what `--exclude "*.html"` names may be copies of the folders.
        as_file = (
            [*names, *(f"{one}index.html" for one in names)] if parts.path.endswith("/") else names
        )
        if _matches(as_file if self.of_files else names, self.exclude):
            return EXCLUDED
        if self.include and not _matches(as_file, self.include):
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
        self._found: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def note(self, found: Found) -> None:
        """Note addresses by their reasons."""
        for reason, urls in found.items():
            room = MOST_LEFT_OUT - sum(map(len, self._found.values()))
            self._found[reason] |= dict.fromkeys(urls[:room])

    def below(self, folder: str) -> int:
        """How many were noted because they lie outside of the start URL's folder, in this one."""
        return sum(url.startswith(folder) for url in self._found.get(OUTSIDE, ()))

    def rows(self) -> list[Skipped]:
        """How many were noted for each reason, and some of them."""
        return [
            Skipped(reason, len(urls), tuple(urls)[:SHOWN_LEFT_OUT])
            for reason, urls in self._found.items()
        ]


def sorted_out(
    urls: Iterable[tuple[str, str]], most: int = MOST_LEFT_OUT
) -> tuple[list[str], Found]:
    """The addresses that `Scope.place` gives without a refusal, and the others of the same origin, up to `most` of
    them for a reason. Each is named once."""
    kept: dict[str, None] = {}
    left: dict[str, dict[str, None]] = {}
    for url, refusal in urls:
        if not refusal:
            kept[url] = None
        elif refusal != ELSEWHERE:
            left.setdefault(refusal, {})[url] = None
    return list(kept), {reason: list(found)[:most] for reason, found in left.items()}


def member_ending(url: str) -> str:
    """The ending of an address that may name a file or a member, such as `log` of `math.log`; "" of any other."""
    member = _MEMBER.search(urlsplit(url).path)
    return member[1] if member else ""


def is_only_followed(url: str, title: str = "") -> bool:
    """Whether a page has links worth following and nothing to index: a general index, a search form, source code."""
    path = urlsplit(url).path
    return bool(_FOLLOWED.search(path)) or any(
        one.search(path) and named.search(title) for one, named in _LISTS
    )


_VERSION = re.compile(
    r"v?\d+(?:\.(?:\d+|x))*(?:[-._]?(?:a|b|rc|alpha|beta|dev|pre)[-.\d]*)?"
    r"|latest|stable|current|main|master|dev|devel|next|nightly|unstable",
    re.IGNORECASE | re.ASCII,
)


def is_version(segment: str) -> bool:
    """Whether a segment of a path names a version of a documentation: `3.12`, `v2`, `1.0rc1`, `latest`."""
    return len(segment) <= 30 and bool(_VERSION.fullmatch(segment))


def spellings(version: str) -> list[str]:
    """How sites spell the folder of a version, the most exact first: `5.2.1`, `v5.2.1`, `5.2`, `v5.2`, `5`, `v5`."""
    numbers = re.match(r"\d+(?:\.\d+){0,2}", version)
    parts = numbers[0].split(".") if numbers else []
    exact = [
        version.removeprefix("v"),
        *(".".join(parts[:count]) for count in range(len(parts), 0, -1)),
    ]
    return list(dict.fromkeys(spelt for one in exact for spelt in (one, f"v{one}")))


def version_siblings(url: str, version: str) -> list[str]:
    """The addresses that a version's page may have beside `url`, which is one of another version; `url` alone if it is
    of that version. Empty if no segment of it names a version."""
    parts = urlsplit(url)
    segments = parts.path.split("/")
    place = next((place for place, segment in enumerate(segments) if is_version(segment)), None)
    if place is None:
        return []
    named = spellings(version)
    if segments[place] in named:
        return [url]
    paths = ("/".join((*segments[:place], name, *segments[place + 1 :])) for name in named)
    return [urlunsplit((parts.scheme, parts.netloc, path, "", "")) for path in paths]


def _matches(names: Sequence[str], globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for name in names for glob in globs)


def _site(origin: str) -> str:
    return origin.partition("://")[2].removeprefix("www.")


_NAMED = ("stable", "latest", "current")
_DOTTED = re.compile(r"v?\d+\.\d")
_RELEASE = re.compile(r"v?\d+(?:\.(?:\d+|x))*", re.IGNORECASE)
_ABOVE = re.compile(
    r"(?:(?:docs?|documentation|manual|en|[a-z]{2}[-_][a-z]{2,4})/){0,2}", re.IGNORECASE
)
"""Folders that hold versions of a documentation; elsewhere `releases/5.1/` is a page of its own."""


class VersionFolders:
    """Chooses one of the versions of a documentation that lie side by side below a start URL.

    A start URL that is one of them has none below it, and `--include` chooses by itself.

    Args:
        wanted: the version to choose if there is one of this name; "" for the stable or latest one.
    """

    def __init__(self, scope: Scope, wanted: str = "") -> None:
        self._origin, self._folder = scope.origin, scope.folder
        self._wanted = spellings(wanted) if wanted else []
        self._is_on = not scope.include and not any(map(is_version, scope.folder.split("/")))
        self._found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self._sure: set[str] = set()
        self._seen: set[str] = set()
        self._kept: dict[str, str] = {}
        self._chosen: dict[str, str] = {}
        self._led: dict[str, str] = {}

    def keep(self, urls: Iterable[str]) -> None:
        """Note the addresses of earlier crawls: the version of most of them stays the chosen one."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for place in filter(None, map(self._place, urls)):
            if place[1]:
                counts[place[0]][place[1]] += 1
        self._kept = {above: count.most_common(1)[0][0] for above, count in counts.items()}

    def note(self, urls: Iterable[str]) -> None:
        """Note addresses of pages. The first that show two versions beside each other decide."""
        new = set(urls).difference(self._seen) if self._is_on else ()
        self._seen.update(new)
        for above, version, page in filter(None, map(self._place, new)):
            self._found[above][version].add(page)
            if version.lower() in _NAMED or _DOTTED.match(version):
                self._sure.add(above)
        for above in self._sure - self._chosen.keys():
            versions = [version for version in self._found[above] if version]
            if len(versions) > 1:
                self._chosen[above] = self._choice(above, versions, self._found[above])

    def prefer(self, url: str) -> None:
        """Prefer the version to which the start URL redirects to a higher number."""
        if (place := self._place(url)) and place[1]:
            self._led[place[0]] = place[1]

    def has_any(self, urls: Iterable[str]) -> bool:
        """Whether an address is that of a version's page."""
        return any(place[1] for place in filter(None, map(self._place, urls)))

    def other(self, url: str) -> str:
        """The version that a page is of, if it is not the chosen one; "" otherwise."""
        place = self._place(url) if self._chosen else None
        return (
            place[1]
            if place and place[1] and self._chosen.get(place[0], place[1]) != place[1]
            else ""
        )

    def summary(self) -> str:
        """Which version was chosen and which were left out, for people; "" if there was no choice."""
        parts = []
        for above, chosen in self._chosen.items():
            others = sorted(
                {version for version in self._found[above] if version not in ("", chosen)},
                key=_rank,
            )[::-1]
            at = f"{self._origin}{self._folder}{above}"
            parts.append(
                f"Of the versions below {at} only {chosen or 'the one without a folder'} is indexed. Others: "
                f"{', '.join(others[:20])}. Add one by its own address, such as {at}{others[0]}/."
            )
        return " ".join(parts)

    def _choice(self, above: str, versions: list[str], found: Mapping[str, set[str]]) -> str:
        wanted = (version for name in self._wanted for version in versions if version == name)
        named = (version for name in _NAMED for version in versions if version.lower() == name)
        chosen = (
            next(wanted, "")
            or self._kept.get(above, "")
            or next(named, "")
            or self._led.get(above, "")
        )
        is_bare = any(page and page in found[""] for version in versions for page in found[version])
        return chosen or ("" if is_bare else max(versions, key=_rank))

    def _place(self, url: str) -> tuple[str, str, str] | None:
        """The folder above the versions, the version ("" if it has none) and the rest of a page's path."""
        path = urlsplit(url).path
        if not self._is_on or not path.startswith(self._folder):
            return None
        below = path[len(self._folder) :]
        segments = below.split("/")
        at = next((at for at, segment in enumerate(segments[:3]) if is_version(segment)), None)
        if at is None:
            above = _ABOVE.match(below)
            above_it = above[0] if above else ""
            return above_it, "", below[len(above_it) :]
        above_it = "".join(f"{segment}/" for segment in segments[:at])
        return (
            (above_it, segments[at], "/".join(segments[at + 1 :]))
            if _ABOVE.fullmatch(above_it)
            else None
        )


def _rank(version: str) -> tuple[bool, bool, list[int]]:
    """Sorts released versions by their numbers, above unfinished ones and branches."""
    return (
        bool(_RELEASE.fullmatch(version)),
        version.lower() in _NAMED,
        [int(n) for n in _DIGITS.findall(version)],
    )
