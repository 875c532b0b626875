"""OpenAI's Responses API with its hosted web search: https://platform.openai.com/docs/guides/tools-web-search.

One call searches, reads and writes. Replies are read as plain JSON, since real ones differ from the SDK's types:
sources without a URL, open_page with a null URL, new kinds of items. `OpenAISdk` sends the requests. Codes of errors:
https://platform.openai.com/docs/guides/error-codes; efforts: /docs/models; shutdown dates: /docs/deprecations.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
from pydantic import SecretStr

from websearch_gateway.answers.common import (
    CUT_OFF,
    FILTERED,
    LINK_RULE,
    Billed,
    EngineApi,
    Limits,
    Model,
    ModelGone,
    OptionRefused,
    applying,
    are_counts,
    citation_notes,
    declined,
    filtered,
    find_model,
    instructions,
    lost_citations,
    not_searched,
    not_written,
    parsed_or_empty,
    quota_is_spent,
    shown_code,
)
from websearch_gateway.base import (
    MAX_REPLY_BYTES,
    Reply,
    is_web_address,
    page_key,
    quoted_line,
    send,
)
from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchValidationError,
)
from websearch_gateway.evidence import in_code_points, strip_markers
from websearch_gateway.foreign_json import Json, count, objects, reply_object, typed
from websearch_gateway.models import Answer, Deadline, HttpRequest, SearchQuery, Source, Span

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_OUTPUT_TOKENS = 8192
"""Reasoning counts as output. It used 600 tokens before one answer began; this limit leaves room for both."""

MAX_TOOL_CALLS = 6
"""Searches and page visits of one answer; each search costs a cent. Further ones are ignored, not refused."""

MOST_DOMAINS = 100
"""The longest list of allowed or blocked domains."""

MAX_SPANS = 500
"""Of a reply: more than any answer of 800 characters can have, and a bound for what a broken one may cost."""

EFFORT = "low"
"""Enough for lookups. `minimal` is refused together with web search; some models refuse `none`."""

LIMITS = Limits(
    most=Billed(prompt=128_000, response=MAX_OUTPUT_TOKENS, searches=MAX_TOOL_CALLS),
    usual=Billed(prompt=20_000, response=2_000, searches=2),
    context_tokens=400_000,
)
"""The search tool adds at most 128,000 tokens to a prompt, even if the model accepts more."""

_LUNA_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")

MODELS = (
    Model(
        "gpt-5-nano",
        0.05,
        0.40,
        cached_usd=0.005,
        efforts=("minimal", "low", "medium", "high"),
        ends=date(2026, 12, 11),
    ),
    Model(
        "gpt-5.4-nano",
        0.20,
        1.25,
        cached_usd=0.02,
        efforts=("none", "low", "medium", "high", "xhigh"),
    ),
    Model("gpt-5.6-luna", 0.20, 1.20, cached_usd=0.02, efforts=_LUNA_EFFORTS),
    Model("gpt-6-luna", 0.10, 0.50, cached_usd=0.01, cache_write_usd=0.125, efforts=_LUNA_EFFORTS),
)

_OPTIONS = (
    "tool_choice",
    "reasoning",
    "max_tool_calls",
    "search_context_size",
    "user_location",
    "include",
    "store",
)
"""Optional parameters, and fields of the search tool, that some models and compatible servers refuse."""

_UNSUPPORTED = re.compile(
    r"(?:argument|parameter|field)s? (?:is )?(?:not supported|unsupported|unknown): (\S+)", re.I
)
"""xAI's words: "Argument not supported: include"."""

_PASSING_CODES = ("server_error", "rate_limit_exceeded", "server_is_overloaded", "slow_down")
_QUOTA = (
    "insufficient_quota",
    "credit_balance_exhausted",
    "billing_hard_limit_reached",
    "billing_not_active",
)
_REFUSED_PROMPTS = ("invalid_prompt", "content_policy_violation")
_FILTERED_PROMPTS = ("content_filter", "ResponsibleAIPolicyViolation")
_MODEL_GONE = ("model_not_found", "DeploymentNotFound")
"""The second one is Azure's."""
_VERSION = re.compile(r"/v\d[^/]*(?:/|$)")
_IDENTIFIERS = re.compile(r"\b(?:sk|sess|org|proj|req|user)[-_][\w*.-]+")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")
_QUOTED_CHARS = 20
"""So many characters of a private value in a row are a quotation of it, which no message may show."""
_MAX_MESSAGE = 200
"""Characters of OpenAI's own words that an error shows: its first sentence or two."""
_BETWEEN_PARTS = "\n\n"


