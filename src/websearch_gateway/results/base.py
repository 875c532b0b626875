"""The base of all results, and the parts that they share."""

from __future__ import annotations

import math
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from websearch_gateway.errors import SearchError, shown


class WireModel(BaseModel):
    """The base of all results: frozen, camelCase in JSON, both spellings accepted in Python."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True)


class FallbackInfo(WireModel):
    """The upstream that did not answer, and why."""

    from_: str = Field(default="", alias="from")
    reason: str = ""


LONGEST_MESSAGE = 2_000
"""Characters of an error's message, and of each text in its details: they may quote what the caller sent."""


class ErrorInfo(WireModel):
    """A failed call. `code` is one of `errors.ErrorCode`; `retry_after_seconds` is null if unknown."""

    code: str = ""
    message: str = ""
    retry_after_seconds: float | None = None
    details: dict[str, Any] | None = None

    @field_validator("message", "details")
    @classmethod
    def _shown(cls, value: Any) -> Any:
        """Cut long texts, and escape control characters in them."""
        if isinstance(value, str):
            return shown(value, LONGEST_MESSAGE)
        if isinstance(value, dict):
            return {name: cls._shown(one) for name, one in value.items()}
        return [cls._shown(one) for one in value] if isinstance(value, list) else value

    @classmethod
    def of(cls, error: SearchError) -> Self:
        """Make it from an error; the wait is rounded up to whole seconds."""
        wait = None if error.retry_after is None else math.ceil(error.retry_after)
        return cls(code=error.code, message=error.message, retry_after_seconds=wait, details=error.details or None)
