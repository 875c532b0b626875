"""URLs in texts: found, brought into a canonical form for comparison, and without what tracks the referrer. Lists of
domains: parsed, matched, and as `site:` operators in queries. The rules of a robots.txt (RFC 9309), which say whether
a URL may be read: this module extracts the lines for one crawler, and Protego evaluates them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote_plus, urlsplit

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import LONGEST_URL, MOST_DOMAINS, SearchQuery

if TYPE_CHECKING:
    from protego import Protego

_UNSAFE = r"\s()\[\]<>\"`\\^{|}\x00-\x1f\x7f"
_PATH = rf"[^{_UNSAFE}?#\u3000-\u303f\uff00-\uff20\uff3b-\uff65]"
_QUERY = rf"[^{_UNSAFE}\x80-\U0010ffff]"


def _balanced(plain: str) -> str:
    return rf"(?:{plain}++|\({plain}{{0,200}}+\)|\[{plain}{{0,200}}+\])"


# Only the scheme ignores case: under IGNORECASE the long s and the Kelvin sign would exclude "s" and "k".
_URL = re.compile(rf"(?i:https?)://{_balanced(_PATH)}++(?:[?#]{_balanced(_QUERY)}*+)?")
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#\x00-\x1f\x7f]+[^\s\x00-\x1f\x7f]*", re.IGNORECASE)
_HOST_FIRST = re.compile(
    r"(?://)?(?:[^\W_](?:[\w-]{0,62}\.))+[^\W\d_]{2,63}\.?(?::\d{1,5})?(?:[/?#]\S*)?"
)
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
    if "://" not in text:  # most texts: to look for the pattern takes five times as long
        return []
    marks = "".join(PUNCTUATION)
    return [(m.start(), m.start() + len(m[0].rstrip(marks))) for m in _URL.finditer(text)]


def is_web_address(url: str) -> bool:
    """Whether `url` is an absolute http(s) URL with a host and without blanks or control characters."""
    may_be_one = "://" in url and len(url) <= LONGEST_URL
    return may_be_one and bool(_WEB_ADDRESS.fullmatch(url)) and bool(host(url))


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


_TRACKER_NAMES = """
Google: _ga _gl dclid gad_source gbraid gclid gclsrc srsltid wbraid
HubSpot, Mailchimp, Marketo, Omeda, Vero: _hsenc _hsmi mc_cid mc_eid mkt_tok oly_anon_id oly_enc_id vero_id
Facebook, Instagram, LinkedIn, TikTok, Twitter: fbclid igsh igshid li_fat_id ttclid ref_src ref_url twclid
Adobe, AT Internet, Microsoft, Webtrekk, Yandex: s_cid at_campaign at_medium msclkid wt_mc yclid ysclid
News sites: cmpid ncid
The referring site, but a branch or commit on code hosts: ref
"""
_TRACKERS = frozenset(
    name for row in _TRACKER_NAMES.splitlines() for name in row.partition(": ")[2].split()
)
_TRACKER_PREFIXES = ("utm_", "hsa_", "mtm_", "pk_")  # Google and OpenAI, HubSpot, Matomo, Piwik

_CODE_HOST = re.compile(
    r"https?://(?:[^/?#]*@)?(?:[^/?#]*\.)?(?:git[^./?#]*|bitbucket|codeberg)\.", re.IGNORECASE
)
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
    names = [name.casefold() for name, _, _, _ in parameters]
    trackers = [
        (name in _TRACKERS and not (name == "ref" and revision))
        or name.startswith(_TRACKER_PREFIXES)
        for name in names
    ]
    if not any(trackers):
        return []
    if all(tracker or not name for tracker, name in zip(trackers, names, strict=True)):
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
        found.append(
            (unquote_plus(match["name"]), match.start(), match.end() - separator, match.end())
        )
        position = match.end()
        if not separator:
            break
    return found


def page_in(url: str) -> int | None:
    """The page of a PDF that an address leads to; None if it names none."""
    fragment = _PAGE_FRAGMENT.search(url)
    return int(fragment[1]) if fragment else None


LONGEST_ENTRY = 2_000  # the longest entry of a list (characters), which may be the URL of a page
MOST_SITES = 8
"""That `site:` may name in a query: engines drop longer ones without a word."""
MOST_WORDS = 32
"""Of a query with sites: Google reads 32."""
LONGEST_QUERY = 400
"""Limits of a query with its operators: engines ignore words after the 32nd, or reject more than 400 characters."""
_DOMAIN = re.compile(
    r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*"
)


def domains(field: str, entries: Collection[Any]) -> tuple[str, ...]:
    """The normalised domains of a list: lower case, A-labels, without scheme, path, port, `www.` or `*.`.

    Raises:
        SearchValidationError: no list, or too long, or an entry is not a domain; `field` is the list's name.
    """
    # A program may give anything. A single text is no list, and an iterator would be empty for whoever reads it next.
    names: dict[str, None] = {}
    is_list = isinstance(entries, Collection) and not isinstance(entries, str)
    written = [entry for entry in entries if not _is_blank(entry)] if is_list else []
    for entry in written[: MOST_DOMAINS + 1]:
        name = _domain(entry)
        is_list = is_list and name is not None
        names[name or ""] = None
    if not is_list or len(written) > MOST_DOMAINS:
        raise SearchValidationError(
            f"`{field}` must be a list of at most {MOST_DOMAINS} domains such as example.org.",
            details={"field": field},
        )
    return tuple(names)


def _is_blank(entry: Any) -> bool:
    return isinstance(entry, str) and not entry.strip()


def narrowed(
    include: Sequence[str], exclude: Sequence[str], allowed: Sequence[str], blocked: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The domains to include and to exclude, from the lists of a call and of the operator, all results of `domains`.

    If there are domains to include, the domains to exclude are only those below them.

    Raises:
        SearchValidationError: no domain remains to include.
    """
    unwanted = tuple(dict.fromkeys((*exclude, *blocked)))
    if not include and not allowed:
        return (), unwanted
    candidates = [*include, *allowed]
    if include and allowed:
        candidates = [name for name in include if _within(name, allowed)]
        candidates += [name for name in allowed if _within(name, include)]
    to_include = [name for name in candidates if not _within(name, unwanted)]
    if not to_include:
        raise SearchValidationError(
            "No domain remains to search: every included domain is excluded, or not allowed by the operator.",
            details={"field": "includeDomains"},
        )
    to_exclude = tuple(name for name in unwanted if _within(name, to_include))
    return tuple(dict.fromkeys(to_include)), to_exclude


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
    sites = " OR ".join(f"site:{name}" for name in include)
    if len(include) > 1:
        sites = f"({sites})"
    without = " ".join(f"-site:{name}" for name in exclude)
    text = " ".join(filter(None, (query.text, sites, without)))
    fits = len(text) <= LONGEST_QUERY and len(text.split()) <= MOST_WORDS
    return text if fits else query.text


