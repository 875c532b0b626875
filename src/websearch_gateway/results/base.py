"""What all results have in common."""

from __future__ import annotations

import math
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from websearch_gateway.errors import SearchError


class WireModel(BaseModel):
    """Base of everything that crosses the wire: frozen, camelCase in JSON, accepts either spelling in Python."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


class FallbackInfo(WireModel):
    """Which upstream was given up, and why."""

    from_: str = Field(default="", alias="from")
    reason: str = ""


class ErrorInfo(WireModel):
    """A failed call, told to a program."""

    code: str = ""
    message: str = ""
    retry_after_seconds: float | None = None
    details: dict[str, Any] | None = None

    @classmethod
    def of(cls, error: SearchError) -> Self:
        """The facts of an error; its wait in whole seconds."""
        wait = None if error.retry_after is None else math.ceil(error.retry_after)
        return cls(code=error.code, message=error.message, retry_after_seconds=wait, details=error.details or None)
