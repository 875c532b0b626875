"""Spans: one for each call of a tool, with child spans for its stages, its upstreams and the pages that it reads; and
for the watcher of a call, the upstreams that it asked.

This uses only the API of OpenTelemetry, which records nothing until `entrypoints/lifecycle.py` or the surrounding
process sets up its SDK. Below a call that is not recorded, spans cost almost nothing. A span holds names from the code,
codes, numbers and hosts: never a query, a key, a user or a URL. Upstreams are untrusted, so
they get no trace context.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from opentelemetry.trace import Span, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from websearch_gateway.models import Call, Deadline, Page
from websearch_gateway.net.span_attributes import TRACER, UNRECORDED, child_span, note_host, outcome_of, recorded
from websearch_gateway.ports import Reader

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def call_span(
    name: str, kind: SpanKind = SpanKind.INTERNAL, carrier: Mapping[str, str] | None = None
) -> AbstractContextManager[Span]:
    """The span of a whole call: a child of the caller's span if `carrier` names one, else of the current span.

    Args:
        carrier: may hold the caller's `traceparent` and `tracestate` (https://www.w3.org/TR/trace-context/).
    """
    remote = TraceContextTextMapPropagator().extract(carrier) if carrier and "traceparent" in carrier else None
    span = TRACER.start_span(name, remote, kind)
    # An unrecorded span becomes current too, so that spans below it do not start traces of their own.
    return recorded(span) if span.get_span_context().is_valid else UNRECORDED


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
            outcome = outcome_of(error)
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
