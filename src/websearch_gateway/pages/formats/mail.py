"""An e-mail as Markdown: its heads, texts, forwarded messages and the names of its files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from websearch_gateway.base import charset_of, decode, is_web_address
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats import kinds as formats
from websearch_gateway.pages.formats.plain import day_of
from websearch_gateway.pages.formats.rendering import to_markdown

if TYPE_CHECKING:
    from email.message import EmailMessage


def mail(body: bytes, url: str, charset: str) -> Extracted:
    """An e-mail; attached files are named and not read. A page that a browser saved in this format is that page."""
    message = _parsed(body)
    if saved := _saved_page(message, url):
        return saved
    attached: list[str] = []
    texts = list(_message(message, attached))
    if attached:
        texts.append("**Attachments:**\n\n" + "\n".join(attached))
    day = day_of(_line(message.get("Date", "")))
    title = _line(message.get("Subject", ""))
    return Extracted(title, "\n\n".join(filter(None, texts)), day or None)


def _saved_page(message: EmailMessage, url: str) -> Extracted | None:
    """The page in an MHTML file (RFC 2557), as browsers save them; None for any other message."""
    if message.get_content_type() != "multipart/related" or message.get("To"):
        return None
    root = next((part for part in message.walk() if part.get_content_type() == "text/html"), None)
    if root is None:
        return None
    place = _line(message.get("Snapshot-Content-Location", "") or root.get("Content-Location", ""))
    markup = root.get_payload(decode=True)
    body = markup if isinstance(markup, bytes) else b""
    charset = charset_of(body, f"text/html; charset={root.get_content_charset('')}")
    return formats.CONVERTERS["html"](body, place if is_web_address(place) else url, charset)


# --- what a message shows ---

_SHOWN = ("Subject", "From", "To", "Cc", "Date")


def _message(message: EmailMessage, attached: list[str]) -> Iterator[str]:
    """The heads and texts of a message. Notes the files in `attached`."""
    yield "\n".join(_heads(message)).rstrip()
    yield from _texts(message, attached)


def _heads(message: EmailMessage) -> Iterator[str]:
    for name in _SHOWN:
        if text := _line(message.get(name, "")):
            yield f"**{name}:** {text}  "


def _texts(part: EmailMessage, attached: list[str]) -> Iterator[str]:
    kind = part.get_content_type()
    inside = _inside(part)
    if kind == "multipart/alternative":
        yield _best_of(inside, attached)
    elif kind == "multipart/related":
        yield from _related(inside, attached)
    elif kind == "message/rfc822":
        for message in inside:
            if message.get("From"):
                yield "**Forwarded message:**"
            yield from _message(message, attached)
    elif inside:
        for each in inside:
            yield from _texts(each, attached)
    elif _is_file(part):
        _note(part, attached)
    elif kind == "text/html":
        yield to_markdown(_text(part))
    else:
        yield _plain(part)


def _related(parts: Sequence[EmailMessage], attached: list[str]) -> Iterator[str]:
    """The texts of the first part; the others are its pictures."""
    for text in parts[:1]:
        yield from _texts(text, attached)
    for picture in parts[1:]:
        if picture.get_filename():
            _note(picture, attached)


def _is_file(part: EmailMessage) -> bool:
    is_text = part.get_content_type().startswith("text/")
    is_attached = part.get_content_disposition() == "attachment"
    return not is_text or is_attached or bool(part.get_filename())


def _note(file: EmailMessage, attached: list[str]) -> None:
    kind = file.get_content_type()
    if not kind.startswith("multipart/"):
        attached.append(f"* {_line(file.get_filename() or 'unnamed')} ({kind})")


def _inside(part: EmailMessage) -> list[Any]:
    payload = part.get_payload()
    return payload if part.is_multipart() and isinstance(payload, list) else []


# --- alternatives ---

RICHER = 0.1
"""The HTML of a message is read in place of its plain text if so large a part of its words, and more than FEW_WORDS,
are only there, as in a table that the plain text leaves out."""
FEW_WORDS = 2
_READ = ("text/plain", "text/html", "text/markdown", "text/enriched")
"""The kinds of text that are alternatives of each other."""
_WORD = re.compile(r"\w+")


def _best_of(alternatives: Sequence[EmailMessage], attached: list[str]) -> str:
    """The text of the plainest alternative, unless a richer one says more."""
    best = ""
    for alternative in alternatives:
        kind = alternative.get_content_type()
        if kind.startswith("text/") and kind not in _READ:  # an invitation as a calendar keeps it
            continue
        text = "\n\n".join(filter(None, _texts(alternative, attached)))
        words = set(_WORD.findall(text))
        only_here = len(words.difference(_WORD.findall(best)))
        if not best or only_here > max(FEW_WORDS, RICHER * len(words)):
            best = text
    return best


# --- the parts of a message ---

MOST_PARTS, DEEPEST_PART = 200, 20
"""The most parts of a message, and how deep they may lie: each line is compared with each boundary around it."""
MOST_HEADER = 2_000


class _EnoughPartsError(Exception):
    """Ends the work on a message with very many parts."""


def _parsed(body: bytes) -> EmailMessage:
    """A message with its first parts. One that lies too deep holds none."""
    from email import message_from_bytes
    from email.message import EmailMessage
    from email.policy import EmailPolicy

    parts: list[EmailMessage] = []

    class Part(EmailMessage):
        depth = 0

        def __init__(self, policy: Any = None) -> None:
            if len(parts) == MOST_PARTS:
                raise _EnoughPartsError
            super().__init__(policy)
            parts.append(self)

        def attach(self, payload: Any) -> None:
            payload.depth = self.depth + 1
            super().attach(payload)

        def get_content_type(self) -> str:
            kind = super().get_content_type()
            is_too_deep = self.depth >= DEEPEST_PART and kind.startswith(("message/", "multipart/"))
            return "application/octet-stream" if is_too_deep else kind

    class Headers(EmailPolicy):
        def header_fetch_parse(self, name: str, value: str) -> str:
            try:
                return str(super().header_fetch_parse(name, value[:MOST_HEADER]))
            # Bugs of the parser, with headers nobody sends.
            except (ValueError, IndexError, AttributeError, TypeError, RecursionError):
                return ""

    with suppress(_EnoughPartsError):
        message_from_bytes(body, policy=Headers(max_line_length=None, message_factory=Part))
    return parts[0]


# --- a text ---

_FLOWED = re.compile(r"(?<!^--) \n(?!>|[ \t]*\n)", re.MULTILINE)
"""The end of a line that goes on in the next one (RFC 3676), which is not the line above a signature."""


def _plain(part: EmailMessage) -> str:
    text = _text(part)
    if part.get_param("format", "") != "flowed":
        return text.strip()
    stuffed = re.sub(r"^ (?=[ >]|From )", "", text.replace("\r\n", "\n"), flags=re.MULTILINE)
    is_without_blank = str(part.get_param("delsp", "")).lower() == "yes"
    return _FLOWED.sub("" if is_without_blank else " ", stuffed).strip()


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return decode(payload, charset_of(payload, f"charset={part.get_content_charset('')}"))


def _line(text: str) -> str:
    return " ".join(text.split())
