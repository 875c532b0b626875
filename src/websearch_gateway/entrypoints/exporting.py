"""Exports spans and metrics: sets up the OpenTelemetry SDK and its exporter if OTEL_EXPORTER_OTLP_ENDPOINT is set."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from websearch_gateway import __version__
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings

FLUSH_SECONDS = 3.0
"""The time for sending the last spans and metrics (seconds): a collector that hangs must not keep a process alive."""


@asynccontextmanager
async def exporting(settings: Settings) -> AsyncIterator[None]:
    """Send the spans and metrics of this process for the length of a block, and the last of them at its end.

    Raises:
        SearchNotConfiguredError: the endpoint is set and the extra `otel` is missing.
    """
    stop = start_exporting(settings)
    try:
        yield
    finally:
        await asyncio.to_thread(_within_reason, stop)


def start_exporting(settings: Settings) -> Callable[[], None]:
    """Start to send the spans and metrics of this process, in threads.

    Returns a function that sends the last ones and stops.

    An existing tracer provider stays: then the surrounding process decides.

    Raises:
        SearchNotConfiguredError: the endpoint is set and the extra `otel` is missing.
    """
    from opentelemetry import metrics, trace

    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return _nothing
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SearchNotConfiguredError(
            "OTEL_EXPORTER_OTLP_ENDPOINT needs more: pip install 'websearch-gateway[otel]'."
        ) from None
    ours = {"service.name": "websearch-gateway", "service.version": __version__}
    resource = Resource.create({**ours, **OTELResourceDetector().detect().attributes})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)  # it would wait for half a minute
    base = endpoint.rstrip("/")
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{base}/v1/traces")))
    trace.set_tracer_provider(provider)
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{base}/v1/metrics"))
    meters = MeterProvider([reader], resource, shutdown_on_exit=False)
    metrics.set_meter_provider(meters)

    def stop() -> None:
        provider.shutdown()
        meters.shutdown()

    return stop


def _nothing() -> None:
    """Does nothing."""


def _within_reason(stop: Callable[[], None]) -> None:
    thread = threading.Thread(target=stop, daemon=True)  # one that hangs ends with the process
    thread.start()
    thread.join(FLUSH_SECONDS)
