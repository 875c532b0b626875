"""Calls as bytes and as JSON-RPC, for tests that need to see what an SDK hides."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx2
import jwt

from tests.entrypoints.http.conftest import SECRET
from tests.patience import PATIENCE

QUESTION = "How tall is the Eiffel Tower?"
VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")


def bearer(user: str = "alice", scope: str = "search read", **claims: Any) -> dict[str, str]:
    """The header of a user with a good token, as mode `secret` wants it."""
    now = int(time.time())
    held = {
        "iss": "websearch-gateway",
        "aud": "websearch-gateway",
        "sub": user,
        "scope": scope,
        "exp": now + 600,
    }
    return {"Authorization": f"Bearer {jwt.encode({**held, **claims}, SECRET, 'HS256')}"}


def call(
    method: str, params: dict[str, Any] | None = None, version: str = "2025-11-25"
) -> dict[str, Any]:
    """The keyword arguments of a POST that makes one JSON-RPC call in any protocol version."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
    held = dict(params or {})
    if version == "2026-07-28":
        held["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers["Mcp-Method"] = method
        if "name" in held:
            headers["Mcp-Name"] = held["name"]
    return {
        "headers": headers,
        "json": {"jsonrpc": "2.0", "id": 1, "method": method, "params": held},
    }


def search(query: str = QUESTION, version: str = "2025-11-25") -> dict[str, Any]:
    """`call` of the tool `search_web`."""
    return call("tools/call", {"name": "search_web", "arguments": {"query": query}}, version)


async def post(client: httpx2.AsyncClient, made: dict[str, Any], **headers: str) -> httpx2.Response:
    """POST what `call` made to `/mcp`, with further headers."""
    return await client.post("/mcp", headers={**made["headers"], **headers}, json=made["json"])


async def raw(client: httpx2.AsyncClient, request: bytes) -> bytes:
    """What comes back for these very bytes; the connection is closed by the server, or by us after the reply."""
    reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
    try:
        writer.write(request)
        await writer.drain()
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        length = next(
            (
                int(line[15:])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            ),
            0,
        )
        return head + await asyncio.wait_for(reader.readexactly(length), PATIENCE)
    finally:
        writer.transport.abort()
