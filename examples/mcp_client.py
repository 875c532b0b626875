"""Call the gateway over MCP with the SDK, as an agent does: the client starts the server."""

import asyncio
import os
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main() -> None:
    command = ["-m", "websearch_gateway", "start-mcp-server", "--context", "example"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        print([tool.name for tool in (await client.list_tools()).tools])
        result = await client.call_tool("search_web", {"query": "How tall is the Eiffel Tower?"})
        print(result.structured_content["text"])


asyncio.run(main())
