"""Finds URLs in a text, brings them into a canonical form for comparison, and removes what tracks the referrer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote_plus, urlsplit

from websearch_gateway.models import LONGEST_URL

_UNSAFE = r"\s()\[\]<>\"`\\^{|}\x00-\x1f\x7f"
_PATH = rf"[^{_UNSAFE}?#\u3000-\u303f\uff00-\uff20\uff3b-\uff65]"
_QUERY = rf"[^{_UNSAFE}\x80-\U0010ffff]"


def _balanced(plain: str) -> str:
    return rf"(?:{plain}++|\({plain}{{0,200}}+\)|\[{plain}{{0,200}}+\])"


# Only the scheme ignores case: under IGNORECASE the long s and the Kelvin sign would exclude "s" and "k".
_URL = re.compile(rf"(?i:https?)://{_balanced(_PATH)}++(?:[?#]{_balanced(_QUERY)}*+)?")
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#\x00-\x1f\x7f]+[^\s\x00-\x1f\x7f]*", re.IGNORECASE)
_HOST_FIRST = re.compile(r"(?://)?(?:[^\W_](?:[\w-]{0,62}\.))+[^\W\d_]{2,63}\.?(?::\d{1,5})?(?:[/?#]\S*)?")
_PAGE_FRAGMENT = re.compile(r"#(?:[^#]*&)?page=(\d{1,6})(?=[&:]|$)")
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


PREFIXES: Mapping[str, str] = {
    "utm_": "campaign labels of Urchin and Google Analytics; OpenAI appends utm_source=openai",
    "hsa_": "HubSpot ads",
    "mtm_": "Matomo campaigns",
    "pk_": "Piwik campaigns",
}
"""Prefixes of parameter names, each with its owner."""

NAMES: Mapping[str, str] = {
    "_ga": "Google Analytics across domains",
    "_gl": "Google Analytics across domains",
    "_hsenc": "HubSpot e-mails",
    "_hsmi": "HubSpot e-mails",
    "at_campaign": "AT Internet",
    "at_medium": "AT Internet",
    "cmpid": "campaign of news sites",
    "dclid": "Google Display ads",
    "fbclid": "Facebook clicks",
    "gad_source": "Google ads",
    "gbraid": "Google ads in iOS apps",
    "gclid": "Google ads",
    "gclsrc": "Google ads",
    "igsh": "Instagram shares",
    "igshid": "Instagram shares",
    "li_fat_id": "LinkedIn ads",
    "mc_cid": "Mailchimp campaigns",
    "mc_eid": "Mailchimp recipients",
    "mkt_tok": "Marketo e-mails",
    "msclkid": "Microsoft ads",
    "ncid": "campaign of news sites",
    "oly_anon_id": "Omeda newsletters",
    "oly_enc_id": "Omeda newsletters",
    "ref": "the referring site; a branch or commit on code hosts, see `_names_a_revision`",
    "ref_src": "Twitter embeds",
    "ref_url": "Twitter embeds",
    "s_cid": "Adobe Analytics campaigns",
    "srsltid": "Google Shopping clicks",
    "ttclid": "TikTok ads",
    "twclid": "Twitter ads",
    "vero_id": "Vero e-mails",
    "wbraid": "Google ads on the web",
    "wt_mc": "Webtrekk campaigns",
    "yclid": "Yandex ads",
    "ysclid": "Yandex clicks",
}
"""Whole parameter names, each with its owner."""

_CODE_HOST = re.compile(r"https?://(?:[^/?#]*@)?(?:[^/?#]*\.)?(?:git[^./?#]*|bitbucket|codeberg)\.", re.IGNORECASE)
_PARAMETER = re.compile(r"(?P<name>[^=&#]*+)(?:=[^&#]*+)?(?:&amp;|&|(?=#|\Z))", re.IGNORECASE)


def strip_trackers(url: str) -> str:
    """`url` without trackers and otherwise unchanged; also without the `?` if no parameter remains."""
    for start, end in reversed(tracker_pieces(url)):
        url = url[:start] + url[end:]
    return url


def tracker_pieces(url: str) -> list[tuple[int, int]]:
    """The pieces of `url` to cut, as (start, end) in order: each tracker with the `&` that becomes unnecessary."""
    question = url.find("?", 0, url.find("#") if "#" in url else None)
    parameters = [] if question < 0 else _parameters(url, question + 1)
    revision = bool(parameters) and _CODE_HOST.match(url) is not None
    trackers = [_is_tracker(name, revision) for name, _, _, _ in parameters]
    if not any(trackers):
        return []
    if all(tracker or not name for tracker, (name, _, _, _) in zip(trackers, parameters, strict=True)):
        return [(question, parameters[-1][2])]
    pieces: list[tuple[int, int]] = []
    kept_until: int | None = None
    for tracker, (_, start, end, after) in zip(trackers, parameters, strict=True):
        if not tracker:
            kept_until = end
        elif kept_until is None:
            pieces.append((start, after))
        else:
            pieces.append((kept_until, end))
            kept_until = end
    return pieces


def _parameters(url: str, position: int) -> list[tuple[str, int, int, int]]:
    """Each parameter: its name, start, end, and where the next one starts."""
    found = []
    while match := _PARAMETER.match(url, position):
        separator = len(match[0]) - len(re.sub(r"(?:&amp;|&)\Z", "", match[0], flags=re.IGNORECASE))
        found.append((unquote_plus(match["name"]), match.start(), match.end() - separator, match.end()))
        position = match.end()
        if not separator:
            break
    return found


def _is_tracker(name: str, revision: bool) -> bool:
    bare = name.casefold()
    if bare == "ref" and revision:
        return False
    return bare in NAMES or bare.startswith(tuple(PREFIXES))


def page_in(url: str) -> int | None:
    """The page of a PDF that an address leads to; None if it names none."""
    found = _PAGE_FRAGMENT.search(url)
    return int(found[1]) if found else None
