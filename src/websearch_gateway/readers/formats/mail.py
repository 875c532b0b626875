"""An e-mail (EML, RFC 5322) as Markdown: who wrote to whom and when, the text, and the names of what is attached."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from websearch_gateway.net.decode import charset_of, decode
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.fragment import to_markdown

if TYPE_CHECKING:
    from email.message import EmailMessage

MOST_PARTS = 200
MOST_HEADER = 2_000
_SHOWN = ("From", "To", "Cc", "Date")
RICHER = 2
"""The HTML of a message is read in place of its plain text if that has this many times fewer words."""


def mail(body: bytes, url: str, charset: str) -> Extracted:
    """An e-mail; attached files are named, and attached texts and messages are not read."""
    from email import message_from_bytes, policy

    message = message_from_bytes(body, policy=policy.default.clone(max_line_length=None))
    lines = [f"**{name}:** {text}" for name in _SHOWN if (text := _header(message, name))]
    plain, html, attached = "", "", []
    for part in islice(message.walk(), MOST_PARTS):
        if part.is_multipart():
            continue
        kind, name = part.get_content_type(), part.get_filename()
        if name or part.get_content_disposition() == "attachment" or not kind.startswith("text/"):
            attached.append(f"* {_line(name or 'unnamed')} ({kind})")
        elif kind == "text/html":
            html = html or to_markdown(_text(part))
        else:
            plain = plain or _text(part).strip()
    text = html if len(html.split()) >= RICHER * len(plain.split()) else plain
    parts = ["\n".join(f"{line}  " for line in lines).rstrip(), text]
    if attached:
        parts.append("**Attachments:**\n\n" + "\n".join(attached))
    return Extracted(_header(message, "Subject"), "\n\n".join(filter(None, parts)), _day(message))


def _header(message: EmailMessage, name: str) -> str:
    """The decoded text of a header; "" if it is missing or cannot be parsed."""
    try:
        return _line(str(message.get(name, ""))[:MOST_HEADER])
    except (ValueError, IndexError, AttributeError, TypeError):  # bugs of the parser, with headers nobody sends
        return ""


def _day(message: EmailMessage) -> str | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except ValueError:
        return None


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return decode(payload, charset_of(payload, f"charset={part.get_content_charset('')}"))


def _line(text: str) -> str:
    return " ".join(text.split())
