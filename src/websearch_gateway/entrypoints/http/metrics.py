"""What `/metrics` tells a scraper: the process, its calls, its upstreams, and what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway import __version__
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.authentication import require_scope
from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.entrypoints.http.replies import failure
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.errors import SearchError
from websearch_gateway.upstream.health import BOUNDS, BreakerState, Distribution, UpstreamStatus

PREFIX = "websearch_gateway_"

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: its values by the values of its `labels`. `text` explains it."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    text: str
    values: Iterable[tuple[Labels, Any]]
    labels: Labels = ()


def metrics_endpoint(
    gateway: LazyGateway, lag: LoopLag
) -> Callable[[Request], Awaitable[Response]]:
    """The metrics in the format that the request prefers; needs the scope `ops`."""

    async def metrics(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            snapshot = await (await gateway.get()).operations.snapshot()
        except SearchError as error:
            return failure(error)
        accept = request.headers.get("accept", "")
        # In a thread: the library is slow to import, and process metrics are read from files.
        body, media_type = await asyncio.to_thread(exposition, snapshot, lag.seconds, accept)
        return Response(body, headers={"Content-Type": media_type})

    return metrics


def exposition(snapshot: Snapshot, lag: float, accept: str) -> tuple[bytes, str]:
    """The text for a scraper that sent this `Accept`, and its media type: OpenMetrics if requested.

    Labels are names from the code and the settings, and codes: never a user, a query or a URL. Counters are per
    process, because a scraper adds them up; the budget is for all processes that share the state.

    Args:
        lag: `LoopLag.seconds`.
    """
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
        Metric,
    )
    from prometheus_client.exposition import choose_encoder
    from prometheus_client.registry import Collector

    kinds = {
        "counter": CounterMetricFamily,
        "gauge": GaugeMetricFamily,
        "histogram": HistogramMetricFamily,
    }

    class Families(Collector):
        def collect(self) -> Iterator[Metric]:
            for family in _families(snapshot, lag):
                metric = kinds[family.kind](PREFIX + family.name, family.text, labels=family.labels)
                for labels, value in family.values:
                    metric.add_metric(labels, *(value if family.kind == "histogram" else (value,)))
                yield metric

    registry = CollectorRegistry()
    registry.register(Families())
    ProcessCollector(registry=registry)
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


def _families(snapshot: Snapshot, lag: float) -> Iterator[Family]:
    yield from _of_the_process(snapshot, lag)
    yield from _of_calls(snapshot)
    yield from _of_upstreams(snapshot.upstreams)
    yield from _of_money(snapshot)


def _of_the_process(snapshot: Snapshot, lag: float) -> Iterator[Family]:
    version = [((__version__,), 1)]
    yield Family("gauge", "build_info", "The version that runs.", version, ("version",))
    in_flight = [((), snapshot.in_flight)]
    yield Family("gauge", "calls_in_flight", "Calls of tools under way.", in_flight)
    late = "The largest delay of the event loop in the last ten seconds."
    yield Family("gauge", "event_loop_lag_seconds", late, [((), lag)])


def _of_calls(snapshot: Snapshot) -> Iterator[Family]:
    figures = snapshot.figures
    yield Family(
        "counter",
        "calls",
        "Calls of tools, by what answered.",
        figures.routes.items(),
        ("tool", "route", "outcome"),
    )
    yield Family(
        "histogram",
        "call_seconds",
        "How long calls of tools took.",
        _buckets(figures.durations.items()),
        ("tool", "outcome"),
    )
    yield Family(
        "counter",
        "cache_lookups",
        "Lookups of search_web in the cache, by result.",
        [((result,), count) for result, count in figures.cache.items()],
        ("result",),
    )
    yield Family(
        "counter",
        "fallbacks",
        "Answers by a stand-in, and why.",
        figures.fallbacks.items(),
        ("fallback_from", "reason"),
    )


def _of_upstreams(upstreams: Sequence[UpstreamStatus]) -> Iterator[Family]:
    yield Family(
        "counter",
        "upstream_calls",
        "Calls of upstreams; retries do not count.",
        [((upstream.name,), upstream.calls) for upstream in upstreams],
        ("upstream",),
    )
    errors = [
        ((upstream.name, code), count)
        for upstream in upstreams
        for code, count in upstream.errors.items()
    ]
    yield Family(
        "counter",
        "upstream_errors",
        "Failed calls of upstreams, by error code.",
        errors,
        ("upstream", "code"),
    )
    yield Family(
        "histogram",
        "upstream_seconds",
        "How long requests to upstreams took.",
        _buckets(((upstream.name,), upstream.durations) for upstream in upstreams),
        ("upstream",),
    )
    states = [
        ((upstream.name, state), int(upstream.breaker == state))
        for upstream in upstreams
        for state in get_args(BreakerState)
    ]
    yield Family(
        "gauge",
        "breaker_state",
        "1 for the current state of a breaker.",
        states,
        ("upstream", "state"),
    )


def _of_money(snapshot: Snapshot) -> Iterator[Family]:
    paid = [((upstream,), usd) for upstream, usd in snapshot.paid_usd.items()]
    yield Family("counter", "cost_usd", "Costs of this process.", paid, ("upstream",))
    budget, rest = snapshot.daily_usd, snapshot.left_usd
    if budget is not None:
        yield Family("gauge", "budget_usd", "The budget of the day (UTC).", [((), budget)])
    if rest is not None:
        what = "What is left of the budget of the day."
        yield Family("gauge", "budget_left_usd", what, [((), rest)])


def _buckets(durations: Iterable[tuple[Labels, Distribution]]) -> list[tuple[Labels, Any]]:
    bounds = [*map(str, BOUNDS), "+Inf"]
    return [
        (labels, (list(zip(bounds, distribution.counts, strict=True)), distribution.seconds))
        for labels, distribution in durations
    ]
