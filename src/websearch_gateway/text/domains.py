"""Lists of domains: what people write in them, and which addresses they cover. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from websearch_gateway.errors import SearchValidationError

MOST_DOMAINS = 150
_DOMAIN = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")


def domains(field: str, given: Iterable[str]) -> tuple[str, ...]:
    """The domains of a list in one spelling: lower case, A-labels, without scheme, path, port, `www.` or `*.`.

    Raises:
        SearchValidationError: the list is too long, or an entry is no domain; `field` is the list's name.
    """
    entries = [entry for entry in given if entry.strip()]
    found = tuple(dict.fromkeys(map(_domain, entries)))
    if len(entries) > MOST_DOMAINS or None in found:
        raise SearchValidationError(
            f"`{field}` must be a list of at most {MOST_DOMAINS} domains such as example.org.",
            details={"field": field},
        )
    return tuple(name for name in found if name is not None)


def covered(url: str, listed: Iterable[str]) -> bool:
    """Whether the host of `url` is one of the domains, or below one."""
    try:
        host = _ascii((urlsplit(url).hostname or "").rstrip("."))
    except ValueError:
        return False
    return any(host == name or host.endswith(f".{name}") for name in listed)


def _domain(entry: str) -> str | None:
    text = entry.strip().lower()
    try:
        host = urlsplit(text if "://" in text else f"//{text}").hostname or ""
    except ValueError:
        return None
    name = _ascii(host.removeprefix("*.").strip(".").removeprefix("www."))
    return name if len(name) <= 253 and _DOMAIN.fullmatch(name) else None


def _ascii(host: str) -> str:
    """The host as it is looked up: a name in other letters in its A-labels (RFC 5890)."""
    if host.isascii():
        return host.lower()
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return host.lower()
