"""What an endpoint of another API is: its row in the table, its parameters, and what several of them share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.types import Scope

from websearch_gateway.entrypoints.arguments import ABSENT, Stays, kinds_of, meaning, text_fault
from websearch_gateway.entrypoints.http.replies import ErrorShape
from websearch_gateway.entrypoints.reply.pages import read_fitting
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import (
    Caller,
)
from websearch_gateway.results import ErrorInfo, PageContent

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway

MOST_ITEMS = 1_000
"""Of a list or object in a request."""

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
    """Base of parameters: unknown names are ignored, and values are understood as those of the tools."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def of(cls, given: Given) -> Self:
        """The parsed parameters.

        Raises:
            SearchValidationError: one is unusable; the message names the first such field.
        """
        present: dict[str, Any] = {}
        for name, kind in kinds_of(cls).items():
            value = meaning(given.get(name), kind)
            if value is ABSENT:
                continue
            too_large = None if Any in kind.types else text_fault(value, MOST_ITEMS)
            if too_large:
                raise SearchValidationError(f"`{name}`: {too_large}.", details={"field": name})
            present[name] = value
        try:
            return cls.model_validate(present)
        except ValidationError as error:
            fault = error.errors(include_input=False, include_url=False)[0]
            field = ".".join(str(part) for part in fault["loc"][:2]) or "body"
            raise SearchValidationError(
                f"`{field}`: {fault['msg']}.", details={"field": field}
            ) from None


def always(content: Any) -> Callable[[Gateway, Given, Caller], Awaitable[Any]]:
    """An endpoint whose JSON is always the same. No `Response`: CORS adds headers to it."""

    async def answer(*_: Any) -> Any:
        return content

    return answer


MOST_RESULTS = 20
MOST_URLS = 20
PAGE_CHARS = 100_000
"""Of each page; the size of a reply cuts it further."""

Asked = Annotated[str, Stays]
"""What to search for, which may be the word "null"."""
Addresses = Annotated[tuple[str, ...], Stays]


async def read_urls(
    gateway: Gateway, urls: tuple[str, ...], caller: Caller
) -> dict[str, PageContent]:
    """The pages by their requested URLs.

    Raises:
        SearchValidationError: there is none, or too many.
    """
    if not 1 <= len(urls) <= MOST_URLS:
        raise SearchValidationError(
            f"`urls` must be 1 to {MOST_URLS} URLs.", details={"field": "urls"}
        )
    return dict(zip(urls, await read_fitting(gateway, urls, caller, PAGE_CHARS), strict=True))


def message_alone(error: ErrorInfo, _: int) -> Any:
    """`{"error": message}`."""
    return {"error": error.message}
