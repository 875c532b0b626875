"""Spans: one for each call of a tool, with child spans for its stages, its upstreams and the pages that it reads; and
for whoever watches a call, the upstreams that it asked.

This uses only the API of OpenTelemetry, which records nothing until `entrypoints/exporting.py` or the surrounding
process sets up its SDK. Below a call that is not recorded, spans cost almost nothing. A span holds names from the code,
codes, numbers and hosts: never a query, a key, a user or a URL. Upstreams are untrusted, so
they get no trace context.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from websearch_gateway import __version__
from websearch_gateway.errors import SearchError
from websearch_gateway.models import Call, Deadline, Page
from websearch_gateway.net.span_attributes import note_host
from websearch_gateway.ports import Reader

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_TRACER = trace.get_tracer("websearch_gateway", __version__)
_UNRECORDED: AbstractContextManager[Span] = nullcontext(trace.INVALID_SPAN)


def call_span(
    name: str, kind: SpanKind = SpanKind.INTERNAL, carrier: Mapping[str, str] | None = None
) -> AbstractContextManager[Span]:
    """The span of a whole call: a child of the caller's span if `carrier` names one, else of the current span.

    Args:
        carrier: may hold the caller's `traceparent` and `tracestate` (https://www.w3.org/TR/trace-context/).
    """
    remote = TraceContextTextMapPropagator().extract(carrier) if carrier and "traceparent" in carrier else None
    span = _TRACER.start_span(name, remote, kind)
    # An unrecorded span becomes current too, so that spans below it do not start traces of their own.
    return _recorded(span) if span.get_span_context().is_valid else _UNRECORDED


def child_span(name: str, kind: SpanKind = SpanKind.INTERNAL) -> AbstractContextManager[Span]:
    """The span of a part of the current call, if that is recorded."""
    if not trace.get_current_span().is_recording():
        return _UNRECORDED
    return _recorded(_TRACER.start_span(name, kind=kind))


def stage(name: str) -> Callable[[F], F]:
    """A decorator that gives a sync or async function a child span."""

    def decorate(function: F) -> F:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def staged(*args: Any, **kwargs: Any) -> Any:
                with child_span(name):
                    return await function(*args, **kwargs)

        else:

            @functools.wraps(function)
            def staged(*args: Any, **kwargs: Any) -> Any:
                with child_span(name):
                    return function(*args, **kwargs)

        return cast("F", staged)

    return decorate


@dataclass(frozen=True, slots=True)
class Traced:
    """The layer that gives its call a child span: that of a stage."""

    name: str

    async def __call__(self, call: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `call()`."""
        with child_span(self.name):
            return await call()


@dataclass(frozen=True, slots=True)
class TracedUpstream:
    """The layer around the calls of an upstream. Its span has the host, the last HTTP status and the retries."""

    upstream: str

    async def __call__(self, ask: Callable[[], Awaitable[T]], call: Call) -> T:
        """The result of `ask()`."""
        watch = call.caller.watch
        if watch is not None:
            watch.note(self.upstream, "")
        started, outcome = time.monotonic(), "ok"
        try:
            with child_span(f"upstream {self.upstream}", SpanKind.CLIENT):
                return await ask()
        except BaseException as error:
            outcome = _outcome(error)
            raise
        finally:
            if watch is not None:
                watch.note(self.upstream, outcome, time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class TracedReader:
    """A Reader that gives each read a child span."""

    reader: Reader

    @property
    def name(self) -> str:
        """The reader's name."""
        return self.reader.name

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        """See `ports.Reader.read`."""
        with child_span("read page", SpanKind.CLIENT):
            note_host(url)
            return await self.reader.read(url, deadline, known)


@contextmanager
def _recorded(span: Span) -> Iterator[Span]:
    """Makes `span` current; records only the code of an error, since a message may quote a URL."""
    with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield span
        except BaseException as error:
            span.set_attribute("error.type", _outcome(error))
            # Cancelled is not an error: another upstream was faster, or the caller left.
            if not isinstance(error, asyncio.CancelledError):
                span.set_status(StatusCode.ERROR)
            raise


def _outcome(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "CANCELLED"
    return error.code if isinstance(error, SearchError) else type(error).__name__
