"""The toolset `cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import StrictFloat, StrictInt, StrictStr

from websearch_gateway.entrypoints.tools.base import Arguments, Tool, declared, reply_tokens
from websearch_gateway.entrypoints.tools.rendering import cached_text, similar_text
from websearch_gateway.models import Caller
from websearch_gateway.pipeline.reply.fit import fit_answer, fit_similar
from websearch_gateway.ports import Progress
from websearch_gateway.results.cache import CachedAnswer, SimilarAnswers

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class SearchCachedArguments(Arguments):
    query: Annotated[StrictStr, declared("The question, in full words.", minLength=1, maxLength=400)]


class SearchSimilarArguments(SearchCachedArguments):
    threshold: Annotated[StrictFloat, declared("Least similarity.", minimum=0, maximum=1)] = 0.72
    limit: Annotated[StrictInt, declared("Answers at most.", minimum=1, maximum=20)] = 5


async def _search_similar(
    gateway: Gateway, arguments: SearchSimilarArguments, caller: Caller, _: Progress
) -> SimilarAnswers:
    found = await gateway.search_similar(**arguments.model_dump(), caller=caller)
    return fit_similar(found, reply_tokens(gateway))


async def _search_cached(
    gateway: Gateway, arguments: SearchCachedArguments, caller: Caller, _: Progress
) -> CachedAnswer:
    return fit_answer(await gateway.search_cached(arguments.query, caller), reply_tokens(gateway))


CACHE: tuple[Tool, ...] = (
    Tool(
        name="search_similar",
        toolset="cache",
        title="Find answers to similar questions",
        description=(
            "What was answered lately to questions near to this one; they need not mean the same. Free, and asks "
            "nobody outside."
        ),
        arguments=SearchSimilarArguments,
        result=SimilarAnswers,
        run=_search_similar,
        text=similar_text,
        open_world=False,
    ),
    Tool(
        name="search_cached",
        toolset="cache",
        title="Answer from the cache",
        description="As search_web, but only if the answer is known already; else `found` is false.",
        arguments=SearchCachedArguments,
        result=CachedAnswer,
        run=_search_cached,
        text=cached_text,
        open_world=False,
    ),
)
