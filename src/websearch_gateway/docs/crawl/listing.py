"""Lists documents: the files of a folder or an archive, and the pages that a site names in its own lists.

The lists are llms.txt, objects.inv, sitemaps and search indexes. Names and lists are untrusted, so these functions run
in a worker process.
"""

from __future__ import annotations

import errno
import html
import io
import lzma
import os
import re
import shutil
import tarfile
import zipfile
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from websearch_gateway.base import LINK, blocks
from websearch_gateway.docs.crawl.scope import (
    ELSEWHERE,
    MAX_URL_CHARS,
    NO_PAGE,
    ByReason,
    Scope,
    canonical,
    sorted_out,
)
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.foreign_json import MALFORMED, parse_json

MAX_PAGE_BYTES = 5_000_000
_BINARY = "application/octet-stream"
SUFFIXES: Mapping[str, str] = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".rst": "text/plain",
    ".txt": "text/plain",
}
"""The file types that are pages, with their media types."""
OFFICE_SUFFIXES: Mapping[str, str] = {
    ".pdf": "application/pdf",
    **dict.fromkeys(
        (".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".xlsb", ".xls"), _BINARY
    ),
    **dict.fromkeys((".odt", ".odp", ".ods", ".epub", ".rtf"), _BINARY),
    ".ipynb": "application/x-ipynb+json",
    ".eml": "message/rfc822",
}
"""The same for documents that hold their pictures; of most of them the content tells the type."""
MAX_OFFICE_BYTES = 20_000_000
LISTED_CHARS = 8_000_000
LISTED_LEFT_OUT = 5_000
"""The most characters of all addresses of a folder, and the most files that are left out for a reason: a worker's reply
is limited."""
ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MAX_UNPACKED_BYTES = 2_000_000_000
MAX_FILES = 200_000
MAX_FOLDERS = 30
"""The most folders above a document in an archive."""

_UNUSABLE = frozenset(
    {errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EILSEQ, errno.EINVAL}
)
"""What this machine says of a name that no file can have here, or not beside the others."""


def media_type(name: str) -> str:
    """The type of a document by the name of its file; "" for a file that is not a document."""
    suffix = PurePosixPath(name).suffix.lower()
    return SUFFIXES.get(suffix) or OFFICE_SUFFIXES.get(suffix, "")


def most_bytes(name: str) -> int:
    """The largest size of a document with this name that is read."""
    suffix = PurePosixPath(name).suffix.lower()
    return MAX_OFFICE_BYTES if suffix in OFFICE_SUFFIXES else MAX_PAGE_BYTES


def folder_pages(root: str, base: str, scope: Scope) -> tuple[list[str], ByReason]:
    """The addresses in scope of documents below `root`, which has the address `base`, folder by folder in the order of
    their names, and the files that are left out. A link to a folder is not followed.

    Raises:
        SearchFetchError: there is no such folder.
    """
    if not os.path.isdir(root):
        raise SearchFetchError(f"The folder {root} does not exist.", details={"reason": "missing"})
    return sorted_out(_places(root, base, scope), LISTED_LEFT_OUT)


def _places(root: str, base: str, scope: Scope) -> Iterator[tuple[str, str]]:
    room = LISTED_CHARS
    for folder, below, names in os.walk(root):
        below.sort()
        path = "" if folder == root else f"{os.path.relpath(folder, root)}/"
        for name in sorted(names):
            page, refusal = scope.place(base, base + quote(path + name, errors="surrogateescape"))
            if refusal != ELSEWHERE and not media_type(name):
                refusal = NO_PAGE
            if not refusal:
                room -= len(page)
                if room <= 0:
                    refusal = "more files than a crawl lists"
            yield page, refusal


def is_archive(name: str) -> bool:
    """Whether a file or address of this name is an archive."""
    return bool(archive_ending(name))


def archive_ending(name: str) -> str:
    """The ending of an archive's name; "" if it is not an archive."""
    for ending in ENDINGS:
        if name.lower().endswith(ending):
            return ending
    return ""


def base_url(url: str) -> str:
    """The address below which the documents of a source lie; those in an archive follow its own address."""
    return f"{url}!/" if is_archive(urlsplit(url).path) else url


def unpack(archive: Path, target: Path) -> None:
    """Write the documents of an archive below `target`. Skips links, special files, paths that lead outside, and names
    that this machine does not allow. Headers that claim gigabytes end with the memory of the worker process.

    Raises:
        SearchFetchError: the file is not an archive, or holds more than may be unpacked.
    """
    try:
        _unpack(archive, target)
    except MemoryError:
        raise _too_large() from None
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        RuntimeError,
        OSError,
    ) as error:
        message = f"The archive cannot be unpacked ({type(error).__name__})."
        raise SearchFetchError(message, details={"reason": "damaged"}) from error


