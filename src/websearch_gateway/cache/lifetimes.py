"""For how long a result is fresh, and for how long it may replace a search that failed."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from websearch_gateway.models import SearchQuery


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Times to live, in seconds.

    Attributes:
        ttl: for changing subjects, such as weather, prices and news; 0 turns the cache off.
        long_ttl: for all other results.
        stale_if_error: how much longer these other results may be served if upstreams fail (RFC 5861, section 4).
    """

    ttl: float
    long_ttl: float
    stale_if_error: float

    def fresh(self, query: SearchQuery, now: float) -> float:
        """How long a result is fresh (seconds): with a freshness filter, at most a tenth of its hours.

        Args:
            now: seconds since the epoch; decides which year is the current one.
        """
        if self.ttl <= 0:
            return 0.0
        seconds = self.ttl if is_current(query, now) else self.long_ttl
        if query.freshness_hours is None:
            return seconds
        return min(seconds, query.freshness_hours * 3600 / 10)

    def stale(self, query: SearchQuery, now: float) -> float:
        """How long a result that is no longer fresh may replace a failed search (seconds); 0 for changing subjects."""
        return 0.0 if self.ttl <= 0 or is_current(query, now) else self.stale_if_error

    @property
    def longest(self) -> float:
        """The longest time for which a result is fresh (seconds)."""
        return max(self.ttl, self.long_ttl)


def is_current(query: SearchQuery, now: float) -> bool:
    """Whether a query is about a changing subject, judged by its words, freshness filter or topic."""
    is_recent = query.freshness_hours is not None or query.topic == "news"
    return is_recent or is_timely(query.text, time.gmtime(now).tm_year)


_STALE_SOON = re.compile(
    r"""\b(?:
        today(?:'?s)? | tonight(?:'?s)? | tomorrow(?:'?s)? | yesterday(?:'?s)? | now | nowadays | current(?:ly)?
      | latest | newest | recent(?:ly)? | live | breaking | upcoming | trending | ongoing | so\ far
      | (?:this|next|last)\ (?:minute|hour|morning|afternoon|evening|night|week|weekend|month|quarter|year|season
          |spring|summer|autumn|fall|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday|game|match|race)
      | news | headlines? | weather | forecasts? | temperatures? | humidity | air\ quality | traffic | delays?
      | outages?
      | scores? | standings | fixtures? | line-?ups? | odds | polls? | results? | election
      | prices? | pricing | costs? | how\ much\ (?:is|are|does) | shares? | stocks? | quotes? | market\ cap | net\ worth
      | rates? | interest | exchange | bitcoin | btc | ethereum | crypto\w* | gold | silver | oil
      | in\ stock | available | availability | open\ now | is\ \w+\ (?:down|open|closed|alive|dead|married)
      | time\ (?:is\ it|in) | who\ (?:is\ (?:winning|leading)|won) | updates?
    )\b""",
    re.VERBOSE,
)
_YEAR = re.compile(r"(?<![\d.])20\d\d(?![\d.])")


def is_timely(text: str, this_year: int) -> bool:
    """Whether a question is about a subject that changes hourly, or names this year or a later one.

    When in doubt it is: a past price counts too.
    """
    if _STALE_SOON.search(text.lower()):
        return True
    return any(int(year) >= this_year for year in _YEAR.findall(text))
