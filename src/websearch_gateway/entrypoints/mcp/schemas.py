"""The JSON schemas of arguments and results, as short as they can be: every conversation pays for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_OPAQUE: Mapping[str, Any] = {
    **{key: {"type": "object"} for key in ("filters", "usage")},
    **{key: {"type": ["object", "null"]} for key in ("error", "cacheMatch", "fallback")},
}
"""Fields of an output that report on the call. Their parts are in docs/tools.md and cost every conversation nothing."""

_ANY_FIELD = ("additionalProperties", True)
"""Defaults of JSON Schema, which need no mention."""


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments. Optional ones are simply not required; `null` is understood, not advertised."""
    return _compact(model.model_json_schema(by_alias=True), drop=("title",), nullable=False)


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's result. No field is required, since a failed call carries only `error`.

    Titles repeat the names of fields, and a default of an output says nothing to its reader.
    """
    return _compact(model.model_json_schema(by_alias=True), drop=("title", "default", "description"), nullable=True)


def _compact(schema: dict[str, Any], *, drop: tuple[str, ...], nullable: bool) -> dict[str, Any]:
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
            options = [option for option in node["anyOf"] if nullable or option.get("type") != "null"]
            if len(options) == 1:
                return walk({**rest, **options[0]})
            options = walk(options)
            # Arguments stay apart: the dialects of some models know only single types.
            return {**walk(rest), **((_in_one(options) if nullable else None) or {"anyOf": options})}
        # Under "properties" the keys are field names, which may well be "title".
        return {
            key: {name: inner(name, field) for name, field in value.items()} if key == "properties" else walk(value)
            for key, value in node.items()
            if key not in drop and not (key == "default" and value is None) and (key, value) != _ANY_FIELD
        }

    def inner(name: str, field: Any) -> Any:
        return _OPAQUE[name] if nullable and name in _OPAQUE else walk(field)

    compacted: dict[str, Any] = walk(schema)
    return compacted


def _in_one(options: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Alternatives as one schema with a list of types, which a client checks in a third less time; None where that
    would mean something else: most keywords bind values of one type only, `enum` and `const` bind all."""
    keywords = [key for option in options for key in option if key != "type"]
    if [*keywords] == ["enum"] and options[-1] == {"type": "null"}:
        return {"enum": [*options[0]["enum"], None]}
    plain = all(isinstance(option.get("type"), str) for option in options)
    if not plain or len(keywords) > len(set(keywords)) or {"enum", "const"} & set(keywords):
        return None
    merged = {key: value for option in options for key, value in option.items()}
    return {**merged, "type": [option["type"] for option in options]}
