"""What a tool is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Caller
from websearch_gateway.ports import Progress
from websearch_gateway.wire.base import ErrorInfo, WireModel

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class Arguments(BaseModel):
    """Base of argument models. Unknown names are refused. Ranges are declared here and judged by the guard."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _take_whole_floats(cls, given: Any) -> Any:
        """3.0 is an integer (JSON Schema Validation 2020-12, section 6.1.1): the schema that we publish lets it pass,
        and clients whose numbers are all floats write it so."""
        if not isinstance(given, Mapping):
            return given
        return {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in given.items()
        }


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the tool table.

    `aliases` are understood in calls and never listed. `changes_data` says that a call removes or moves something;
    `open_world` that it may reach the web. `despite` gives the fields that the result of a failed call has beside its
    `error`.
    """

    name: str
    toolset: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[WireModel]
    run: Callable[[Gateway, Any, Caller, Progress], Awaitable[WireModel]]
    aliases: tuple[str, ...] = ()
    changes_data: bool = False
    open_world: bool = True
    despite: Callable[[Any, ErrorInfo], Mapping[str, Any]] | None = None

    def parse(self, arguments: Mapping[str, Any]) -> Arguments:
        """The arguments of a call, by their names on the wire.

        Raises:
            SearchValidationError: one is missing, unknown or of the wrong type; the message and `details` say which.
        """
        try:
            return self.arguments.model_validate(arguments, by_alias=True)
        except ValidationError as error:
            faults = [
                {"field": ".".join(map(str, e["loc"])), "problem": e["msg"]} for e in error.errors(include_input=False)
            ]
        told = "; ".join(f"{fault['field']}: {fault['problem']}" for fault in faults)
        raise SearchValidationError(f"Unusable arguments for {self.name}: {told}.", details={"faults": faults})


def declared(description: str, **keywords: Any) -> Any:
    """A field whose JSON Schema keywords inform the caller; the guard enforces them after normalising."""
    return Field(description=description, json_schema_extra=keywords)
