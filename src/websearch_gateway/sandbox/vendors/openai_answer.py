"""The answer of the stand-in for OpenAI: sentences of matching pages, each with its inline link and annotation.

Shapes follow recorded replies: a citation spans `([host](url))` with its parentheses, in code points, the end
exclusive; `?utm_source=openai` is on cited URLs and not on those of `sources`; reasoning, searches and the message
are items of one list.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from websearch_gateway.sandbox.index import Match, best_sentences, search
from websearch_gateway.sandbox.pages import Page

_MOST_PAGES, _MOST_SOURCES = 3, 10
_CLOSE_TO_BEST = 0.75
_ASKED = re.compile(r"(?im)^\W*(?:question|query)\W*:\s*(.+)$")
_SUM = re.compile(r"\s*(?:what is|what's|how much is)?\s*(-?\d{1,9})\s*([-+*x×])\s*(-?\d{1,9})\s*\??\s*", re.IGNORECASE)
_SPAN_SHIFT = 3

Mark = Callable[[int, str], str]
"""Makes the mark of a source in the text from its number and its URL."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is packed: its text, its annotations, and the URLs found for it."""

    text: str
    annotations: tuple[dict[str, Any], ...] = ()
    found: tuple[str, ...] = ()
    searched: bool = False


def question_of(body: dict[str, Any]) -> str:
    """The question in the last user message of a request: its `Question:` line if it has one, else all of it."""
    asked = body["input"]
    if isinstance(asked, list):
        contents = [item.get("content", "") for item in asked if item.get("role", "user") == "user"]
        asked = contents[-1] if contents else ""
    if isinstance(asked, list):
        asked = "\n".join(part.get("text", "") for part in asked)
    found: list[str] = _ASKED.findall(asked)
    return found[-1].strip() if found else str(asked)


def from_memory(question: str) -> Draft:
    """The answer of a model that does not search."""
    if match := _SUM.fullmatch(question):
        left, sign, right = int(match[1]), match[2], int(match[3])
        value = left + right if sign == "+" else left - right if sign == "-" else left * right
        return Draft(f"{value:,}".replace(",", " ") if abs(value) >= 10_000 else str(value))
    return Draft("I answer this from memory: it depends on the circumstances.")


def is_sum(question: str) -> bool:
    """Whether a model would answer this without a search."""
    return _SUM.fullmatch(question) is not None


def researched(question: str, tool: dict[str, Any], origin: str, now: datetime, fault: str | None) -> Draft:
    """Search with the options of `tool` and answer from the results; `fault` names a citation fault to make."""
    location = tool.get("user_location") or {"country": "US"}
    filters = tool.get("filters") or {}
    domains, blocked = filters.get("allowed_domains") or [], filters.get("blocked_domains") or []
    host = urlsplit(origin).hostname or ""
    allowed = (not domains or _within(host, domains)) and not _within(host, blocked)

    def allow(_: Page) -> bool:
        return allowed

    found = search(question, now, region=location.get("country"), allow=allow)[:_MOST_SOURCES]
    if not found:
        return Draft("I couldn't find a source that answers this.", searched=True)
    close = [match for match in found if match.score >= found[0].score * _CLOSE_TO_BEST][:_MOST_PAGES]
    per_page = 2 if len(close) == 1 else 1
    claims = [(text, match) for match in close for text in best_sentences(match.page, question, per_page)]
    draft = _cited(claims, origin, _MARKS.get(fault or "", _link), opening="📌 " if fault == "utf16_spans" else "")
    return _spoil(replace(draft, found=tuple(origin + match.page.path for match in found), searched=True), fault)


def _within(host: str, domains: list[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _link(_: int, url: str) -> str:
    return f"([{urlsplit(url).netloc}]({url}))"


def _marker(number: int, _: str) -> str:
    return f"\ue200cite\ue202turn0search{number}\ue201"


def _nothing(_: int, __: str) -> str:
    return ""


_MARKS: dict[str, Mark] = {"raw_markers": _marker, "empty_annotations": _nothing}


def _cited(claims: list[tuple[str, Match]], origin: str, mark: Mark, opening: str) -> Draft:
    text, annotations = opening, []
    for number, (sentence, match) in enumerate(claims):
        url = f"{origin}{match.page.path}?utm_source=openai"
        text += f"{sentence} "
        start = len(text)
        text += mark(number, url)
        if mark is _link:
            place = {"start_index": start, "end_index": len(text)}
            annotations.append({"type": "url_citation", **place, "title": match.page.title, "url": url})
        text += " "
    # A removed mark leaves two spaces, as in real replies.
    return Draft(text if mark is _nothing else text.rstrip(), tuple(annotations))


def _spoil(draft: Draft, fault: str | None) -> Draft:
    def moved(offset: int) -> int:
        return offset + _SPAN_SHIFT if fault == "shifted_spans" else len(draft.text[:offset].encode("utf-16-le")) // 2

    if fault not in {"shifted_spans", "utf16_spans"}:
        return draft
    spoiled = (
        {**note, "start_index": moved(note["start_index"]), "end_index": moved(note["end_index"])}
        for note in draft.annotations
    )
    return replace(draft, annotations=tuple(spoiled))
