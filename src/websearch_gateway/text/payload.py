"""Reads vendors' replies as untrusted data. All adapters use it, so the same fault gives the same error everywhere."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import Hit
from websearch_gateway.text.urls import is_web_address

SNIPPET_CHARS = 400


def json_object(body: bytes, vendor: str) -> dict[str, Any]:
    """The JSON object in `body`.

    Raises:
        SearchProviderParseError: it is not JSON (or nested too deeply), or not an object.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise SearchProviderParseError(f"The reply of {vendor} is not JSON.") from None
    if not isinstance(document, dict):
        raise SearchProviderParseError(f"The reply of {vendor} is not a JSON object.")
    return document


def records(document: Mapping[str, Any], key: str, vendor: str, *, optional: bool = False) -> list[dict[str, Any]]:
    """The objects in the list `document[key]`; skips other entries.

    Args:
        optional: the vendor omits the list from a reply without results.

    Raises:
        SearchProviderParseError: there is no such list, or none of its entries is an object.
    """
    entries = document.get(key)
    if entries is None and optional:
        return []
    if not isinstance(entries, list):
        raise SearchProviderParseError(f"The reply of {vendor} has no list of results ({key}).")
    found = [entry for entry in entries if isinstance(entry, dict)]
    if entries and not found:
        raise SearchProviderParseError(f"The results of {vendor} ({key}) are not objects.")
    return found


def linked(hits: Iterable[Hit | None], vendor: str) -> list[Hit]:
    """The hits of a reply, without the rows for which `make_hit` returned None because they have no link.

    Raises:
        SearchProviderParseError: there are rows, and none of them has a link.
    """
    made = list(hits)
    found = [hit for hit in made if hit]
    if made and not found:
        raise SearchProviderParseError(f"The results of {vendor} have no links.")
    return found


def one_line(value: object) -> str:
    """A string with its white space collapsed; empty for anything else. Lone surrogates become `?`."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode("utf-8")


def opening(text: object) -> str:
    """The beginning of a page's text as a snippet, for vendors without one of their own."""
    return textwrap.shorten(one_line(text), SNIPPET_CHARS, placeholder=" …")


def make_hit(
    provider: str,
    url: object,
    title: object,
    snippet: object,
    *,
    published: str | None = None,
    score: float | None = None,
    content: object = None,
) -> Hit | None:
    """A Hit from a vendor's raw fields; None without an http(s) URL. Without a title the URL is the title."""
    address = one_line(url)
    if not is_web_address(address):
        return None
    text = content.encode("utf-8", "replace").decode() if isinstance(content, str) and content.strip() else None
    return Hit(address, one_line(title) or address, one_line(snippet), provider, published, score, text)
