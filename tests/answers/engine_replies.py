"""Replies in the shape of the vendors' real ones; their contents are invented."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

TOWER, RIVER = "https://tower.example/height", "https://river.example/length"


def encoded(reply: Any) -> bytes:
    return json.dumps(reply, ensure_ascii=False).encode()


def claude_cited(text: str, *urls: str) -> dict[str, Any]:
    kind = "web_search_result_location"
    notes = [
        {"type": kind, "url": url, "title": "T", "cited_text": "...", "encrypted_index": "x"}
        for url in urls
    ]
    return {"type": "text", "text": text, "citations": notes}


def claude_searched(call: str, *urls: str, age: str | None = None) -> list[dict[str, Any]]:
    found = [
        {
            "type": "web_search_result",
            "url": url,
            "title": "T",
            "page_age": age,
            "encrypted_content": "x",
        }
        for url in urls
    ]
    return [
        {"type": "server_tool_use", "id": call, "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": call, "content": found},
    ]


def claude(
    *blocks: dict[str, Any], stop: str = "end_turn", searches: int = 1, **more: Any
) -> dict[str, Any]:
    usage = {
        "input_tokens": 9000,
        "output_tokens": 200,
        "server_tool_use": {"web_search_requests": searches},
    }
    return {
        "type": "message",
        "role": "assistant",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": usage,
    } | more


def gemini(
    *parts: dict[str, Any], supports: Sequence[Any] = (), finish: str = "STOP", **grounding: Any
) -> dict[str, Any]:
    redirect = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC-1=="
    metadata = {
        "webSearchQueries": ["how high", "tower height"],
        "groundingChunks": [
            {"web": {"uri": redirect, "title": "tower.example"}},
            {"web": {"uri": "https://www.google.com/search?q=the tower", "title": "Facts"}},
        ],
        "groundingSupports": list(supports),
        "searchEntryPoint": {"renderedContent": "<style>.c{}</style><div>the tower</div>"},
    }
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}
    usage = {
        "promptTokenCount": 90,
        "candidatesTokenCount": 50,
        "thoughtsTokenCount": 30,
        "toolUsePromptTokenCount": 10,
    }
    return {
        "candidates": [candidate | {"groundingMetadata": metadata | grounding}],
        "usageMetadata": usage,
    }


def gemini_support(text: str, piece: str, *chunks: int, part: int | None = None) -> dict[str, Any]:
    """A support of `piece` in a part's `text`, with byte offsets as Google counts them."""
    start = len(text[: text.index(piece)].encode())
    segment: dict[str, Any] = {"endIndex": start + len(piece.encode()), "text": piece}
    segment |= {"startIndex": start} if start else {}
    segment |= {} if part is None else {"partIndex": part}
    return {"segment": segment, "groundingChunkIndices": list(chunks)}


def perplexity(text: str, annotations: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    results = [
        {
            "id": 7,
            "title": "Tower",
            "url": TOWER,
            "snippet": "...",
            "date": "2026-05-01",
            "last_updated": None,
        },
        {
            "id": 3,
            "title": "River",
            "url": RIVER,
            "snippet": "...",
            "date": None,
            "last_updated": "2026-06-02",
        },
    ]
    message = {
        "type": "message",
        "content": [{"type": "output_text", "text": text, "annotations": list(annotations)}],
    }
    usage = {
        "input_tokens": 4000,
        "output_tokens": 100,
        "tool_calls_details": {"web_search": {"invocation": 2}},
    }
    output = [{"type": "search_results", "queries": ["q"], "results": results}, message]
    return {"status": "completed", "output": output, "usage": usage} | more


def openai(text: str) -> dict[str, Any]:
    """A reply of OpenAI after one search."""
    call = {"type": "web_search_call", "status": "completed", "action": {"type": "search"}}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    usage = {"input_tokens": 900, "output_tokens": 90}
    return {
        "status": "completed",
        "output": [call, {"type": "message", "content": content}],
        "usage": usage,
    }
