"""Gemini with Google Search: https://ai.google.dev/gemini-api/docs/google-search.

Offsets of its grounding are bytes of UTF-8 within a part. Source links lead through a redirect of Google's, and the
title of a source is usually its host. Google demands that its search suggestions are shown beside the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from websearch_gateway.answers.common import (
    CUT_OFF,
    FILTERED,
    Billed,
    EarlierPrices,
    EngineApi,
    Finish,
    Limits,
    Model,
    applying,
    are_counts,
    declined,
    filtered,
    instructions,
    lost_citations,
    not_searched,
    not_written,
    parsed_or_empty,
    quota_is_spent,
    unnamed_citations,
)
from websearch_gateway.base import Fetcher, Reply, is_web_address
from websearch_gateway.errors import (
    RATE_LIMITED,
    SearchAuthError,
    SearchError,
    SearchFetchError,
    SearchProviderError,
)
from websearch_gateway.foreign_json import (
    BadJson,
    Json,
    count,
    objects,
    parse_json,
    reply_object,
    typed,
)
from websearch_gateway.models import Answer, Deadline, HttpRequest, SearchQuery, Source, Span

MAX_TOKENS = 4096
"""Thinking counts as output."""

MAX_SPANS = 500
"""Of a reply: more than any answer of 800 characters can have, and a bound for what a broken one may cost."""
_FILTERED = ("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
_DECLINED = ("RECITATION", "LANGUAGE")

LIMITS = Limits(
    most=Billed(prompt=60_000, response=MAX_TOKENS, searches=10),
    usual=Billed(prompt=5_000, response=1_000, searches=2),
)

MODELS = (
    Model("gemini-3.1-flash-lite", 0.25, 1.50, ends=date(2027, 5, 7)),
    Model("gemini-3.5-flash-lite", 0.30, 2.50),
    Model("gemini-3.8-flash", 1.50, 7.50, earlier=EarlierPrices(date(2026, 12, 31), 0.75, 3.75)),
)


class Gemini(EngineApi):
    """Google's generateContent."""

    name = "gemini"
    vendor = "Gemini"
    search_usd = 0.014
    price_source = "https://ai.google.dev/gemini-api/docs/pricing, per search query after 5,000 free a month, 2026-11-22"
    takes_region = False
    limits = LIMITS
    known_models = MODELS
    models_path = "/v1beta/models?pageSize=1000"
    traced_as = "gcp.gemini"
    chat_path = "/v1beta/openai"
    """https://ai.google.dev/gemini-api/docs/openai"""

    def finish(self, fetcher: Fetcher) -> Finish:
        """See EngineApi. The links of a reply lead through a redirect of Google's, which expires."""
        return Redirects(fetcher)

    def headers(self) -> dict[str, str]:
        """See EngineApi."""
        return {"x-goog-api-key": self.key.get_secret_value()}

    def request(self, query: SearchQuery, model: str, now: datetime) -> HttpRequest:
        """See EngineApi. No temperature: Google advises its default with grounding."""
        body = {
            "systemInstruction": {"parts": [{"text": instructions(query, now)}]},
            "contents": [{"role": "user", "parts": [{"text": query.text}]}],
            "tools": [{"googleSearch": {}}],
            "generationConfig": {"maxOutputTokens": MAX_TOKENS},
        }
        url = f"{self.base_url}/v1beta/models/{model}:generateContent"
        return HttpRequest("POST", url, json=body)

    def parse(self, *bodies: bytes) -> Answer:
        """See EngineApi."""
        reply = reply_object(bodies[-1], self.vendor)
        candidate = next(iter(objects(reply.get("candidates"))), {})
        reason = candidate.get("finishReason")
        if typed(dict, reply.get("promptFeedback")).get("blockReason"):
            raise filtered(self.vendor)
        if reason in _DECLINED:
            raise declined()
        parts = objects(typed(dict, candidate.get("content")).get("parts"))
        text, starts = _joined(parts)
        is_filtered = reason in _FILTERED
        if not text.strip():
            if is_filtered:
                raise filtered(self.vendor)
            raise not_written(self.vendor, None if reason == "STOP" else reason)
        grounding = typed(dict, candidate.get("groundingMetadata"))
        chunks = [_source(chunk) for chunk in objects(grounding.get("groundingChunks"))]
        if not grounding.get("webSearchQueries") and not chunks:
            raise not_searched(self.vendor)
        # Some chunks are no web pages, such as a place of Google Maps.
        unnamed = sum(not is_web_address(chunk.url) for chunk in chunks)
        supports = objects(grounding.get("groundingSupports"))[:MAX_SPANS]
        spans, lost = _spans(supports, parts, starts, chunks)
        suggestions = typed(dict, grounding.get("searchEntryPoint")).get("renderedContent")
        notes = {
            FILTERED: is_filtered,
            CUT_OFF: reason == "MAX_TOKENS",
            lost_citations(lost): lost,
            unnamed_citations(unnamed): unnamed,
        }
        return Answer(
            text=text,
            spans=spans,
            provider=self.name,
            sources=tuple(chunk for chunk in chunks if is_web_address(chunk.url)),
            search_suggestions=typed(str, suggestions) or None,
            warnings=applying(notes),
        )

    def billed(self, body: bytes) -> Billed:
        """See EngineApi. Each search query is billed, not each prompt."""
        reply = parsed_or_empty(body)
        usage = typed(dict, reply.get("usageMetadata"))
        candidates = objects(reply.get("candidates"))
        groundings = [typed(dict, candidate.get("groundingMetadata")) for candidate in candidates]
        queries = [typed(list, grounding.get("webSearchQueries")) for grounding in groundings]
        searches = sum(map(len, queries))
        if not searches and any(grounding.get("groundingChunks") for grounding in groundings):
            searches = 1  # it lists pages, but not the query that found them
        prompt, tool_prompt = "promptTokenCount", "toolUsePromptTokenCount"
        response, thoughts = "candidatesTokenCount", "thoughtsTokenCount"
        are_reported = are_counts(usage, prompt, response, optional=(tool_prompt, thoughts))
        return Billed(
            prompt=count(usage.get(prompt)) + count(usage.get(tool_prompt)),
            response=count(usage.get(response)) + count(usage.get(thoughts)),
            searches=searches,
            is_reported=are_reported or not candidates,
        )

    def refusal(self, request: HttpRequest, reply: Reply) -> SearchError | None:
        """A wrong key is HTTP 400 here, recognised only by its reason; so is a region that Google does not serve."""
        if reply.status < 400:
            return None
        error = _error(reply.body)
        reasons = {str(detail.get("reason")) for detail in objects(error.get("details"))}
        # INVALID, EXPIRED, SERVICE_BLOCKED ...
        if any(reason.startswith("API_KEY_") for reason in reasons):
            return SearchAuthError(
                f"Gemini rejected the key (HTTP {reply.status}); check GEMINI_API_KEY."
            )
        if error.get("status") == "FAILED_PRECONDITION":
            return SearchAuthError(
                "Gemini does not serve this key: it needs billing, or the country of the caller is not supported."
            )
        if reply.status == 429:
            return _over_quota(objects(error.get("details")))
        return None

    def listed(self, body: bytes) -> Mapping[str, date | None]:
        """See EngineApi. Google gives no shutdown dates."""
        models = objects(reply_object(body, self.vendor).get("models"))
        return dict.fromkeys(
            typed(str, model.get("name")).removeprefix("models/") for model in models
        )


