"""The ASGI app: the layers that a request passes, the routes, the tools as HTTP endpoints for clients without MCP with
their description at `/openapi.json` (https://spec.openapis.org/oas/v3.1.1), and MCP over streamable HTTP.

Every POST to `/mcp` is independent. The reply is JSON, or a stream if the client wants progress. In protocol version
2026-07-28 a client cancels a call by closing the connection. In earlier versions it posts a notification that names the
call, and keeps waiting.

A Cloud Function is served by `Resident(lambda: app_for(project))`: its platform runs no lifespan and lets everybody
call it.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import Any

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, REQUEST_CANCELLED
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway import __version__
from websearch_gateway.entrypoints.http.authentication import (
    Authentication,
    Verifier,
    caller_of,
    metadata_routes,
    require_scope,
    sign_in_routes,
)
from websearch_gateway.entrypoints.http.compatible.table import (
    compatible_endpoint,
    compatible_routes,
    error_shape,
    serving,
)
from websearch_gateway.entrypoints.http.loop_lag import LoopLag
from websearch_gateway.entrypoints.http.metrics import metrics_endpoint
from websearch_gateway.entrypoints.http.middleware import (
    Frame,
    HostOriginCheck,
    RequestBody,
    Tracing,
    is_json,
    json_object,
)
from websearch_gateway.entrypoints.http.playground import play_routes
from websearch_gateway.entrypoints.http.readiness import healthz, readyz
from websearch_gateway.entrypoints.http.replies import NOT_JSON, failure, json_reply, refusal
from websearch_gateway.entrypoints.http.status import status_endpoint
from websearch_gateway.entrypoints.lifecycle import LazyGateway, start_exporting
from websearch_gateway.entrypoints.mcp.messages import ESCAPED_HALF, refusal_of_request, repaired
from websearch_gateway.entrypoints.mcp.schemas import input_schema
from websearch_gateway.entrypoints.mcp.server import create_server
from websearch_gateway.entrypoints.tools.table import Tool, callable_tools, listed, toolsets_of
from websearch_gateway.errors import SearchError, SearchNotConfiguredError
from websearch_gateway.models import no_progress
from websearch_gateway.results import CallerUsage, ErrorInfo
from websearch_gateway.settings.loading import Settings, load_settings
from websearch_gateway.upstream.logs import configure_logging

_log = logging.getLogger(__name__)


def create_app(settings: Settings, gateway: LazyGateway | None = None) -> Starlette:
    """The HTTP server as an ASGI app. The server must run the lifespan, which closes the gateway at the end.

    Args:
        gateway: built from the settings if absent, with the limits of `Settings.over_http`.

    Raises:
        SearchNotConfiguredError: authentication or the toolsets are set up in an unsafe or impossible way.
    """
    lazy = gateway or LazyGateway(settings.over_http())
    verifier: Verifier | None = None
    if settings.auth_mode != "none":
        # `cryptography` takes 150 ms to import.
        from websearch_gateway.entrypoints.http.tokens import token_verifier

        verifier = token_verifier(settings, lazy.api_tokens)
    mcp = McpEndpoint(lazy)
    lag = LoopLag()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            async with mcp.running(), lag.watched():
                lazy.warm_up()
                yield
        finally:
            await lazy.close()
            if verifier is not None:
                await verifier.aclose()

    app = Starlette(
        routes=_routes(settings, lazy, mcp, verifier, lag),
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_error},
        middleware=[
            Middleware(Frame, error_shape, settings.base_path),
            Middleware(HostOriginCheck, settings),
            Middleware(Authentication, verifier, settings, compatible_endpoint),
            Middleware(Tracing),
            Middleware(RequestBody),
        ],
    )
    app.router.redirect_slashes = False
    return app


def _routes(
    settings: Settings,
    gateway: LazyGateway,
    mcp: McpEndpoint,
    verifier: Verifier | None,
    lag: LoopLag,
) -> list[BaseRoute]:
    routes: list[BaseRoute] = [
        # GET would open a stream without events, DELETE would end a session that does not exist: 405 for both.
        Route("/mcp", mcp, methods=["POST"]),
        Route("/", serving(gateway, status_endpoint(gateway, settings))),
        Route("/healthz", healthz),
        Route("/readyz", readyz(gateway, lag)),
        Route("/metrics", metrics_endpoint(gateway, lag)),
        Route(USAGE, usage_endpoint(gateway)),
        *metadata_routes(verifier, settings),
        *sign_in_routes(verifier, settings),
    ]
    routes += [
        Route(path, rest_endpoint(tool, gateway), methods=["POST"])
        for tool in callable_tools(settings)
        for path in paths_of(tool)
    ]
    routes += compatible_routes(gateway)
    routes += play_routes(settings, gateway)
    routes.append(description_route(settings))
    return routes


async def _http_error(_: Request, error: Exception) -> Response:
    """Starlette's errors for an unknown path or a wrong method, in our shape."""
    if not isinstance(error, HTTPException):
        raise error
    return refusal(error.status_code, "VALIDATION", f"{error.detail}.", error.headers)


