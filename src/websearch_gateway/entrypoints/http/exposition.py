"""A snapshot in the format of Prometheus (https://prometheus.io/docs/practices/naming/).

Labels are names from the code and the settings, and codes: never a user, a query or a URL. Counters are per process,
because a scraper adds them up; the budget is for all processes that share the state. Imported on the first scrape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from websearch_gateway import __version__
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.upstream.health import BOUNDS, BreakerState, Distribution

PREFIX = "websearch_gateway_"

Labels = tuple[str, ...]


def exposition(snapshot: Snapshot, lag: float, accept: str) -> tuple[bytes, str]:
    """The text for a scraper that sent this `Accept`, and its media type: OpenMetrics if requested.

    Args:
        lag: `LoopLag.seconds`.
    """
    registry = CollectorRegistry()
    registry.register(_Families(snapshot, lag))
    ProcessCollector(registry=registry)
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


@dataclass(frozen=True, slots=True, eq=False)
class _Families(Collector):
    snapshot: Snapshot
    lag: float

    def collect(self) -> Iterator[Metric]:
        yield from self._calls()
        yield from self._upstreams()
        yield from self._money()

    def _calls(self) -> Iterator[Metric]:
        figures, in_flight = self.snapshot.figures, self.snapshot.in_flight
        yield _gauge("build_info", "The version that runs.", ("version",), [((__version__,), 1)])
        yield _gauge("calls_in_flight", "Calls of tools under way.", (), [((), in_flight)])
        lag = "The largest delay of the event loop in the last ten seconds."
        yield _gauge("event_loop_lag_seconds", lag, (), [((), self.lag)])
        yield _counter(
            "calls", "Calls of tools, by what answered.", ("tool", "route", "outcome"), figures.routes.items()
        )
        durations = figures.durations.items()
        yield _histogram("call_seconds", "How long calls of tools took.", ("tool", "outcome"), durations)
        lookups = (((kind,), count) for kind, count in figures.cache.items())
        yield _counter("cache_lookups", "Lookups of search_web in the cache, by result.", ("result",), lookups)
        by_reason = figures.fallbacks.items()
        yield _counter("fallbacks", "Answers by a stand-in, and why.", ("fallback_from", "reason"), by_reason)

    def _upstreams(self) -> Iterator[Metric]:
        upstreams = self.snapshot.upstreams
        calls = (((upstream.name,), upstream.calls) for upstream in upstreams)
        yield _counter("upstream_calls", "Calls of upstreams; retries do not count.", ("upstream",), calls)
        errors = (((upstream.name, code), count) for upstream in upstreams for code, count in upstream.errors.items())
        yield _counter("upstream_errors", "Failed calls of upstreams, by error code.", ("upstream", "code"), errors)
        durations = (((upstream.name,), upstream.durations) for upstream in upstreams)
        yield _histogram("upstream_seconds", "How long requests to upstreams took.", ("upstream",), durations)
        states = (((up.name, state), int(up.breaker == state)) for up in upstreams for state in get_args(BreakerState))
        yield _gauge("breaker_state", "1 for the current state of a breaker.", ("upstream", "state"), states)

    def _money(self) -> Iterator[Metric]:
        paid = (((upstream,), usd) for upstream, usd in self.snapshot.paid_usd.items())
        yield _counter("cost_usd", "Costs of this process.", ("upstream",), paid)
        if (daily := self.snapshot.daily_usd) is not None:
            yield _gauge("budget_usd", "The budget of the day (UTC).", (), [((), daily)])
        if (left := self.snapshot.left_usd) is not None:
            yield _gauge("budget_left_usd", "What is left of the budget of the day.", (), [((), left)])


def _counter(name: str, text: str, labels: Labels, values: Iterable[tuple[Labels, float]]) -> Metric:
    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for held, value in values:
        family.add_metric(held, value)
    return family


def _gauge(name: str, text: str, labels: Labels, values: Iterable[tuple[Labels, float]]) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, text, labels=labels)
    for held, value in values:
        family.add_metric(held, value)
    return family


def _histogram(name: str, text: str, labels: Labels, values: Iterable[tuple[Labels, Distribution]]) -> Metric:
    family = HistogramMetricFamily(PREFIX + name, text, labels=labels)
    bounds = [*map(str, BOUNDS), "+Inf"]
    for held, value in values:
        family.add_metric(held, list(zip(bounds, value.counts, strict=True)), value.seconds)
    return family