def one_list(query: SearchQuery, most: float = math.inf) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The included and the excluded domains for a vendor that takes only one list, of at most `most` domains.

    The excluded ones are left out if there are included ones; a list that is too long is left out too.
    """
    include, exclude = query.include_domains, query.exclude_domains
    if include:
        return (include if len(include) <= most else ()), ()
    return (), (exclude if len(exclude) <= most else ())


def _within(name: str, listed: Iterable[str]) -> bool:
    return any(name == domain or name.endswith(f".{domain}") for domain in listed)


def _domain(entry: Any) -> str | None:
    if not isinstance(entry, str) or len(entry) > LONGEST_ENTRY:
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


# A product token ends where its letters end: `Bot/2.1` and `Bot (of ours)` are `Bot` (RFC 9309, section 2.2.1).
_AGENT = re.compile(r"[\s\ufeff]*user[ -]?agent[\s:]+(\*(?=\s|$)|[a-z_-]*)", re.IGNORECASE)
# Including common misspellings that crawlers accept.
_RULE = re.compile(
    r"[\s\ufeff]*(?:allow|dis{1,2}al{1,2}[oa]w|diasl{1,2}ow|crawl-delay|content-(?:signal|usage))(?=[\s:#]|$)",
    re.IGNORECASE,
)
_USE = re.compile(r"[\s\ufeff]*(content-signal|content-usage)\s*:([^#]*)", re.IGNORECASE)


def rules_for(robots: str, product: str) -> str:
    """The rules of a robots.txt for the crawler with the product token `product`, as a robots.txt for all crawlers.

    Empty if there are none. Ignores lines that are not rules. Takes time linear in the text.
    """
    product = product.lower()
    for_product: list[str] = []
    for_all: list[str] = []
    agents: set[str] = set()
    names_product = is_among_agents = False
    for line in robots.splitlines():
        agent = _AGENT.match(line)
        if agent:
            token = agent[1].lower()
            if not is_among_agents:  # a new group
                agents = set()
            if token in (product, "*"):
                agents.add(token)
            names_product = names_product or token == product
            is_among_agents = True
        elif _RULE.match(line):
            is_among_agents = False
            if product in agents:
                for_product.append(line)
            if "*" in agents:
                for_all.append(line)
    rules = for_product if names_product else for_all
    return "\n".join(["user-agent: *", *rules]) if rules else ""


def parse(rules: str) -> Protego:
    """Parse the result of `rules_for` for repeated use. Takes up to 100 bytes of memory per character."""
    from protego import Protego

    return Protego.parse(rules)


def may_read(robots: str, url: str, product: str) -> bool:
    """Whether `robots`, the text of a robots.txt, allows the crawler with the token `product` to fetch `url`."""
    return _parsed(robots, product).can_fetch(url, product)


def may_read_each(robots: str, urls: Sequence[str], product: str) -> list[bool]:
    """As `may_read`, for several URLs of one site."""
    rules = _parsed(robots, product)
    return [rules.can_fetch(url, product) for url in urls]


def refused_use(lines: Iterable[str]) -> str:
    """The line, in a robots.txt or a header, that forbids to find or quote pages of the whole site; "" if none does.

    `Content-Signal: ai-input=no` (https://contentsignals.org) and `Content-Usage: search=n` (the IETF's).
    """
    for statement in filter(None, map(_USE.match, lines)):
        field, preferences = statement[1], statement[2].lower()
        for part in preferences.split(","):
            *path, preference = part.split() or [""]
            is_of_whole_site = path in ([], ["/"])
            if is_of_whole_site and preference in ("ai-input=no", "search=no", "search=n"):
                return f"{field}: {preference}"
    return ""


def refused_by(robots: str, product: str) -> str:
    """As `refused_use`, for the lines of a robots.txt that hold for one crawler."""
    return refused_use(rules_for(robots, product).splitlines())


def crawl_delay(robots: str, product: str) -> float:
    """The seconds between two requests of this crawler that the site asks for; 0 if not given."""
    return float(_parsed(robots, product).crawl_delay(product) or 0.0)


@lru_cache(maxsize=8)
def _parsed(robots: str, product: str) -> Protego:
    return parse(rules_for(robots, product))


_EDGE_WORDS = 5
"""The words at each end of a long quote by which a browser finds it."""


def quote_url(url: str, quote: str) -> str:
    """`url` with a text fragment that lets a browser show the quote (https://wicg.github.io/scroll-to-text-fragment)."""
    pieces = [quote]
    words = quote.split()
    if len(words) > 2 * _EDGE_WORDS:
        pieces = [" ".join(words[:_EDGE_WORDS]), " ".join(words[-_EDGE_WORDS:])]
    # A hyphen and a comma have a meaning in a fragment.
    text = ",".join(percent_encoded(piece, safe="").replace("-", "%2D") for piece in pieces)
    address, _, fragment = url.partition("#")
    return f"{address}#{fragment.partition(':~:')[0]}:~:text={text}"
