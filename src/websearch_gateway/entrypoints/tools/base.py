"""What a tool is, and how the arguments of a call become its model: obvious names are understood, faults are
reported.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from itertools import islice
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.alias_generators import to_camel

from websearch_gateway.errors import SearchValidationError, shown
from websearch_gateway.models import Caller, Progress, arguments_in
from websearch_gateway.results import ErrorInfo, WireModel
from websearch_gateway.workers.pool import WORKING_FOR

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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

    def request(self) -> Any:
        """What the gateway takes: the request from whose fields these were made, else these themselves."""
        return self


class NoArguments(Arguments):
    pass


def arguments_of(request: type[DataclassInstance], name: str, **defaults: Any) -> type[Arguments]:
    """The argument model of a tool, called `name`: the fields of `request` that are declared as arguments.

    `defaults` replace those of the request.
    """
    lists: list[str] = []
    made: dict[str, Any] = {}
    for field, kind, about in arguments_in(request):
        strict = _strict(kind)
        if about.or_one:
            lists.append(field.name)
            strict = StrictStr | strict
        default = defaults.get(field.name, ... if field.default is MISSING else field.default)
        made[field.name] = Annotated[strict, declared(about.about, name=about.name, **about.keywords)], default

    class Made(Arguments):
        def request(self) -> DataclassInstance:
            given = {field: getattr(self, field) for field in made}
            return request(**given | {field: (given[field],) for field in lists if isinstance(given[field], str)})

    return create_model(name, __base__=Made, __module__=request.__module__, **made)


_STRICT: Mapping[Any, Any] = {str: StrictStr, int: StrictInt, bool: StrictBool}


def _strict(kind: Any) -> Any:
    """The type without pydantic's conversions of other types."""
    if get_origin(kind) is tuple:
        return GenericAlias(tuple, (_strict(get_args(kind)[0]), ...))
    if get_origin(kind) in (Union, UnionType):
        return Union[tuple(map(_strict, get_args(kind)))]  # noqa: UP007 - made of types
    return _STRICT.get(kind, kind)


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
    `open_world` that it may reach the web. `scope` is the scope that it needs, if not its toolset's. `fit` cuts a
    result to a number of tokens. `on_error` gives the fields that the result of a failed call has beside its `error`.
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
    fit: Callable[[Any, int], WireModel] | None = None
    on_error: Callable[[Any, ErrorInfo], Mapping[str, Any]] | None = None
    text: Callable[[Any], str] | None = None

    async def call(self, gateway: Gateway, arguments: Any, caller: Caller, progress: Progress) -> WireModel:
        """Run the tool; workers count its jobs as the caller's. Raises what `run` raises."""
        WORKING_FOR.set(caller.user)
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
        arguments, replaced = understood(self.arguments, arguments)
        if faults := list(islice(_shape_faults(_limits(self.arguments), arguments), MOST_FAULTS + 1)):
            raise refusal(self.name, faults)
        try:
            return self.arguments.model_validate(arguments, by_alias=True).request()
        except ValidationError as error:
            found = [
                (_place(e["loc"], replaced), e["msg"])
                for e in error.errors(include_url=False, include_input=False, include_context=False)
            ]
        raise refusal(self.name, found)


def _place(location: tuple[int | str, ...], replaced: Mapping[str, str]) -> str:
    """The argument at fault, with the name that the caller gave it."""
    shown = ".".join(map(str, location))
    other = replaced.get(str(location[0])) if location else None
    return f"{shown} (given as {other})" if other else shown


def reply_tokens(gateway: Gateway, caller: Caller) -> int:
    """The size of one rendering of a result."""
    return gateway.max_reply_tokens // caller.copies


def declared(description: str, *, name: str | None = None, **keywords: Any) -> Any:
    """A field whose JSON Schema keywords inform the caller; the guard enforces them after normalising. `name` is its
    name on the wire where that is not the camelCase of the field's.
    """
    return Field(description=description, alias=name, json_schema_extra=keywords)


