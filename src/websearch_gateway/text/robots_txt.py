"""Applies a robots.txt by RFC 9309. This module extracts the lines for one crawler, and Protego evaluates them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from protego import Protego

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
    ours: list[str] = []
    general: list[str] = []
    agents: set[str] = set()
    product, named, grouping = product.lower(), False, False
    for line in robots.splitlines():
        if agent := _AGENT.match(line):
            token = agent[1].lower()
            agents = {*agents, token} & {product, "*"} if grouping else {token}
            named, grouping = named or token == product, True
        elif _RULE.match(line):
            grouping = False
            if product in agents:
                ours.append(line)
            if "*" in agents:
                general.append(line)
    applicable = ours if named else general
    return "\n".join(["user-agent: *", *applicable]) if applicable else ""


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
    for found in filter(None, map(_USE.match, lines)):
        for part in found[2].lower().split(","):
            *path, preference = part.split() or [""]
            if preference in ("ai-input=no", "search=no", "search=n") and path in ([], ["/"]):
                return f"{found[1]}: {preference}"
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
