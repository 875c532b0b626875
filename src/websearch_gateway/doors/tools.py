"""The tools as data: name, toolset, arguments, result, and the call of the gateway behind it.

Adding a tool: one argument model, one function, one row of TOOLS. The texts are read by models: every word costs
tokens in every conversation, so they say when to use the tool and nothing that the schema says already.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr
from pydantic.alias_generators import to_camel

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import Caller, SearchRequest, SearchResponse, WireModel
from websearch_gateway.ports import Progress

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class Arguments(BaseModel):
    """Base of argument models. Unknown names are refused. Ranges are declared here and judged by the guard."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the tool table. `aliases` are understood in calls and never listed."""

    name: str
    toolset: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[WireModel]
    run: Callable[[Gateway, Any, Caller, Progress], Awaitable[WireModel]]
    aliases: tuple[str, ...] = ()


def declared(description: str, **keywords: Any) -> Any:
    """A field whose JSON Schema keywords inform the caller; the guard enforces them after normalising."""
    return Field(description=description, json_schema_extra=keywords)


class SearchWebArguments(Arguments):
    query: Annotated[StrictStr, declared("The question, in full words.", minLength=3, maxLength=400)]
    max_results: Annotated[StrictInt, declared("Sources to cite at most.", minimum=1, maximum=8)] = 5
    freshness_hours: Annotated[StrictInt | None, declared("Only what is this new.", minimum=1, maximum=168)] = None
    region: Annotated[
        StrictStr | None, declared("ISO 3166-1 alpha-2 country, such as DE.", pattern="^[A-Za-z]{2}$")
    ] = None
    include_answers: Annotated[StrictBool, declared("false: sources without the written answer.")] = True


async def _search_web(gateway: Gateway, arguments: SearchWebArguments, caller: Caller, progress: Progress) -> WireModel:
    return await gateway.search(SearchRequest(**arguments.model_dump()), caller, progress)


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="search_web",
        toolset="answer",
        title="Search the web",
        description=(
            "Answer a question from the live web in a few sentences, each with its source. Use it for facts that are "
            "recent, specific or need proof. One question per call. `fallback` and `warnings` tell when the answer "
            "came another way than usual."
        ),
        arguments=SearchWebArguments,
        result=SearchResponse,
        run=_search_web,
    ),
)
"""In the order in which they are listed."""


def listed(toolsets: tuple[str, ...]) -> tuple[Tool, ...]:
    """The tools of the given toolsets.

    Raises:
        SearchNotConfiguredError: there is none.
    """
    tools = tuple(tool for tool in TOOLS if tool.toolset in toolsets)
    if not tools:
        known = ", ".join(sorted({tool.toolset for tool in TOOLS}))
        raise SearchNotConfiguredError(f"TOOLSETS selects no tool. Toolsets with tools: {known}.")
    return tools
