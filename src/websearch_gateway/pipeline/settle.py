"""The last stage: verify and rank the citations, clean the text, price the call. Pure.

It holds the promise of every answer: `text[startIndex:endIndex]` is the cited span, for any text that an engine wrote
and any offsets that it claimed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from websearch_gateway.models import Answer, SearchQuery, Span
from websearch_gateway.pipeline.tracing import stage
from websearch_gateway.text.cite import by_first_use, repair, without_trackers
from websearch_gateway.text.snippet import snippets
from websearch_gateway.text.spans import cut, moved
from websearch_gateway.text.trackers import strip_trackers
from websearch_gateway.text.urls import host, is_web_address
from websearch_gateway.wire.answer import Citation, Filters, FilterState, SearchResponse, Usage

_LONE_SURROGATES = re.compile(r"[\ud800-\udfff]")
# C0 and C1 but tab and line feed, which a terminal would obey, and Bidi_Control of Unicode's PropList.txt.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\s]+")


@stage("settle")
def settle(query: SearchQuery, answer: Answer, *, responded_at: datetime) -> SearchResponse:
    """What the caller gets for `answer`. Never raises.

    The text holds no control characters but tab and line feed, and none that turn the direction of writing. Citations
    are ranked by first use, one per page, at most `query.max_results`. Without `query.include_answers` the
    text is empty, every span is 0/0 and the snippets say what was cited. An answer that names sources and no place
    for any of them cites them with the empty span 0/0 and an empty snippet, since no claim is known to rest on them.

    Args:
        responded_at: when the answer came; with a time zone.
    """
    text, spans = _clean(answer)
    held, warnings = _held(answer, text, spans)
    ranked = by_first_use(held)
    if len(ranked) > query.max_results:
        warnings.append(f"Sources left out because of maxResults: {len(ranked) - query.max_results}.")
    return SearchResponse(
        text=text if query.include_answers else "",
        citations=_citations(text, ranked[: query.max_results], placed=query.include_answers),
        provider=answer.provider,
        responded_at=responded_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        usage=Usage(prompt_tokens=answer.usage.prompt, response_tokens=answer.usage.response),
        fallback=answer.fallback,
        filters=Filters(
            freshness=FilterState(requested=query.freshness_hours, applied=answer.applied.freshness),
            region=FilterState(requested=query.region, applied=answer.applied.region),
        ),
        cost_usd=round(answer.cost_usd, 6),
        warnings=tuple(dict.fromkeys((*answer.warnings, *warnings))),
    )


def _clean(answer: Answer) -> tuple[str, list[Span]]:
    """The text as it may be shown, and the spans on web addresses where they are in it, with clean titles."""
    text, move = cut(answer.text, [match.span() for match in _CONTROLS.finditer(answer.text)])
    spans = [
        replace(span, title=_printable(span.title)) for span in moved(answer.spans, move) if is_web_address(span.url)
    ]
    return without_trackers(_LONE_SURROGATES.sub("\ufffd", text), spans)


def _held(answer: Answer, text: str, spans: Sequence[Span]) -> tuple[list[Span], list[str]]:
    """The spans that hold in `text`, or else the sources without a place; and what to warn of."""
    held = repair(text, spans)
    warnings = []
    if lost := len(answer.spans) - len(held):
        warnings.append(f"Citations left out because their place in the text is wrong: {lost}.")
    if not held and (sources := _placeless(answer, spans)):
        held = sources
        warnings.append("These sources were found, but no sentence is tied to one of them.")
    elif not held and text.strip():
        warnings.append("The answer names no source.")
    return held, warnings


def _placeless(answer: Answer, spans: Sequence[Span]) -> list[Span]:
    """The sources of an answer none of whose spans holds: those that were to be cited, else those that were found."""
    found = (
        Span(strip_trackers(url), _printable(answer.titles.get(url, "")), 0, 0)
        for url in answer.sources
        if is_web_address(url)
    )
    return [replace(span, start=0, end=0) for span in spans] or list(found)


def _printable(title: str) -> str:
    return _UNPRINTABLE.sub(" ", title).strip()


def _citations(text: str, spans: Sequence[Span], *, placed: bool) -> tuple[Citation, ...]:
    supported = snippets(text, [(span.start, span.end) for span in spans])
    return tuple(
        Citation(
            url=span.url,
            title=span.title or host(span.url),
            text_snippet=words if span.end > span.start else "",
            start_index=span.start if placed else 0,
            end_index=span.end if placed else 0,
            rank=rank,
        )
        for rank, (span, words) in enumerate(zip(spans, supported, strict=True), start=1)
    )