def _unpack(archive: Path, target: Path) -> None:
    total = 0
    folders: set[Path] = set()
    for name, file in _members(archive):
        place = _place(target, name)
        if place is None:
            continue
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            copy = place.open("wb")
        except OSError as error:
            if error.errno in _UNUSABLE:
                continue
            raise
        folders.update(place.parents)
        with file, copy:
            shutil.copyfileobj(_Capped(file, most_bytes(name)), copy)
        total += place.stat().st_size
        if total > MAX_UNPACKED_BYTES or len(folders) > MAX_FILES:
            raise _too_large()


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The names and contents of the documents."""
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            if len(zipped.filelist) > MAX_FILES:
                raise _too_large()
            for entry in zipped.filelist:
                if not entry.is_dir() and _is_document(entry.filename):
                    yield entry.filename, zipped.open(entry)
        return
    count = 0
    with tarfile.open(archive) as tarred:
        while (member := tarred.next()) is not None:
            count += 1
            if count > MAX_FILES or member.offset_data + member.size > MAX_UNPACKED_BYTES:
                raise _too_large()  # skipping a compressed member unpacks it, so it counts too
            if member.isfile() and _is_document(member.name):
                file = tarred.extractfile(member)
                if file is not None:
                    yield member.name, file
            tarred.members.clear()  # type: ignore[attr-defined]  # it would keep all of them
            tarred.pax_headers = {}


def _too_large() -> SearchFetchError:
    return SearchFetchError(
        "The archive holds more than may be unpacked.", details={"reason": "too_large"}
    )


def _is_document(name: str) -> bool:
    return bool(media_type(name)) or name.endswith("objects.inv")


def _place(target: Path, name: str) -> Path | None:
    """The path for a member; None if its name leads outside `target`, or no address could have it."""
    if len(name) > MAX_URL_CHARS or name.count("/") > MAX_FOLDERS or "\0" in name:
        return None
    path = (target / name.replace("\\", "/")).resolve()
    return path if path.is_relative_to(target.resolve()) else None


class _Capped:
    """A file that ends one byte after the size limit of a page, so that a zip bomb stays small."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._left = most + 1

    def read(self, size: int = -1) -> bytes:
        most = self._left if size < 0 else min(size, self._left)
        data = self._file.read(most)
        self._left -= len(data)
        return data


MOST_URLS = 50_000
"""The most addresses that a sitemap may have (https://www.sitemaps.org/protocol.html)."""
MAX_INFLATED = 50_000_000
MAX_NAMES = 200_000
MAX_LINE_CHARS = 2_000
"""The most characters of a line of an inventory; longer lines are skipped."""

Defined = dict[str, list[tuple[str, str]]]
"""The definitions of an inventory: names and anchors by the address of their page."""

FULL_TEXT = "llms-full.txt"
MAX_TITLE_CHARS = 300
MAX_HEAD_CHARS = 600
"""How far from the start of a page of a llms-full.txt its address may stand."""
LONGEST_SLUG = 80
"""Characters of a title in the address of a page that has none of its own."""
_FRONT = re.compile(r"---[ \t]*\n(?:[\w-]{1,40}:[^\n]{0,500}\n){1,20}---")
_NAMED_URL = re.compile(
    r"^(?:[>*_ \t]{0,6})(?:source|url|canonical|page url|link)(?: url)?[*_]{0,2}:[*_]{0,2}[ \t]*[\"'<]?((?:https?://|/)[^\s\"'>]+)",
    re.IGNORECASE | re.MULTILINE,
)
_URL_IN_TITLE = re.compile(r"\(((?:https?://|/)[^\s()]+)\)\s*$")
_NO_SLUG = re.compile(r"[\W_]+")

