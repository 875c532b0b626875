"""Reports faults in the arguments of a call, in a reply of bounded size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import BaseModel

from websearch_gateway.errors import SearchValidationError, shown

LONGEST_TEXT = 10_000
"""Characters of one text among the arguments: more than the longest address."""
MOST_FAULTS = 10


@dataclass(frozen=True, slots=True)
class Fault:
    """One argument, by its name on the wire, and what is wrong with it."""

    field: str
    problem: str


def shape_faults(model: type[BaseModel], given: Mapping[str, Any]) -> list[Fault]:
    """The faults that are visible before validation: unknown names, lists longer than `maxItems`, and long texts.

    pydantic reports each of 95,000 unknown names and each of 500,000 wrong items, which takes a gigabyte; a long text
    could be echoed, or stay in the cache of a library.
    """
    known = {field.validation_alias or field.alias or name: field for name, field in model.model_fields.items()}
    unknown = (Fault(name, "Unknown argument") for name in given if name not in known)
    faults = list(islice(unknown, MOST_FAULTS + 1))
    for name, field in known.items():
        keywords = field.json_schema_extra
        limit = keywords.get("maxItems") if isinstance(keywords, dict) else None
        value = given.get(str(name))
        if isinstance(limit, int) and isinstance(value, Sequence) and not isinstance(value, str) and len(value) > limit:
            faults.append(Fault(str(name), f"At most {limit} items are allowed, not {len(value)}"))
        elif is_too_long(value):
            faults.append(Fault(str(name), f"At most {LONGEST_TEXT} characters are allowed"))
    return faults


def is_too_long(value: Any) -> bool:
    """Whether a text, or a text in a list, is longer than `LONGEST_TEXT`."""
    texts = value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(text, str) and len(text) > LONGEST_TEXT for text in texts)


def refusal(tool: str, faults: Sequence[Fault]) -> SearchValidationError:
    """The error of a call with these faults; it reports the first `MOST_FAULTS`, each cut."""
    reported = [{"field": shown(fault.field), "problem": shown(fault.problem)} for fault in faults[:MOST_FAULTS]]
    listed = "; ".join(f"{fault['field']}: {fault['problem']}" for fault in reported)
    more = " There are more." if len(faults) > MOST_FAULTS else ""
    return SearchValidationError(f"Unusable arguments for {tool}: {listed}.{more}", details={"faults": reported})
