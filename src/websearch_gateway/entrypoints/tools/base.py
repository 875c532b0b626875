"""What a tool is, and how the arguments of a call become its model: `entrypoints/arguments.py` says what they mean."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
)
from pydantic.alias_generators import to_camel

from websearch_gateway.entrypoints.arguments import MOST_FAULTS, Fault, understood
from websearch_gateway.entrypoints.reply.sizes import BYTES_PER_TOKEN
from websearch_gateway.errors import SearchValidationError, shown
from websearch_gateway.models import Caller, Progress, arguments_in
from websearch_gateway.results import ErrorInfo, WireModel

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from websearch_gateway.app.gateway import Gateway


class Arguments(BaseModel):
    """Base of argument models. Names on the wire are camelCase. Unknown names and other types are refused: whatever
    form the caller used, `Tool.parse` has understood it before. Ranges are declared here and judged by the guard.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, defer_build=True
    )

    def request(self) -> Any:
        """What the gateway takes: the request from whose fields these were made, else these themselves."""
        return self


class NoArguments(Arguments):
    pass


def arguments_of(request: type[DataclassInstance], name: str, **defaults: Any) -> type[Arguments]:
    """The argument model of a tool, called `name`: the fields of `request` that are declared as arguments.

    `defaults` replace those of the request.
    """
    made: dict[str, Any] = {}
    for field, kind, about in arguments_in(request):
        default = defaults.get(field.name, ... if field.default is MISSING else field.default)
        keywords = declared(about.about, name=about.name, **about.keywords)
        made[field.name] = Annotated[_strict(kind), keywords], default

    class Made(Arguments):
        def request(self) -> DataclassInstance:
            return request(**{field: getattr(self, field) for field in made})

    return create_model(name, __base__=Made, __module__=request.__module__, **made)


_STRICT: Mapping[Any, Any] = {
    str: StrictStr,
    int: StrictInt,
    float: StrictFloat,
    bool: StrictBool,
}


def _strict(kind: Any) -> Any:
    """The type without pydantic's conversions of other types."""
    if get_origin(kind) is tuple:
        return GenericAlias(tuple, (_strict(get_args(kind)[0]), ...))
    if get_origin(kind) in (Union, UnionType):
        return Union[tuple(map(_strict, get_args(kind)))]  # noqa: UP007 - made of types
    return _STRICT.get(kind, kind)


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the tool table.

    `aliases` are understood in calls and never listed. `changes_data` says that a call removes or moves something;
    `open_world` that it may reach the web. `scope` is the scope that it needs, if not its toolset's. `fit` cuts a
    result to a number of tokens. `on_error` gives the fields that the result of a failed call has beside its `error`.
    `text` renders a result for models. `has_data`: it is structured data for programs,
    too; else the text is JSON, fitted so that it need not be cut.
    """

    name: str
    toolset: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[WireModel]
    run: Callable[[Gateway, Any, Caller, Progress], Awaitable[WireModel]]
    text: Callable[[Any], str]
    has_data: bool = True
    aliases: tuple[str, ...] = ()
    changes_data: bool = False
    open_world: bool = True
    scope: str | None = None
    fit: Callable[[Any, int], WireModel] | None = None
    on_error: Callable[[Any, ErrorInfo], Mapping[str, Any]] | None = None

    async def call(
        self, gateway: Gateway, arguments: Any, caller: Caller, progress: Progress
    ) -> WireModel:
        """Run the tool; workers count its jobs as the caller's. Raises what `run` raises."""
        gateway.called_by(caller)
        result = await self.run(gateway, arguments, caller, progress)
        return self.fit(result, reply_tokens(gateway, caller)) if self.fit else result

    @property
    def needed_scope(self) -> str:
        """What a token must allow: `scope`, else the toolset's own name, and `search` for `answer` too."""
        return self.scope or ("search" if self.toolset == "answer" else self.toolset)

    def parse(self, arguments: Mapping[str, Any]) -> Any:
        """The request of a call, whose arguments have their names on the wire or obvious other ones.

        Raises:
            SearchValidationError: one is missing, unknown, too long a list or of the wrong type; the message and
                `details.faults` say which.
        """
        call = understood(self.arguments, arguments, is_destructive=self.changes_data)
        if call.faults:
            raise refusal(self.name, call.faults, call.known)
        try:
            return self.arguments.model_validate(call.values, by_alias=True).request()
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False, include_context=False)
            faults = [(_place(fault["loc"], call.given_as), fault["msg"]) for fault in details]
        raise refusal(self.name, faults)


def _place(location: tuple[int | str, ...], given_as: Mapping[str, str]) -> str:
    """The argument at fault, with the name that the caller gave it."""
    place = ".".join(map(str, location))
    for listed, given in given_as.items():
        if place == listed or place.startswith(f"{listed}."):
            return f"{place} (given as {given})"
    return place


def reply_tokens(gateway: Gateway, caller: Caller) -> int:
    """The most tokens of a result for a caller."""
    if caller.room is None:
        return gateway.max_reply_tokens
    return caller.room // BYTES_PER_TOKEN


def declared(description: str, *, name: str | None = None, **keywords: Any) -> Any:
    """A field whose JSON Schema keywords inform the caller; the guard enforces them after normalising. `name` is its
    name on the wire where that is not the camelCase of the field's.
    """
    return Field(description=description, alias=name, json_schema_extra=keywords)


def refusal(
    tool: str, faults: Sequence[Fault], known: Mapping[str, Sequence[str]] | None = None
) -> SearchValidationError:
    """The error of a call with these faults; it reports the first `MOST_FAULTS`, each cut.

    Args:
        known: by place, the arguments that exist where an unknown one was given.
    """
    reported = [
        {"field": shown(field), "problem": shown(problem)}
        for field, problem in faults[:MOST_FAULTS]
    ]
    listed = "; ".join(f"{fault['field']}: {fault['problem']}" for fault in reported)
    more = " There are more." if len(faults) > MOST_FAULTS else ""
    message = f"Unusable arguments for {tool}: {listed}.{more}"
    details: dict[str, Any] = {"faults": reported}
    for place, names in (known or {}).items():
        subject = f"{shown(place.rstrip('.'))} takes" if place else f"{tool} takes"
        message += f" {subject}: {', '.join(names)}." if names else f" {tool} takes no arguments."
        details.setdefault("known", list(names))
    return SearchValidationError(message, details=details)
