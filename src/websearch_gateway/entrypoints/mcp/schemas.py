"""The JSON schemas of arguments and results, as short as they can be: every conversation pays for them.

Nothing in them may be null, since clients and models know few forms of that: an optional argument is simply not
required (`null` is understood), and results are sent without nulls (`reply.structured`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_OPAQUE: Mapping[str, Any] = {
    name: {"type": "object"} for name in ("cacheMatch", "error", "fallback", "filters", "usage")
}
"""Fields of an output that report on the call. Their parts are in docs/tools.md and cost every conversation nothing."""

_ANY_FIELD = ("additionalProperties", True)
"""Defaults of JSON Schema, which need no mention."""


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    return _compact(model.model_json_schema(by_alias=True), drop=("title",), opaque={})


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's result. No field is required, since a failed call carries only `error`.

    Titles repeat the names of fields, and a default of an output says nothing to its reader.
    """
    drop = ("title", "default", "description")
    return _compact(model.model_json_schema(by_alias=True), drop=drop, opaque=_OPAQUE)


def _compact(
    schema: dict[str, Any], *, drop: tuple[str, ...], opaque: Mapping[str, Any]
) -> dict[str, Any]:
    """`schema` without references, nulls and the keywords to drop. `opaque` has the schemas of some fields."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return walk(definitions[node["$ref"].rsplit("/", 1)[-1]])
        if "anyOf" in node:
            rest = {key: value for key, value in node.items() if key != "anyOf"}
            options = [option for option in node["anyOf"] if option.get("type") != "null"]
            if len(options) == 1:
                return walk({**rest, **options[0]})
            return {**walk(rest), "anyOf": walk(options)}
        return {
            key: walk_value(key, value)
            for key, value in node.items()
            if not is_needless(key, value)
        }

    def walk_value(key: str, value: Any) -> Any:
        if key != "properties":
            return walk(value)
        # The keys are names of fields, which may well be "title".
        return {
            name: opaque[name] if name in opaque else walk(field) for name, field in value.items()
        }

    def is_needless(key: str, value: Any) -> bool:
        return key in drop or (key, value) in (_ANY_FIELD, ("default", None))

    compacted: dict[str, Any] = walk(schema)
    return compacted
