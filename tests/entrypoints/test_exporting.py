"""Spans reach a collector over real sockets, from a real process; and one that is not there holds nobody up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest as Received
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.entrypoints.conftest import Connect
from tests.entrypoints.http.conftest import QuietServer
from tests.patience import PATIENCE
from websearch_gateway.entrypoints.http.server import listening

QUESTION = "How tall is the Eiffel Tower?"

ONE_SPAN = """
import asyncio
from opentelemetry import trace
from websearch_gateway.entrypoints.lifecycle import exporting
from websearch_gateway.settings import Settings
async def main():
    async with exporting(Settings(otel_exporter_otlp_endpoint="ADDRESS")):
        trace.get_tracer("x").start_span("last").end()
asyncio.run(main())
"""


@asynccontextmanager
async def collector(arrived: asyncio.Queue[None] | None = None) -> AsyncIterator[tuple[str, list[Received]]]:
    """An OTLP receiver: its address, and what it was sent; `arrived` gets something with each of it."""
    received: list[Received] = []

    async def take(request: Request) -> Response:
        received.append(Received.FromString(await request.body()))
        if arrived is not None:
            arrived.put_nowait(None)
        return Response(b"", media_type="application/x-protobuf")

    app = Starlette(routes=[Route("/v1/traces", take, methods=["POST"])])
    server = QuietServer(uvicorn.Config(app, log_config=None, lifespan="off"))
    with listening("127.0.0.1", 0) as listener:
        serving = asyncio.create_task(server.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
        finally:
            server.should_exit = True
            await serving


def resources(received: list[Received]) -> dict[str, str]:
    """What the process said about itself."""
    said = [attribute for r in received for one in r.resource_spans for attribute in one.resource.attributes]
    return {attribute.key: attribute.value.string_value for attribute in said}


def names(received: list[Received]) -> set[str]:
    """The names of all spans."""
    return {s.name for r in received for one in r.resource_spans for scope in one.scope_spans for s in scope.spans}


async def test_the_spans_of_a_server_arrive_while_it_runs(launch: Connect) -> None:
    environment = {
        "OTEL_RESOURCE_ATTRIBUTES": "team=blue",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "OTEL_TRACES_SAMPLER": "always_on",  # the client in this process may say that it does not record
    }
    arrived: asyncio.Queue[None] = asyncio.Queue()
    async with (
        collector(arrived) as (address, received),
        launch(OTEL_EXPORTER_OTLP_ENDPOINT=f"{address}/", **environment) as client,
    ):
        result = await client.call_tool("search_web", {"query": QUESTION})
        async with asyncio.timeout(PATIENCE):
            while "tools/call search_web" not in names(received):
                await arrived.get()
    assert not result.is_error
    assert {"search_web", "guard", "rate_limit", "cache", "answer", "finalize", "upstream openai"} <= names(received)
    said = resources(received)
    assert (said["service.name"], said["team"]) == ("websearch-gateway", "blue")
    assert not any(b"Eiffel" in request.SerializeToString() for request in received)


async def test_the_last_spans_are_sent_at_the_end_under_the_operators_name() -> None:
    async with collector() as (address, received):
        environment = {"OTEL_SERVICE_NAME": "search-eu", "PATH": ""}
        done = await asyncio.to_thread(_run, ONE_SPAN.replace("ADDRESS", address), env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(received) == {"last"}
    assert resources(received)["service.name"] == "search-eu"


async def test_without_an_endpoint_nothing_of_the_sdk_is_loaded() -> None:
    code = """
import asyncio, sys
from websearch_gateway.entrypoints.lifecycle import exporting
from websearch_gateway.entrypoints.mcp import create_server
from websearch_gateway.settings import Settings
import websearch_gateway.app
async def main():
    async with exporting(Settings()):
        print(*(name for name in sys.modules if name.startswith("opentelemetry.sdk")))
asyncio.run(main())
"""
    done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b""


def _run(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, **options)


async def test_a_missing_extra_is_told_with_its_remedy() -> None:
    code = """
import sys
sys.modules["opentelemetry.sdk.trace"] = None
from websearch_gateway.entrypoints.cli import main
sys.argv = ["websearch-gateway", "serve"]
main()
"""
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "PATH": ""}
    done = await asyncio.to_thread(_run, code, env=environment, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "pip install 'websearch-gateway[otel]'" in done.stderr


async def test_a_collector_that_never_answers_holds_no_end_up() -> None:
    """Its exporter would wait for ten minutes, longer than `_run` does."""
    patient = {"OTEL_EXPORTER_OTLP_TIMEOUT": "600", "OTEL_BSP_EXPORT_TIMEOUT": "600000", "PATH": ""}
    with listening("127.0.0.1", 0) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = await asyncio.to_thread(_run, ONE_SPAN.replace("ADDRESS", address), env=patient)
    assert done.returncode == 0


async def test_a_provider_that_is_there_already_stays() -> None:
    code = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
theirs = TracerProvider()
trace.set_tracer_provider(theirs)
from websearch_gateway.entrypoints.lifecycle import start_exporting
from websearch_gateway.settings import Settings
start_exporting(Settings(otel_exporter_otlp_endpoint="http://127.0.0.1:9"))()
assert trace.get_tracer_provider() is theirs
"""
    done = await asyncio.to_thread(_run, code)
    assert (done.returncode, done.stderr) == (0, "")
