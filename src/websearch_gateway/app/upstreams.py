"""Who is asked for answers and results: each behind its breaker, its pace and the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import httpx2

from websearch_gateway.answers.openai_client import OpenAIClient
from websearch_gateway.answers.openai_models import SEARCH_USD
from websearch_gateway.answers.openai_responses import OpenAIEngine
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.net.retry import Retry
from websearch_gateway.net.searcher import HttpSearcher
from websearch_gateway.pipeline.breaker import Breaker
from websearch_gateway.pipeline.chain import LEAST_SHARE_SECONDS, FallbackSearcher
from websearch_gateway.pipeline.fallback import FallbackEngine, UnconfiguredEngine
from websearch_gateway.pipeline.health import HealthRegistry, Stopwatch
from websearch_gateway.pipeline.hedge import ByWeight, Hedging, Order
from websearch_gateway.pipeline.layer import LayeredEngine, LayeredSearcher
from websearch_gateway.pipeline.ledger import Ledger
from websearch_gateway.pipeline.pace import Pace
from websearch_gateway.pipeline.paid import PaidEngine, PaidSearcher
from websearch_gateway.pipeline.roster import Roster
from websearch_gateway.pipeline.tracing import traced_upstream
from websearch_gateway.pipeline.vanguard import Vanguard
from websearch_gateway.ports import AnswerEngine, HostedEngine, Searcher
from websearch_gateway.providers import absent, configured
from websearch_gateway.settings import Settings


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The engine and the providers as they are, for who examines them, and the roster of the guarded providers."""

    engine: HostedEngine
    providers: Sequence[HttpSearcher]
    roster: Roster


def open_upstreams(
    settings: Settings, client: httpx2.AsyncClient, retry: Retry, health: HealthRegistry, ledger: Ledger
) -> Upstreams:
    """Every upstream that is configured. Nothing is called yet.

    Raises:
        SearchNotConfiguredError: a setting names a provider that does not exist or lacks its key.
    """
    providers = configured(settings)
    _check_names(settings, [provider.name for provider in providers])
    engine = _engine(settings, client, retry)
    if settings.openai_api_key is not None:
        health.of(engine.name)  # who is asked first is shown first
    timeout = settings.request_timeout_ms / 1000
    bare = [HttpSearcher(provider, client, retry, timeout, settings.prices) for provider in providers]
    searchers = [_guarded(settings, searcher, health, ledger) for searcher in bare]
    order: Order = ByWeight(settings.provider_weights) if settings.provider_weights else tuple
    hedging = Hedging(health)
    roster = Roster(
        pool=FallbackSearcher(searchers, order=order, hedging=hedging),
        searchers={searcher.name: searcher for searcher in searchers},
        news={provider.name for provider in providers if provider.capabilities.news},
        absent=absent(settings),
        hedging=hedging,
    )
    return Upstreams(engine, bare, roster)


def answering(
    settings: Settings, engine: HostedEngine, raw: AnswerEngine, health: HealthRegistry, ledger: Ledger
) -> FallbackEngine:
    """The engine behind its breaker and the ledger, backed by raw search. One without a key is no upstream."""
    hedge_seconds = settings.fallback_hedge_seconds
    if settings.openai_api_key is None:
        return FallbackEngine(engine, raw, hedge_seconds)
    record = health.of(engine.name)
    fair_seconds = max(LEAST_SHARE_SECONDS, min(hedge_seconds, settings.search_deadline_seconds / 2))
    breaker = Breaker(record, settings.breaker_failures, settings.breaker_rest_seconds, fair_seconds)
    traced = LayeredEngine(LayeredEngine(engine, Stopwatch(record)), traced_upstream(engine.name))
    paid = PaidEngine(traced, ledger, engine.most_usd, engine.likely_usd)
    guarded = LayeredEngine(LayeredEngine(paid, breaker), Vanguard(engine.name))
    return FallbackEngine(guarded, raw, hedge_seconds, breaker.overtaken)


def _engine(settings: Settings, client: httpx2.AsyncClient, retry: Retry) -> HostedEngine:
    if settings.openai_api_key is None:
        return UnconfiguredEngine("openai", "OPENAI_API_KEY")
    account = OpenAIClient(
        client,
        settings.openai_api_key,
        settings.openai_base_url,
        settings.request_timeout_ms / 1000,
        settings.secrets(),
    )
    return OpenAIEngine(account, settings.openai_models, retry, settings.prices.get("openai", SEARCH_USD))


def _guarded(settings: Settings, bare: HttpSearcher, health: HealthRegistry, ledger: Ledger) -> Searcher:
    """A vendor behind its breaker and the ledger, each of whose requests waits for its turn and is timed."""
    record = health.of(bare.name)
    rate = settings.provider_rates.get(bare.name, bare.provider.capabilities.requests_per_second)
    pace = Pace(record, rate, fixed=bare.name in settings.provider_rates)
    paced = replace(bare, layers=(Stopwatch(record), pace), heed=pace.heed)
    traced = LayeredSearcher(paced, traced_upstream(bare.name))
    paid = PaidSearcher(traced, ledger, bare.most_usd) if bare.price_usd else traced
    breaker = Breaker(record, settings.breaker_failures, settings.breaker_rest_seconds, LEAST_SHARE_SECONDS)
    return LayeredSearcher(LayeredSearcher(paid, breaker), Vanguard(bare.name))


def _check_names(settings: Settings, names: Sequence[str]) -> None:
    """A weight must fall to a provider that serves here; a rate or a price may wait for one that does not yet.

    Raises:
        SearchNotConfiguredError: a name that means nobody.
    """
    if unknown := sorted(settings.provider_weights.keys() - set(names)):
        raise SearchNotConfiguredError(
            f"PROVIDER_WEIGHTS names {', '.join(unknown)}, but only these are configured: {', '.join(names)}."
        )
    known = {*names, *absent(settings)}
    for setting, amounts, understood in (
        ("PROVIDER_RATES", settings.provider_rates, known),
        ("PRICES", settings.prices, {"openai", *known}),
    ):
        if unknown := sorted(amounts.keys() - understood):
            raise SearchNotConfiguredError(
                f"{setting} names {', '.join(unknown)}, but there are only these: {', '.join(sorted(understood))}."
            )
