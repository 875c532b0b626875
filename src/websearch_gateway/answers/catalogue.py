"""Models as data: prices, limits of one answer, and shutdown dates. Prices are dated in docs/prices.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from websearch_gateway.errors import SearchProviderError

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Billed:
    """The billed usage of an answer. `cached` and `cache_written` are parts of `prompt`; reasoning is in `response`.

    Without `is_reported` it is an estimate: the vendor gave no count of tokens, or an impossible one.
    """

    prompt: int = 0
    response: int = 0
    cached: int = 0
    cache_written: int = 0
    searches: int = 0
    is_reported: bool = True

    def __add__(self, other: Billed) -> Billed:
        return Billed(
            self.prompt + other.prompt,
            self.response + other.response,
            self.cached + other.cached,
            self.cache_written + other.cache_written,
            self.searches + other.searches,
            self.is_reported and other.is_reported,
        )


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """The prices of a request whose prompt has more than `tokens` tokens. They apply to the whole prompt."""

    tokens: int
    prompt_usd: float
    response_usd: float


@dataclass(frozen=True, slots=True)
class EarlierPrices:
    """The prices up to and including `last_day` (UTC), before those of the model."""

    last_day: date
    prompt_usd: float
    response_usd: float


@dataclass(frozen=True, slots=True)
class Model:
    """A model. Prices are USD per million tokens; a missing price is that of the prompt.

    `efforts` are the reasoning efforts that it accepts; if empty, requests name none. `ends` is the shutdown date.
    `earlier` are the prices that still apply if the vendor has announced new ones for a later day.
    """

    name: str
    prompt_usd: float
    response_usd: float
    cached_usd: float | None = None
    cache_write_usd: float | None = None
    long_prompt: LongPrompt | None = None
    efforts: tuple[str, ...] = ()
    ends: date | None = None
    earlier: EarlierPrices | None = None

    def tokens_usd(self, billed: Billed, now: datetime) -> float:
        """The price of the tokens at `now` (UTC), without the searches."""
        if (earlier := self.earlier) and now.date() <= earlier.last_day:
            before = replace(self, prompt_usd=earlier.prompt_usd, response_usd=earlier.response_usd, earlier=None)
            return before.tokens_usd(billed, now)
        if self.long_prompt and billed.prompt > self.long_prompt.tokens:
            long = self.long_prompt
            return (billed.prompt * long.prompt_usd + billed.response * long.response_usd) / _MILLION
        cached = min(billed.cached, billed.prompt)
        written = min(billed.cache_written, billed.prompt - cached)
        cached_usd = self.prompt_usd if self.cached_usd is None else self.cached_usd
        write_usd = self.prompt_usd if self.cache_write_usd is None else self.cache_write_usd
        return (
            (billed.prompt - cached - written) * self.prompt_usd
            + cached * cached_usd
            + written * write_usd
            + billed.response * self.response_usd
        ) / _MILLION

    def has_ended(self, now: datetime) -> bool:
        """Whether the model is gone at `now` (UTC)."""
        return self.ends is not None and now.date() >= self.ends


_SNAPSHOT = re.compile(r"-\d{4}-?\d{2}-?\d{2}\Z")


def find_model(name: str, known: Sequence[Model]) -> Model | None:
    """The model of that name or of which it is a dated snapshot, such as `gpt-5-nano-2025-08-07`; None if unknown."""
    by_name = {model.name: model for model in known}
    return by_name.get(name) or by_name.get(_SNAPSHOT.sub("", name))


def findings(models: Mapping[str, tuple[date | None, bool]], vendor: str, setting: str, now: datetime) -> list[str]:
    """What an operator should change about the models of `setting`. No shutdown counts that another model outlasts.

    Args:
        models: name -> the shutdown date, and whether the vendor lists the model.

    Raises:
        SearchProviderError: no model serves now.
    """
    found = {name: _finding(name, vendor, ends, now, listed=listed) for name, (ends, listed) in models.items()}
    if not any(listed and (ends or date.max) > now.date() for ends, listed in models.values()):
        reasons = " ".join(filter(None, found.values())) or "None is named."
        raise SearchProviderError(f"No model in {setting} is available. {reasons}")
    outlasted = any(listed and ends is None for ends, listed in models.values())
    return [text for name, text in found.items() if text and not (outlasted and models[name][0])]


def _finding(name: str, vendor: str, ends: date | None, now: datetime, *, listed: bool) -> str | None:
    """The finding about one model; None if it exists and has no shutdown date."""
    if ends and ends <= now.date():
        return f"{vendor} ended the model {name} on {ends}."
    if not listed:
        return f"The model {name} does not exist for this key."
    return f"The model {name} is switched off on {ends}." if ends else None


IMPOSSIBLE_BILL = "The vendor's count of tokens is impossible: costUsd is the maximum cost of the call."

UNREPORTED_BILL = "The vendor reports no usable count of tokens: costUsd is the usual cost of the call."

MOST_SEARCHES = 100
"""No reply is billed for more searches, even if a model ignores its limit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum and the typical usage of one answer. `context_tokens` is the models' context length."""

    most: Billed
    usual: Billed
    context_tokens: int = 1_048_576

    def allow(self, billed: Billed) -> bool:
        """Whether one reply can have used this many tokens and searches."""
        tokens = max(billed.prompt, billed.response, billed.cached, billed.cache_written)
        return tokens <= self.context_tokens and billed.searches <= MOST_SEARCHES

    def booked(self, billed: Billed) -> Billed:
        """The usage to bill for a reply: the maximum if its own count is impossible, the usual one if there is none."""
        if not self.allow(billed):
            return replace(self.most, is_reported=False)
        if billed.is_reported:
            return billed
        return replace(self.usual, searches=max(billed.searches, self.usual.searches, 1), is_reported=False)


def utc_now() -> datetime:
    """The current time in UTC. Engines look this function up at each call, so that tests can freeze it."""
    return datetime.now(UTC)
