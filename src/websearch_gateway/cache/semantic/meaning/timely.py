"""Whether the answer to a question goes stale within minutes."""

from __future__ import annotations

import re

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
