"""The toolset `answer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import StrictBool, StrictInt, StrictStr

from websearch_gateway.entrypoints.tools.base import Arguments, Tool, declared, reply_tokens
from websearch_gateway.entrypoints.tools.rendering import answer_text
from websearch_gateway.models import Caller, SearchRequest
from websearch_gateway.pipeline.reply.fit import fit_answer
from websearch_gateway.ports import Progress
from websearch_gateway.results.answer import SearchResponse
from websearch_gateway.text.domains import MOST_DOMAINS

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class SearchWebArguments(Arguments):
    query: Annotated[StrictStr, declared("The question.", minLength=1, maxLength=400)]
    max_results: Annotated[StrictInt, declared("Sources to cite at most.", minimum=1, maximum=8)] = 5
    freshness_hours: Annotated[StrictInt | None, declared("Only what is this new.", minimum=1, maximum=168)] = None
    region: Annotated[StrictStr | None, declared("Country, such as DE.")] = None
    include_domains: Annotated[tuple[StrictStr, ...], declared("Only these domains.", maxItems=MOST_DOMAINS)] = ()
    exclude_domains: Annotated[tuple[StrictStr, ...], declared("Not these.", maxItems=MOST_DOMAINS)] = ()
    include_answers: Annotated[StrictBool, declared("false: sources without the written answer.")] = True


async def _search_web(
    gateway: Gateway, arguments: SearchWebArguments, caller: Caller, progress: Progress
) -> SearchResponse:
    response = await gateway.search(SearchRequest(**arguments.model_dump()), caller, progress)
    return fit_answer(response, reply_tokens(gateway))


ANSWER: tuple[Tool, ...] = (
    Tool(
        name="search_web",
        toolset="answer",
        title="Search the web",
        description=(
            "Answer a question from the live web in a few cited sentences. One question per call. To read pages use "
            "web_search; data of prediction markets and feeds have their own servers. Warnings tell when the answer "
            "came another way."
        ),
        arguments=SearchWebArguments,
        result=SearchResponse,
        run=_search_web,
        text=answer_text,
    ),
)
