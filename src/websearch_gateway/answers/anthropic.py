"""Claude with Anthropic's web search tool: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool.

The model's text comes in blocks. A cited block is the cited span itself, so blocks are joined as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from websearch_gateway.answers.common import (
    CUT_OFF,
    Billed,
    EngineApi,
    Limits,
    LongPrompt,
    Model,
    are_counts,
    declined,
    find_model,
    instructions,
    not_searched,
    not_written,
    parsed_or_empty,
    quota_is_spent,
    shown_code,
)
from websearch_gateway.base import Reply, spoken_date, utc_now
from websearch_gateway.errors import SearchError, SearchProviderError
from websearch_gateway.foreign_json import Json, count, objects, reply_object, typed
from websearch_gateway.models import Answer, HttpRequest, SearchQuery, Source, Span

MAX_SEARCHES = 3
"""`max_uses` of the tool: without it, one question was billed 900,000 tokens."""

MAX_TOKENS = 4096
"""Thinking counts as output, and the model thinks by default."""

MOST_DOMAINS = 100
"""Our own limit, since none is documented. A request takes allowed or blocked domains, each with its subdomains."""

TOOL = "web_search_20250305"
"""The basic version. Later ones let the model run code to filter results, which not every account may use."""

_SPENT = "enforced_spend_limit_reached"
_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")
_WITHOUT_CREDIT = ("credit balance is too low", "api usage limits")
"""Words in the HTTP 400 of an account without credit; only its message distinguishes it from a bad request:
https://github.com/anthropics/claude-code/issues/66314."""

_MAX_MESSAGE = 1_000
"""Characters of an error in which its reason is looked for; real ones are a line or two."""
_RESULT = "web_search_tool_result"
_CUT_OFF = ("max_tokens", "pause_turn", "model_context_window_exceeded")

LIMITS = Limits(
    most=Billed(prompt=150_000, response=MAX_TOKENS, searches=MAX_SEARCHES),
    usual=Billed(prompt=25_000, response=1_000, searches=1),
)

MODELS = (
    Model(
        "claude-haiku-5-5",
        0.10,
        0.50,
        long_prompt=LongPrompt(100_000, 0.50, 2.50),
        efforts=("low",),
    ),
    Model("claude-haiku-4-5", 1.00, 5.00),
    Model("claude-sonnet-5-5", 2.00, 10.00, efforts=("low",)),
)


