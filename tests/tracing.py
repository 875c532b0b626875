"""Spans for tests: the real SDK records them in memory, only during tests that ask for them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    ParentBased,
    Sampler,
    SamplingResult,
)


class Spans:
    """The spans that were recorded since `record`."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._sampler = _Switch()
        provider = TracerProvider(sampler=self._sampler, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        trace.set_tracer_provider(provider)
        self._metrics = InMemoryMetricReader()
        metrics.set_meter_provider(MeterProvider([self._metrics], shutdown_on_exit=False))

    def record(self, *, on: bool) -> None:
        """Drop all spans, then record or stop recording."""
        self._exporter.clear()
        self._sampler.wanted = on

    def measured(self, name: str) -> list[dict[str, Any]]:
        """The attributes of the series of a histogram, each with its `count` and `sum`, of the whole process so far."""
        data = self._metrics.get_metrics_data()
        parts = data.resource_metrics if data else ()  # None before the first measurement
        found = [one for part in parts for scope in part.scope_metrics for one in scope.metrics]
        points = [point for one in found if one.name == name for point in one.data.data_points]
        return [
            {**(point.attributes or {}), "count": point.count, "sum": point.sum} for point in points
        ]

    @property
    def ended(self) -> Sequence[ReadableSpan]:
        """All spans, in the order of their ends."""
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        """The spans of that name."""
        return [span for span in self.ended if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        """The only span of that name."""
        (span,) = self.named(name)
        return span

    def tree(self) -> dict[str, Any]:
        """The names of spans as a tree, in the order of their starts. Siblings of one name are merged."""

        def below(parent: int | None) -> dict[str, Any]:
            children = [s for s in self.ended if (s.parent.span_id if s.parent else None) == parent]
            children.sort(key=lambda span: span.start_time or 0)
            return {span.name: below(span.context.span_id) for span in children if span.context}

        return below(None)

    def as_text(self) -> str:
        """All spans with their attributes, as one text."""
        return "\n".join(span.to_json() for span in self.ended)


class _Switch(Sampler):
    def __init__(self) -> None:
        self.wanted = False
        self._samplers = {True: ParentBased(ALWAYS_ON), False: ALWAYS_OFF}

    def should_sample(self, *args: Any, **kwargs: Any) -> SamplingResult:
        return self._samplers[self.wanted].should_sample(*args, **kwargs)

    def get_description(self) -> str:
        return "recorded while a test looks"


@functools.cache
def recorded_spans() -> Spans:
    """The spans of this process: OpenTelemetry accepts only one provider per process."""
    return Spans()
