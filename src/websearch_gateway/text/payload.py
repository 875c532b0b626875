"""Vendors' replies, read without trust. One fault behaves alike in every adapter because they all read through here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import Hit
from websearch_gateway.text.urls import is_web_address


def json_object(body: bytes, vendor: str) -> dict[str, Any]:
    """The JSON object in `body`.

    Raises:
        SearchProviderParseError: it is not JSON (or nested beyond reason), or not an object.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise SearchProviderParseError(f"The reply of {vendor} is not JSON.") from None
    if not isinstance(document, dict):
        raise SearchProviderParseError(f"The reply of {vendor} is not a JSON object.")
    return document


def records(document: Mapping[str, Any], key: str, vendor: str, *, optional: bool = False) -> list[dict[str, Any]]:
    """The objects in the list `document[key]`; entries that are no objects are passed over.

    Args:
        optional: the vendor leaves the list out of a reply without results.

    Raises:
        SearchProviderParseError: there is no such list, or not one of its entries is an object.
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
    """The hits of all rows of a reply that have a link, where `make_hit` gave None for the others.

    Raises:
        SearchProviderParseError: there are rows, and none of them has a link.
    """
    made = list(hits)
    found = [hit for hit in made if hit]
    if made and not found:
        raise SearchProviderParseError(f"The results of {vendor} have no links.")
    return found


def one_line(value: object) -> str:
    """A string with its white space collapsed; empty for anything else. Halves of surrogate pairs become `?`."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode("utf-8")


def make_hit(
    provider: str,
    url: object,
    title: object,
    snippet: object,
    *,
    published: str | None = None,
    score: float | None = None,
    content: str | None = None,
) -> Hit | None:
    """A Hit out of a vendor's raw fields; None without an http(s) URL. A hit without a title is known by its URL."""
    address = one_line(url)
    if not is_web_address(address):
        return None
    return Hit(address, one_line(title) or address, one_line(snippet), provider, published, score, content)
