"""Finds URLs in a text, brings them into a canonical form for comparison, and extracts their host."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from websearch_gateway.models import LONGEST_URL
from websearch_gateway.text.trackers import strip_trackers

_UNSAFE = r"\s()\[\]<>\"`\\^{|}\x00-\x1f\x7f"
_PATH = rf"[^{_UNSAFE}?#\u3000-\u303f\uff00-\uff20\uff3b-\uff65]"
_QUERY = rf"[^{_UNSAFE}\x80-\U0010ffff]"


def _balanced(plain: str) -> str:
    return rf"(?:{plain}++|\({plain}{{0,200}}+\)|\[{plain}{{0,200}}+\])"


# Only the scheme ignores case: under IGNORECASE the long s and the Kelvin sign would exclude "s" and "k".
_URL = re.compile(rf"(?i:https?)://{_balanced(_PATH)}++(?:[?#]{_balanced(_QUERY)}*+)?")
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#\x00-\x1f\x7f]+[^\s\x00-\x1f\x7f]*", re.IGNORECASE)
_HOST_FIRST = re.compile(r"(?://)?(?:[^\W_](?:[\w-]{0,62}\.))+[^\W\d_]{2,63}\.?(?::\d{1,5})?(?:[/?#]\S*)?")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
PUNCTUATION = tuple(".,;:!?'*…")
"""Marks that at the end of a URL belong to the sentence around it."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


def find_urls(text: str) -> list[tuple[int, int]]:
    """The places of absolute web addresses in `text`, as (start, end).

    Brackets belong to a URL if they are balanced, as on Wikipedia; punctuation at its end belongs to the sentence.
    A query ends before the first letter that is not ASCII: in Japanese or Chinese no blank marks the end of a URL.
    """
    return [(m.start(), m.start() + len(m[0].rstrip("".join(PUNCTUATION)))) for m in _URL.finditer(text)]


def is_web_address(url: str) -> bool:
    """Whether `url` is an absolute http(s) URL with a host and without blanks or control characters."""
    return len(url) <= LONGEST_URL and bool(_WEB_ADDRESS.fullmatch(url)) and bool(host(url))


def with_scheme(url: str) -> str | None:
    """An absolute URL as it is, one that begins with its host under `https://`; None for anything else, also for one
    with half of a surrogate pair."""
    url = url.strip()
    if _HALF_CHARACTER.search(url):
        return None
    if "://" in url:
        return url
    return f"https://{url.removeprefix('//')}" if _HOST_FIRST.fullmatch(url) else None


def canonical(url: str) -> str:
    """The canonical URL of a page, for comparison and never for fetching.

    It has the scheme and host in lower case, and no default port, fragment, trackers, empty query or trailing slash.
    The rest of the query keeps its order, since it may identify the page. Returns invalid and too long URLs unchanged.
    """
    if len(url) > LONGEST_URL:
        return url
    try:
        parts = urlsplit(strip_trackers(url))
        port = parts.port
    except ValueError:
        return url
    if not parts.netloc:
        return url
    scheme = parts.scheme.lower()
    address = parts.netloc.rpartition("@")[2]
    name = address if port is None else address.rpartition(":")[0]
    kept_port = f":{port}" if port is not None and port != _DEFAULT_PORTS.get(scheme) else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{name.rstrip(':').lower()}{kept_port}{parts.path.rstrip('/')}{query}"


def host(url: str) -> str:
    """The host of `url` in lower case without `www.`; empty if there is none, or the URL is too long."""
    try:
        name = (urlsplit(url).hostname or "") if len(url) <= LONGEST_URL else ""
    except ValueError:
        return ""
    return name.removeprefix("www.")