class OpenAI(EngineApi):
    """The Responses API. `search_usd` is for one `search` action; opening a page or looking into it is free."""

    name = "openai"
    vendor = "OpenAI"
    chat_path = ""
    chat_limit = "max_completion_tokens"
    search_usd = 0.01
    price_source = "https://platform.openai.com/docs/pricing, 2026-11-21"
    most_domains = MOST_DOMAINS
    limits = LIMITS
    known_models = MODELS
    models_path = "/models"

    def __init__(self, key: SecretStr, base_url: str) -> None:
        """An address that names no version is completed: `https://api.x.ai` is `https://api.x.ai/v1`."""
        if not _VERSION.search(urlsplit(base_url).path):
            base_url = f"{base_url.rstrip('/')}/v1"
        super().__init__(key, base_url)

    def sdk(self, client: httpx2.AsyncClient) -> OpenAISdk:
        """See EngineApi."""
        return OpenAISdk(client, self.key, self.base_url)

    def request(self, query: SearchQuery, model: str, now: datetime) -> HttpRequest:
        """See EngineApi. No temperature: these models refuse it."""
        tool: dict[str, Any] = {"type": "web_search", "search_context_size": "low"}
        # Without a location OpenAI searches as if from the United States.
        tool["user_location"] = {"type": "approximate"}
        if query.region:
            tool["user_location"]["country"] = query.region
        # A blocked domain may leak through: platform.openai.com/docs/guides/tools-web-search#domain-filtering
        if query.include_domains:
            tool["filters"] = {"allowed_domains": list(query.include_domains)}
        elif query.exclude_domains:
            tool["filters"] = {"blocked_domains": list(query.exclude_domains[:MOST_DOMAINS])}
        body: dict[str, Any] = {
            "model": model,
            "instructions": instructions(query, now, LINK_RULE),
            "input": query.text,
            "tools": [tool],
            # Not the tool's name, which some models refuse.
            "tool_choice": "required",
        }
        known_model = find_model(model, self.known_models)
        if known_model and EFFORT in known_model.efforts:
            body["reasoning"] = {"effort": EFFORT}
        body |= {
            "max_tool_calls": MAX_TOOL_CALLS,
            "include": ["web_search_call.action.sources"],
            "max_output_tokens": MAX_OUTPUT_TOKENS,
            "store": False,
        }
        return HttpRequest("POST", f"{self.base_url}/responses", json=body)

    def parse(self, *bodies: bytes) -> Answer:
        """See EngineApi. Raw citation markers are removed from the text."""
        reply = reply_object(bodies[-1], self.vendor)
        if not isinstance(reply.get("output", []), list):
            raise SearchProviderParseError("The reply of OpenAI is not a response object.")
        if reply.get("status") == "failed" or typed(dict, reply.get("error")):
            raise _failed(typed(dict, reply.get("error")))
        items = objects(reply.get("output"))
        messages = [item for item in items if item.get("type") == "message"]
        # If the model marks its final message, the others are thinking aloud.
        final = [message for message in messages if message.get("phase") == "final_answer"]
        parts = _parts(final or messages)
        written = _written(part for part in parts if part.get("type") == "output_text")
        cut_off = reply.get("status") == "incomplete"
        reason = typed(str, typed(dict, reply.get("incomplete_details")).get("reason"))
        is_filtered = reason == "content_filter"
        if not written.text.strip():
            if is_filtered:
                raise filtered(self.vendor)
            if any(part.get("type") == "refusal" for part in parts):
                raise declined()
            raise not_written(self.vendor, reason if cut_off else None)
        calls = [
            item
            for item in items
            if item.get("type") == "web_search_call" and item.get("status") != "failed"
        ]
        # Relays that search themselves show no call, but only citations.
        if not calls and not written.cited:
            raise not_searched(self.vendor)
        urls = [*written.cited, *_visited(calls)]
        urls_of_xai = typed(list, reply.get("citations"))
        urls += [url for url in urls_of_xai if isinstance(url, str)]
        sources: dict[str, Source] = {}
        for url in filter(is_web_address, urls):
            sources.setdefault(page_key(url), Source(url))
        notes = {
            FILTERED: is_filtered,
            CUT_OFF: cut_off and not is_filtered,
            lost_citations(written.lost): written.lost,
        }
        return Answer(
            text=written.text,
            spans=tuple(written.spans),
            provider=self.name,
            sources=tuple(sources.values()),
            warnings=applying(notes),
        )

    def billed(self, body: bytes) -> Billed:
        """See EngineApi. If OpenAI gives a count of searches, it is right; otherwise the search items are counted."""
        reply = parsed_or_empty(body)
        output = objects(reply.get("output"))
        calls = [item for item in output if item.get("type") == "web_search_call"]
        actions = [typed(dict, call.get("action")) for call in calls]
        usage = typed(dict, reply.get("usage"))
        details = typed(dict, usage.get("input_tokens_details"))
        tool_usage = typed(dict, typed(dict, reply.get("tool_usage")).get("web_search"))
        searches = sum(action.get("type") == "search" for action in actions)
        if not searches and (actions or any(map(citation_notes, _parts(output)))):
            searches = 1  # relays that search themselves show no call
        return Billed(
            prompt=count(usage.get("input_tokens")),
            response=count(usage.get("output_tokens")),
            cached=count(details.get("cached_tokens")),
            cache_written=count(details.get("cache_write_tokens")),
            searches=count(tool_usage.get("num_requests"), searches),
            is_reported=not output or are_counts(usage, "input_tokens", "output_tokens"),
        )

    def refusal(self, request: HttpRequest, reply: Reply) -> SearchError | None:
        """See EngineApi. OpenAI's own message is passed on only for HTTP 400, where it says what to change."""
        status = reply.status
        if status < 400:
            return None
        body = parsed_or_empty(reply.body)
        if not body and status != 404:
            return None
        error = typed(dict, body.get("error"))
        code = typed(str, error.get("code"))
        # xAI gives a text as the error.
        words = typed(str, error.get("message")) or typed(str, body.get("error"))
        is_about_model = error.get("param") == "model" or "model" in words.casefold()
        if code in _MODEL_GONE or (status == 404 and is_about_model):
            return ModelGone("The model does not exist, or not for this key.")
        if status == 402 or code in _QUOTA or error.get("type") in _QUOTA:
            return quota_is_spent(self.vendor)
        if status == 403:
            if code == "unsupported_country_region_territory":
                return SearchAuthError(
                    "OpenAI does not serve the country that this gateway calls from (HTTP 403)."
                )
            return SearchAuthError(
                "OpenAI does not let this key use the Responses API or its model (HTTP 403); check OPENAI_API_KEY."
            )
        if status in (400, 413, 422):
            question = typed(str, (request.json or {}).get("input"))
            private = (self.key.get_secret_value(), question)
            return _bad_request(status, {**error, "message": words}, private)
        if status == 404:
            return SearchProviderError(
                "There is no Responses API at OPENAI_BASE_URL (HTTP 404); most addresses end in /v1."
            )
        return None


