"""The answer of every stand-in for an answer engine: sentences of matching pages, each with its page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request

from websearch_gateway.sandbox.index import best_sentences, search
from websearch_gateway.sandbox.vendor import clock, origin

_MOST_FOUND, _MOST_CITED, _CLOSE_TO_BEST = 6, 3, 0.75


@dataclass(frozen=True, slots=True)
class Found:
    """A page that was found; `claim` is the sentence that an answer takes from it, if it does."""

    url: str
    title: str
    published: datetime | None
    claim: str | None


def research(request: Request, question: str, region: str | None = None) -> list[Found]:
    """The pages for a question, best first."""
    matches = search(question, clock(request), region=region)[:_MOST_FOUND]
    found = []
    for place, match in enumerate(matches):
        cited = place < _MOST_CITED and match.score >= matches[0].score * _CLOSE_TO_BEST
        claim = best_sentences(match.page, question, 1)[0] if cited else None
        found.append(Found(origin(request) + match.page.path, match.page.title, match.published, claim))
    return found


def fault_of(request: Request, kinds: Collection[str]) -> str | None:
    """The kind of this request's fault, if it is one of `kinds`."""
    fault = request.state.fault
    return str(fault.kind) if fault and fault.kind in kinds else None