SHORT_PATHS = {
    "search_web": "/v1/search",
    "check_claims": "/v1/check",
    "web_search": "/v1/web",
    "search_news": "/v1/news",
    "web_search_raw": "/v1/raw",
    "get_content": "/v1/read",
    "read_from_page": "/v1/passages",
    "search_docs": "/v1/docs",
}
"""The tools that people call by hand have a second, shorter path."""


def paths_of(tool: Tool) -> tuple[str, ...]:
    """The paths of a tool, the shortest first."""
    full = f"/v1/tools/{tool.name}"
    return (SHORT_PATHS[tool.name], full) if tool.name in SHORT_PATHS else (full,)


def rest_endpoint(tool: Tool, gateway: LazyGateway) -> Callable[[Request], Awaitable[Response]]:
    """`tool` as an HTTP endpoint: the body holds its arguments, the reply its result or `{"error": ...}`."""

    async def call(request: Request) -> Response:
        require_scope(request, tool.needed_scope)
        if not is_json(request.scope):
            return refusal(415, "VALIDATION", NOT_JSON)
        try:
            arguments = tool.parse(json_object(await request.body()))
            caller = caller_of(request)
            result = await tool.call(await gateway.get(), arguments, caller, no_progress)
        except Exception as error:  # the entrypoint: on any failure the client gets a typed error
            return failure(error)
        return json_reply(result.model_dump(mode="json", by_alias=True))

    return call


USAGE = "/v1/usage"


def usage_endpoint(gateway: LazyGateway) -> Callable[[Request], Awaitable[Response]]:
    """What the caller may use and has used. Any token may ask, and it costs nothing."""

    async def usage(request: Request) -> Response:
        try:
            used = await (await gateway.get()).usage(caller_of(request))
        except SearchError as error:
            return failure(error)
        return json_reply(used.model_dump(mode="json", by_alias=True))

    return usage


REFUSALS = {
    400: "The request is invalid; the message says what to change.",
    401: "There is no token, or it is not accepted.",
    403: "The token lacks the scope, or the address may not be fetched.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    429: "A rate limit or budget is exhausted; see Retry-After.",
    502: "Every upstream failed.",
    503: "Temporarily unavailable; see Retry-After.",
    504: "No upstream answered in time.",
}


_QUESTION, _TOWER = "How tall is the Eiffel Tower?", "https://en.wikipedia.org/wiki/Eiffel_Tower"

REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "search_web": {"query": _QUESTION, "maxResults": 3},
    "check_claims": {
        "claims": [{"claim": "The Eiffel Tower is 330 metres tall.", "urls": [_TOWER]}]
    },
    "web_search": {"query": "sqlite write-ahead log checkpoint", "maxResults": 3},
    "search_news": {"query": "storm warnings north sea", "maxResults": 3},
    "web_search_raw": {
        "query": ["eiffel tower height", "tokyo tower height"],
        "maxResults": 5,
    },
    "get_content": {"url": _TOWER, "maxChars": 4000},
    "read_from_page": {"url": _TOWER, "query": ["How tall is it?"], "maxResults": 2},
    "search_docs": {"query": "how to set a timeout", "maxResults": 3},
    "read_docs": {"url": "https://docs.example.org/guide/timeouts", "maxTokens": 1000},
    "add_docs": {"url": "https://docs.example.org/", "name": "example"},
    "update_docs": {"site": "example"},
    "delete_docs": {"site": "example"},
    "docs_status": {"site": "example"},
    "search_similar": {"query": _QUESTION, "maxResults": 3},
    "search_cached": {"query": _QUESTION},
    "cache_clear": {"olderThanHours": 24.0},
    "cache_migrate": {"target": "sqlite:///new.db"},
    "search": {"query": "sqlite write-ahead log checkpoint"},
    "fetch": {"id": _TOWER},
}
"""An example by name of tool; one without a row takes no arguments."""


def openapi(tools: Iterable[Tool], *, with_token: bool, server: str = "/") -> dict[str, Any]:
    """The document for these tools at the URL `server`. `with_token`: callers need one."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {
        path: {"post": operation}
        for tool in tools
        for path, operation in _operations(tool, schemas, with_token)
    }
    paths[USAGE] = {"get": _usage_operation(schemas, with_token)}
    schemas["Error"] = {
        "type": "object",
        "required": ["error"],
        "properties": {"error": _schema(ErrorInfo, schemas)},
    }
    keys = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "websearch-gateway",
            "version": __version__,
            "summary": "Short answers from the web whose every claim is cited.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "paths": paths,
        "components": {"schemas": schemas, **({"securitySchemes": keys} if with_token else {})},
    }


def _usage_operation(schemas: dict[str, Any], with_token: bool) -> dict[str, Any]:
    error = {"$ref": "#/components/schemas/Error"}
    replies = {"200": ("The limits, and what is used of them.", _schema(CallerUsage, schemas))}
    replies |= {status: (REFUSALS[int(status)], error) for status in ("401", "503")}
    return {
        "operationId": "usage",
        "summary": "Your limits and use",
        "description": "The caller's limits and budget, what is used of them today, and when they reset.",
        "responses": _responses(replies),
        **({"security": [{"bearer": []}, {"key": []}]} if with_token else {}),
    }


def _responses(replies: Mapping[str, tuple[str, dict[str, str]]]) -> dict[str, Any]:
    return {
        status: {"description": text, "content": {"application/json": {"schema": schema}}}
        for status, (text, schema) in replies.items()
    }


def _operations(
    tool: Tool, schemas: dict[str, Any], with_token: bool
) -> Iterable[tuple[str, dict[str, Any]]]:
    """The operation at each path of the tool: the same except for its id."""
    replies = {"200": ("The result.", _schema(tool.result, schemas))}
    replies |= {
        str(status): (text, {"$ref": "#/components/schemas/Error"})
        for status, text in REFUSALS.items()
    }
    schemas[tool.arguments.__name__] = input_schema(tool.arguments)
    scope, body = tool.needed_scope, dict[str, Any](schema=_reference(tool.arguments))
    if tool.name in REQUESTS:
        body["examples"] = {"typical": {"value": REQUESTS[tool.name]}}
    operation = {
        "tags": [tool.toolset],
        "summary": tool.title,
        "description": tool.description,
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": _responses(replies),
        **({"security": [{"bearer": [scope]}, {"key": [scope]}]} if with_token else {}),
    }
    *short, full = paths_of(tool)
    for path in short:
        yield path, {"operationId": f"{tool.name}_short", **operation}
    yield full, {"operationId": tool.name, **operation}


def _schema(model: type[BaseModel], schemas: dict[str, Any]) -> dict[str, str]:
    """A reference to `model`, whose schema and those it needs are put into `schemas`."""
    schema = model.model_json_schema(by_alias=True, ref_template="#/components/schemas/{model}")
    schemas.update(schema.pop("$defs", {}))
    schemas[model.__name__] = schema
    return _reference(model)


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def description_route(settings: Settings) -> Route:
    """The document for the toolsets in force."""

    @functools.cache  # strangers may ask for it
    def encoded(toolsets: tuple[str, ...]) -> bytes:
        with_token, server = settings.auth_mode != "none", settings.public_url or "/"
        return bytes(
            json_reply(openapi(listed(toolsets), with_token=with_token, server=server)).body
        )

    async def described(_: Request) -> Response:
        return Response(encoded(toolsets_of(settings)), media_type="application/json")

    return Route("/openapi.json", described)


class McpEndpoint:
    """MCP as an ASGI app. It relies on `RequestBody`, which passes the body on in one piece."""

    def __init__(self, gateway: LazyGateway) -> None:
        self._gateway = gateway
        self._whole: ASGIApp | None = None
        self._streamed: ASGIApp | None = None
        self._cancellation = Cancellation()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The context that must be open while requests are served."""
        # The SDK's check of Host and Origin stays off: ours has checked every request already.
        # Requests are independent, so nobody waits for news: clients list the tools again.
        server = create_server(self._gateway, tells_changes=False)
        whole = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        streamed = StreamableHTTPSessionManager(server, stateless=True)
        async with whole.run(), streamed.run():
            self._whole, self._streamed = whole.handle_request, streamed.handle_request
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        first = await receive()
        posted: Any = None
        with suppress(ValueError, RecursionError):  # the SDK reports the error
            if ESCAPED_HALF.search(first["body"]):
                first["body"] = repaired(first["body"]).encode()
            posted = json.loads(first["body"])
            if (refusal := refusal_of_request(posted)) is not None:
                reply = json_reply(
                    refusal.message.model_dump(mode="json", by_alias=True, exclude_unset=True), 400
                )
                await reply(scope, receive, send)
                return
        app = self._streamed if _wants_progress(scope, posted) else self._whole
        if app is None:
            raise RuntimeError("The app serves only while its lifespan is running.")

        async def replay() -> Message:
            nonlocal first
            message, first = first, {}
            return message or await receive()

        await self._cancellation.serve(app, posted, scope, replay, send)


