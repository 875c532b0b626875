"""The routes to specialist servers: the built-in ones with the operator's changes, whose patterns are checked first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from websearch_gateway.base import Route, built_in_routes, repeats_a_repetition, utc_now
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings.groups import RouteSettings

LONGEST_PATTERN = 500
"""Characters of a regular expression: an operator's own are shorter."""


def merged_routes(settings: Mapping[str, RouteSettings]) -> dict[str, Route]:
    """The built-in routes with the operator's changes, in the order of the table and then of the settings file."""
    merged = dict(built_in_routes(utc_now().year))
    for name, route in settings.items():
        if not route.enabled:
            merged.pop(name, None)
        elif name in merged and not route.patterns:
            usual = merged[name]
            server = route.server or usual.server
            message = route.message or usual.message.replace(f"`{usual.server}`", f"`{server}`")
            merged[name] = replace(usual, server=server, message=message)
        elif not route.patterns or not (route.message or route.server):
            raise SearchNotConfiguredError(
                f"The route {name} needs `patterns`, and a `message` or a `server`."
            )
        else:
            for number, pattern in enumerate(route.patterns, start=1):
                if fault := _fault(pattern):
                    raise SearchNotConfiguredError(
                        f"Pattern {number} of the route {name} is unusable: {fault}."
                    )
            server = route.server or name
            message = (
                route.message
                or f"This is for the server `{server}`: use that instead of a web search."
            )
            merged[name] = Route(message, server, patterns=route.patterns)
    return merged


def _fault(pattern: str) -> str | None:
    """Why an operator's pattern is unusable; None if it is usable. It must be fast, since every query is matched."""
    if len(pattern) > LONGEST_PATTERN:
        return f"it is longer than {LONGEST_PATTERN} characters"
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    if compiled.search(""):
        return "it matches every query"
    return "it repeats a repetition, as in `(a+)+`" if repeats_a_repetition(pattern) else None
