"""The answer engines in order, each behind its circuit breaker and the ledger, with raw search as the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from websearch_gateway.answers import Outside, configured
from websearch_gateway.pipeline.fallback import FallbackEngine, Ranked, UnconfiguredEngine
from websearch_gateway.pipeline.raw_engine import OneGathering
from websearch_gateway.ports import AnswerEngine, HostedEngine
from websearch_gateway.settings import Settings
from websearch_gateway.upstream.budgeted import BudgetedEngine
from websearch_gateway.upstream.health import HealthRegistry, Stopwatch
from websearch_gateway.upstream.layers import BurstGate, CircuitBreaker, LayeredEngine, wrapped
from websearch_gateway.upstream.ledger import Ledger
from websearch_gateway.upstream.race import LEAST_SHARE_SECONDS
from websearch_gateway.upstream.tracing import traced_upstream


def open_engines(settings: Settings, outside: Outside) -> Sequence[HostedEngine]:
    """Every configured engine, in order; if none is, a placeholder for the first. Calls nothing.

    Raises:
        SearchNotConfiguredError: ANSWER_ENGINES names an engine that does not exist or lacks its key.
    """
    engines = [entry.build(settings, outside) for entry in configured(settings)]
    return engines or [UnconfiguredEngine("openai", "OPENAI_API_KEY")]


def answering(
    settings: Settings, engines: Sequence[HostedEngine], raw: AnswerEngine, health: HealthRegistry, ledger: Ledger
) -> AnswerEngine:
    """The engines in order, with raw search as the last. An engine without a key gets no layers."""
    entries = {entry.name: entry for entry in configured(settings)}
    ranked = [
        _layered(settings, engine, health, ledger, gathers=entries[engine.name].gathers)
        if engine.name in entries
        else Ranked(engine)
        for engine in engines
    ]
    return OneGathering(FallbackEngine(ranked, raw, settings.fallback_hedge_seconds))


def _layered(
    settings: Settings, engine: HostedEngine, health: HealthRegistry, ledger: Ledger, *, gathers: bool
) -> Ranked:
    record = health.of(engine.name)
    fair_seconds = max(LEAST_SHARE_SECONDS, min(settings.fallback_hedge_seconds, settings.search_deadline_seconds / 2))
    breaker = CircuitBreaker(record, settings.breaker_failures, settings.breaker_rest_seconds, fair_seconds)
    layers: tuple[Callable[[AnswerEngine], AnswerEngine], ...] = (
        partial(LayeredEngine, layer=BurstGate(engine.name)),
        partial(LayeredEngine, layer=breaker),
        partial(BudgetedEngine, ledger=ledger, most_usd=engine.most_usd, likely_usd=engine.likely_usd),
        partial(LayeredEngine, layer=traced_upstream(engine.name)),
        partial(LayeredEngine, layer=Stopwatch(record)),
    )
    bare: AnswerEngine = engine
    return Ranked(wrapped(layers, bare), breaker.overtaken, gathers)
