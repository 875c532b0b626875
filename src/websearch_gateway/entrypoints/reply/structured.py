"""Results as structured data, for programs."""

from __future__ import annotations

import functools
from typing import Any

from websearch_gateway.results import Content, SearchResponse, WireModel

RESULTS = frozenset(
    {
        "citations",
        "claims",
        "days",
        "heading_path",
        "providers",
        "queries",
        "results",
        "sectionPath",
        "sites",
        "tools",
    }
)
"""Lists that are what a tool gives: they stand even where they are empty. Other lists are left out then."""


def lean(result: WireModel, *, only_set: bool = False) -> dict[str, Any]:
    """`result` as JSON-ready data: warnings first, without nulls and without empty lists but RESULTS.

    What a field holds for others, such as a reply of Google, stays as it is.

    Args:
        only_set: leave out what has its default because nobody set it, as in the result of a failed call.
    """
    if isinstance(result, SearchResponse) and not only_set:
        return {**_lean_answer(Content(result)), "ageSeconds": result.age_seconds}
    return _warnings_first(_lean(result, only_set=only_set))


@functools.lru_cache(maxsize=10)  # stored answers repeat
def _lean_answer(answer: Content) -> dict[str, Any]:
    """With the age of one of the answers that say this."""
    return _warnings_first(_lean(answer.result, only_set=False))


def _warnings_first(data: dict[str, Any]) -> dict[str, Any]:
    return {"warnings": data["warnings"], **data} if "warnings" in data else data


def _lean(model: WireModel, *, only_set: bool) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, key in _keys(type(model)):
        value = getattr(model, name)
        is_left_out = value is None or (value == () and key not in RESULTS)
        if is_left_out or (only_set and name not in model.model_fields_set):
            continue
        kept[key] = _lean_value(value, only_set=only_set)
    return kept


def _lean_value(value: Any, *, only_set: bool) -> Any:
    if isinstance(value, WireModel):
        return _lean(value, only_set=only_set)
    if isinstance(value, tuple):
        return [_lean_value(item, only_set=only_set) for item in value]
    return value


@functools.cache
def _keys(model: type[WireModel]) -> tuple[tuple[str, str], ...]:
    """The fields of a model, each with its name in JSON."""
    return tuple(
        (name, field.serialization_alias or field.alias or name)
        for name, field in model.model_fields.items()
    )
