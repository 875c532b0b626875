"""What the arguments of a call mean, in whatever form a client or a model sends them. Every door reads them here: the
tools over MCP and REST, the endpoints that speak other APIs, and the options of the command line.

Clients fill in options that nobody set, models write numbers and lists as text, and some encode a list or an object
as JSON text. So:

- an optional argument is absent if it is null, empty or one of `ABSENT_WORDS`, alone or in a list;
- a text is a number, a switch or a choice where it can be only one: `"5"`, `"false"`, `"DAY"`;
- a list or an object may arrive as its JSON text, and a single value as a list of one or the other way round;
- a name may be spelled in another style, or be one of its SYNONYMS.

A call that removes something is stricter: there only null, or no value at all, is absent.

A value that can mean two things stays as it is, and its type refuses it: a call never silently
becomes another one. A text that must be given, such as a query, is never absent: somebody may ask for "null".
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from websearch_gateway.foreign_json import BadJson, parse_json


class _Absent(Enum):
    """So that mypy knows the type of the one value."""

    ABSENT = auto()


ABSENT: Final = _Absent.ABSENT
"""The meaning of a value that sets nothing."""

ABSENT_WORDS = frozenset({"", "null", "none", "undefined"})
"""What JSON, Python and JavaScript print for a value that is not there."""

SWITCHES = {
    "true": True,
    "false": False,
    "1": True,
    "0": False,
    "yes": True,
    "no": False,
    "on": True,
    "off": False,
}

LONGEST_TEXT = 10_000
"""Characters of one text among the arguments: more than the longest address."""

HALF = "\uffff"
"""What stands for half of a surrogate pair where a message cannot carry one; no text has this character."""

_HALVES = re.compile(f"[\ud800-\udfff{HALF}]")

LONGEST_JSON = 100_000
"""Characters of a list or an object that arrives as text; 20 claims with five addresses each have about 20,000."""

SAYS_NOTHING = "The value says nothing: give another one, or leave the argument out to remove without this condition"

MOST_FAULTS = 10
"""Faults that one refusal reports."""

MOST_NAMES = 50
"""A call with more names is refused as it stands."""

SYNONYMS: tuple[frozenset[str], ...] = (
    frozenset(
        {"maxresults", "numresults", "resultsperquery", "limit", "count", "num", "n", "topk", "k"}
    ),
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


@dataclass(frozen=True, slots=True)
class Kind:
    """What one argument takes.

    Attributes:
        types: of a value, or of an item of a list: `str`, `int`, `float`, `bool`, a model for objects, or `Any`.
        choices: the texts that it must be one of, in lower case.
        is_list: whether it is a list of such values.
        most_items: of the list; None for any number.
        is_optional: whether it may be absent.
    """

    types: frozenset[Any]
    choices: tuple[str, ...] = ()
    is_list: bool = False
    most_items: int | None = None
    is_optional: bool = True

    @property
    def model(self) -> type[BaseModel] | None:
        """The model of its objects, if it takes objects."""
        for kind in self.types:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                return kind
        return None


def kind_of(annotation: Any, *, is_optional: bool, most_items: int | None = None) -> Kind:
    """The kind of an argument that is declared with this type."""
    types: set[Any] = set()
    choices: list[str] = []
    is_list = False
    unread = [annotation]
    while unread:
        part = unread.pop()
        origin = get_origin(part)
        if origin is Annotated:
            unread.append(get_args(part)[0])
        elif origin in (Union, UnionType):
            unread.extend(get_args(part))
        elif origin in (tuple, list):
            is_list = True
            unread.append(get_args(part)[0])
        elif origin is Literal:
            choices.extend(get_args(part))
        elif part is not NoneType:
            types.add(part)
    return Kind(frozenset(types), tuple(choices), is_list, most_items, is_optional)


@functools.cache
def kinds_of(model: type[BaseModel]) -> Mapping[str, Kind]:
    """The kind of each argument of a model, by its name on the wire."""
    return {
        _wire_name(name, declared): _declared_kind(declared)
        for name, declared in model.model_fields.items()
    }


class Stays:
    """Marks an argument that a call must give although it has a default: every text is a value of it, also "null"."""


def _wire_name(name: str, declared: FieldInfo) -> str:
    return str(declared.validation_alias or declared.alias or name)


def _declared_kind(declared: FieldInfo) -> Kind:
    keywords = declared.json_schema_extra
    most_items = keywords.get("maxItems") if isinstance(keywords, dict) else None
    stays = declared.is_required() or Stays in declared.metadata
    return kind_of(
        declared.annotation,
        is_optional=not stays,
        most_items=most_items if isinstance(most_items, int) else None,
    )


def meaning(value: Any, kind: Kind) -> Any:
    """The value that an argument of this kind has; `ABSENT` if it sets nothing. What cannot be its value stays."""
    if value is None:
        return ABSENT
    if Any in kind.types:
        return ABSENT if kind.is_optional and _sets_nothing(value) else value
    if kind.is_list:
        return _list_meant(value, kind)
    if isinstance(value, list | tuple) and len(value) <= 1:
        value = value[0] if value else None
    if kind.is_optional and _sets_nothing(value):
        return ABSENT
    return _single_meant(value, kind)


def _sets_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in ABSENT_WORDS)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _list_meant(value: Any, kind: Kind) -> Any:
    items = _items_in(value)
    if kind.most_items is not None and len(items) > kind.most_items:
        return items  # refused for its length, unread
    if kind.is_optional:
        items = [item for item in items if not _sets_nothing(item)]
        if not items:
            return ABSENT
    elif all(_is_blank(item) for item in items):
        return []
    return [_single_meant(item, kind) for item in items]


def _items_in(value: Any) -> list[Any]:
    """The items of a list, of one that is written as text, or of a single value in its place."""
    # A repeatable option of the command line is a list of one text, which may be such a list.
    if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, str) and value.strip().startswith("["):
        written = _json_in(value)
        if written is None:
            written = _python_list_in(value)
        if isinstance(written, list):
            return written
    return list(value) if isinstance(value, list | tuple) else [value]


def _json_in(text: str) -> Any:
    """What a JSON text says; None if it is no JSON."""
    if len(text) > LONGEST_JSON:
        return None
    try:
        return parse_json(text)
    except BadJson:
        return None


def _python_list_in(text: str) -> list[str] | None:
    """The texts of a list as Python prints it, `['a.org', 'b.org']`; None if it is no such list."""
    if len(text) > LONGEST_JSON:
        return None
    try:
        written = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    is_list_of_texts = isinstance(written, list) and all(isinstance(item, str) for item in written)
    return written if is_list_of_texts else None


def _single_meant(value: Any, kind: Kind) -> Any:
    if isinstance(value, str):
        return _text_meant(value, kind)
    if isinstance(value, bool):
        return value
    # 3.0 is an integer (JSON Schema Validation 2020-12, section 6.1.1), and some clients have no other numbers.
    if isinstance(value, float) and value.is_integer() and float not in kind.types:
        value = int(value)
    if type(value) is not int or kind.types & {int, float}:
        return value
    if bool in kind.types:
        return bool(value) if value in (0, 1) else value
    # An id or a version may look like a number, an address or a domain in a list does not.
    return str(value) if str in kind.types and not kind.is_list else value


def _text_meant(text: str, kind: Kind) -> Any:
    plain = text.strip().lower()
    if kind.choices:
        return plain if plain in kind.choices else text
    if kind.model is not None:
        written = _json_in(text) if plain.startswith("{") else None
        return written if isinstance(written, dict) else text
    if str in kind.types:
        return text
    if bool in kind.types:
        return SWITCHES.get(plain, text)
    number = _json_in(plain)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return text
    return _single_meant(number, kind)


Fault = tuple[str, str]
"""One argument, by its name on the wire, and what is wrong with it."""


@dataclass(slots=True)
class Understood:
    """The arguments of a call, as they were meant.

    Attributes:
        values: by the names that the model lists.
        given_as: of each listed name that replaced another one, that other.
        faults: what no validation needs to look at: unknown names, lists and texts that are too long, and texts with
            half of a character.
        known: of each place with an unknown name, the names that it has; the place of the call itself is empty.
    """

    values: dict[str, Any] = field(default_factory=dict)
    given_as: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)


def understood(
    model: type[BaseModel],
    given: Mapping[str, Any],
    place: str = "",
    *,
    is_destructive: bool = False,
) -> Understood:
    """The arguments that a call gives for the model.

    It stops soon after `MOST_FAULTS`: pydantic would report each of 95,000 unknown names and each of 500,000 wrong
    items, which takes a gigabyte; a long text could be echoed, or stay in the cache of a library.

    Args:
        place: the prefix of names in faults, for an object within the arguments.
        is_destructive: whether the call removes something. A word for nothing is then a fault: what narrows the call
            may have been meant, and without it everything is removed. Only null and no value are absent.
    """
    kinds = kinds_of(model)
    call = Understood()
    for name, other in _listed_names(kinds, given).items():
        if other != name:
            call.given_as[place + name] = place + other
        if len(call.faults) > MOST_FAULTS:
            break
        if name not in kinds:
            call.faults.append((place + name, "Unknown argument"))
            call.known[place] = tuple(kinds)
            continue
        kind = kinds[name]
        value = meaning(given[other], kind)
        if value is ABSENT:
            if is_destructive and given[other] is not None:
                call.faults.append((place + name, SAYS_NOTHING))
            continue
        if fault := text_fault(value, kind.most_items):
            call.faults.append((place + name, fault))
            continue
        if kind.model is not None:
            value = _objects_understood(call, kind.model, value, place + name)
        call.values[name] = value
    return call


def _objects_understood(call: Understood, model: type[BaseModel], value: Any, place: str) -> Any:
    """A list of objects, each understood as its model; what is wrong with them is noted on the call."""
    if not isinstance(value, list):
        return value
    objects: list[Any] = []
    for number, item in enumerate(value):
        if not isinstance(item, Mapping):
            objects.append(item)
            continue
        inner = understood(model, item, f"{place}.{number}.")
        objects.append(inner.values)
        call.given_as |= inner.given_as
        call.faults += inner.faults
        call.known |= inner.known
    return objects


def text_fault(value: Any, most_items: int | None) -> str | None:
    """Whether a list has more items, or a text in the value more characters, than is looked at; or half a character."""
    if isinstance(value, list | tuple) and most_items is not None and len(value) > most_items:
        return f"At most {most_items} items are allowed, not {len(value)}"
    texts = value if isinstance(value, list | tuple) else (value,)
    if any(isinstance(text, str) and len(text) > LONGEST_TEXT for text in texts):
        return f"At most {LONGEST_TEXT} characters are allowed"
    if any(isinstance(text, str) and _HALVES.search(text) for text in texts):
        return (
            "It holds half of a character (of an emoji, for example): cut texts between characters"
        )
    return None


def _listed_names(kinds: Mapping[str, Kind], given: Mapping[str, Any]) -> Mapping[str, str]:
    """The name that the model lists for each name in the call, with the given one.

    A name that the call gives already is never replaced, nor is one that could mean two arguments of the tool.
    """
    if len(given) > MOST_NAMES:
        return {name: name for name in given}
    named: dict[str, str] = {}
    for name in given:
        listed = name if name in kinds else _meant_name(name, kinds)
        if listed in named or (listed != name and listed in given):
            listed = name
        named[listed] = name
    return named


def _meant_name(name: str, known: Iterable[str]) -> str:
    plain = _plain(name)
    candidates = [listed for listed in known if _plain(listed) == plain]
    if not candidates:
        alike = frozenset[str]().union(*(words for words in SYNONYMS if plain in words))
        candidates = [listed for listed in known if _plain(listed) in alike]
    return candidates[0] if len(candidates) == 1 else name


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
