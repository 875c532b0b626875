"""Lists of domains: parsing, matching URLs, and `site:` operators in queries. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal
from urllib.parse import urlsplit

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import LONGEST_URL, SearchQuery

MOST_DOMAINS = 150
LONGEST_ENTRY = 2_000
"""The longest entry of a list (characters), which may be the URL of a page."""
MOST_SITES = 8
MOST_WORDS = 32
LONGEST_QUERY = 400
"""Limits of a query with its operators: engines ignore words after the 32nd, or reject more than 400 characters."""
_DOMAIN = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")


def domains(field: str, given: Iterable[str]) -> tuple[str, ...]:
    """The normalised domains of a list: lower case, A-labels, without scheme, path, port, `www.` or `*.`.

    Raises:
        SearchValidationError: the list is too long, or an entry is not a domain; `field` is the list's name.
    """
    entries = [entry for entry in given if entry.strip()]
    found = tuple(dict.fromkeys(_domain(entry) if len(entry) <= LONGEST_ENTRY else None for entry in entries))
    if len(entries) > MOST_DOMAINS or None in found:
        raise SearchValidationError(
            f"`{field}` must be a list of at most {MOST_DOMAINS} domains such as example.org.",
            details={"field": field},
        )
    return tuple(name for name in found if name is not None)


def narrowed(
    include: Sequence[str], exclude: Sequence[str], allowed: Sequence[str], blocked: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The domains to include and to exclude, from the lists of a call and of the operator, all results of `domains`.

    If there are domains to include, the domains to exclude are only those below them.

    Raises:
        SearchValidationError: no domain remains to include.
    """
    wanted = tuple(include) or tuple(allowed)
    if include and allowed:
        wanted = (*(name for name in include if _within(name, allowed)), *(n for n in allowed if _within(n, include)))
    unwanted = tuple(dict.fromkeys((*exclude, *blocked)))
    if not include and not allowed:
        return (), unwanted
    kept = tuple(dict.fromkeys(name for name in wanted if not _within(name, unwanted)))
    if not kept:
        raise SearchValidationError(
            "No domain remains to search: every included domain is excluded, or not allowed by the operator.",
            details={"field": "includeDomains"},
        )
    return kept, tuple(name for name in unwanted if _within(name, kept))


def admitted(url: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether the host of `url` is in or below `include` (any host if empty), and not in or below `exclude`."""
    if len(url) > LONGEST_URL:
        return False
    try:
        host = _ascii((urlsplit(url).hostname or "").rstrip("."))
    except ValueError:
        return False
    return not _within(host, exclude) and (not include or _within(host, include))


def with_sites(query: SearchQuery, *, most_included: int = MOST_SITES) -> str:
    """The text of the query with `site:` operators for its lists of domains, or the bare text if they do not fit.

    https://developers.google.com/search/docs/monitor-debug/search-operators/all-search-site,
    https://search.brave.com/help/operators, https://duckduckgo.com/duckduckgo-help-pages/results/syntax
    """
    include, exclude = query.include_domains, query.exclude_domains
    if len(include) > most_included or len(include) + len(exclude) > MOST_SITES:
        return query.text
    wanted = " OR ".join(f"site:{name}" for name in include)
    group = f"({wanted})" if len(include) > 1 else wanted
    text = " ".join(filter(None, (query.text, group, *(f"-site:{name}" for name in exclude))))
    return text if len(text) <= LONGEST_QUERY and len(text.split()) <= MOST_WORDS else query.text


def sites_applied(query: SearchQuery, *, most_included: int = MOST_SITES) -> Literal["upstream"] | None:
    """The value of `AppliedFilters.domains` for a query made by `with_sites`."""
    return "upstream" if with_sites(query, most_included=most_included) != query.text else None


def one_list(query: SearchQuery, most: float = math.inf) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The included and the excluded domains for a vendor that takes only one list, of at most `most` domains.

    The excluded ones are left out if there are included ones; a list that is too long is left out too.
    """
    include = query.include_domains if len(query.include_domains) <= most else ()
    exclude = query.exclude_domains if not query.include_domains and len(query.exclude_domains) <= most else ()
    return include, exclude


def _within(name: str, listed: Iterable[str]) -> bool:
    return any(name == one or name.endswith(f".{one}") for one in listed)


def _domain(entry: str) -> str | None:
    if len(entry) > LONGEST_URL:
        return None
    text = entry.strip().lower()
    try:
        host = urlsplit(text if "://" in text else f"//{text}").hostname or ""
    except ValueError:
        return None
    name = _ascii(host.removeprefix("*.").strip(".").removeprefix("www."))
    return name if len(name) <= 253 and _DOMAIN.fullmatch(name) else None


def _ascii(host: str) -> str:
    """The host as used in DNS: an internationalised name as A-labels (RFC 5890)."""
    if host.isascii():
        return host.lower()
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return host.lower()