API = Gemini


def _joined(parts: Sequence[Json]) -> tuple[str, dict[int, int]]:
    """The text of the parts without thoughts, and where each part with words begins in it, by its index."""
    text, starts = "", {}
    for index, part in enumerate(parts):
        words = typed(str, part.get("text"))
        if words and not part.get("thought"):
            starts[index] = len(text)
            text += words
    return text, starts


def _source(chunk: Json) -> Source:
    web = typed(dict, chunk.get("web"))
    # One recorded address contained raw spaces.
    url = typed(str, web.get("uri")).replace(" ", "%20")
    return Source(url, typed(str, web.get("title")))


def _spans(
    supports: Sequence[Json],
    parts: Sequence[Json],
    starts: Mapping[int, int],
    chunks: Sequence[Source],
) -> tuple[tuple[Span, ...], int]:
    """The spans in characters of the whole text, and the number of supports that match no place in it."""
    spans: list[Span] = []
    lost = 0
    encoded = {index: typed(str, parts[index].get("text")).encode() for index in starts}
    for support in supports:
        place = _place(typed(dict, support.get("segment")), encoded, starts)
        if place is None:
            lost += 1
            continue
        for number in typed(list, support.get("groundingChunkIndices")):
            if isinstance(number, int) and 0 <= number < len(chunks):
                chunk = chunks[number]
                if is_web_address(chunk.url):
                    spans.append(Span(chunk.url, chunk.title, *place))
    return tuple(spans), lost


