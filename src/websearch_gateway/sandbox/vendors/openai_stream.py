"""A response as server-sent events, in the order of recorded streams. There is no `[DONE]` at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_DELTA_CHARACTERS = 24

Event = tuple[str, dict[str, Any]]


def stream(response: dict[str, Any]) -> Iterator[str]:
    """The frames of a whole response, `event:` and `data:` lines with rising sequence numbers."""
    for number, (name, fields) in enumerate(_events(response)):
        data = json.dumps({"type": f"response.{name}", "sequence_number": number, **fields}, ensure_ascii=False)
        yield f"event: response.{name}\ndata: {data}\n\n"


def _events(response: dict[str, Any]) -> Iterator[Event]:
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield "created", {"response": begun}
    yield "in_progress", {"response": begun}
    for index, item in enumerate(response["output"]):
        place = {"output_index": index}
        yield "output_item.added", {**place, "item": _unfinished(item)}
        if item["type"] == "web_search_call":
            for state in ("in_progress", "searching", "completed"):
                yield f"web_search_call.{state}", {**place, "item_id": item["id"]}
        if item["type"] == "message":
            yield from _content(item, {**place, "item_id": item["id"], "content_index": 0})
        yield "output_item.done", {**place, "item": item}
    yield response["status"], {"response": response}


def _unfinished(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] == "reasoning":
        return item
    started = {name: value for name, value in item.items() if name != "action"} | {"status": "in_progress"}
    return {**started, "content": []} if item["type"] == "message" else started


def _content(item: dict[str, Any], place: dict[str, Any]) -> Iterator[Event]:
    part = item["content"][0]
    kind = part["type"]
    field = "refusal" if kind == "refusal" else "text"
    empty = {"type": kind, field: ""} | ({"annotations": [], "logprobs": []} if field == "text" else {})
    yield "content_part.added", {**place, "part": empty}
    waiting = list(enumerate(part.get("annotations", [])))
    for start in range(0, len(part[field]), _DELTA_CHARACTERS):
        delta = part[field][start : start + _DELTA_CHARACTERS]
        yield f"{kind}.delta", {**place, "delta": delta, "logprobs": [], "obfuscation": "x"}
        last = start + len(delta) == len(part[field])
        while waiting and (last or waiting[0][1]["end_index"] <= start + len(delta)):
            index, note = waiting.pop(0)
            yield "output_text.annotation.added", {**place, "annotation_index": index, "annotation": note}
    yield f"{kind}.done", {**place, field: part[field], "logprobs": []}
    yield "content_part.done", {**place, "part": part}