API = OpenAI


# --- refusals -------------------------------------------------------------------------------------------------------


def _failed(failure: Json) -> SearchError:
    code = failure.get("code")
    if code == "model_not_found":
        return ModelGone("The model is gone.")
    if code in _REFUSED_PROMPTS:
        return declined()
    if code in _FILTERED_PROMPTS:
        return filtered("OpenAI")
    if code in _QUOTA:
        return quota_is_spent("OpenAI")
    return SearchProviderError(
        f"OpenAI failed ({shown_code(code)}).", retryable=code in _PASSING_CODES
    )


def _bad_request(status: int, error: Json, private: Sequence[str]) -> SearchError:
    if error.get("code") in _REFUSED_PROMPTS:
        return declined()
    if error.get("code") in _FILTERED_PROMPTS:
        return filtered("OpenAI")
    words = typed(str, error.get("message"))
    if option := _refused_option(typed(str, error.get("param")), words):
        return OptionRefused("OpenAI", option)
    plain = _without_identifiers(words, private)
    why = f": {quoted_line(plain, _MAX_MESSAGE)}" if plain else ""
    return SearchValidationError(f"OpenAI refused the request (HTTP {status}){why}.")


def _refused_option(param: str, words: str) -> str | None:
    """The option of the request that an error is about; None if it is about something else."""
    if argument := _UNSUPPORTED.search(words):
        param = f"{param} {argument[1]}"
    all_words = f"{param} {words}".casefold().replace(" ", "_")
    for option in _OPTIONS:
        # `include` and `store` are also words of ordinary messages.
        is_ordinary_word = "_" not in option and option != "reasoning"
        names_option = option in param if is_ordinary_word else option in all_words
        if names_option:
            return option
    return None


def _without_identifiers(message: str, private: Sequence[str]) -> str:
    """The message in one line, without keys and names of organisations; empty if it quotes a private value."""
    folded = message.casefold()
    for value in private:
        for start in range(max(1, len(value) - _QUOTED_CHARS + 1)):
            piece = value[start : start + _QUOTED_CHARS].casefold()
            if piece and piece in folded:
                return ""
    line = _BLANK.sub(" ", _IDENTIFIERS.sub("…", message)).strip()
    return line[:_MAX_MESSAGE].rstrip(". ")


# --- replies --------------------------------------------------------------------------------------------------------


def _parts(items: Iterable[Json]) -> list[Json]:
    """The parts of the contents of all items; only messages have contents."""
    parts: list[Json] = []
    for item in items:
        parts += objects(item.get("content"))
    return parts


