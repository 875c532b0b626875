"""Reads untrusted JSON of a vendor: a field of the wrong type counts as empty."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

from websearch_gateway.errors import SearchProviderParseError

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

T = TypeVar("T")
Json = Mapping[str, Any]


def parsed(body: bytes, vendor: str) -> Json:
    """The JSON object in `body`. Lone surrogates become `?`.

    Raises:
        SearchProviderParseError: `body` is not a JSON object.
    """
    try:
        reply = json.loads(body)
        if _SURROGATE.search(body):
            reply = json.loads(json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise SearchProviderParseError(f"The reply of {vendor} is not JSON.") from None
    if not isinstance(reply, dict):
        raise SearchProviderParseError(f"The reply of {vendor} is not a JSON object.")
    return reply


def parsed_or_empty(body: bytes) -> Json:
    """The JSON object in `body`; empty if there is none."""
    try:
        return parsed(body, "")
    except SearchProviderParseError:
        return {}


def typed(kind: type[T], value: Any) -> T:
    """The value if it has that type, else the type's empty value."""
    return value if isinstance(value, kind) else kind()


def objects(value: Any) -> list[Json]:
    """The objects in a list; empty if it is not a list."""
    return [item for item in typed(list, value) if isinstance(item, dict)]


def count(value: Any, default: int = 0) -> int:
    """A whole number from 0 on, else `default`."""
    return value if is_count(value) else default


def is_count(value: Any) -> TypeGuard[int]:
    """Whether it is a whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def are_counts(usage: Json, *names: str, optional: Sequence[str] = ()) -> bool:
    """Whether the usage has a count under each of `names`, and nothing else than a count under the optional ones."""
    return all(is_count(usage.get(name)) for name in names) and all(
        usage.get(name) is None or is_count(usage[name]) for name in optional
    )
