"""What a tool is."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from websearch_gateway.entrypoints.tools.faults import Fault, refusal, shape_faults
from websearch_gateway.entrypoints.tools.names import understood
from websearch_gateway.models import Caller
from websearch_gateway.ports import Progress
from websearch_gateway.results.base import ErrorInfo, WireModel
from websearch_gateway.workers.pool import WORKING_FOR

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class Arguments(BaseModel):
    """Base of argument models. Names on the wire are camelCase; see `names` for other spellings. Unknown names are
    refused. Ranges are declared here and judged by the guard.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _take_other_types(cls, given: Any) -> Any:
        """Values of another type that can mean only one thing, such as 3.0 for an integer."""
        if not isinstance(given, Mapping):
            return given
        types = _types_of(cls)
        return {name: _understood_value(value, types.get(name, frozenset())) for name, value in given.items()}


@functools.cache
def _types_of(model: type[Arguments]) -> Mapping[str, frozenset[Any]]:
    """The types that each argument may have, by its name on the wire."""
    return {field.alias or name: frozenset(_types_in(field.annotation)) for name, field in model.model_fields.items()}


def _types_in(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _types_in(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for option in get_args(annotation):
            yield from _types_in(option)
    else:
        yield origin or annotation


def _understood_value(value: Any, types: frozenset[Any]) -> Any:
    """3.0 is an integer (JSON Schema Validation 2020-12, section 6.1.1), a number is an id, and a single text is a list
    of one. Clients whose numbers are all floats, and models, write them so."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is int and str in types and not types & {int, float}:
        return str(value)
    if isinstance(value, str) and tuple in types and str not in types:
        return (value,)
    return value


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the tool table.

    `aliases` are understood in calls and never listed. `changes_data` says that a call removes or moves something;
    `open_world` that it may reach the web. `scope` is the scope that it needs, if not its
    toolset's. `on_error` gives the fields that the result of a failed call has beside its
    `error`.
    `text` renders a result for models that read text; without it they get the JSON.
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
    scope: str | None = None
    on_error: Callable[[Any, ErrorInfo], Mapping[str, Any]] | None = None
    text: Callable[[Any], str] | None = None

    async def call(self, gateway: Gateway, arguments: Any, caller: Caller, progress: Progress) -> WireModel:
        """Run the tool; workers count its jobs as the caller's. Raises what `run` raises."""
        WORKING_FOR.set(caller.user)
        return await self.run(gateway, arguments, caller, progress)

    @property
    def needed_scope(self) -> str:
        """What a token must allow: `scope`, else the toolset's own name, and `search` for `answer` too."""
        return self.scope or ("search" if self.toolset == "answer" else self.toolset)

    def parse(self, arguments: Mapping[str, Any]) -> Arguments:
        """The arguments of a call, by their names on the wire or by obvious other ones.

        Raises:
            SearchValidationError: one is missing, unknown, too long a list or of the wrong type; the message and
                `details.faults` say which.
        """
        arguments, replaced = understood(self.arguments, arguments)
        if faults := shape_faults(self.arguments, arguments):
            raise refusal(self.name, faults)
        try:
            return self.arguments.model_validate(arguments, by_alias=True)
        except ValidationError as error:
            found = [
                Fault(_place(e["loc"], replaced), e["msg"])
                for e in error.errors(include_url=False, include_input=False, include_context=False)
            ]
        raise refusal(self.name, found)


def _place(location: tuple[int | str, ...], replaced: Mapping[str, str]) -> str:
    """The argument at fault, with the name that the caller gave it."""
    shown = ".".join(map(str, location))
    other = replaced.get(str(location[0])) if location else None
    return f"{shown} (given as {other})" if other else shown


COPIES: ContextVar[int] = ContextVar("copies", default=2)
"""How often a reply holds a result: over MCP twice, as structured content and as text."""


def reply_tokens(gateway: Gateway) -> int:
    """The size of one rendering of a result."""
    return gateway.max_reply_tokens // COPIES.get()


def declared(description: str, *, name: str | None = None, **keywords: Any) -> Any:
    """A field whose JSON Schema keywords inform the caller; the guard enforces them after normalising. `name` is its
    name on the wire where that is not the camelCase of the field's.
    """
    return Field(description=description, alias=name, json_schema_extra=keywords)
