"""JSON Schemas for agents: the same meaning as pydantic's, in a fraction of the tokens."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

NOISE = ("title", "default")
"""Pydantic repeats every field's name as its title, and a default of an output says nothing to its reader."""


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments. Optional ones are simply not required; `null` is understood, not advertised."""
    return _compact(model.model_json_schema(by_alias=True), drop=("title",), nullable=False)


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's result. No field is required, since a failed call carries only `error`."""
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
            # Several stay apart: a list of types would be shorter, but some models' dialects know only single ones.
            options = [option for option in node["anyOf"] if nullable or option.get("type") != "null"]
            return walk({**rest, **options[0]}) if len(options) == 1 else {**walk(rest), "anyOf": walk(options)}
        # Under "properties" the keys are field names, which may well be "title".
        return {
            key: {name: walk(field) for name, field in value.items()} if key == "properties" else walk(value)
            for key, value in node.items()
            if key not in drop and not (key == "default" and value is None)
        }

    compacted: dict[str, Any] = walk(schema)
    return compacted
