"""The marks around text from the web, which no page can close."""

from __future__ import annotations

import re
import secrets
from typing import TypeVar

from websearch_gateway.base import wrap_untrusted
from websearch_gateway.results import WebResult, WireModel

R = TypeVar("R", bound=WireModel)


def untrusted(text: str) -> str:
    """A text between marks of its own; an empty one stays empty."""
    return wrap_untrusted(text, fresh_nonce()) if text else ""


_MARKED = re.compile(
    r'<untrusted-web-text id="([0-9a-f]{32})">\n(.*)\n</untrusted-web-text id="\1">', re.DOTALL
)


def fresh_nonce() -> str:
    """The id in the marks of one call: 128 unguessable bits."""
    return secrets.token_hex(16)


def marked(result: R, field: str, nonce: str) -> R:
    """`result` with the text of `field` between marks."""
    return result.model_copy(update={field: wrap_untrusted(getattr(result, field), nonce)})


def marked_page(result: WebResult, nonce: str) -> WebResult:
    """`result` with the text of its page between marks. A note of the gateway before it stands outside of them."""
    start = result.note_chars or 0
    note, text = result.page_content[:start], result.page_content[start:]
    shown = note + wrap_untrusted(text, nonce) if text else note
    return result.model_copy(update={"page_content": shown})


def unmarked(text: str) -> str:
    """The text between the marks of `marked`, to be marked again with more; any other text as it is."""
    found = _MARKED.fullmatch(text)
    return found[2] if found else text