def _visited(calls: Sequence[Json]) -> list[str]:
    """The URLs in calls of the search tool. Pages that were opened come before the search results: they were read."""
    actions = [typed(dict, call.get("action")) for call in calls]
    urls = [typed(str, action.get("url")) for action in actions]
    for action in actions:
        urls += [typed(str, source.get("url")) for source in objects(action.get("sources"))]
    return urls


@dataclass(slots=True)
class _Written:
    """The text of a reply with its spans, all URLs that it cites, and how many citations have no place in it."""

    text: str = ""
    spans: list[Span] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    lost: int = 0


def _written(parts: Iterable[Json]) -> _Written:
    whole = _Written()
    for part in parts:
        words = typed(str, part.get("text"))
        notes = citation_notes(part)
        whole.cited += filter(None, (typed(str, note.get("url")) for note in notes))
        placed = []
        units = len(words.encode("utf-16-le", "replace")) // 2
        for note in notes[:MAX_SPANS]:
            span = _span(note, words, units)
            if span is None:
                whole.lost += 1
            else:
                placed.append(span)
        bare, placed = strip_markers(words, in_code_points(words, placed))
        if whole.text:
            whole.text += _BETWEEN_PARTS
        offset = len(whole.text)
        whole.text += bare
        for span in placed:
            whole.spans.append(replace(span, start=span.start + offset, end=span.end + offset))
    return whole


def _span(note: Json, words: str, units: int) -> Span | None:
    """The place that the annotation gives; if that is not in the text, the place of its URL there.

    Args:
        units: the length of `words` in UTF-16, in which some servers count.
    """
    start, end = count(note.get("start_index"), -1), count(note.get("end_index"), -1)
    url, title = typed(str, note.get("url")), typed(str, note.get("title"))
    if not 0 <= start <= end <= units:
        start = words.find(url) if is_web_address(url) else -1
        end = start + len(url)
    if start < 0:
        return None
    if title.isdecimal():
        title = ""  # xAI gives the number of its mark as the title
    return Span(url, title, start, end)


@dataclass(slots=True)
class OpenAISdk:
    """Sends the requests of the engine with OpenAI's library over `http`, the client of the process."""

    http: httpx2.AsyncClient = field(repr=False)
    api_key: SecretStr
    base_url: str
    _sdk: AsyncOpenAI | None = field(default=None, init=False, repr=False)

    async def __call__(self, request: HttpRequest, deadline: Deadline) -> Reply:
        """The reply of any status to a request for a response or, if it has no body, for the models.

        Raises:
            SearchProviderParseError, SearchProviderError, SearchTimeoutError: as `net.client.send`.
        """
        sdk = await self.load()
        from openai import APIStatusError

        seconds = deadline.remaining()
        try:
            # `responses.create` looks through the types of all parameters, for a third of the time of a call.
            if request.json is None:
                response = await sdk.get(
                    "/models", cast_to=httpx2.Response, options={"timeout": seconds}
                )
            else:
                response = await sdk.post(
                    "/responses",
                    cast_to=httpx2.Response,
                    body=request.json,
                    options={"timeout": seconds},
                )
        except APIStatusError as error:
            response = error.response
        return Reply(response.status_code, response.headers, response.content)

    async def load(self) -> AsyncOpenAI:
        """The SDK. Its import takes a second, so the first call imports it in a thread."""
        if self._sdk is None:
            self._sdk = await asyncio.to_thread(self._load)
        return self._sdk

    def _load(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        key = self.api_key.get_secret_value()
        http = httpx2.AsyncClient(transport=_OwnTransport(self.http, key), trust_env=False)
        return AsyncOpenAI(api_key=key, base_url=self.base_url, max_retries=0, http_client=http)


class _OwnTransport(httpx2.AsyncBaseTransport):
    """Sends by `net.client.send`: within its limits, and with no other headers than the key.

    The SDK takes headers from OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS, and describes the machine in
    others; none of them is a setting of the gateway.
    """

    def __init__(self, http: httpx2.AsyncClient, key: str) -> None:
        self._http = http
        self._headers = {"Authorization": f"Bearer {key}"}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content) if request.method == "POST" else None
        own = HttpRequest(
            "POST" if body else "GET", str(request.url), headers=self._headers, json=body
        )
        deadline = Deadline.after(request.extensions["timeout"]["read"])
        reply = await send(self._http, own, deadline, "OpenAI", max_bytes=MAX_REPLY_BYTES)
        headers = httpx2.Headers(reply.headers)
        headers.pop("content-encoding", None)  # `send` has decoded the body
        return httpx2.Response(reply.status, headers=headers, content=reply.body)
