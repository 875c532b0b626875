"""Shared parts of the OpenAI endpoints. https://platform.openai.com/docs/api-reference"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from pydantic import Field

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import Caller, SearchRequest
from websearch_gateway.pipeline.finalize import places_of
from websearch_gateway.pipeline.reply.fit import fit_answer
from websearch_gateway.results.answer import CitedSpan, SearchResponse
from websearch_gateway.results.base import ErrorInfo
from websearch_gateway.text.citation.references import linked
from websearch_gateway.text.codes import country_code
from websearch_gateway.text.normalise import LONGEST_QUERY

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway

MODEL = "search_web"
"""The only listed model. Clients may name any other; the reply repeats the name."""

ModelName = Annotated[str, Field(max_length=200)]
MOST_ECHOED = 2_000
"""Characters, as JSON, of a part of the request that the reply repeats."""

_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_PIECE = 200
# Never within a word, or the half of a key would remain, which the guard cannot recognise.
_SENTENCE_END = re.compile(r"(?<=[.!?:;؟]) (?=\S)|(?<=[。！？]) ?(?=\S)")
_SHORTEST = 10
"""The fewest characters of a question that names its subject; "OK?" is shorter."""


def openai_error(error: ErrorInfo, status: int) -> Any:
    """`{"error": {message, type, param, code}}`."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": error.message, "type": kind, "param": None, "code": error.code.lower()}}


async def answered(gateway: Gateway, asked: SearchRequest, caller: Caller) -> SearchResponse:
    """The answer of `search_web` with its citations as links, as OpenAI's models write them.

    It takes half of a reply: each link is listed twice, as a source and as a citation.
    """
    return fit_answer(_linked(await gateway.search(asked, caller)), gateway.max_reply_tokens // 2)


def _linked(answer: SearchResponse) -> SearchResponse:
    text, places = linked(answer.text, places_of(answer))
    spans: dict[int, list[CitedSpan]] = defaultdict(list)
    for place in places:
        spans[place.number].append(CitedSpan(start_index=place.start, end_index=place.end))
    citations = tuple(
        one.model_copy(
            update={
                "spans": tuple(found),
                "start_index": found[0].start_index if found else 0,
                "end_index": found[0].end_index if found else 0,
            }
        )
        for one in answer.citations
        for found in (spans[one.rank],)
    )
    return answer.model_copy(update={"text": text, "citations": citations})


def new_id(prefix: str) -> str:
    """An id in OpenAI's form."""
    return f"{prefix}_{uuid4().hex}"


def echoed(value: Any, otherwise: Any) -> Any:
    """A part of the request for the reply to repeat, as OpenAI does; `otherwise` if it is absent or long."""
    return value if value and len(json.dumps(value)) <= MOST_ECHOED else otherwise


def question(items: Any, tools: Any, options: Any = None) -> SearchRequest:
    """The last message of the user as a question, in the country and the domains that the search tool or option names.

    If a message is too long for a search, the question in it is used.

    Args:
        items: a text, or messages whose content is a text or a list of parts.

    Raises:
        SearchValidationError: no user message contains text.
    """
    text = items if isinstance(items, str) else _last_of_user(items)
    if not text.strip():
        raise SearchValidationError("There is no message of the user with text.")
    named = [*_mappings(tools), *_mappings([options])]
    return SearchRequest(
        _in_short(text),
        region=_region(named),
        include_domains=_domains(named, "allowed_domains"),
        exclude_domains=_domains(named, "blocked_domains"),
    )


def cited_places(answer: SearchResponse) -> list[dict[str, Any]]:
    """A flat `url_citation` for each place where a page is cited, in reading order."""
    places = [
        {
            "type": "url_citation",
            "start_index": span.start_index,
            "end_index": span.end_index,
            "url": citation.url,
            "title": citation.title or citation.url,
        }
        for citation in answer.citations
        for span in citation.spans
    ]
    return sorted(places, key=lambda place: (place["start_index"], place["end_index"]))


def sources(answer: SearchResponse) -> list[dict[str, str]]:
    """Every cited or found page."""
    urls = dict.fromkeys([*(one.url for one in answer.citations), *(one.url for one in answer.sources)])
    return [{"type": "url", "url": url} for url in urls]


def pieces(text: str) -> list[str]:
    """The text in parts small enough to stream smoothly."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _last_of_user(items: Any) -> str:
    for item in reversed(_mappings(items)):
        if item.get("role") == "user":
            return _text(item.get("content"))
    return ""


def _in_short(message: str) -> str:
    """The question in a message that is too long for a search: the last one, else the beginning."""
    if len(message) <= LONGEST_QUERY:
        return message
    text = " ".join(message.split())
    if len(text) <= LONGEST_QUERY:
        return text
    # Text without sentence marks is one piece, which is cut.
    questions = [one for one in _SENTENCE_END.split(text) if one.endswith(("?", "？", "؟")) and len(one) >= _SHORTEST]
    asked = questions[-1] if questions else text
    return asked if len(asked) <= LONGEST_QUERY else asked[:LONGEST_QUERY].rpartition(" ")[0] or asked[:LONGEST_QUERY]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in _mappings(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def _region(tools: Sequence[Mapping[str, Any]]) -> str | None:
    for tool in tools:
        place = tool.get("user_location")
        place = place.get("approximate", place) if isinstance(place, Mapping) else None
        country = place.get("country") if isinstance(place, Mapping) else None
        if isinstance(country, str):
            return country_code(country)
    return None


def _domains(tools: Sequence[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    lists = (filters.get(name) for tool in tools if isinstance(filters := tool.get("filters"), Mapping))
    return tuple(one for listed in lists if isinstance(listed, list) for one in listed if isinstance(one, str))


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
