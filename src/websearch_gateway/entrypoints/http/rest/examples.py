"""An example call and a shortened result of each tool, for the OpenAPI document. Tests hold them to the schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TOWER = "https://en.wikipedia.org/wiki/Eiffel_Tower"
_QUESTION = "How tall is the Eiffel Tower?"
_CLAIM, _LINK = "The Eiffel Tower is 330 metres tall", f"([Eiffel Tower]({_TOWER}))"
_ANSWER = f"{_CLAIM} {_LINK}."
_PLACE = {"startIndex": _ANSWER.index(_LINK), "endIndex": _ANSWER.index(_LINK) + len(_LINK)}
_CITATION = {
    "url": _TOWER,
    "title": "Eiffel Tower",
    "textSnippet": f"{_CLAIM}.",
    **_PLACE,
    "rank": 1,
    "spans": [_PLACE],
}
_FOUND = {
    "title": "Eiffel Tower",
    "link": _TOWER,
    "snippet": "The Eiffel Tower is a wrought-iron tower in Paris.",
    "page_content": "# Eiffel Tower\n\nThe tower is 330 metres tall ...",
    "provider": "brave",
    "published_date": "2026-03-01",
    "relevance_score": 0.91,
}

REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "search_web": {"query": _QUESTION, "maxResults": 3},
    "web_search": {"query": "sqlite write-ahead log checkpoint", "maxResults": 3},
    "search_news": {"query": "storm warnings north sea", "maxResults": 3},
    "web_search_raw": {"query": ["eiffel tower height", "tokyo tower height"], "resultsPerQuery": 5},
    "get_content": {"url": _TOWER, "maxChars": 4000},
    "read_from_page": {"url": _TOWER, "query": "How tall is it?", "maxResults": 2},
    "search_docs": {"query": "how to set a timeout", "limit": 3},
    "read_docs": {"url": "https://docs.example.org/guide/timeouts", "maxTokens": 1000},
    "add_docs": {"url": "https://docs.example.org/", "name": "example"},
    "update_docs": {"site": "example"},
    "delete_docs": {"site": "example"},
    "docs_status": {"site": "example"},
    "search_similar": {"query": _QUESTION, "limit": 3},
    "search_cached": {"query": _QUESTION},
    "cache_clear": {"olderThanHours": 24.0},
    "cache_migrate": {"target": "sqlite:///new.db"},
}
"""By name of tool; one without a row takes no arguments."""

REPLIES: Mapping[str, Mapping[str, Any]] = {
    "search_web": {"text": _ANSWER, "citations": [_CITATION], "cache": "miss", "costUsd": 0.0104},
    "web_search": {"results": [_FOUND], "cache": "miss", "costUsd": 0.005},
    "search_news": {"results": [_FOUND], "cache": "exact", "costUsd": 0.0},
    "get_content": {
        "url": _TOWER,
        "title": "Eiffel Tower",
        "page_content": "# Eiffel Tower\n\n...",
        "nextOffset": 3980,
    },
    "search_cached": {"found": False},
    "cache_clear": {"removed": 12, "removedByKind": {"answers": 12}},
}
"""By name of tool, for those whose result is worth a look."""
