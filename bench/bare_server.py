"""The yardstick: an SDK server with one tool that does nothing, over stdio."""

from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
async def noop(text: str) -> str:
    """Return the text."""
    return text


if __name__ == "__main__":
    server.run()
