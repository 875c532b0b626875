"""The search providers and the answer engines, each behind its circuit breaker, its rate limiter and the ledger; and
the operator's choices for outgoing requests: domains to search and to read, and the route.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

import httpx2

from websearch_gateway.answers import table as answers
from websearch_gateway.answers.table import Outside
from websearch_gateway.answers.table import configured as answers_configured
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.client import HttpSearcher
from websearch_gateway.net.outbound import Outbound
from websearch_gateway.net.own_threads import ReplyParser
from websearch_gateway.net.retry import Retry
from websearch_gateway.pipeline.cleaning import cleaned_hits
from websearch_gateway.pipeline.fallback import FallbackEngine, Ranked, UnconfiguredEngine
from websearch_gateway.ports import AnswerEngine, HostedEngine, Layer, Searcher, Workers
from websearch_gateway.providers import PROVIDERS, absent, advice, configured
from websearch_gateway.settings import Settings
from websearch_gateway.text.urls import MOST_DOMAINS, admitted, domains
from websearch_gateway.upstream.health import HealthRegistry, Stopwatch, UpstreamHealth
from websearch_gateway.upstream.layers import Budget, BurstGate, CircuitBreaker, Layered, RateLimiter
from websearch_gateway.upstream.ledger import Ledger
from websearch_gateway.upstream.race import (
    LEAST_SHARE_SECONDS,
    ByWeight,
    FallbackSearcher,
    Hedging,
    Order,
    ProviderSelection,
)
from websearch_gateway.upstream.telemetry import TracedUpstream

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The bare providers, which `doctor` examines, and the selection among the guarded ones.

    `advice` says which keys to set; empty if a provider has a key. `unfinished` maps each engine and provider of whose
    required settings only some are set to what is missing.
    """

    providers: Sequence[HttpSearcher]
    selection: ProviderSelection
    advice: str
    unfinished: Mapping[str, str]


def open_upstreams(
    settings: Settings,
    client: httpx2.AsyncClient,
    retry: Retry,
    health: HealthRegistry,
    ledger: Ledger,
    workers: Workers,
) -> Upstreams:
    """Every configured upstream. Calls nothing.

    Raises:
        SearchNotConfiguredError: a setting names a provider that does not exist or lacks its key.
    """
    providers = configured(settings)
    _check_names(settings, [provider.name for provider in providers])
    for engine in answers.configured(settings):
        health.of(engine.name)  # the health page lists engines first
    timeout = settings.request_timeout_ms / 1000
    parser = ReplyParser(workers)
    bare = [HttpSearcher(provider, client, (retry,), timeout, settings.prices, parser=parser) for provider in providers]
    searchers = [_layered(settings, searcher, health, ledger) for searcher in bare]
    order: Order = ByWeight(settings.provider_weights) if settings.provider_weights else tuple
    hedging, advised = Hedging(health), advice(settings)
    selection = ProviderSelection(
        pool=FallbackSearcher(searchers, order=order, hedging=hedging, advice=advised),
        searchers={searcher.name: searcher for searcher in searchers},
        news={provider.name for provider in providers if provider.capabilities.news},
        absent=absent(settings),
        hedging=hedging,
    )
    return Upstreams(bare, selection, advised, _unfinished(settings))


def _unfinished(settings: Settings) -> dict[str, str]:
    found = {}
    rows = [(entry.name, entry.needs) for entry in answers.ENGINES] + [(entry.name, entry.needs) for entry in PROVIDERS]
    for name, needs in rows:
        done = [need.upper() for need in needs if getattr(settings, need)]
        missing = [need.upper() for need in needs if not getattr(settings, need)]
        if done and missing:
            found[name] = f"{' and '.join(done)} is set, {' and '.join(missing)} is not"
    if settings.reranker_url is None and (settings.reranker_model or settings.reranker_api_key):
        found["reranker"] = "RERANKER_MODEL or RERANKER_API_KEY is set, RERANKER_URL is not"
    return found


def _layered(settings: Settings, bare: HttpSearcher, health: HealthRegistry, ledger: Ledger) -> Searcher:
    """A vendor inside its call layers; each of its requests passes the request layers."""
    record = health.of(bare.name)
    limiter = RateLimiter(record, bare.provider.capabilities.requests_per_second)
    clean = partial(cleaned_hits, address_policy(settings))
    budget = (Budget(bare.name, ledger, bare.most_usd),) if bare.price_usd else ()
    paced = replace(bare, layers=(*bare.layers, limiter, Stopwatch(record)), on_headers=limiter.learn)
    # The breaker learns what the cleaning refuses.
    return Layered(paced, _guarded(bare.name, _breaker(settings, record, LEAST_SHARE_SECONDS), clean, *budget))


def reranker_layers(settings: Settings, health: HealthRegistry, ledger: Ledger) -> tuple[Layer[T], ...]:
    """The layers of RERANKER_URL: one that is down is not asked for every call."""
    if settings.reranker_url is None:
        return ()
    record, price = health.of("reranker"), settings.prices.get("reranker")
    budget = (Budget("reranker", ledger, lambda _: price),) if price else ()
    return (*_guarded("reranker", _breaker(settings, record, LEAST_SHARE_SECONDS), *budget), Stopwatch(record))


