"""Which addresses lead to one page: `page_key` is the same for all of them. And the addresses behind the redirects of
search engines, and those of their advertisements.

One page is one result and one citation, however its address is written. `urls.canonical` keeps the scheme and the
host as they are, since it also names what is fetched and stored; these keys only compare.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from websearch_gateway.base.urls import canonical, is_web_address, strip_trackers
from websearch_gateway.models import LONGEST_URL

MOST_WRAPPERS = 3
"""A redirect of one engine may lead through that of another."""

# Escapes of these characters and the characters themselves mean the same in a path; `/`, `?`, `#` and `%` do not.
_SAME_IN_PATH = "!$&'()*+,-.:;=@_~"
# In a query `&`, `=`, `+` and `;` separate, so their escapes mean something else.
_SAME_IN_QUERY = "!$'()*,-./:?@_~"
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


@lru_cache(maxsize=256)  # an answer compares each of its addresses some ten times
def page_key(url: str) -> str:
    """A key that all addresses of a page share: with and without `https`, `www.`, escapes, trackers, a slash at the
    end, a fragment and the redirects of search engines. Invalid and too long addresses are their own keys.
    """
    url = canonical(target_of(url))
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return url
    host = parts.netloc.removeprefix("www.")
    path = _one_spelling(parts.path, _SAME_IN_PATH)
    query = _one_spelling(parts.query, _SAME_IN_QUERY)
    return f"//{host}{path}?{query}" if query else f"//{host}{path}"


def target_of(url: str) -> str:
    """The address that a search engine's redirect leads to, without trackers; another address as it is."""
    for _ in range(MOST_WRAPPERS):
        target = _target(url)
        if target is None:
            break
        url = strip_trackers(target)
    return url


def is_advertisement(url: str) -> bool:
    """Whether an address, or the one behind a redirect, is that of an advertisement in the results of an engine."""
    parts = _split(target_of(url))
    if parts is None:
        return False
    host, path = parts.hostname or "", parts.path
    if _is_of(host, "duckduckgo"):
        return path == "/y.js"
    if _is_of(host, "bing"):
        return path == "/aclick" or path == "/aclk"
    return host.endswith("googleadservices.com") or (_is_of(host, "google") and path == "/aclk")


def _target(url: str) -> str | None:
    """The address behind one redirect; None if `url` is not a redirect, or does not lead to a web page."""
    parts = _split(url)
    if parts is None:
        return None
    host, path = parts.hostname or "", parts.path
    wrapped = ""
    if _is_of(host, "duckduckgo") and path == "/l/":
        wrapped = _parameter(parts, "uddg")
    elif _is_of(host, "google") and path == "/url":
        wrapped = _parameter(parts, "url") or _parameter(parts, "q")
    elif _is_of(host, "bing") and path == "/ck/a":
        wrapped = _from_bing(_parameter(parts, "u"))
    elif host == "r.search.yahoo.com" and (found := re.search(r"/RU=([^/]+)/", path)):
        wrapped = unquote(found[1])
    return wrapped if is_web_address(wrapped) else None


def _from_bing(value: str) -> str:
    """The address in Bing's parameter: `a1` and base64 without padding."""
    encoded = value.removeprefix("a1")
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _is_of(host: str, engine: str) -> bool:
    """Whether a host is an engine's own, in any country: `www.google.co.uk`, `html.duckduckgo.com`."""
    return bool(
        re.fullmatch(rf"(?:[a-z0-9-]+\.)?{engine}\.(?:com|[a-z]{{2}}|com?\.[a-z]{{2}})", host)
    )


def _parameter(parts: SplitResult, name: str) -> str:
    try:
        return parse_qs(parts.query, max_num_fields=100).get(name, [""])[0]
    except ValueError:
        return ""


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url) if len(url) <= LONGEST_URL else None
        return (
            parts
            if parts and parts.scheme.lower() in ("http", "https") and parts.hostname
            else None
        )
    except ValueError:
        return None


def _one_spelling(text: str, same: str) -> str:
    """A path or query in which each character is escaped or not as in all other spellings of it."""

    def spelled(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        is_plain = character in same or (character.isascii() and character.isalnum())
        return character if is_plain else match[0].upper()

    return quote(_ESCAPE.sub(spelled, text), safe=_ASCII)
