"""An AnswerEngine that cleans another one's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from websearch_gateway.models import Answer, Deadline, SearchQuery, Source, Span
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.own_threads import in_own_thread
from websearch_gateway.pipeline.cleaning.hits import LONGEST_TITLE, clean_line, dropped_links_warning, link_to_show
from websearch_gateway.ports import AnswerEngine, Progress
from websearch_gateway.text.citation.spans import cut, moved
from websearch_gateway.text.domains import admitted
from websearch_gateway.text.safety.invisible import invisible_pieces
from websearch_gateway.text.safety.sanitise import clean_markdown
from websearch_gateway.text.safety.shown_url import shown_url, unshown_pieces
from websearch_gateway.text.urls import find_urls

LONGEST_TEXT = 64_000
"""Longer answers are cut (characters); this bounds the work of cleaning."""

LONGEST_QUOTE = 1_000
MOST_LINKS = 200
"""The most spans, and the most sources, of an answer that are kept; a reply shows far fewer."""


@dataclass(frozen=True, slots=True)
class CleanedEngine:
    """An AnswerEngine that cleans text, titles and URLs as pages are cleaned.

    Links to non-public addresses are removed from the text, the citations and the sources, with a warning.
    """

    engine: AnswerEngine
    addresses: AddressPolicy

    @property
    def name(self) -> str:
        return self.engine.name

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Answer. Raises what the engine raises."""
        answer = await self.engine.answer(query, deadline, progress)
        return await in_own_thread(clean_answer, _within(answer, query), self.addresses)


def clean_answer(answer: Answer, addresses: AddressPolicy) -> Answer:
    """The cleaned answer. Spans keep their places where the text is unchanged."""
    answer, size_warnings = _bounded(answer)
    text, move = cut(answer.text[:LONGEST_TEXT], invisible_pieces(answer.text[:LONGEST_TEXT]))
    spans = moved(answer.spans, move)
    text, move = cut(text, _pieces_of_links(text, addresses))
    spans = moved(spans, move)
    # This changes only active content, such as an image whose URL carries data out. The spans after it are then off
    # by some characters; verification corrects or drops them.
    text, warnings = clean_markdown(text)
    cited = [_clean_span(span) for span in spans if link_to_show(span.url, addresses)]
    sources = [_clean_source(source) for source in answer.sources if link_to_show(source.url, addresses)]
    if dropped := len(spans) - len(cited) + len(answer.sources) - len(sources):
        warnings = (*warnings, dropped_links_warning(dropped))
    return replace(
        answer,
        text=text,
        spans=tuple(cited),
        sources=tuple(sources),
        warnings=(*answer.warnings, *size_warnings, *warnings),
    )


def _bounded(answer: Answer) -> tuple[Answer, tuple[str, ...]]:
    """The answer with its first MOST_LINKS spans and sources, and a warning if there are more spans."""
    spans = sorted(answer.spans, key=lambda span: span.start)
    lost = len(spans) - MOST_LINKS
    warnings = (f"Citations left out because there are too many: {lost}.",) if lost > 0 else ()
    bounded = replace(answer, spans=tuple(spans[:MOST_LINKS]), sources=answer.sources[:MOST_LINKS])
    return (bounded if lost > 0 else replace(bounded, spans=answer.spans)), warnings


def _within(answer: Answer, query: SearchQuery) -> Answer:
    """The answer without spans and sources that the query's lists of domains exclude."""
    include, exclude = query.include_domains, query.exclude_domains
    if not include and not exclude:
        return answer
    spans = tuple(span for span in answer.spans if admitted(span.url, include, exclude))
    sources = tuple(source for source in answer.sources if admitted(source.url, include, exclude))
    lost = len(answer.spans) - len(spans)
    warnings = (f"Citations left out because they are outside the wanted domains: {lost}.",) if lost else ()
    return replace(answer, spans=spans, sources=sources, warnings=(*answer.warnings, *warnings))


def _pieces_of_links(text: str, addresses: AddressPolicy) -> Sequence[tuple[int, int]]:
    """The pieces to cut from the links in a text: non-public addresses whole, and invisible characters in others."""
    pieces: list[tuple[int, int]] = []
    for start, end in find_urls(text):
        url = text[start:end]
        if link_to_show(url, addresses):
            pieces += [(start + first, start + last) for first, last in unshown_pieces(url)]
        elif text[max(0, start - 2) : start] == "](" and text[end : end + 1] == ")":
            pieces.append((start - 1, end + 1))
        else:
            pieces.append((start, end))
    return pieces


def _clean_span(span: Span) -> Span:
    return replace(
        span,
        url=shown_url(span.url),
        title=clean_line(span.title, LONGEST_TITLE, span.url)[0],
        quote=clean_line(span.quote, LONGEST_QUOTE, span.url)[0] if span.quote else None,
    )


def _clean_source(source: Source) -> Source:
    return replace(source, url=shown_url(source.url), title=clean_line(source.title, LONGEST_TITLE, source.url)[0])
