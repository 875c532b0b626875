"""Endpoints that speak the wire formats of Tavily, SearXNG, Open WebUI and OpenAI, for apps that know only those.

Each endpoint is a row of a table: its paths, the scope that it needs, the shape of its errors and the function that
answers. That one parses leniently (unknown fields are ignored, absent and null are the same), calls the gateway, and
renders the fields without which that API's clients break.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from websearch_gateway.entrypoints.http.authentication import (
    HOW_TO_PROVE,
    VERIFY,
    InsufficientScope,
    InvalidToken,
    caller_of,
    require_scope,
)
from websearch_gateway.entrypoints.http.compatible.endpoint import Compatible, Given
from websearch_gateway.entrypoints.http.compatible.openai_api import OPENAI_APIS
from websearch_gateway.entrypoints.http.compatible.openwebui import OPENWEBUI_APIS
from websearch_gateway.entrypoints.http.compatible.searxng import SEARXNG_APIS
from websearch_gateway.entrypoints.http.compatible.tavily import TAVILY_APIS
from websearch_gateway.entrypoints.http.middleware import is_json, json_object
from websearch_gateway.entrypoints.http.replies import failure, json_reply, refusal
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.errors import SearchValidationError

Endpoint = Callable[[Request], Awaitable[Response]]

MOST_FIELDS = 100
"""Of a form: SearXNG's search takes about ten."""
_FOREIGN = ("cross-site", "same-site")
"""A search costs money, and an image on a foreign page can ask for one: a GET that needs no permission (W3C Fetch
Metadata). Other methods carry an Origin, which is checked before."""


def compatible_routes(gateway: LazyGateway) -> list[BaseRoute]:
    """One route per path, except `/`, which belongs to the status page too."""

    async def nothing_here(_: Request) -> Response:
        return refusal(404, "VALIDATION", "This path does not support this kind of request.")

    serve = serving(gateway, nothing_here)
    return [
        Route(path, serve, methods=sorted({method for row in rows for method in row.methods}))
        for path, rows in BY_PATH.items()
        if path != "/"
    ]


def serving(gateway: LazyGateway, otherwise: Endpoint) -> Endpoint:
    """Serves requests that match an endpoint; `otherwise` serves the rest."""

    async def serve(request: Request) -> Response:
        row = compatible_endpoint(request.scope)
        if row is None:
            return await otherwise(request)
        if request.method == "GET" and request.headers.get("sec-fetch-site") in _FOREIGN:
            return refusal(403, "VALIDATION", "Pages of other sites may not use this API.")
        try:
            if VERIFY in request.scope:
                # Parsed again below: what a stranger sent is not held, parsed, while its token is verified.
                key = (await _in_body(request)).get("api_key")
                request.scope["caller"] = await request.scope[VERIFY](
                    key if isinstance(key, str) else ""
                )
            given = {
                **_form(request.scope["query_string"].decode("latin-1")),
                **await _in_body(request),
            }
        except InvalidToken as invalid:
            request.scope["refused"] = str(invalid)
            return refusal(401, "AUTH", HOW_TO_PROVE)
        except InsufficientScope:
            raise
        except Exception as error:  # the entrypoint: on any failure the client gets a typed error
            return failure(error)
        require_scope(request, row.scope)
        return await _answer(row, gateway, given, request)

    return serve


async def _answer(
    row: Compatible, gateway: LazyGateway, given: Given, request: Request
) -> Response:
    caller = replace(caller_of(request), has_specialists=False)
    try:
        opened = await gateway.get()
        opened.called_by(caller)
        content = await row.answer(opened, given, caller)
    except Exception as error:  # the entrypoint: on any failure the client gets a typed error
        return failure(error)
    return content if isinstance(content, Response) else json_reply(content)


async def _in_body(request: Request) -> Given:
    """The parameters in the body.

    Raises:
        SearchValidationError: it is neither a JSON object nor a form.
    """
    body = await request.body()
    if not body:
        return {}
    return json_object(body) if is_json(request.scope) else _form(body.decode("utf-8", "replace"))


def _form(text: str) -> dict[str, Any]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise SearchValidationError(f"A request has at most {MOST_FIELDS} fields.") from None


def error_shape(scope: Scope) -> Any:
    """The error shape for the clients of this path; None for our own shape."""
    row = compatible_endpoint(scope)
    return row.error_shape if row is not None else None


COMPATIBLE: tuple[Compatible, ...] = (
    # Before SearXNG: a JSON body at /search is Tavily's.
    *TAVILY_APIS,
    *SEARXNG_APIS,
    *OPENWEBUI_APIS,
    *OPENAI_APIS,
)

BY_PATH: dict[str, tuple[Compatible, ...]] = {
    path: tuple(row for row in COMPATIBLE if path in row.paths)
    for path in dict.fromkeys(path for row in COMPATIBLE for path in row.paths)
}


def compatible_endpoint(scope: Scope) -> Compatible | None:
    """The first row that serves the request, if any does."""
    for row in BY_PATH.get(scope["path"], ()):
        if scope["method"] in row.methods and row.serves(scope):
            return row
    return None
