"""The HTTP door: MCP at `/mcp`, a REST twin at `/v1/search`, and what operators and clients look up.

`create_app(settings)` is the ASGI app for any server that runs its lifespan; `serve_http` runs it here.
A request passes, from outside in: the frame (errors, headers, access log), the check of Host and Origin with CORS, the
token, the exchange (body cap, the client's going away), and its route.
"""

from websearch_gateway.doors.http.app import create_app
from websearch_gateway.doors.http.server import serve_http

__all__ = ["create_app", "serve_http"]
