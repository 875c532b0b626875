"""A server that is greeted before its gateway exists."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.patience import PATIENCE
from websearch_gateway.entrypoints.lifecycle import WARM_UP, LazyGateway
from websearch_gateway.entrypoints.mcp import INTERRUPTED, create_server
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings


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


async def test_closing_what_was_never_used_does_nothing() -> None:
    await LazyGateway(Settings(state_url="memory://")).close()


@pytest.mark.parametrize("owns_process", [True, False])
def test_only_a_process_of_its_own_is_set_up_for_serving(owns_process: bool) -> None:
    """In a child, for it would be for the rest of this process too."""
    script = f"""
import asyncio, gc
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.settings import Settings

async def main():
    lazy = LazyGateway(Settings(state_url="memory://"), owns_process={owns_process})
    lazy.warm_up()
    await asyncio.gather(*(asyncio.all_tasks() - {{asyncio.current_task()}}))
    await lazy.close()

asyncio.run(main())
print(gc.get_freeze_count() > 10_000)
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.strip() == str(owns_process)


def test_the_loading_starts_a_worker_so_that_the_first_page_does_not_wait_for_it() -> None:
    """In a child, since the gateways of other tests share their workers."""
    script = """
import asyncio, os
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.models import Deadline
from websearch_gateway.settings import Settings
import psutil

async def main():
    lazy = LazyGateway(Settings(state_url="memory://"))
    gateway = await lazy.get()
    await gateway.warm_up()
    started = {child.pid for child in psutil.Process().children()}
    print(await gateway.workers.run(os.getpid, deadline=Deadline.after(300)) in started)
    await lazy.close()

asyncio.run(main())
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "True"


def test_the_server_and_its_tools_load_no_client_and_no_reader() -> None:
    """A client waits for them before the handshake."""
    heavy = "{'httpcore2', 'lxml', 'numpy', 'openai', 'websearch_gateway.pipeline.read_page'}"
    script = f"import sys, websearch_gateway.entrypoints.mcp; print({heavy} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "set()"


def test_an_interrupt_ends_the_server_while_its_client_is_still_there(tmp_path: Path) -> None:
    hello = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        b'"clientInfo":{"name":"t","version":"1"}}}\n'
    )
    command = [sys.executable, "-m", "websearch_gateway", "serve"]
    environment = {**os.environ, "DATA_DIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(hello)
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == INTERRUPTED
