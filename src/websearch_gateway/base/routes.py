"""Which questions a specialist server should answer instead of the web.

A route must catch queries for the *data* ("polymarket odds on a fed cut", "rss feed of the verge"), but not queries
*about* the thing ("is polymarket legal", "how to parse an rss feed in python") or with the same words ("farmers
market", "rss memory of a process"). `market_questions` and `feed_questions` decide that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from websearch_gateway.base.feed_questions import asks_for_a_feed
from websearch_gateway.base.market_questions import asks_for_market_data
from websearch_gateway.base.patterns import has


@dataclass(frozen=True, slots=True)
class Route:
    """A specialist server, the queries that are for it, and the message for the caller.

    Args:
        message: names the server to use instead, in backticks.
        server: its name.
        is_for_it: whether a query in its matching form is for the server.
        patterns: the operator's case-insensitive regular expressions, matched on the normalised query.
    """

    message: str
    server: str = ""
    is_for_it: Callable[[str], bool] | None = None
    patterns: tuple[str, ...] = ()

    def asks(self, text: str, form: str) -> bool:
        """Whether a normalised query, whose matching form is `form`, asks for this server's data."""
        if any(has(pattern, text) for pattern in self.patterns):
            return True
        return self.is_for_it is not None and self.is_for_it(form)


def built_in_routes(year: int) -> Mapping[str, Route]:
    """The built-in routes, by the name of the server to use.

    Args:
        year: the current one. What a market said in an earlier year is history.
    """
    return {
        "polymarket": Route(
            message="This asks for prediction-market data: use the server `polymarket` instead of a web search.",
            server="polymarket",
            is_for_it=partial(asks_for_market_data, year=year),
        ),
        "google-news-rss": Route(
            message="This asks for an RSS or news feed: use the server `google-news-rss` instead of a web search.",
            server="google-news-rss",
            is_for_it=asks_for_a_feed,
        ),
    }


def repeats_a_repetition(pattern: str) -> bool:
    """Whether a valid pattern repeats a group with a repetition inside, as `(a+)+`, which can take exponential time."""
    atoms = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern)
    groups = [False]  # one per open group: does it contain a repetition?
    closed_repeats = False  # does the group that was just closed contain one?
    for character in atoms:
        if character in "*+{":
            if closed_repeats:
                return True
            groups[-1] = True
        if character == "(":
            groups.append(False)
        closed_repeats = character == ")" and groups.pop()
        groups[-1] |= closed_repeats
    return False
