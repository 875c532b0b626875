"""The loopback servers of tests leave no connection open."""

from __future__ import annotations

import asyncio
import gc
import socket
from pathlib import Path

import pytest

from tests.base.net.conftest import issue
from tests.loopback import serving


async def reads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def returns(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve nothing."""


async def fails(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    raise RuntimeError("a fault of the test's own")


@pytest.mark.parametrize("handler", [reads, returns])
@pytest.mark.parametrize("sealed", [False, True])
def test_no_connection_is_left_to_the_garbage_collector(
    handler: object, sealed: bool, tmp_path: Path
) -> None:
    tls = issue(tmp_path, "site.example")[1] if sealed else None

    async def connect_and_leave(turns: int) -> socket.socket:
        async with serving(handler, tls) as port:  # type: ignore[arg-type]
            client = socket.create_connection(("127.0.0.1", port))
            for _ in range(turns):  # of the loop: from not accepted to waiting for bytes
                await asyncio.sleep(0)
        return client

    clients = [asyncio.run(connect_and_leave(turns)) for turns in range(5)]
    gc.collect()  # reports what is open here, as an error of this test
    for client in clients:
        client.close()


async def served_by_a_failing_handler() -> None:
    async with serving(fails) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


async def test_an_error_of_a_handler_fails_the_test() -> None:
    with pytest.raises(RuntimeError, match="own"):
        await served_by_a_failing_handler()
