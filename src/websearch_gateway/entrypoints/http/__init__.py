"""The HTTP server: MCP at `/mcp`, REST for every tool under `/v1`, and pages for operators and clients.

`app.create_app(settings)` is the ASGI app for any server that runs its lifespan; `server.serve_http` runs it here.
From the outside in, a request passes the frame (errors, headers, access log), the check of Host and Origin with CORS,
the token, the request body (size cap, disconnects), and its route.
"""