class Anthropic(EngineApi):
    """Anthropic's Messages API."""

    name = "anthropic"
    vendor = "Anthropic"
    search_usd = 0.01
    price_source = "https://platform.claude.com/docs/en/about-claude/pricing, 2026-11-22"
    most_domains = MOST_DOMAINS
    limits = LIMITS
    known_models = MODELS
    models_path = "/v1/models?limit=1000"
    chat_path = "/v1"
    """https://docs.anthropic.com/en/api/openai-sdk"""

    def headers(self) -> dict[str, str]:
        """See EngineApi."""
        return {"x-api-key": self.key.get_secret_value(), "anthropic-version": "2023-06-01"}

    def request(self, query: SearchQuery, model: str, now: datetime) -> HttpRequest:
        """See EngineApi. No temperature: these models refuse one."""
        tool: dict[str, Any] = {"type": TOOL, "name": "web_search", "max_uses": MAX_SEARCHES}
        if query.region:
            tool["user_location"] = {"type": "approximate", "country": query.region}
        if query.include_domains:
            tool["allowed_domains"] = list(query.include_domains)
        elif query.exclude_domains:
            tool["blocked_domains"] = list(query.exclude_domains[:MOST_DOMAINS])
        body = {
            "model": model,
            "max_tokens": MAX_TOKENS,
            "system": instructions(query, now),
            "messages": [{"role": "user", "content": query.text}],
            "tools": [tool],
        }
        known = find_model(model, self.known_models)
        if known and "low" in known.efforts:
            body["output_config"] = {"effort": "low"}
        return HttpRequest("POST", f"{self.base_url}/v1/messages", json=body)

    def next_turn(self, request: HttpRequest, body: bytes) -> HttpRequest | None:
        """The same request with the paused turn as its last message, unchanged and with nothing added."""
        reply = reply_object(body, self.vendor)
        if reply.get("stop_reason") != "pause_turn":
            return None
        body_of_next = dict(request.json or {})
        turn = {"role": "assistant", "content": reply.get("content", [])}
        body_of_next["messages"] = [*body_of_next["messages"], turn]
        container = typed(dict, reply.get("container")).get("id")
        if container:
            body_of_next["container"] = container
        return replace(request, json=body_of_next)

    def parse(self, *bodies: bytes) -> Answer:
        """See EngineApi. The blocks of all turns are one answer: a search may begin in one and end in the next."""
        replies = [reply_object(body, self.vendor) for body in bodies]
        blocks = [block for reply in replies for block in objects(reply.get("content"))]
        results = [block for block in blocks if block.get("type") == _RESULT]
        reason = replies[-1].get("stop_reason")
        if reason == "refusal":
            raise declined()
        text, spans = _joined(_answer_blocks(blocks))
        if not text.strip():
            raise not_written(self.vendor, reason if reason in _CUT_OFF else None)
        if not results:
            raise not_searched(self.vendor)
        sources = tuple(_sources(results))
        codes = [typed(dict, result.get("content")).get("error_code") for result in results]
        if not sources and any(codes):
            raise SearchProviderError(f"Anthropic's web search failed ({shown_code(codes[0])}).")
        return Answer(
            text=text,
            spans=spans,
            provider=self.name,
            sources=sources,
            warnings=(CUT_OFF,) if reason in _CUT_OFF else (),
        )

    def billed(self, body: bytes) -> Billed:
        """See EngineApi."""
        reply = parsed_or_empty(body)
        blocks = objects(reply.get("content"))
        result_blocks = sum(block.get("type") == _RESULT for block in blocks)
        usage = typed(dict, reply.get("usage"))
        tool_usage = typed(dict, usage.get("server_tool_use"))
        prompt_parts = [count(usage.get(name)) for name in ("input_tokens", *_CACHED)]
        are_reported = are_counts(usage, "input_tokens", "output_tokens", optional=_CACHED)
        return Billed(
            prompt=sum(prompt_parts),
            response=count(usage.get("output_tokens")),
            searches=count(tool_usage.get("web_search_requests"), result_blocks),
            is_reported=are_reported or not blocks,
        )

    def refusal(self, request: HttpRequest, reply: Reply) -> SearchError | None:
        """An exhausted monthly budget is a 429 or 400 that a retry does not fix; 402 is an account without credit."""
        if reply.status < 400:
            return None
        error = typed(dict, parsed_or_empty(reply.body).get("error"))
        code = typed(dict, error.get("details")).get("error_code")
        message = typed(str, error.get("message"))[:_MAX_MESSAGE].lower()
        is_spent = code == _SPENT or reply.status == 402 or error.get("type") == "billing_error"
        if is_spent or any(words in message for words in _WITHOUT_CREDIT):
            return quota_is_spent(self.vendor)
        return None


API = Anthropic


def _answer_blocks(blocks: Sequence[Json]) -> list[Json]:
    """The text blocks of the answer: those after the last search, and earlier runs of blocks that cite.

    Other text between searches is the model thinking aloud ("Let me look that up").
    """
    runs: list[list[Json]] = [[]]
    for block in blocks:
        if block.get("type") == "text":
            runs[-1].append(block)
        elif block.get("type") in (_RESULT, "server_tool_use"):
            runs.append([])
    *earlier_runs, last_run = runs
    answer_blocks: list[Json] = []
    for run in earlier_runs:
        if any(objects(block.get("citations")) for block in run):
            answer_blocks += run
    return answer_blocks + last_run


def _joined(blocks: Sequence[Json]) -> tuple[str, tuple[Span, ...]]:
    text = ""
    spans: list[Span] = []
    for block in blocks:
        start = len(text)
        text += typed(str, block.get("text"))
        spans += [
            Span(typed(str, note.get("url")), typed(str, note.get("title")), start, len(text))
            for note in objects(block.get("citations"))
        ]
    return text, tuple(dict.fromkeys(spans))


def _sources(results: Sequence[Json]) -> Iterator[Source]:
    now = utc_now()
    for result in results:
        for page in objects(result.get("content")):
            published = spoken_date(page.get("page_age"), now)
            yield Source(typed(str, page.get("url")), typed(str, page.get("title")), published)