_GZIP = zlib.MAX_WBITS + 16  # as zlib names the format
# Linear: each word begins one attempt, which ends within the next two words.
_ENTRY = re.compile(r"(\S.*?)(?<!\s)\s++([^\s:]++:\S++)\s++-?\d++\s++(\S*+)\s")
# Before an option: `git commit --amend`, `migrate.--fake`.
_PROGRAM = re.compile(r".*(?:\s|\.(?=-))")
_LOCATION = re.compile(rb"<(?:\w{1,20}:)?loc\b[^<>]{0,200}+>\s*+(?:<!\[CDATA\[)?([^<\]]{1,2000}+)")
_SITEMAP_INDEX = re.compile(rb"<(?:\w{1,20}:)?sitemapindex\b")
_DOCUMENT_NAMES = re.compile(r"""["']?docnames["']?\s{0,5}:\s{0,5}\[""")
_QUOTED = re.compile(r"""["']([^"'\\]{1,500}+)["']""")
_SITEMAP_LINE = re.compile(
    r"^[^\S\n]*+sitemap[^\S\n]*+:[^\S\n]*+(\S++)", re.IGNORECASE | re.MULTILINE
)


Pages = tuple[list[str], ByReason]
"""The canonical addresses of the pages in scope, and those of the same origin that are not, by the reason."""


def llms_in(scope: Scope, body: bytes, base: str) -> Pages:
    """The pages to which an llms.txt at `base` links."""
    return _placed(scope, base, llms_urls(body.decode("utf-8-sig", "replace"), base))


def search_index_in(scope: Scope, body: bytes, base: str) -> Pages:
    """The pages in the search index of the folder `base`."""
    return _placed(scope, base, search_index_urls(body, base))


def _placed(scope: Scope, base: str, urls: Iterable[str]) -> Pages:
    return sorted_out(scope.place(base, url) for url in urls)


def sitemap_in(scope: Scope, body: bytes) -> tuple[Pages, list[str]]:
    """The pages of a sitemap, and the further sitemaps on the same origin that it names."""
    pages = []
    further = []
    for url, is_sitemap in sitemap_urls(body):
        if not is_sitemap:
            pages.append(url)
        elif origin(url) == scope.origin:
            further.append(url)
    return _placed(scope, scope.origin, pages), further


def definitions_in(scope: Scope, body: bytes, folder: str) -> Defined:
    """The definitions of the inventory of `folder`, by the canonical addresses of the pages in scope."""
    page_of = cache(partial(scope.link, folder))  # a page has hundreds of names
    found: Defined = {}
    for name, url, anchor in inventory(body, folder):
        page = page_of(url)
        if page:
            found.setdefault(page, []).append((name, anchor))
    return found


def robots_sitemaps(robots: str, origin: str) -> list[str]:
    """The sitemaps that the robots.txt of an origin names (RFC 9309, section 2.2.4), some of them by a path alone."""
    return [_joined(f"{origin}/robots.txt", place) for place in _SITEMAP_LINE.findall(robots)[:50]]


def sitemap_urls(body: bytes) -> list[tuple[str, bool]]:
    """The addresses in a sitemap, XML or text, each with whether it is a further sitemap. It may be compressed."""
    if body.startswith(b"\x1f\x8b"):
        body = zlib.decompressobj(_GZIP).decompress(body, MAX_INFLATED)
    if body.removeprefix(BOM_UTF8).startswith((b"http://", b"https://")):
        lines = body.decode("utf-8-sig", "replace").split()
        return [(line, False) for line in lines[:MOST_URLS]]
    is_index = bool(_SITEMAP_INDEX.search(body[:2_000]))
    places = islice(_LOCATION.finditer(body), MOST_URLS)
    return [
        (html.unescape(place[1].decode("utf-8", "replace").strip()), is_index) for place in places
    ]


def llms_urls(text: str, base: str) -> list[str]:
    """The links of an llms.txt (https://llmstxt.org)."""
    return [_joined(base, match[2]) for match in islice(LINK.finditer(text), MOST_URLS)]


def full_text_in(scope: Scope, body: bytes, base: str) -> list[tuple[str, int, int]]:
    """The pages in a llms-full.txt: their addresses, and where their text begins and ends in the decoded body.

    A page without an address of its own in scope gets one below that of the file, `base`.
    """
    places: dict[str, tuple[int, int]] = {}
    taken: Counter[str] = Counter()
    for page in full_text_pages(body.decode("utf-8-sig", "replace")):
        address = scope.link(base, page.url) if page.url else ""
        slug = quote(_NO_SLUG.sub("-", page.title.lower()).strip("-")[:LONGEST_SLUG]) or "page"
        while not address or address in places:
            taken[slug] += 1
            number = f"-{taken[slug]}" if taken[slug] > 1 else ""
            address = f"{base}!/{slug}{number}"
        if scope.contains(address):
            places[address] = page.start, page.stop
    return [(address, start, stop) for address, (start, stop) in places.items()]


