"""The versions of a documentation in its addresses, and the choice of one where several lie side by side. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from websearch_gateway.docs.crawl.scope import Scope

_NAMED = ("stable", "latest", "current")
"""The names of the version to choose, the best first."""
_DOTTED = re.compile(r"v?\d+\.\d")
_ABOVE = re.compile(
    r"(?:(?:docs?|documentation|manual|en|[a-z]{2}[-_][a-z]{2,4})/){0,2}", re.IGNORECASE
)
"""Folders that hold versions of a documentation; elsewhere `releases/5.1/` is a page of its own."""
_MOST_SHOWN = 20


class _Place(NamedTuple):
    """Where a page lies among versions: in the folder above them, in one of them ("" if in none), as this page."""

    above: str
    version: str
    page: str


class VersionFolders:
    """Chooses one of the versions of a documentation that lie side by side below a start URL.

    A start URL that is one of them has none below it, and `--include` chooses by itself.

    Args:
        wanted: the version to choose if there is one of this name; "" for the stable or latest one.
    """

    def __init__(self, scope: Scope, wanted: str = "") -> None:
        self._origin, self._folder = scope.origin, scope.folder
        self._spellings = spellings(wanted) if wanted else []
        self._is_on = not scope.include and not any(map(is_version, scope.folder.split("/")))
        self._noted: set[str] = set()
        # By the folder above the versions: the pages of each version, the folders that surely hold versions, and the
        # versions of earlier crawls, that the start URL leads to, and that are chosen.
        self._pages: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self._sure: set[str] = set()
        self._earlier: dict[str, str] = {}
        self._preferred: dict[str, str] = {}
        self._chosen: dict[str, str] = {}

    def keep(self, urls: Iterable[str]) -> None:
        """Note the addresses of earlier crawls: the version of most of them stays the chosen one."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for place in self._places(urls):
            if place.version:
                counts[place.above][place.version] += 1
        self._earlier = {above: count.most_common(1)[0][0] for above, count in counts.items()}

    def note(self, urls: Iterable[str]) -> None:
        """Note addresses of pages. The first that show two versions beside each other decide."""
        if not self._is_on:
            return
        new = set(urls) - self._noted
        self._noted |= new
        for place in self._places(new):
            self._pages[place.above][place.version].add(place.page)
            if place.version.lower() in _NAMED or _DOTTED.match(place.version):
                self._sure.add(place.above)
        for above in self._sure - self._chosen.keys():
            versions = [version for version in self._pages[above] if version]
            if len(versions) > 1:
                self._chosen[above] = self._choice(above, versions)

    def prefer(self, url: str) -> None:
        """Prefer the version to which the start URL redirects to a higher number."""
        place = self._place(url)
        if place is not None and place.version:
            self._preferred[place.above] = place.version

    def has_any(self, urls: Iterable[str]) -> bool:
        """Whether an address is that of a version's page."""
        return any(place.version for place in self._places(urls))

    def other_version(self, url: str) -> str:
        """The version that a page is of, if it is not the chosen one; "" otherwise."""
        place = self._place(url) if self._chosen else None
        if place is None or place.version == self._chosen.get(place.above, place.version):
            return ""
        return place.version

    def summary(self) -> str:
        """Which version was chosen and which were left out, for people; "" if there was no choice."""
        parts = []
        for above, chosen in self._chosen.items():
            unchosen = self._pages[above].keys() - {"", chosen}
            names = sorted(sorted(unchosen), key=_rank, reverse=True)
            folder = f"{self._origin}{self._folder}{above}"
            parts.append(
                f"Of the versions below {folder} only {chosen or 'the one without a folder'} is indexed. Others: "
                f"{', '.join(names[:_MOST_SHOWN])}. Add one by its own address, such as {folder}{names[0]}/."
            )
        return " ".join(parts)

    def _choice(self, above: str, versions: Sequence[str]) -> str:
        """The wanted version, else that of earlier crawls, one with a telling name, the one that the start URL leads
        to, the pages without a version, or the one with the highest number."""
        for spelling in self._spellings:
            if spelling in versions:
                return spelling
        if above in self._earlier:
            return self._earlier[above]
        for name in _NAMED:
            for version in versions:
                if version.lower() == name:
                    return version
        if above in self._preferred:
            return self._preferred[above]
        return "" if self._has_pages_without_version(above) else max(versions, key=_rank)

    def _has_pages_without_version(self, above: str) -> bool:
        """Whether a page of a version also stands outside of the versions."""
        bare_pages = self._pages[above].get("", set()) - {""}
        return any(
            not bare_pages.isdisjoint(pages)
            for version, pages in self._pages[above].items()
            if version
        )

    def _places(self, urls: Iterable[str]) -> Iterator[_Place]:
        for url in urls:
            place = self._place(url)
            if place is not None:
                yield place

    def _place(self, url: str) -> _Place | None:
        """Where a page lies; None if it is outside of the start URL's folder, or in one that holds no versions."""
        path = urlsplit(url).path
        if not self._is_on or not path.startswith(self._folder):
            return None
        below = path[len(self._folder) :]
        segments = below.split("/")
        for number, segment in enumerate(segments[:3]):
            if is_version(segment):
                above = "".join(f"{folder}/" for folder in segments[:number])
                page = "/".join(segments[number + 1 :])
                return _Place(above, segment, page) if _ABOVE.fullmatch(above) else None
        folders = _ABOVE.match(below)
        above = folders[0] if folders else ""
        return _Place(above, "", below[len(above) :])


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
    names = [version.removeprefix("v")]
    names += (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return list(dict.fromkeys(spelling for name in names for spelling in (name, f"v{name}")))


def version_siblings(url: str, version: str) -> list[str]:
    """The addresses that a version's page may have beside `url`, which is one of another version; `url` alone if it is
    of that version. Empty if no segment of it names a version."""
    parts = urlsplit(url)
    segments = parts.path.split("/")
    place = next((place for place, segment in enumerate(segments) if is_version(segment)), None)
    if place is None:
        return []
    names = spellings(version)
    if segments[place] in names:
        return [url]
    siblings = []
    for name in names:
        path = "/".join((*segments[:place], name, *segments[place + 1 :]))
        siblings.append(urlunsplit((parts.scheme, parts.netloc, path, "", "")))
    return siblings


_RELEASE = re.compile(r"v?\d+(?:\.(?:\d+|x))*", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


def _rank(version: str) -> tuple[bool, bool, list[int]]:
    """Sorts released versions by their numbers, above unfinished ones and branches."""
    is_released = _RELEASE.fullmatch(version) is not None
    numbers = [int(number) for number in _DIGITS.findall(version)]
    return is_released, version.lower() in _NAMED, numbers
