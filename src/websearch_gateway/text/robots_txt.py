"""What a robots.txt says, by RFC 9309. Protego reads the rules; here they are put into the words it is sure of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from protego import Protego

# A product token ends where its letters end: `Bot/2.1` and `Bot (of ours)` are `Bot` (RFC 9309, section 2.2.1).
_AGENT = re.compile(r"[\s\ufeff]*user[ -]?agent[\s:]+(\*(?=\s|$)|[a-z_-]*)", re.IGNORECASE)
# With the misspellings that crawlers forgive.
_RULE = re.compile(r"[\s\ufeff]*(?:allow|dis{1,2}al{1,2}[oa]w|diasl{1,2}ow|crawl-delay)", re.IGNORECASE)


def may_read(robots: str, url: str, product: str) -> bool:
    """Whether `robots`, the text of a robots.txt, leaves `url` open to the crawler whose product token is `product`.

    Takes time linear in the text: the rules for anybody else are put together unread.
    """
    return bool(_parsed(robots, product).can_fetch(url, product))


def _in_plain_words(line: str, product: str) -> str:
    """The line, if it is a rule or names whom the rules are for; unknown lines may stand anywhere and mean nothing."""
    if agent := _AGENT.match(line):
        token = agent[1].lower()
        return f"user-agent: {token if token in (product, '*') else 'somebody-else'}"
    return line if _RULE.match(line) else ""


def may_read_each(robots: str, urls: Sequence[str], product: str) -> list[bool]:
    """As `may_read`, for several URLs of one site."""
    rules = _parsed(robots, product)
    return [rules.can_fetch(url, product) for url in urls]


def crawl_delay(robots: str, product: str) -> float:
    """The seconds that the site wants between two requests of this crawler; 0 if it does not say."""
    return float(_parsed(robots, product).crawl_delay(product) or 0.0)


@lru_cache(maxsize=8)
def _parsed(robots: str, product: str) -> Protego:
    from protego import Protego

    lines = (_in_plain_words(line, product.lower()) for line in robots.splitlines())
    return Protego.parse("\n".join(filter(None, lines)))
