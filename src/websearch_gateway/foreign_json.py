"""JSON that somebody else wrote: replies of vendors, models, embedding servers and registries, files of pages and
projects, tokens. Everything of that kind is parsed here.

Code that walks a parsed value or counts with it meets no surprise: it is at most `MOST_DEPTH` deep, so that no recursion
fails later; every number is finite and fits a float; every text can be encoded. What does not have the shape that its
reader expects raises one of `MALFORMED`, which `reading_reply` turns into the error of a reply.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, TypeGuard, TypeVar

from websearch_gateway.errors import SearchProviderParseError

T = TypeVar("T")

Json = Mapping[str, Any]

MOST_BYTES = 20_000_000
"""The longest JSON that is parsed. Most doors have their own, smaller limit; PyPI's longest replies have some 15 MB."""

MOST_DEPTH = 100
"""The deepest nesting. Real replies have some ten levels; Python gives up near a thousand, pydantic at 255."""

LONGEST_WHOLE = 308
"""The most digits of a whole number: a float holds no longer one."""

MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""Everything that reading a parsed value of another shape can raise."""

_HALF = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""A part of a surrogate pair, escaped or as bytes that are no UTF-8 but that Python reads."""


class BadJson(ValueError):
    """A text is not JSON, or is longer or deeper than anybody's honest JSON."""


def parse_json(text: bytes | str) -> Any:
    """The value of a reply. A number that is not finite becomes None, and half of a surrogate pair `?`.

    Raises:
        BadJson: see there.
    """
    body = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    try:
        _check_length(body)
        value = json.loads(body, parse_float=_finite, parse_int=_whole, parse_constant=_nothing)
        _check_depth(value)
        if _HALF.search(body):  # most are pairs
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise BadJson(_reason(error)) from None
    return value


def parse_strict_json(text: bytes | str) -> Any:
    """The value of a text that any two readers must understand alike; whole numbers stay exact.

    Raises:
        BadJson: see there; or a name stands twice in an object, or a number is not finite.
    """
    try:
        _check_length(text)
        value = json.loads(
            text.decode("utf-8-sig") if isinstance(text, bytes) else text,
            parse_float=_finite_only,
            parse_constant=_refused,
            object_pairs_hook=_without_duplicates,
        )
        _check_depth(value)
    except (ValueError, RecursionError) as error:
        raise BadJson(_reason(error)) from None
    return value


def parse_json_within(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start` of a longer text, read as by `parse_json`, and the position after it.

    Raises:
        BadJson: no value begins there.
    """
    decoder = json.JSONDecoder(parse_float=_finite, parse_int=_whole, parse_constant=_nothing)
    try:
        value, end = decoder.raw_decode(text, start)
        _check_depth(value)
    except (ValueError, RecursionError) as error:
        raise BadJson(_reason(error)) from None
    return value, end


def reply_object(body: bytes, vendor: str) -> dict[str, Any]:
    """The JSON object that a vendor replied.

    Raises:
        SearchProviderParseError: it is not JSON, or not an object.
    """
    try:
        reply = parse_json(body)
    except BadJson:
        raise SearchProviderParseError(f"The reply of {vendor} is not JSON.") from None
    if not isinstance(reply, dict):
        raise SearchProviderParseError(f"The reply of {vendor} is not a JSON object.")
    return reply


@contextmanager
def reading_reply(trouble: str) -> Iterator[None]:
    """Turn whatever a reply of another shape raises in the block into the error of a reply.

    Raises:
        SearchProviderParseError: with the message `trouble`.
    """
    try:
        yield
    except MALFORMED:
        raise SearchProviderParseError(trouble) from None


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


def _check_length(text: bytes | str) -> None:
    if len(text) > MOST_BYTES:
        raise BadJson("too long")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        below: list[Any] = []
        for container in level:
            if isinstance(container, dict):
                below += container.values()
            elif isinstance(container, list):
                below += container
        if not below:
            return
        level = below
    raise BadJson("too deep")


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def _whole(number: str) -> int | None:
    return int(number) if len(number) <= LONGEST_WHOLE else None


def _nothing(_: str) -> None:
    """Python reads NaN and Infinity, which are not JSON."""


def _finite_only(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise BadJson("a number that is not finite")
    return value


def _refused(_: str) -> NoReturn:
    raise BadJson("a number that is not JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadJson("a name stands twice in an object")
    return found


def _reason(error: Exception) -> str:
    """Why a text is refused, without quoting it."""
    return str(error) if isinstance(error, BadJson) else "not JSON"
