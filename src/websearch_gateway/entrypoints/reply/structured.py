"""Results as structured data, for programs."""

from __future__ import annotations

from typing import Any

from websearch_gateway.results import WireModel

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
    data = _lean(result, result.model_dump(mode="json", by_alias=True, exclude_unset=only_set))
    warnings = {"warnings": data.pop("warnings")} if "warnings" in data else {}
    return {**warnings, **data}


def _lean(model: WireModel, dumped: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, field in type(model).model_fields.items():
        key = field.serialization_alias or field.alias or name
        value = getattr(model, name)
        is_empty = value is None or (value == () and key not in RESULTS)
        if is_empty or key not in dumped:
            continue
        kept[key] = _lean_value(value, dumped[key])
    return kept


def _lean_value(value: Any, dumped: Any) -> Any:
    if isinstance(value, WireModel):
        return _lean(value, dumped)
    if isinstance(value, tuple):
        return [_lean_value(item, data) for item, data in zip(value, dumped, strict=True)]
    return dumped
