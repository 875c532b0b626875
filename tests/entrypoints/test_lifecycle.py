"""What every entrypoint shares: the gateway that is built on first use, errors, and the export of spans and metrics."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest as Received,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.entrypoints.conftest import Connect
from tests.entrypoints.http.conftest import QuietServer
from tests.patience import PATIENCE
from websearch_gateway.entrypoints import lifecycle
from websearch_gateway.entrypoints.http.server import listening
from websearch_gateway.entrypoints.lifecycle import WARM_UP, LazyGateway, describe
from websearch_gateway.entrypoints.mcp.server import create_server
from websearch_gateway.entrypoints.mcp.stdio import INTERRUPTED
from websearch_gateway.errors import (
    SearchNotConfiguredError,
    SearchRateLimitError,
    SearchValidationError,
)
from websearch_gateway.results import LONGEST_MESSAGE
from websearch_gateway.settings.loading import Settings


async def test_the_gateway_is_built_once() -> None:
    lazy = LazyGateway(Settings(state_url="memory://"))
    assert await lazy.get() is await lazy.get()
    await lazy.close()


async def test_a_gateway_that_cannot_be_built_is_told_to_each_caller_and_closes_quietly() -> None:
    lazy = LazyGateway(Settings(search_providers="nope", state_url="memory://"))
    lazy.warm_up()
    for _ in range(2):
        with pytest.raises(SearchNotConfiguredError, match="nope"):
            await lazy.get()
    await lazy.close()


async def test_a_client_that_has_introduced_itself_starts_the_loading() -> None:
    """Else the first search would pay for it."""
    lazy = LazyGateway(Settings(state_url="memory://"))
    entry = create_server(lazy).get_notification_handler("notifications/initialized")
    assert entry is not None
    await entry.handler(SimpleNamespace(request=None), None)  # type: ignore[arg-type]
    assert {task.get_name() for task in asyncio.all_tasks()} >= {WARM_UP}
    await lazy.close()


async def test_crawling_in_the_background_that_breaks_says_so_and_goes_on(
    tmp_path, caplog, monkeypatch
) -> None:
    """Nobody waits for it, so its error would show when the server closes."""
    (tmp_path / "docs.db").touch()
    lazy = LazyGateway(
        Settings(state_url="memory://", docs_url=f"sqlite:///{tmp_path}/docs.db", data_dir=tmp_path)
    )
    gateway = await lazy.get()
    docs = await asyncio.to_thread(gateway.lazy_docs.get)
    monkeypatch.setattr(lifecycle, "LOOK_SECONDS", 0.01)
    troubles: list[str] = []

    def clock() -> float:
        troubles.append(lazy.crawl_trouble)
        if len(troubles) < 3:
            raise ZeroDivisionError
        return 1.0

    docs.runner.clock = clock
    crawling = asyncio.create_task(lazy._crawl())
    async with asyncio.timeout(PATIENCE):
        while len(troubles) < 3 or lazy.crawl_trouble:  # noqa: ASYNC110 - as a probe would
            await asyncio.sleep(0.01)
    assert not crawling.done()
    crawling.cancel()
    await asyncio.gather(crawling, return_exceptions=True)
    assert troubles[0] == ""
    assert troubles[1].startswith(
        "This process crawls no documentation for now: The gateway failed"
    )
    assert "ZeroDivisionError" in caplog.text
    await lazy.close()


async def test_closing_what_was_never_used_does_nothing() -> None:
    await LazyGateway(Settings(state_url="memory://")).close()


def test_only_a_process_of_its_own_is_set_up_for_serving() -> None:
    """In a child, for it would be for the rest of this process too."""
    script = """
import asyncio, gc
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.settings.loading import Settings

async def main():
    for owns_process in (False, True):
        lazy = LazyGateway(Settings(state_url="memory://"), owns_process=owns_process)
        lazy.warm_up()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
        print(gc.get_freeze_count() > 10_000)
        await lazy.close()

asyncio.run(main())
"""
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert told.split() == ["False", "True"]


def test_the_loading_starts_a_worker_so_that_the_first_page_does_not_wait_for_it() -> None:
    """In a child, since the gateways of other tests share their workers."""
    script = """
import asyncio, os
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.models import Deadline
from websearch_gateway.settings.loading import Settings
import psutil

