"""What a token says about its bearer: strict checks of its shape, and the scopes that it grants.

After these checks a library cannot be too lenient: one spelling per token, one value per name, real numbers only, and
no header that asks for keys or features of the sender's choice.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from websearch_gateway.models import LOCAL, Caller

SCOPES = ("search", "read", "docs", "cache", "ops", "admin")


def may_use(caller: Caller, scope: str) -> bool:
    """Whether `caller` has `scope`."""
    return scope in caller.scopes


def granted(claims: Mapping[str, Any]) -> frozenset[str]:
    """The known scopes of a token: those of `scope` (RFC 8693 section 4.2), else of `scp`.

    Raises:
        InvalidToken: the claim is neither a string of words nor, for `scp`, a list of strings.
    """
    claim = claims["scope"] if "scope" in claims else claims.get("scp", "")
    if isinstance(claim, list) and "scope" not in claims and all(isinstance(name, str) for name in claim):
        names = claim
    elif isinstance(claim, str):
        names = claim.split(" ")
    else:
        raise InvalidToken("Its scopes are malformed.")
    return frozenset(names) & frozenset(SCOPES)


MAX_TOKEN_BYTES = 8_192
MAX_SUBJECT = 255
MAX_KEY_ID = 255
LEEWAY_SECONDS = 30
"""How far the issuer's clock may be ahead (seconds). An expired token gets no leeway."""

_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_FORBIDDEN_HEADERS = ("crit", "b64", "zip", "enc", "jwk", "jku", "x5u", "x5c")
_TYPES = ("jwt", "at+jwt", "application/at+jwt")
_MOMENTS = ("exp", "iat", "nbf", "auth_time")
_LAST_MOMENT = 253_402_300_799  # the year 9999, where calendars end


class InvalidToken(Exception):
    """An invalid token. The text is one of a few fixed sentences, safe for the bearer and for the log."""


def checked_header(token: str, algorithm: str) -> dict[str, Any]:
    """The header of a token that claims to be signed with `algorithm`.

    Raises:
        InvalidToken: too long, not three canonical parts, another algorithm, or a forbidden header.
    """
    # Length first: a header line may be long, and the pattern allows only one-byte characters.
    if len(token) > MAX_TOKEN_BYTES or not _COMPACT.fullmatch(token):
        raise InvalidToken("It is not a signed token of at most 8 KB.")
    header = _strict_object(token.split(".")[0])
    if header.get("alg") != algorithm:
        raise InvalidToken("This server does not accept its algorithm.")
    if any(name in header for name in _FORBIDDEN_HEADERS):
        raise InvalidToken("Its header requires something that this server does not support.")
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise InvalidToken("Its type is not that of an access token.")
    if "kid" in header and not _is_plain_text(header["kid"], MAX_KEY_ID):
        raise InvalidToken("Its key id is malformed.")
    return header


def check_claims(token: str, now: float) -> None:
    """Check the claims' shape: times are whole seconds, only `exp` is in the future, the subject is a plain name.

    Args:
        now: seconds since the epoch.

    Raises:
        InvalidToken: they are not.
    """
    claims = _strict_object(token.split(".")[1])
    for name in _MOMENTS:
        if name not in claims:
            continue
        moment = claims[name]
        if type(moment) is not int or not 0 <= moment <= _LAST_MOMENT:  # True is an int too, but not a time
            raise InvalidToken("Its times are not whole seconds since 1970.")
        if name != "exp" and moment > now + LEEWAY_SECONDS:
            raise InvalidToken("It is not valid yet.")
    if not is_user_name(claims.get("sub")):
        raise InvalidToken("It does not name a user.")


def is_user_name(subject: Any) -> bool:
    """Whether a token may name this user. The local user is not identified by a token."""
    return _is_plain_text(subject, MAX_SUBJECT) and subject != LOCAL.user


def _is_plain_text(value: Any, most: int) -> bool:
    """A short readable text: no control characters, no lone surrogates, no spaces at the ends."""
    return isinstance(value, str) and 0 < len(value) <= most and value.isprintable() and value == value.strip()


def _strict_object(part: str) -> dict[str, Any]:
    try:
        data = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
        if base64.urlsafe_b64encode(data).rstrip(b"=") != part.encode():
            raise InvalidToken("It is not canonical base64url.")
        found = json.loads(
            data.decode(), object_pairs_hook=_without_duplicates, parse_constant=_no_number, parse_float=_finite
        )
    except (ValueError, RecursionError):
        raise InvalidToken("It does not hold valid JSON.") from None
    if not isinstance(found, dict):
        raise InvalidToken("It does not hold valid JSON.")
    return found


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _no_number(_: str) -> float:
    raise ValueError("not a number of JSON")


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("not a finite number")
    return number
