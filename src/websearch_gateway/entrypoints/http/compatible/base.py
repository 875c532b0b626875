"""Defines a compatible endpoint, and parses its parameters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from starlette.types import Scope

from websearch_gateway.entrypoints.http.replies import ErrorShape
from websearch_gateway.entrypoints.tools.base import LONGEST_TEXT, is_too_long
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Caller

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway

MOST_ITEMS = 1_000

Given = Mapping[str, Any]
"""The parameters of a request: a JSON object, or the fields of a query string or form."""


@dataclass(frozen=True, slots=True)
class Compatible:
    """One endpoint of another API.

    `answer` returns the JSON content of a reply, or a whole `Response`. `serves` selects the requests of an endpoint
    that shares its path and method. `key_in_body`: clients may put their token into the field `api_key`; `basic`: or
    into the password of HTTP Basic.
    """

    paths: tuple[str, ...]
    methods: tuple[str, ...]
    scope: str
    error_shape: ErrorShape
    answer: Callable[[Gateway, Given, Caller], Awaitable[Any]]
    serves: Callable[[Scope], bool] = lambda _: True
    key_in_body: bool = False
    basic: bool = False


class Lenient(BaseModel):
    """Base of parameters: unknown names are ignored, and null, like empty text, means absent."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _take_present(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        present = {name: given[name] for name in cls.model_fields if given.get(name) not in (None, "")}
        for name, value in present.items():
            if cls.model_fields[name].annotation is not Any and (limit := _exceeded(value)):
                raise SearchValidationError(f"`{name}`: at most {limit} are allowed.", details={"field": name})
        return present

    @classmethod
    def of(cls, given: Given) -> Self:
        """The parsed parameters.

        Raises:
            SearchValidationError: one is missing or unusable; the message names the first such field.
        """
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            fault = error.errors(include_input=False, include_url=False)[0]
            field = ".".join(str(part) for part in fault["loc"][:2]) or "body"
            raise SearchValidationError(f"`{field}`: {fault['msg']}.", details={"field": field}) from None


def _exceeded(value: Any) -> str | None:
    """The limit that a value exceeds: pydantic would report each item, and a long text could be echoed or cached."""
    if isinstance(value, list) and len(value) > MOST_ITEMS:
        return f"{MOST_ITEMS} items"
    return f"{LONGEST_TEXT} characters" if is_too_long(value) else None


def is_json(scope: Scope) -> bool:
    """Whether the body is declared as JSON."""
    kind = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return bool(kind.partition(b";")[0].strip().lower() == b"application/json")