def _wants_progress(scope: Scope, posted: Any) -> bool:
    """Whether a call has a progress token, and its client accepts streams."""
    for name in ("params", "_meta", "progressToken"):
        posted = posted.get(name) if isinstance(posted, dict) else None
    return (
        posted is not None
        and b"text/event-stream" in dict(scope["headers"]).get(b"accept", b"").lower()
    )


_SESSION = MCP_SESSION_ID_HEADER.encode()
_VERSION = MCP_PROTOCOL_VERSION_HEADER.encode()

Call = tuple[str, bytes, str]
"""A call in flight: whose it is, the client's session, its id as JSON."""


class Cancellation:
    """Cancels the calls of one process: a notification to another one does nothing."""

    def __init__(self) -> None:
        self._calls: dict[Call, asyncio.Timeout] = {}

    async def serve(
        self, app: ASGIApp, posted: Any, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve one request with the SDK's `app`; `posted` is its message, None if it cannot be read."""
        headers = dict(scope["headers"])
        if (
            headers.get(_VERSION, b"").decode("latin-1") not in ("", *HANDSHAKE_PROTOCOL_VERSIONS)
            or posted is None
        ):
            return await app(scope, receive, send)
        if posted.get("method") == "initialize":
            return await app(scope, receive, _naming(send))
        if (session := headers.get(_SESSION)) is None:
            return await app(scope, receive, send)
        user = scope["caller"].user
        if posted.get("method") == "notifications/cancelled":
            cancelled = user, session, _id_of(posted.get("params"), "requestId")
            if (work := self._calls.pop(cancelled, None)) is not None:
                work.reschedule(asyncio.get_running_loop().time())
        elif "id" in posted:
            call = user, session, _id_of(posted, "id")
            return await self._serve(app, call, posted["id"], scope, receive, send)
        return await app(scope, receive, send)

    async def _serve(
        self, app: ASGIApp, call: Call, request_id: Any, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a call that can be cancelled; a cancelled one gets the reply that the SDK gives in sessions."""
        work = asyncio.timeout(None)  # cancelled from outside, or never
        streams = False

        async def sending(message: Message) -> None:
            nonlocal streams
            if message["type"] == "http.response.start":
                streams = b"text/event-stream" in dict(message["headers"]).get(b"content-type", b"")
            if not streams or (
                message["type"] == "http.response.body" and not message.get("more_body", False)
            ):
                self._forget(call, work)  # already answered: too late to cancel
            await send(message)

        try:
            async with work:
                self._calls[call] = work
                await app(scope, receive, sending)
        except TimeoutError:
            if not work.expired():
                raise
            error = {"code": REQUEST_CANCELLED, "message": "The request was cancelled."}
            reply = {"jsonrpc": "2.0", "id": request_id, "error": error}
            if streams:
                await send(
                    {
                        "type": "http.response.body",
                        "body": b"data: " + json.dumps(reply).encode() + b"\n\n",
                    }
                )
            else:
                await json_reply(reply)(scope, receive, send)
        finally:
            self._forget(call, work)

    def _forget(self, call: Call, work: asyncio.Timeout) -> None:
        if self._calls.get(call) is work:
            del self._calls[call]


def _naming(send: Send) -> Send:
    """Adds a session id to the reply."""

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message = {
                **message,
                "headers": [*message["headers"], (_SESSION, token_hex(16).encode())],
            }
        await send(message)

    return named


def _id_of(holder: Any, name: str) -> str:
    """An id as JSON: 1 and "1" are different calls."""
    return json.dumps(holder.get(name) if isinstance(holder, dict) else None)


STATE_PREFIX = "websearch"
"""The collection of the TTL policies in `firestore.indexes.json`."""
STATE_DATABASE = "websearch"
"""The database of `firebase.json`: a deployment replaces rules and indexes, and an app's own are in the default one."""


class Resident:
    """An app that starts with the first request and whose lifespan ends with the event loop.

    If it cannot start, the waiting requests get an error, and the next request tries again.

    Args:
        make: creates the app, in a thread.
    """

    def __init__(self, make: Callable[[], Starlette]) -> None:
        self._make = make
        self._begun: asyncio.Future[Starlette] | None = None
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app: ASGIApp
        try:
            app = await self._running()
        except SearchError as error:
            # The caller is not authenticated yet, so only the log gets the reason.
            _log.error("The gateway cannot start: %s", error.message)
            app = refusal(503, "NOT_CONFIGURED", "The gateway cannot start. Its log says why.")
        except Exception as error:
            app = failure(error)
        await app(scope, receive, send)

    async def _running(self) -> Starlette:
        if self._begun is None:
            self._begun = asyncio.get_running_loop().create_future()
            # In its own task: the task that opens a lifespan must close it.
            self._life = asyncio.create_task(self._live(self._begun))
        return await asyncio.shield(self._begun)

    async def _live(self, begun: asyncio.Future[Starlette]) -> None:
        try:
            app = await asyncio.to_thread(self._make)
            async with app.router.lifespan_context(app):
                begun.set_result(app)
                await asyncio.Event().wait()
        except Exception as error:
            if begun.done():
                raise
            self._begun = None
            begun.set_exception(error)


def app_for(project: str) -> Starlette:
    """The HTTP server for the settings in the environment. The defaults are the project's own users and Firestore.

    Args:
        project: id of the project that the function is deployed to; may be empty outside of one.

    Raises:
        SearchNotConfiguredError: a setting is unusable or unsafe. Without authentication nothing is served at all.
    """
    settings = load_settings()
    defaults: dict[str, Any] = {
        "auth_mode": "firebase",
        "firebase_project_id": project,
        "state_url": f"firestore://{project}/{STATE_PREFIX}?database={STATE_DATABASE}",
    }
    if project:
        unset = defaults.keys() - settings.model_fields_set
        settings = settings.model_copy(update={name: defaults[name] for name in unset})
    configure_logging(settings.log_level, settings.secrets())
    if settings.auth_mode == "none":
        raise SearchNotConfiguredError("A function is open to everybody: set AUTH_MODE.")
    app = create_app(settings)
    start_exporting(settings)  # never stops: a function gets no notice of its end
    return app
