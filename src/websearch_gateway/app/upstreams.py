"""The search providers and the reranker that the settings choose, each behind its guard and its rate limiter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import httpx2

from websearch_gateway.answers import table as answers
from websearch_gateway.app.addresses import address_policy
from websearch_gateway.app.guards import Guards
from websearch_gateway.base import HttpSearcher, ReplyParser, Retry, Workers
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.pipeline.cleaning import cleaned_hits
from websearch_gateway.ports import Layer, Searcher, no_layer
from websearch_gateway.providers.table import PROVIDERS, absent, advice, configured
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.guarded import Guarded
from websearch_gateway.upstream.health import Stopwatch
from websearch_gateway.upstream.hedging import Hedging
from websearch_gateway.upstream.provider_selection import ProviderSelection, by_weight
from websearch_gateway.upstream.rate_limiter import RateLimiter
from websearch_gateway.upstream.search_fallback import FallbackSearcher, Order


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The bare providers, which `doctor` examines, and the selection among the guarded ones.

    `advice` tells which keys to set, unless a provider has one. `unfinished` maps each engine and provider of whose
    required settings only some are set to what is missing.
    """

    providers: Sequence[HttpSearcher]
    selection: ProviderSelection
    advice: Callable[[], str]
    unfinished: Mapping[str, str]


def open_upstreams(
    settings: Settings,
    client: httpx2.AsyncClient,
    retry: Retry,
    workers: Workers,
    guards: Guards,
) -> Upstreams:
    """Every configured upstream. Calls nothing.

    Raises:
        SearchNotConfiguredError: a setting names a provider that does not exist or lacks its key.
    """
    providers = configured(settings)
    _check_names(settings, [provider.name for provider in providers])
    for engine in answers.configured(settings):
        guards.health.of(engine.name)  # the health page lists engines first
    timeout = settings.request_timeout_ms / 1000
    parser = ReplyParser(workers)
    bare = [
        HttpSearcher(provider, client, retry, timeout, settings.prices, parser=parser)
        for provider in providers
    ]
    searchers = [_layered(searcher, guards) for searcher in bare]
    order: Order = by_weight(settings.provider_weights) if settings.provider_weights else tuple
    hedging = Hedging(guards.health)
    advised = partial(advice, settings)  # later, since it imports every provider
    selection = ProviderSelection(
        pool=FallbackSearcher(searchers, order=order, hedging=hedging, advice=advised),
        searchers={searcher.name: searcher for searcher in searchers},
        news={provider.name for provider in providers if provider.capabilities.news},
        absent=absent(settings),
        hedging=hedging,
    )
    return Upstreams(bare, selection, advised, _unfinished(settings))


def _unfinished(settings: Settings) -> dict[str, str]:
    missing_by_name = {}
    rows = [(entry.name, entry.needs) for entry in answers.ENGINES] + [
        (entry.name, entry.needs) for entry in PROVIDERS
    ]
    for name, needs in rows:
        done = [need.upper() for need in needs if getattr(settings, need)]
        missing = [need.upper() for need in needs if not getattr(settings, need)]
        if done and missing:
            missing_by_name[name] = f"{' and '.join(done)} is set, {' and '.join(missing)} is not"
    if settings.reranker_url is None and (settings.reranker_model or settings.reranker_api_key):
        missing_by_name["reranker"] = (
            "RERANKER_MODEL or RERANKER_API_KEY is set, RERANKER_URL is not"
        )
    return missing_by_name


def _layered(bare: HttpSearcher, guards: Guards) -> Searcher:
    guard = guards.around(bare.name, bare.most_usd if bare.price_usd else None)
    record = guards.health.of(bare.name)
    limiter = RateLimiter(record, bare.provider.capabilities.requests_per_second)
    paced = replace(bare, pace=limiter, stopwatch=Stopwatch(record), on_headers=limiter.learn)
    # It measures each of its requests, so the guard need not.
    unmeasured = replace(guard, stopwatch=no_layer)
    return Guarded(paced, unmeasured, partial(cleaned_hits, address_policy(guards.settings)))


def reranker_guard(guards: Guards) -> Layer:
    """The guard of RERANKER_URL: one that is down, or hangs once, is not asked for every call."""
    if guards.settings.reranker_url is None:
        return no_layer
    price = guards.settings.prices.get("reranker")
    most_usd = (lambda _: price) if price else None
    # Every call waits for the reranker, and can do without it: it rests after one timeout.
    return guards.around("reranker", most_usd, timeouts=1)


def _check_names(settings: Settings, names: Sequence[str]) -> None:
    """A weight must name a configured provider; a price may name one that has no key yet.

    Raises:
        SearchNotConfiguredError: a name is unknown.
    """
    if unknown := sorted(settings.provider_weights.keys() - set(names)):
        raise SearchNotConfiguredError(
            f"PROVIDER_WEIGHTS names {', '.join(unknown)}, but only these are configured: {', '.join(names)}."
        )
    priced = {
        *(engine.name for engine in answers.ENGINES),
        "embedding",
        "reranker",
        *names,
        *absent(settings),
    }
    if unknown := sorted(settings.prices.keys() - priced):
        raise SearchNotConfiguredError(
            f"PRICES names {', '.join(unknown)}, but there are only these: {', '.join(sorted(priced))}."
        )