def _place(
    segment: Json, encoded: Mapping[int, bytes], starts: Mapping[int, int]
) -> tuple[int, int] | None:
    """The position of a segment. Its part index is often missing or counts removed thoughts, so its words decide."""
    first, last = count(segment.get("startIndex")), count(segment.get("endIndex"))
    words = segment.get("text")
    named = count(segment.get("partIndex"))
    for index in sorted(encoded, key=lambda index: index != named):
        piece = encoded[index][first:last].decode("utf-8", "replace")
        if piece and piece == words:
            start = starts[index] + len(encoded[index][:first].decode("utf-8", "replace"))
            return start, start + len(piece)
    return None


def _error(body: bytes) -> Json:
    try:
        reply = parse_json(body)
    except BadJson:
        return {}
    first = next(iter(objects(reply)), {}) if isinstance(reply, list) else typed(dict, reply)
    return typed(dict, first.get("error"))


def _over_quota(details: Sequence[Json]) -> SearchError:
    """The error for an exceeded limit: a daily one lasts until the next day, one per minute is retryable."""
    for detail in details:
        for violation in objects(detail.get("violations")):
            if "PerDay" in str(violation.get("quotaId")):
                return quota_is_spent("Gemini")
    return SearchProviderError(
        "Gemini's rate limit is reached (HTTP 429).",
        retry_after=_retry_delay(details),
        retryable=True,
        details={"reason": RATE_LIMITED},
    )


LONGEST_DELAY = 86_400.0
"""A day (seconds): no limit lasts longer."""


def _retry_delay(details: Sequence[Json]) -> float | None:
    """The seconds until Google wants to be asked again, which it writes as `34s`; None if it does not say."""
    for detail in details:
        delay = typed(str, detail.get("retryDelay")).removesuffix("s")
        if delay.replace(".", "", 1).isdecimal():
            return min(float(delay), LONGEST_DELAY)
    return None


MOST_LINKS = 20
"""Redirects that are followed for one answer; it cites fewer pages."""
SECONDS = 5.0
"""For all redirects of an answer (seconds): a citation with Google's address is better than a late answer."""
RESERVE_SECONDS = 0.5
"""Time left for the rest of the call (seconds): an unresolved link must not cost the answer."""

_PATH = "/grounding-api-redirect"
_MAX_BYTES = 10_000
"""Of a redirect's body, which nobody reads."""


def _is_redirect(url: str) -> bool:
    return is_web_address(url) and _PATH in url.partition("?")[0]


@dataclass(frozen=True, slots=True)
class Redirects:
    """Replaces links through the redirect by their targets. `fetcher` checks every address."""

    fetcher: Fetcher

    async def __call__(self, answer: Answer, deadline: Deadline) -> Answer:
        """The answer with all targets that were resolved in time; other links stay. Never raises."""
        urls = [span.url for span in answer.spans]
        urls += [source.url for source in answer.sources]
        links = [url for url in dict.fromkeys(urls) if _is_redirect(url)][:MOST_LINKS]
        until = deadline.within(min(SECONDS, max(0.0, deadline.remaining() - RESERVE_SECONDS)))
        targets = await asyncio.gather(*(self._target(link, until) for link in links))
        target_of = dict(zip(links, targets, strict=True))
        spans = [replace(span, url=target_of.get(span.url, span.url)) for span in answer.spans]
        sources = [
            replace(source, url=target_of.get(source.url, source.url)) for source in answer.sources
        ]
        return replace(answer, spans=tuple(spans), sources=tuple(sources))

    async def _target(self, link: str, deadline: Deadline) -> str:
        try:
            await self.fetcher.fetch(link, deadline, follows=lambda _: False, max_bytes=_MAX_BYTES)
        except SearchFetchError as error:
            target = error.details.get("location")
            return target if isinstance(target, str) and is_web_address(target) else link
        except SearchError:
            pass
        return link
