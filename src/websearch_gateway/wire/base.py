"""What all results have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


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