def _guarded(name: str, breaker: CircuitBreaker, *inner: Layer[T]) -> tuple[Layer[T], ...]:
    """The layers of a call of any upstream, the outermost first."""
    return (BurstGate(name), breaker, *inner, TracedUpstream(name))


def _breaker(settings: Settings, record: UpstreamHealth, fair_seconds: float) -> CircuitBreaker:
    return CircuitBreaker(record, settings.breaker_failures, settings.breaker_rest_seconds, fair_seconds)


def _check_names(settings: Settings, names: Sequence[str]) -> None:
    """A weight must name a configured provider; a price may name one that has no key yet.

    Raises:
        SearchNotConfiguredError: a name is unknown.
    """
    if unknown := sorted(settings.provider_weights.keys() - set(names)):
        raise SearchNotConfiguredError(
            f"PROVIDER_WEIGHTS names {', '.join(unknown)}, but only these are configured: {', '.join(names)}."
        )
    priced = {*(engine.name for engine in answers.ENGINES), "embedding", "reranker", *names, *absent(settings)}
    if unknown := sorted(settings.prices.keys() - priced):
        raise SearchNotConfiguredError(
            f"PRICES names {', '.join(unknown)}, but there are only these: {', '.join(sorted(priced))}."
        )


def open_engines(settings: Settings, outside: Outside) -> Sequence[HostedEngine]:
    """Every configured engine, in order; if none is, a placeholder for the first. Calls nothing.

    Raises:
        SearchNotConfiguredError: ANSWER_ENGINES names an engine that does not exist or lacks its key.
    """
    engines = [entry.build(settings, outside) for entry in answers_configured(settings)]
    return engines or [UnconfiguredEngine("openai", "OPENAI_API_KEY")]


def answering(
    settings: Settings, engines: Sequence[HostedEngine], raw: AnswerEngine, health: HealthRegistry, ledger: Ledger
) -> AnswerEngine:
    """The engines in order, with raw search as the last. An engine without a key gets no layers."""
    entries = {entry.name: entry for entry in answers_configured(settings)}
    ranked = [
        _layered_engine(settings, engine, health, ledger, gathers=entries[engine.name].gathers)
        if engine.name in entries
        else Ranked(engine)
        for engine in engines
    ]
    return FallbackEngine(ranked, raw, settings.fallback_hedge_seconds)


def _layered_engine(
    settings: Settings, engine: HostedEngine, health: HealthRegistry, ledger: Ledger, *, gathers: bool
) -> Ranked:
    record = health.of(engine.name)
    fair_seconds = max(LEAST_SHARE_SECONDS, min(settings.fallback_hedge_seconds, settings.search_deadline_seconds / 2))
    breaker = _breaker(settings, record, fair_seconds)
    budget = Budget(engine.name, ledger, lambda _: engine.most_usd, engine.likely_usd)
    layered = Layered(engine, (*_guarded(engine.name, breaker, budget), Stopwatch(record)))
    return Ranked(layered, breaker.overtaken, gathers)


@dataclass(frozen=True, slots=True)
class OperatorDomains:
    """What ALLOWED_DOMAINS and BLOCKED_DOMAINS say, as `text.urls.domains` gives it."""

    allowed: tuple[str, ...]
    blocked: tuple[str, ...]

    def admit(self, url: str) -> bool:
        """Whether a page with this address may be shown. One of this machine, which has no host, always may."""
        try:
            if not urlsplit(url).netloc:
                return True
        except ValueError:
            return False
        return admitted(url, self.allowed, self.blocked)

    @classmethod
    def of(cls, settings: Settings) -> OperatorDomains:
        """Raises `SearchNotConfiguredError` if an entry is not a domain or a list is too long."""
        return cls(
            _checked("ALLOWED_DOMAINS", settings.allowed_domains), _checked("BLOCKED_DOMAINS", settings.blocked_domains)
        )


def address_policy(settings: Settings) -> AddressPolicy:
    """Which addresses may be read and shown as links.

    Raises:
        SearchNotConfiguredError: a setting is unusable.
    """
    lists = OperatorDomains.of(settings)
    return AddressPolicy(settings.fetch_allow_private_hosts, allowed=lists.allowed, blocked=lists.blocked)


def trusted_domains(settings: Settings) -> tuple[str, ...]:
    """What PROVENANCE_DOMAINS says. Raises `SearchNotConfiguredError` if an entry is not a domain."""
    return _checked("PROVENANCE_DOMAINS", settings.provenance_domains)


def _checked(setting: str, given: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return domains(setting, given)
    except SearchValidationError:
        message = f"{setting} must hold at most {MOST_DOMAINS} domains such as example.org, separated by commas."
        raise SearchNotConfiguredError(message) from None


def outbound(settings: Settings) -> Outbound:
    """OUTBOUND_PROXY, the environment's proxies if TRUST_ENV is on, and CA_BUNDLE."""
    environment = getproxies_environment() if settings.trust_env else {}
    return Outbound(settings.outbound_proxy, environment, settings.ca_bundle)