async def main():
    lazy = LazyGateway(Settings(state_url="memory://"))
    gateway = await lazy.get()
    await gateway.warm_up_reading()
    started = {child.pid for child in psutil.Process().children()}
    print(await gateway.workers.run(os.getpid, deadline=Deadline.after(300)) in started)
    await lazy.close()

asyncio.run(main())
"""
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert told.strip() == "True"


def test_the_server_and_its_tools_load_no_client_and_no_reader_and_nothing_to_export_spans_without_an_endpoint() -> (
    None
):
    """A client waits for them before the handshake."""
    heavy = {
        *("httpcore2", "lxml", "numpy", "openai"),
        *("websearch_gateway.pages.browser", "websearch_gateway.pages.reader_table"),
        "websearch_gateway.pipeline.finalize",
    }
    script = f"""
import asyncio, sys
from websearch_gateway.entrypoints.lifecycle import exporting
from websearch_gateway.entrypoints.mcp.server import create_server
from websearch_gateway.settings.loading import Settings
print({heavy} & set(sys.modules))
import websearch_gateway.app.gateway
async def main():
    async with exporting(Settings()):
        print([name for name in sys.modules if name.startswith("opentelemetry.sdk")])
asyncio.run(main())
"""
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert told.split() == ["set()", "[]"]


def test_an_interrupt_ends_the_server_while_its_client_is_still_there(tmp_path: Path) -> None:
    hello = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        b'"clientInfo":{"name":"t","version":"1"}}}\n'
    )
    command = [sys.executable, "-m", "websearch_gateway", "serve"]
    environment = {**os.environ, "DATA_DIR": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(hello)
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == INTERRUPTED


QUESTION = "How tall is the Eiffel Tower?"

ONE_SPAN = """
import asyncio
from opentelemetry import trace
from websearch_gateway.entrypoints.lifecycle import exporting
from websearch_gateway.settings.loading import Settings
async def main():
    async with exporting(Settings(otel_exporter_otlp_endpoint="ADDRESS")):
        trace.get_tracer("x").start_span("last").end()
asyncio.run(main())
"""


@asynccontextmanager
async def collector(
    arrived: asyncio.Queue[None] | None = None,
) -> AsyncIterator[tuple[str, list[Received]]]:
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
    said = [
        attribute
        for r in received
        for one in r.resource_spans
        for attribute in one.resource.attributes
    ]
    return {attribute.key: attribute.value.string_value for attribute in said}


def names(received: list[Received]) -> set[str]:
    """The names of all spans."""
    return {
        s.name
        for r in received
        for one in r.resource_spans
        for scope in one.scope_spans
        for s in scope.spans
    }


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
    assert {
        "search_web",
        "guard",
        "rate_limit",
        "cache",
        "answer",
        "finalize",
        "upstream openai",
    } <= names(received)
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


def _run(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, **options
    )


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
    assert "pip install '.[otel]'" in done.stderr


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
from websearch_gateway.settings.loading import Settings
start_exporting(Settings(otel_exporter_otlp_endpoint="http://127.0.0.1:9"))()
assert trace.get_tracer_provider() is theirs
"""
    done = await asyncio.to_thread(_run, code)
    assert (done.returncode, done.stderr) == (0, "")


SECRET = "sk-planted-0123456789"


def test_an_error_of_ours_keeps_its_message_and_its_wait_is_rounded_up() -> None:
    info = describe(
        SearchRateLimitError("too often", retry_after=2.1, details={"limit": "20/10minutes"})
    )
    assert (info.code, info.message, info.retry_after_seconds) == ("RATE_LIMIT", "too often", 3)
    assert info.details == {"limit": "20/10minutes"}


def test_a_message_that_quotes_a_long_argument_is_cut() -> None:
    info = describe(SearchValidationError(f"No site is called {'x' * 100_000}."))
    assert len(info.message) == LONGEST_MESSAGE
    assert info.message.startswith("No site is called xxx")


def test_an_unexpected_error_leaves_its_frames_in_the_log_and_none_of_its_values(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(key: str) -> None:
        raise KeyError(key)

    with caplog.at_level(logging.ERROR):
        try:
            fail(SECRET)
        except KeyError as error:
            info = describe(error)
    assert info.code == "PROVIDER"
    assert "in fail" in caplog.text
    assert "KeyError" in caplog.text
    for place in (caplog.text, info.message, *capsys.readouterr()):
        assert SECRET not in place
