"""The baseline: an SDK server with one tool that does nothing, over stdio, or over HTTP at the given port.

Over HTTP it is the low-level server and the web server of the gateway, without the gateway.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.server import MCPServer


def over_stdio() -> None:
    """Serve the SDK's own kind of tool."""
    server = MCPServer("bare")

    @server.tool()
    async def noop(text: str) -> str:
        """Return the text."""
        return text

    server.run()


async def over_http(port: int) -> None:
    """Serve until a signal comes."""
    import uvicorn
    from mcp.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool
    from starlette.applications import Starlette
    from starlette.routing import Route

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    async def list_tools(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="noop", input_schema=schema)])

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=params.arguments["text"])])

    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    sessions = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    class Endpoint:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await sessions.handle_request(scope, receive, send)

    app = Starlette(
        routes=[Route("/mcp", Endpoint(), methods=["POST"])], lifespan=lambda _: sessions.run()
    )
    config = uvicorn.Config(app, port=port, http="h11", log_config=None, access_log=False)
    await uvicorn.Server(config).serve()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(over_http(int(sys.argv[1])))
    else:
        over_stdio()
