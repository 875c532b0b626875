"""The formats of documents: a kind is detected by the declared type, the first bytes and the URL, and has a converter.

A converter is one pure function in the table CONVERTERS; it runs in a worker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted

if TYPE_CHECKING:
    from websearch_gateway.base import Fetched

Kind = Literal[
    "html",
    "pdf",
    "zip",
    "compound",
    "rtf",
    "notebook",
    "mail",
    "feed",
    "markdown",
    "json",
    "csv",
    "code",
    "gzip",
    "text",
]
Convert = Callable[[bytes, str, str], Extracted]
"""Converts a body, with its URL and charset, to a title and Markdown. Pure; runs in a worker process."""


def _later(module: str, body: bytes, url: str, charset: str) -> Extracted:
    """Convert by a module of the readers, which a worker imports when it first needs it."""
    name, _, function = module.rpartition(".")
    convert: Convert = getattr(import_module(f"websearch_gateway.pages.{name}"), function)
    return convert(body, url, charset)


_FUNCTIONS: Mapping[Kind, str] = {
    "html": "extraction.extract.extract",
    "pdf": "formats.pdf.pdf",
    "zip": "formats.containers.zipped",
    "compound": "formats.containers.compound",
    "rtf": "formats.rtf.rtf",
    "notebook": "formats.notebook.notebook",
    "mail": "formats.mail.mail",
    "feed": "formats.feed.feed",
    "markdown": "formats.plain.markdown",
    "json": "formats.plain.json_text",
    "csv": "formats.plain.csv_table",
    "code": "formats.plain.code",
    "gzip": "formats.plain.gzipped",
    "text": "formats.plain.text",
}
CONVERTERS: Mapping[Kind, Convert] = {
    kind: partial(_later, function) for kind, function in _FUNCTIONS.items()
}
ACCEPT = "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
SNIFFED_BYTES = 1024
SAMPLED_BYTES = 65_536
MOST_BINARY = 200
"""One byte in this many may be a control character, as in logs."""
# https://mimesniff.spec.whatwg.org/#binary-data-byte, without the form feed and the escape character of terminals.
_BINARY_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
MAX_PAGE_BYTES = 5_000_000
MAX_DOCUMENT_BYTES = 20_000_000
"""The most bytes of a document that holds its pictures."""
HEAVY = frozenset(("pdf", "zip", "compound", "gzip"))
"""Kinds of which ten kilobytes may unpack to ten megabytes."""
IN_A_CHARSET = frozenset(("html", "markdown", "json", "csv", "code", "text"))
"""Kinds that are texts in a character encoding which nothing inside must declare."""
CONTENT_TYPES: Mapping[Kind, str] = {"pdf": "application/pdf"}
"""The content type of pages of these kinds, in place of the declared one: their passages have page numbers."""
HTML_TYPES = ("text/html", "application/xhtml+xml")
_VAGUE_TYPES = ("", "application/octet-stream", "text/plain", "binary/octet-stream")
_NO_TEXT_TYPES = re.compile(
    r"(?:image|audio|video|font|model)/.+|application/(?:pdf|postscript|pgp-encrypted|zip)"
)
"""Types that are never read as text, even if their bytes are."""
_PROSE_TYPES = (
    "text/plain",
    "text/enriched",
    "text/vtt",
    "text/calendar",
    "text/vcard",
    "text/troff",
)
"""Types of text whose lines are sentences, or nothing that Markdown would change. Any other is code."""
_DECLARED: Mapping[str, Kind] = {
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/csv": "csv",
}
_JSON_TYPES = re.compile(r"(?:application|text)/(?:.+\+|x-)?json")
# Servers without a better type send these as plain text.
_CODE_SUFFIXES = """
bash bat bib c cc cfg clj cmake conf cpp cs css cxx dart diff el erl ex f90 go gradle graphql groovy h hpp hs ini java
jl js jsx kt lean less lisp lua m mjs ml nix patch php pl pm proto ps1 py pyi r rb rs sass scala scm scss sh sol sql srt
swift tcl tex tf toml ts tsx vb vue xml xsd xsl yaml yml zig zsh
"""
_SUFFIXES: Mapping[str, Kind] = {
    **dict.fromkeys(_CODE_SUFFIXES.split(), "code"),
    "md": "markdown",
    "markdown": "markdown",
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
}
_PROLOGUE = rb"(?:\s|\xef\xbb\xbf|<\?[^>]*>|<!--(?:(?!-->).)*-->)*+"
_MARKUP = re.compile(
    _PROLOGUE + rb"<(?:!doctype html|html|head|body|title|meta|div|h1|p)\b",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(rb"\s*+(?:\xef\xbb\xbf)?<(?:\?xml\b|!doctype\b|html\b|svg\b)", re.IGNORECASE)
_FEED = re.compile(_PROLOGUE + rb"<(?:rss|(?:\w{1,20}:)?feed|rdf:RDF)\b", re.DOTALL)
_DOCUMENTS = (
    ".pdf",
    ".docx",
    ".docm",
    ".pptx",
    ".pptm",
    ".xlsx",
    ".xlsm",
    ".xlsb",
    ".xls",
    ".odt",
    ".odp",
    ".ods",
    ".epub",
    ".rtf",
    ".ipynb",
    ".eml",
)
"""How the addresses of documents end that include their pictures."""
_STARTS: Mapping[bytes, Kind] = {
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "compound",
    b"{\\rtf": "rtf",
    b"\x1f\x8b": "gzip",
}
_NOTEBOOK = re.compile(rb'"nbformat"\s*:')
_HEADER = re.compile(
    rb"^(?:From|To|Date|Subject|Received|Return-Path|Message-ID|MIME-Version|DKIM-Signature): ",
    re.M,
)
_MAIL_TYPES = ("message/rfc822", "multipart/related")  # the second is that of saved pages (MHTML)
LEAST_HEADERS = 3
"""A message begins with at least so many of the usual headers."""
# Formats that people link to and servers mislabel (https://mimesniff.spec.whatwg.org/#sniffing-a-mislabeled-binary-resource).
_SIGNATURES = (
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x89PNG", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftyp", "video/mp4"),
)


def warm_up() -> None:
    """Import and prepare everything that a page of HTML needs, so that the first one is not slow. Runs in a worker."""
    CONVERTERS["html"](b"<article><p>A page.</p></article>", "https://example.com/", "utf-8")


def most_bytes(url: str) -> int:
    """The size limit of the document at `url`, in bytes: higher for those that include their pictures."""
    path = urlsplit(url).path.lower()
    return MAX_DOCUMENT_BYTES if path.endswith(_DOCUMENTS) or "/pdf/" in path else MAX_PAGE_BYTES


def kind_of(fetched: Fetched) -> Kind:
    """Detect the kind of a reply.

    Raises:
        SearchFetchError: it cannot be read as text, such as an image or an archive; the message and
            `details["content_type"]` name the type.
    """
    declared, head = fetched.content_type, fetched.body[:SNIFFED_BYTES]
    if head.startswith(b"%PDF-") or (declared == "application/pdf" and b"%PDF-" in head):
        return "pdf"
    if document := _document(fetched.body, declared):
        return document
    _refuse_binary(fetched)
    if declared != "text/plain" and _FEED.match(head):
        return "feed"
    if declared in HTML_TYPES:
        return "html" if b"<" in fetched.body else "text"
    if _JSON_TYPES.fullmatch(declared):
        return "json"
    is_vague = declared in _VAGUE_TYPES
    suffix = urlsplit(fetched.final_url).path.rpartition(".")[2].lower()
    if declared in _DECLARED:
        return _DECLARED[declared]
    if is_vague and suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    return _kind_of_text(head, declared)


def _kind_of_text(head: bytes, declared: str) -> Kind:
    """The kind of a text of which neither the type nor the URL tells enough, by its beginning.

    Raises:
        SearchFetchError: its type is never read as text.
    """
    if declared == "text/plain":
        return "code" if _XML.match(head) else "text"
    if not declared.startswith("image/") and _MARKUP.match(head):
        return "html"
    if _NO_TEXT_TYPES.fullmatch(declared):
        raise unreadable(declared)
    is_vague = declared in _VAGUE_TYPES
    may_be_json = is_vague or declared.startswith("text/") or "json" in declared
    if may_be_json and head.lstrip().startswith((b"{", b"[")):
        return "json"
    is_prose = is_vague or declared in _PROSE_TYPES
    return "text" if is_prose and not _XML.match(head) else "code"


def _document(body: bytes, declared: str) -> Kind | None:
    """The kind of an office document, notebook or message by its first bytes, or what only these hold."""
    for start, kind in _STARTS.items():
        if body.startswith(start):
            return kind
    head = body[:SNIFFED_BYTES]
    is_vague = declared in _VAGUE_TYPES
    may_be_notebook = is_vague or _JSON_TYPES.fullmatch(declared)
    if may_be_notebook and _is_notebook(body):
        return "notebook"
    has_heads = is_vague and len(_HEADER.findall(head)) >= LEAST_HEADERS
    return "mail" if has_heads or declared in _MAIL_TYPES else None


def _is_notebook(body: bytes) -> bool:
    """Whether JSON says that it is a notebook: programs write the version of the format first or last."""
    head, end = body[:SNIFFED_BYTES], body[-SNIFFED_BYTES:]
    says_so = _NOTEBOOK.search(head) or _NOTEBOOK.search(end)
    return says_so is not None and head.lstrip().startswith(b"{")


def _refuse_binary(fetched: Fetched) -> None:
    """Refuse a body whose signature or bytes show that it is not text.

    Raises:
        SearchFetchError: see `kind_of`.
    """
    declared, head = fetched.content_type, fetched.body[:SNIFFED_BYTES]
    for place, signature, actual in _SIGNATURES:
        if head.startswith(signature, place):
            raise unreadable(actual)
    is_markup = declared in HTML_TYPES and _MARKUP.match(head)  # browsers drop a NUL in HTML
    has_wide_characters = fetched.charset.startswith(("utf-16", "utf-32"))
    if is_markup or has_wide_characters:
        return
    if _is_binary(fetched.body, declared):
        raise unreadable(declared or "application/octet-stream")


def _is_binary(body: bytes, declared: str) -> bool:
    """Whether a body contains bytes that text never has. With a declared text type a few are allowed, but no NUL."""
    sample = body[:SAMPLED_BYTES]
    controls = len(sample) - len(sample.translate(None, _BINARY_BYTES))
    is_declared = declared == "text/plain" or declared not in _VAGUE_TYPES
    allowed = len(sample) // MOST_BINARY if is_declared else 0
    return controls > allowed or b"\0" in sample


def unreadable(content_type: str) -> SearchFetchError:
    """The error for a type that has no text; `details["content_type"]` names it."""
    return SearchFetchError(
        f"The page is of type {content_type}, which cannot be read as text.",
        details={"reason": "type", "content_type": content_type},
    )
