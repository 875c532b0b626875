"""The spans of a call, its stages and its upstreams.

They use only the API of OpenTelemetry, which records nothing until `entrypoints/lifecycle.py` or the surrounding
process sets up its SDK; below a call that is not recorded they cost almost nothing. Upstreams are untrusted, so they
get no trace context.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, TypeVar, cast

from opentelemetry.trace import Span, SpanKind, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from websearch_gateway.base import TRACER, UNRECORDED, child_span, outcome_of, recorded
from websearch_gateway.models import Call

F = TypeVar("F", bound=Callable[..., Any])


def call_span(
    name: str, kind: SpanKind = SpanKind.INTERNAL, carrier: Mapping[str, str] | None = None
) -> AbstractContextManager[Span]:
    """The span of a whole call: a child of the caller's span if `carrier` names one, else of the current span.

    Args:
        carrier: may hold the caller's `traceparent` and `tracestate` (https://www.w3.org/TR/trace-context/).
    """
    remote = (
        TraceContextTextMapPropagator().extract(carrier)
        if carrier and "traceparent" in carrier
        else None
    )
    span = TRACER.start_span(name, remote, kind)
    # An unrecorded span becomes current too, so that spans below it do not start traces of their own.
    return recorded(span) if span.get_span_context().is_valid else UNRECORDED


def stage(name: str) -> Callable[[F], F]:
    """A decorator that gives a sync or async function a child span."""

    def decorate(function: F) -> F:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def staged(*args: Any, **kwargs: Any) -> Any:
                if not get_current_span().is_recording():
                    return await function(*args, **kwargs)
                with child_span(name):
                    return await function(*args, **kwargs)

        else:

            @functools.wraps(function)
            def staged(*args: Any, **kwargs: Any) -> Any:
                if not get_current_span().is_recording():
                    return function(*args, **kwargs)
                with child_span(name):
                    return function(*args, **kwargs)

        return cast("F", staged)

    return decorate


@asynccontextmanager
async def traced(upstream: str, call: Call) -> AsyncIterator[None]:
    """The block of a call of an upstream: its span, and what the caller's watch sees of it.

    The span has the host, the last HTTP status and the retries.
    """
    watch = call.caller.watch
    if watch is not None:
        watch.note(upstream, "")
    started, outcome = time.monotonic(), "ok"
    try:
        with child_span(f"upstream {upstream}", SpanKind.CLIENT):
            yield
    except BaseException as error:
        outcome = outcome_of(error)
        raise
    finally:
        if watch is not None:
            watch.note(upstream, outcome, time.monotonic() - started)
