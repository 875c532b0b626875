"""OpenAI's models as data: what they cost, how hard they may think, and when they end.

A model that is not here works all the same: it is asked without an effort, which every model accepts, and its tokens
are not priced, which the answer says. Efforts: https://platform.openai.com/docs/models, ends: /docs/deprecations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

SOURCE = "https://platform.openai.com/docs/pricing, 2026-11-21"
"""Who told the prices, and when."""

SEARCH_USD = 0.01
"""One `search` action of the web_search tool, with any model; opening a page or looking into it is free."""

EFFORT = "low"
"""Enough for looking things up. `minimal` is refused together with web search, `none` by some models."""

_LUNA_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}\Z")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Billed:
    """What one reply is billed for. `cached` and `cache_written` are parts of `prompt`; reasoning is in `response`."""

    prompt: int = 0
    response: int = 0
    cached: int = 0
    cache_written: int = 0
    searches: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A model. Prices are USD per million tokens; writing to the cache costs as much as reading unless it is named."""

    name: str
    prompt_usd: float
    cached_usd: float
    response_usd: float
    efforts: tuple[str, ...]
    cache_write_usd: float | None = None
    ends: date | None = None

    def tokens_usd(self, billed: Billed) -> float:
        """The price of the tokens, without the searches."""
        cached = min(billed.cached, billed.prompt)
        written = min(billed.cache_written, billed.prompt - cached)
        write_usd = self.prompt_usd if self.cache_write_usd is None else self.cache_write_usd
        return (
            (billed.prompt - cached - written) * self.prompt_usd
            + cached * self.cached_usd
            + written * write_usd
            + billed.response * self.response_usd
        ) / _MILLION


MODELS = (
    Model("gpt-5-nano", 0.05, 0.005, 0.40, ("minimal", "low", "medium", "high"), ends=date(2026, 12, 11)),
    Model("gpt-5.4-nano", 0.20, 0.02, 1.25, ("none", "low", "medium", "high", "xhigh")),
    Model("gpt-5.6-luna", 0.20, 0.02, 1.20, _LUNA_EFFORTS),
    Model("gpt-6-luna", 0.10, 0.01, 0.50, _LUNA_EFFORTS, cache_write_usd=0.125),
)
_BY_NAME = {model.name: model for model in MODELS}


def find_model(name: str) -> Model | None:
    """The model of that name or of which it is a dated snapshot, such as `gpt-5-nano-2025-08-07`; None if unknown."""
    return _BY_NAME.get(name) or _BY_NAME.get(_SNAPSHOT.sub("", name))
