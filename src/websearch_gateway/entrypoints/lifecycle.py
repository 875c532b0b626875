"""What every entrypoint needs: a gateway that is built on first use, errors as callers get them, and the export of
spans and metrics with OpenTelemetry if OTEL_EXPORTER_OTLP_ENDPOINT is set.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from websearch_gateway import __version__
from websearch_gateway.errors import (
    SearchError,
    SearchNotConfiguredError,
    SearchProviderError,
    frames,
)
from websearch_gateway.results import ErrorInfo
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.logs import flush_logs

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway
    from websearch_gateway.docs import CrawlRunner
    from websearch_gateway.upstream.api_tokens import ApiTokens


WARM_UP = "warm_up"
"""The name of the task that loads in the background."""

READING_AFTER_SECONDS = 1.0
"""When to load what reads pages (seconds): a question that comes with the handshake needs the processor itself."""

LOOK_SECONDS = 30.0
"""How often to look for an index of documentation (seconds)."""

_log = logging.getLogger(__name__)


def describe(error: Exception) -> ErrorInfo:
    """The error for the caller. The text of an unexpected error goes only to the log, where secrets are masked."""
    if isinstance(error, SearchError):
        return ErrorInfo.of(error)
    _log.error("unexpected_error %s\n%s", type(error).__name__, frames(error))
    return ErrorInfo(
        code="PROVIDER",
        message=f"The gateway failed in an unexpected way ({type(error).__name__}). Its log tells more.",
    )


class LazyGateway:
    """Builds the gateway on first use, so that the handshake does not wait for its imports.

    If building fails, the current caller gets the error, and the next call tries again.

    Args:
        owns_process: the process serves only this gateway, so its memory may be tuned after loading.

    Attributes:
        built: the gateway; None until it is built.
    """

    def __init__(self, settings: Settings, *, owns_process: bool = False) -> None:
        self.settings = settings
        self._owns_process = owns_process
        self.built: Gateway | None = None
        self._lock = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._crawling: asyncio.Task[None] | None = None
        self._runner: CrawlRunner | None = None
        self._crawl_failure = ""

    @property
    def crawl_trouble(self) -> str:
        """Why this process crawls no documentation now; "" while it does, or has none to crawl."""
        return self._crawl_failure or (self._runner.trouble if self._runner else "")

    async def get(self) -> Gateway:
        """The gateway.

        Raises:
            SearchNotConfiguredError: a setting names something that does not exist or lacks its key.
        """
        async with self._lock:
            if self.built is not None:
                return self.built
            # Imports and certificates take half a second; the event loop answers other calls meanwhile.
            app = await asyncio.to_thread(importlib.import_module, "websearch_gateway.app.gateway")
            gateway: Gateway = await asyncio.to_thread(app.Gateway, self.settings)
            self.built = gateway
            return gateway

    async def api_tokens(self) -> ApiTokens:
        """The tokens that an operator has created.

        Raises:
            SearchProviderError: the gateway cannot be built; why is only in the log, since the caller is not known.
        """
        try:
            return (await self.get()).api_tokens
        except SearchNotConfiguredError as error:
            _log.error("The gateway cannot start: %s", error.message)
            raise SearchProviderError("The gateway cannot start. Its log says why.") from None

    def warm_up(self) -> None:
        """Build and load in the background what the first call would wait for. That call gets any error."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm_up(), name=WARM_UP)

    async def close(self) -> None:
        """Close the gateway if it was built."""
        for task in filter(None, (self._warming, self._crawling)):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self.built is not None:
            await self.built.close()
        flush_logs()  # a signal may be about to end the process

    async def _warm_up(self) -> None:
        try:
            gateway = await self.get()
            await gateway.warm_up()
            await asyncio.sleep(READING_AFTER_SECONDS)
            await gateway.warm_up_reading()
        except SearchError as error:
            _log.warning(
                "The gateway is not ready, and the next call will fail: %s: %s",
                error.code,
                error.message,
            )
            return
        if self._owns_process:
            _settle()
            self._crawling = asyncio.create_task(self._crawl())

    async def _crawl(self) -> None:
        """Crawl pending documentation, from when there is an index, for as long as the process lives.

        A failure goes to the log and into `crawl_trouble`, since nobody waits for this task, and is tried again.
        """
        index = self.settings.docs_path
        while index is not None and not await asyncio.to_thread(_is_there, index):  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(LOOK_SECONDS)
        while True:
            try:
                gateway = await self.get()
                self._runner = (await asyncio.to_thread(gateway.lazy_docs.get)).runner
                self._crawl_failure = ""
                await self._runner.keep_crawling(3600 * self.settings.docs_refresh_hours)
            except Exception as error:
                trouble = f"This process crawls no documentation for now: {describe(error).message}"
                _log.error("%s", trouble)
                if self._runner is None:
                    self._crawl_failure = trouble
                else:
                    self._runner.trouble = trouble
            await asyncio.sleep(LOOK_SECONDS)


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # a folder of another user
        return False


def collect_rarely() -> None:
    """Look for garbage less often: imports leave only some twenty dead objects, and a sixth of their time is the search
    for them. To be called before a server loads anything.
    """
    gc.set_threshold(100_000, 20, 100)


def _settle() -> None:
    """Exclude all loaded objects from garbage collection, and collect the rest of a server's life less often.

    A call creates hundreds of objects, and scanning all modules every few calls takes a seventh of their time. No
    collection runs before it, since it would block the event loop.
    """
    if sys.platform == "linux":
        import ctypes

        # Give back what imports used and freed: with glibc, some 9 MB.
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
            trim(0)
    gc.freeze()
    gc.set_threshold(5_000, 20, 100)


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
        thread = threading.Thread(target=stop, daemon=True)  # one that hangs ends with the process
        thread.start()
        await asyncio.to_thread(thread.join, FLUSH_SECONDS)


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
        return lambda: None
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
            "OTEL_EXPORTER_OTLP_ENDPOINT needs more: pip install '.[otel]' in the folder of this project."
        ) from None
    ours = {"service.name": "websearch-gateway", "service.version": __version__}
    resource = Resource.create({**ours, **OTELResourceDetector().detect().attributes})
    # It would wait for half a minute.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
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
