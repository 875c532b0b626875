"""OpenAI's models as data: prices, reasoning efforts and shutdown dates.

A model that is missing here works too: requests name no effort, which every model accepts, and the answer says that its
tokens have no known price. Efforts: https://platform.openai.com/docs/models, ends: /docs/deprecations.
"""

from __future__ import annotations

import re
from datetime import date

from websearch_gateway.answers.models import Model

SOURCE = "https://platform.openai.com/docs/pricing, 2026-11-21"
"""The source and date of the prices."""

SEARCH_USD = 0.01
"""One `search` action of the web_search tool, with any model; opening a page or looking into it is free."""

EFFORT = "low"
"""Enough for lookups. `minimal` is refused together with web search; some models refuse `none`."""

_LUNA_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}\Z")


MODELS = (
    Model(
        "gpt-5-nano",
        0.05,
        0.40,
        cached_usd=0.005,
        efforts=("minimal", "low", "medium", "high"),
        ends=date(2026, 12, 11),
    ),
    Model("gpt-5.4-nano", 0.20, 1.25, cached_usd=0.02, efforts=("none", "low", "medium", "high", "xhigh")),
    Model("gpt-5.6-luna", 0.20, 1.20, cached_usd=0.02, efforts=_LUNA_EFFORTS),
    Model("gpt-6-luna", 0.10, 0.50, cached_usd=0.01, cache_write_usd=0.125, efforts=_LUNA_EFFORTS),
)
_BY_NAME = {model.name: model for model in MODELS}


def find_model(name: str) -> Model | None:
    """The model of that name or of which it is a dated snapshot, such as `gpt-5-nano-2025-08-07`; None if unknown."""
    return _BY_NAME.get(name) or _BY_NAME.get(_SNAPSHOT.sub("", name))
