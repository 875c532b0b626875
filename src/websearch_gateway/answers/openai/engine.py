"""Answers with citations from OpenAI's Responses API and its hosted web search.

https://platform.openai.com/docs/guides/tools-web-search. One call searches, reads and writes. `reply` parses the
reply, `errors` maps refusals to our errors, and `models` has the prices.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Any

from websearch_gateway.answers import models
from websearch_gateway.answers.domains import applied_domains, check_domains
from websearch_gateway.answers.models import IMPOSSIBLE_BILL, UNREPORTED_BILL, Billed, Limits, Model
from websearch_gateway.answers.openai.client import OpenAIClient
from websearch_gateway.answers.openai.errors import OptionRefused
from websearch_gateway.answers.openai.models import EFFORT, SEARCH_USD, find_model
from websearch_gateway.answers.openai.reply import Reply, read_bill, read_reply
from websearch_gateway.answers.outcomes import CUT_OFF, ModelGone, applying, lost_citations
from websearch_gateway.answers.prompt import LINK_RULE, instructions
from websearch_gateway.errors import SearchError, SearchProviderError, SearchProviderParseError
from websearch_gateway.models import Answer, AppliedFilters, Deadline, SearchQuery, Source, TokenUsage
from websearch_gateway.net.own_threads import ReplyParser, in_own_thread
from websearch_gateway.net.retry import Retry
from websearch_gateway.ports import Progress

MAX_OUTPUT_TOKENS = 8192
"""Reasoning counts as output. It used 600 tokens before one answer began; this limit leaves room for both."""

MAX_TOOL_CALLS = 6
"""Searches and page visits of one answer; each search costs a cent. Further ones are ignored, not refused."""

LIMITS = Limits(
    most=Billed(prompt=128_000, response=MAX_OUTPUT_TOKENS, searches=MAX_TOOL_CALLS),
    usual=Billed(prompt=20_000, response=2_000, searches=2),
    context_tokens=400_000,
)
"""The search tool adds at most 128,000 tokens to a prompt, even if the model accepts more."""

MOST_DOMAINS = 100
"""The longest list of allowed or blocked domains."""

GONE_SECONDS = 600.0
"""How long a missing model is skipped before it is tried again (seconds)."""


@dataclass(slots=True)
class OpenAIEngine:
    """An AnswerEngine. One per process: it remembers which models are gone and which options each refuses.

    `models` are tried in order when one does not exist; `search_usd` is the price of one search; `clock` is monotonic
    (seconds), `now` the current time in UTC.
    """

    client: OpenAIClient
    models: Sequence[str]
    retry: Retry = field(repr=False)
    search_usd: float = SEARCH_USD
    parser: ReplyParser = field(default=ReplyParser(), repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    now: Callable[[], datetime] = field(default=lambda: models.utc_now(), repr=False)
    name: str = "openai"
    _gone_until: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    _refused: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set), init=False, repr=False)

    @property
    def most_usd(self) -> float:
        """The most that an answer of any model may cost: all searches, the fullest prompt, the longest reply."""
        return max((self._usd(find_model(name), LIMITS.most) for name in self._available_models), default=0.0)

    @property
    def likely_usd(self) -> float:
        """The typical cost of an answer by the first model: two searches and their results."""
        return self._usd(find_model(next(iter(self._available_models), "")), LIMITS.usual)

    @property
    def _available_models(self) -> list[str]:
        """The models whose shutdown date is in the future or unknown."""
        return [name for name in self.models if not ((model := find_model(name)) and model.has_ended(self.now()))]

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Search and answer in one call.

        Raises:
            SearchAuthError: OpenAI rejected the key, or does not serve this country.
            SearchValidationError: OpenAI rejected the request as invalid, or its model declined to answer.
            SearchProviderError: OpenAI failed, is over its limits, or none of the models exists.
            SearchProviderParseError: the reply is unreadable, empty, or made without searching.
            SearchTimeoutError: no reply in time.
            NotAsked: OpenAI cannot apply the lists of domains.
        """
        check_domains(query, MOST_DOMAINS, "OpenAI")
        for model in self._available_models:
            if self._is_gone(model):
                continue
            await progress(f"Searching the web with {model}")
            try:
                reply = await self._ask(model, query, deadline)
            except ModelGone:
                self._gone_until[model] = self.clock() + GONE_SECONDS
                continue
            return self._answer(model, query, reply)
        raise SearchProviderError(
            f"None of the models in OPENAI_MODELS exists for this key ({', '.join(self.models) or 'none is named'})."
        )

    async def warm_up(self) -> None:
        """Load the SDK."""
        await self.client.load()

    async def check(self, deadline: Deadline) -> Sequence[str]:
        """Findings for the operator: models that are missing, and the shutdown of the last one.

        Raises:
            SearchAuthError, SearchProviderError, SearchTimeoutError: as for `answer`; also when no model is left.
        """
        body = await self.client.list_models(deadline)
        listed = _ends_by_model(body)
        known = {name: (listed.get(name) or _known_end(name), name in listed) for name in self.models}
        return models.findings(known, "OpenAI", "OPENAI_MODELS", self.now())

    def _is_gone(self, model: str) -> bool:
        return self._gone_until.get(model, 0.0) > self.clock()

    async def _ask(self, model: str, query: SearchQuery, deadline: Deadline) -> Reply:
        """The reply of one model. After a 400 about an option, not the question, asks again without it."""
        refused = self._refused[model]
        while True:
            request = self._request(model, query, refused)
            try:
                return await self.retry(partial(self._exchange, request, deadline), deadline)
            except OptionRefused as error:
                if error.option not in request:
                    raise
                refused.add(error.option)

    async def _exchange(self, request: Mapping[str, Any], deadline: Deadline) -> Reply:
        body = await self.client.respond(request, deadline)
        try:
            return await self.parser.read(Reply, read_reply, body, vendor="OpenAI", deadline=deadline)
        except SearchError as error:  # a declined answer is billed too
            with suppress(SearchProviderParseError):
                error.cost_usd = self._usd(find_model(request["model"]), await in_own_thread(read_bill, body))
            raise

    def _request(self, model: str, query: SearchQuery, refused: Iterable[str]) -> dict[str, Any]:
        """The body of the request. No temperature: these models refuse it."""
        # Without a location OpenAI searches as if from the United States.
        location = {"type": "approximate"} | ({"country": query.region} if query.region else {})
        known = find_model(model)
        options = {
            # Not the tool's name, which some models refuse.
            "tool_choice": "required",
            "reasoning": {"effort": EFFORT} if known and EFFORT in known.efforts else None,
            "max_tool_calls": MAX_TOOL_CALLS,
        }
        return {
            "model": model,
            "instructions": instructions(query, self.now(), LINK_RULE),
            "input": query.text,
            "tools": [
                {"type": "web_search", "search_context_size": "low", "user_location": location, **_filters(query)}
            ],
            "include": ["web_search_call.action.sources"],
            "max_output_tokens": MAX_OUTPUT_TOKENS,
            "store": False,
            **{name: value for name, value in options.items() if value and name not in refused},
        }

    def _usd(self, model: Model | None, billed: Billed) -> float:
        """The cost of the searches, and of tokens with a known price. An impossible count costs the maximum."""
        billed = LIMITS.booked(billed)
        return billed.searches * self.search_usd + (model.tokens_usd(billed, self.now()) if model else 0.0)

    def _answer(self, model: str, query: SearchQuery, reply: Reply) -> Answer:
        gone = ", ".join(name for name in self._available_models if self._is_gone(name))
        known = find_model(model)
        warnings = {
            f"{model} answered, since this key has no model {gone}. Change OPENAI_MODELS.": gone,
            f"The price of {model} is unknown: costUsd counts its searches only.": known is None,
            IMPOSSIBLE_BILL: not LIMITS.allow(reply.billed),
            UNREPORTED_BILL: not reply.billed.is_reported,
            CUT_OFF: reply.cut_off,
            lost_citations(reply.lost): reply.lost,
        }
        return Answer(
            text=reply.text,
            spans=reply.spans,
            provider=f"{model}-web-search",
            model=model,
            sources=tuple(map(Source, reply.sources)),
            usage=TokenUsage(reply.billed.prompt, reply.billed.response)
            if LIMITS.allow(reply.billed) and reply.billed.is_reported
            else TokenUsage(),
            cost_usd=self._usd(known, reply.billed),
            applied=AppliedFilters(
                freshness="prompt" if query.freshness_hours else None,
                region=query.region,
                domains=applied_domains(query, MOST_DOMAINS),
            ),
            warnings=applying(warnings),
        )


def _filters(query: SearchQuery) -> dict[str, Any]:
    """https://platform.openai.com/docs/guides/tools-web-search#domain-filtering. A blocked domain may leak through."""
    if query.include_domains:
        return {"filters": {"allowed_domains": list(query.include_domains)}}
    if query.exclude_domains:
        return {"filters": {"blocked_domains": list(query.exclude_domains[:MOST_DOMAINS])}}
    return {}


def _ends_by_model(body: bytes) -> dict[str, date | None]:
    """The models that OpenAI lists, each with its shutdown date from OpenAI, else from our own table, if known."""
    try:
        listed = json.loads(body)["data"]
        return {model["id"]: _last_day(model) for model in listed}
    except (ValueError, KeyError, TypeError):
        raise SearchProviderParseError("OpenAI's list of models is unreadable.") from None


def _last_day(listing: dict[str, Any]) -> date | None:
    if last_day := listing.get("shutdown_date"):
        return date.fromisoformat(last_day)
    return _known_end(listing["id"])


def _known_end(name: str) -> date | None:
    known = find_model(name)
    return known.ends if known else None