SYNONYMS: tuple[frozenset[str], ...] = (
    frozenset({"maxresults", "numresults", "resultsperquery", "limit", "count", "num", "n", "topk", "k"}),
    frozenset({"query", "queries", "q", "question", "searchquery", "searchterm"}),
    frozenset({"url", "link", "uri", "href"}),
    frozenset({"urls", "links"}),
    frozenset({"maxchars", "maxcharacters", "maxlength", "length"}),
    frozenset({"region", "country", "countrycode"}),
    frozenset({"language", "lang", "locale"}),
    frozenset({"freshness", "timerange", "recency"}),
    frozenset({"includedomains", "alloweddomains", "domains", "sites", "site"}),
    frozenset({"excludedomains", "blockeddomains"}),
    frozenset({"offset", "start", "startindex"}),
    frozenset({"siteid", "site", "sitename", "library"}),
    frozenset({"sitesfilter", "sitefilter", "sites", "filter"}),
    frozenset({"sectionid", "section", "id"}),
    frozenset({"version", "siteversion", "label"}),
    frozenset({"maxtokens", "tokens", "tokenlimit"}),
)
"""Names that mean the same, in lower case and without underscores. A name in several groups means what the tool has."""

MOST_NAMES = 50
"""A call with more names is refused as it stands."""


def understood(model: type[BaseModel], given: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """`given` with every other spelling of an argument's name replaced by the one that the tool lists; and of each
    listed name that replaced another, that other.

    A name that the call gives already is never replaced, nor is one that could mean two arguments of the tool.
    """
    known = _limits(model)
    if len(given) > MOST_NAMES or all(name in known for name in given):
        return given, {}
    named: dict[str, Any] = {}
    replaced: dict[str, str] = {}
    for name, value in given.items():
        meant = name if name in known else _meant(name, known)
        if meant in named or meant in given:
            meant = name
        elif meant != name:
            replaced[meant] = name
        named[meant] = value
    return named, replaced


def _meant(name: str, known: Iterable[str]) -> str:
    plain = _plain(name)
    same = [one for one in known if _plain(one) == plain]
    if not same:
        alike = frozenset[str]().union(*(words for words in SYNONYMS if plain in words))
        same = [one for one in known if _plain(one) in alike]
    return same[0] if len(same) == 1 else name


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


LONGEST_TEXT = 10_000
"""Characters of one text among the arguments: more than the longest address."""
MOST_FAULTS = 10


Fault = tuple[str, str]
"""One argument, by its name on the wire, and what is wrong with it."""


def _shape_faults(limits: Mapping[str, int | None], given: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults that are visible before validation: unknown names, lists longer than `maxItems`, and long texts.

    pydantic reports each of 95,000 unknown names and each of 500,000 wrong items, which takes a gigabyte; a long text
    could be echoed, or stay in the cache of a library.
    """
    for name, value in given.items():
        limit = limits.get(name)
        if name not in limits:
            yield name, "Unknown argument"
        elif limit is not None and isinstance(value, list | tuple) and len(value) > limit:
            yield name, f"At most {limit} items are allowed, not {len(value)}"
        elif is_too_long(value):
            yield name, f"At most {LONGEST_TEXT} characters are allowed"


@functools.cache
def _limits(model: type[BaseModel]) -> Mapping[str, int | None]:
    """The most items of each argument, by its name on the wire; None for those without a limit."""
    limits: dict[str, int | None] = {}
    for name, field in model.model_fields.items():
        keywords = field.json_schema_extra
        most = keywords.get("maxItems") if isinstance(keywords, dict) else None
        limits[str(field.validation_alias or field.alias or name)] = most if isinstance(most, int) else None
    return limits


def is_too_long(value: Any) -> bool:
    """Whether a text, or a text in a list, is longer than `LONGEST_TEXT`."""
    texts = value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(text, str) and len(text) > LONGEST_TEXT for text in texts)


def refusal(tool: str, faults: Sequence[Fault]) -> SearchValidationError:
    """The error of a call with these faults; it reports the first `MOST_FAULTS`, each cut."""
    reported = [{"field": shown(field), "problem": shown(problem)} for field, problem in faults[:MOST_FAULTS]]
    listed = "; ".join(f"{fault['field']}: {fault['problem']}" for fault in reported)
    more = " There are more." if len(faults) > MOST_FAULTS else ""
    return SearchValidationError(f"Unusable arguments for {tool}: {listed}.{more}", details={"faults": reported})
