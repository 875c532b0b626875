"""The ways to move a reader on that are no status 3xx: `Refresh` as a header or in a `<meta>`, and cookie walls.

A cookie wall sends a reader to the same address until it brings the cookie that it was given. The cookies here live as
long as one call, so that no site can link two of them.
"""

from __future__ import annotations

import html
import http.cookiejar
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx2

LONGEST_REFRESH = 10
"""A page that stays for as many seconds is a page to read (seconds)."""

_HEAD_BYTES = 16_384
"""The beginning of a page in which a `<meta>` is looked for."""

MOST_COOKIES, LONGEST_COOKIES = 50, 8_000
"""The most cookies that a call keeps, and the longest header that it sends (characters)."""

_VALUE = re.compile(
    r"""\s*(\d{0,4})(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*["']?([^"'\s]+)["']?\s*""", re.IGNORECASE
)
# What no reader gets: comments, and what is for readers without scripts or is text.
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|noscript|style|template|textarea|title)\b.*?(?:</\1|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<(meta|base)\b([^>]{1,2000})>", re.IGNORECASE)
_NAMED = re.compile(rb"[^=;]+=")
_ATTRIBUTE = re.compile(
    r"""([a-z-]{1,20})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)


def refresh_of(url: str, headers: Mapping[str, str], page: bytes = b"") -> str | None:
    """Where a reply sends its reader within LONGEST_REFRESH seconds; None if it lets the reader stay.

    Args:
        url: the address of the reply.
        headers: with lower-case names.
        page: the reply if it is HTML.
    """
    target = _target(url, headers.get("refresh", ""))
    if target:
        return target
    head = page[:_HEAD_BYTES]
    if b"refresh" not in head.lower():
        return None
    base = url
    for tag in _TAG.finditer(_HIDDEN.sub("", head.decode("latin-1"))):
        attributes = {}
        for name, *values in _ATTRIBUTE.findall(tag[2]):  # one of the three values is not empty
            attributes[name.lower()] = html.unescape("".join(values))
        if tag[1].lower() == "base":
            base = _joined(url, attributes.get("href", "")) or url
        elif attributes.get("http-equiv", "").strip().lower() == "refresh":
            target = _target(base, attributes.get("content", ""))
            if target:
                return target
    return None


def _target(base: str, value: str) -> str | None:
    """The web address in a value such as `0; url=/home`."""
    found = _VALUE.fullmatch(value)
    if found is None or int(found[1] or 0) >= LONGEST_REFRESH:
        return None
    target = _joined(base, found[2])
    return target if target.startswith(("https://", "http://")) else None


def _joined(base: str, target: str) -> str:
    try:
        joined = urljoin(base, target)
        _ = urlsplit(joined).port
    except ValueError:
        return ""
    return joined


class CallCookies:
    """The cookies of one call, by the rules of browsers for domains, paths and `Secure`; but no port gets those of
    another one.
    """

    def __init__(self) -> None:
        self._by_port: dict[int | None, httpx2.Cookies] = {}

    def keep(self, url: str, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        """Keep the cookies of a reply from `url`. Returns whether one of them is new or has another value."""
        given = []
        for name, value in headers:
            if name.lower() == b"set-cookie" and _NAMED.match(value):
                given.append((name, value))
        if not given:
            return False
        policy = http.cookiejar.DefaultCookiePolicy(strict_domain=True)
        jar = httpx2.Cookies(http.cookiejar.CookieJar(policy))
        cookies = self._by_port.setdefault(urlsplit(url).port, jar)
        before = _values(cookies)
        if len(before) >= MOST_COOKIES:
            return False
        request = httpx2.Request("GET", url)
        reply = httpx2.Response(200, headers=given[:MOST_COOKIES], request=request)
        cookies.extract_cookies(reply)
        return _values(cookies) != before

    def added_to(self, headers: Mapping[str, str], url: str) -> Mapping[str, str]:
        """The headers of a request with the cookies for its address, behind those that it has."""
        cookies = self._by_port.get(urlsplit(url).port) if self._by_port else None
        if cookies is None:
            return headers
        request = httpx2.Request("GET", url)
        cookies.set_cookie_header(request)
        value = request.headers.get("cookie", "")
        if not 0 < len(value) <= LONGEST_COOKIES:
            return headers
        given = [value for name, value in headers.items() if name.lower() == "cookie"]
        others = {name: value for name, value in headers.items() if name.lower() != "cookie"}
        return {**others, "cookie": "; ".join((*given, value))}


class _Cookie(NamedTuple):
    """A cookie as it is told from others, with its value."""

    domain: str
    path: str
    name: str
    value: str | None


def _values(cookies: httpx2.Cookies) -> set[_Cookie]:
    return {
        _Cookie(cookie.domain, cookie.path, cookie.name, cookie.value) for cookie in cookies.jar
    }