class FullTextPage(NamedTuple):
    """A page in a llms-full.txt: its title, its address as written ("" if none is given), and where its text is."""

    title: str
    url: str
    start: int
    stop: int


class _Beginning(NamedTuple):
    """Where a page may begin: at its heading, or at the front matter before it."""

    level: int
    start: int
    heading: int
    title: str


def full_text_pages(text: str) -> list[FullTextPage]:
    """The pages of a llms-full.txt.

    A page begins at a heading of the highest level in the file, or at the front matter before it. There is no standard:
    generators write the address as `Source: URL` or `URL: URL` below the heading, in front matter, or in the heading.
    """
    beginnings = _beginnings(text)
    levels = Counter(beginning.level for beginning in beginnings)
    level = 1 if levels[1] > 1 or not levels[2] else 2
    chosen = [beginning for beginning in beginnings if beginning.level == level][:MOST_URLS]
    stops = [beginning.start for beginning in chosen[1:]] + [len(text)]
    pages = []
    for beginning, stop in zip(chosen, stops, strict=False):
        end_of_head = min(stop, beginning.heading + MAX_HEAD_CHARS)
        address = _NAMED_URL.search(text, beginning.start, end_of_head)
        address = address or _URL_IN_TITLE.search(beginning.title)
        url = address[1].strip("<>") if address else ""
        pages.append(FullTextPage(beginning.title, url, beginning.heading, stop))
    return pages


def _beginnings(text: str) -> list[_Beginning]:
    """The headings of the first two levels, each with the front matter before it."""
    beginnings: list[_Beginning] = []
    rule = front_matter = -1
    for block in blocks(text):
        if block.kind == "rule":
            rule = block.start
        elif block.kind != "heading":
            continue
        elif rule >= 0 and _FRONT.match(text, rule):
            # The last line of front matter, underlined by its end, reads like a heading.
            front_matter, rule = rule, -1
        elif block.level <= 2:
            title = text[block.start : block.end].lstrip("# ").partition("\n")[0][:MAX_TITLE_CHARS]
            start = front_matter if front_matter >= 0 else block.start
            beginnings.append(_Beginning(block.level, start, block.start, title))
            front_matter = -1
    return beginnings


def search_index_urls(body: bytes, base: str) -> list[str]:
    """The pages in the search index of a generator: Sphinx's `searchindex.js` or MkDocs' `search_index.json`.

    Both are what the site's own search page loads; neither has a published format.
    """
    text = body.decode("utf-8", "replace")
    opening = _DOCUMENT_NAMES.search(text)
    if opening:
        end = text.find("]", opening.end())
        names = _QUOTED.finditer(text, opening.end(), max(end, opening.end()))
        return [_joined(base, f"{name[1]}.html") for name in islice(names, MOST_URLS)]
    try:
        listed = parse_json(text)["docs"]
        places = [entry["location"].partition("#")[0] for entry in listed]
    except MALFORMED:
        return []
    return list(dict.fromkeys(_joined(base, place) for place in places[:MOST_URLS]))


def inventory(body: bytes, base: str) -> list[tuple[str, str, str]]:
    """The names that a Sphinx inventory defines: name, address of the page, anchor. Documents and labels are left out.

    Version 2 (https://sphobjinv.readthedocs.io/en/stable/syntax.html); other versions give no names.
    """
    if not body.startswith(b"# Sphinx inventory version 2"):
        return []
    compressed = body.split(b"\n", 4)[4]  # four lines of header
    text = zlib.decompressobj().decompress(compressed, MAX_INFLATED).decode("utf-8", "replace")
    found = []
    absolute = cache(partial(_joined, base))  # a page has hundreds of names
    for line in islice(io.StringIO(text), MAX_NAMES):
        entry = _ENTRY.match(line) if len(line) <= MAX_LINE_CHARS else None
        if entry is None or entry[2].startswith(("std:doc", "std:label", "std:term", "std:token")):
            continue
        name, role, place = entry[1], entry[2], entry[3]
        if place.endswith("$"):  # it stands for the name
            place = place[:-1] + name
        page, _, anchor = place.partition("#")
        if role.startswith("std:cmdoption"):
            name = _PROGRAM.sub("", name)
        found.append((name, absolute(page), anchor))
    return found


def _joined(base: str, target: str) -> str:
    """The absolute address of `target`; a malformed one stays as it is."""
    try:
        return urljoin(base, target)
    except ValueError:
        return target


def origin(url: str) -> str:
    parts = urlsplit(canonical(url))
    return f"{parts.scheme}://{parts.netloc}"
