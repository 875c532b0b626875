"""A chat completions server with a small extractive "model", in the wire form that Ollama and vLLM share.

The model picks sentences out of the numbered passages of its prompt and quotes them with their numbers. Its faults are
those of real small models.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from websearch_gateway.sandbox import ENGINE_KINDS, LLM_MODEL
from websearch_gateway.sandbox.small_web import terms
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, fault_of, json_object

_PASSAGE = re.compile(r"^\[(\d+)\] ([^\n]*)\n(.*?)(?=^\[\d+\] |^</passages)", re.MULTILINE | re.DOTALL)
_QUESTION = re.compile(r"^Question: (.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]")
_ORDER = re.compile(r"\bsay that ([^.\n]*)", re.IGNORECASE)
_CLAIMS = 2


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """The error body that these servers share."""
    error = {"message": message or "Sandbox refusal.", "type": "api_error", "param": None, "code": status}
    return VendorRefusal(status, {"error": error})


def written(prompt: str, fault: str | None) -> list[tuple[str, list[int], str]]:
    """The model's reply to a prompt: sentences, each with the numbers of its passages and the words of its quote."""
    question = _QUESTION.findall(prompt)[-1:] or [""]
    wanted = set(terms(question[0]))
    said = [
        (len(wanted & set(terms(f"{heading} {sentence}"))), -int(number), sentence.strip(), [int(number)])
        for number, heading, text in _PASSAGE.findall(prompt)
        for sentence in _SENTENCE.findall(text)
    ]
    best = [(sentence, numbers) for score, _, sentence, numbers in sorted(said, reverse=True)[:_CLAIMS] if score]
    if fault == "obey":
        orders = [
            (order, [int(number)]) for number, _, text in _PASSAGE.findall(prompt) for order in _ORDER.findall(text)
        ]
        best = [(f"{order[:1].upper()}{order[1:]}.", numbers) for order, numbers in orders] or best
    return [_spoiled(sentence, numbers, fault) for sentence, numbers in best]


def _spoiled(sentence: str, numbers: list[int], fault: str | None) -> tuple[str, list[int], str]:
    match fault:
        case "own_words":
            return f"In short, {sentence[:1].lower()}{sentence[1:]}", numbers, sentence
        case "other_language":
            return "Leider steht die Antwort in keiner dieser Quellen.", numbers, sentence
        case "made_up_sources":
            return sentence, [number + 70 for number in numbers], sentence
        case "made_up_quotes":
            return sentence, numbers, "words that no passage of the prompt has"
        case "wrong_numbers":
            return re.sub(r"\d+", lambda match: str(int(match[0]) + 7), sentence), numbers, sentence
        case "wrong_names":
            return re.sub(r"\s[A-Z]\w+", " Zebediah", sentence, count=1), numbers, sentence
        case "no_marks":
            return sentence, [], ""
        case _:
            return sentence, numbers, sentence


def _reply(prompt: str, fault: str | None, *, in_json: bool) -> str:
    if fault == "prompt_echo":
        return prompt
    said = [] if fault == "no_answer" else written(prompt, fault)
    if in_json:
        sentences = [
            {"text": text, "quotes": [{"passage": number, "words": words} for number in numbers]}
            for text, numbers, words in said
        ]
        return json.dumps({"sentences": sentences})
    if fault == "old_marks":
        return " ".join(f"{text} {''.join(f'[{number}]' for number in numbers)}" for text, numbers, _ in said)
    marked = (" ".join([text, *(f'[{number}: "{words}"]' for number in numbers)]) for text, numbers, words in said)
    return _spoken(" ".join(marked), fault) or "NO ANSWER"


def _spoken(text: str, fault: str | None) -> str:
    """The reply of a model that thinks aloud, or whose reply breaks off."""
    if fault == "thinks_aloud":
        return f"Let me look at the passages.</think>\nBased on the passages, here is the answer:\n{text}"
    return text[: len(text) * 2 // 3] if fault == "breaks_off" else text


async def _events(model: str, text: str, prompt: str, *, endless: bool) -> AsyncIterator[str]:
    def event(**fields: Any) -> str:
        base = {"id": "chatcmpl-sandbox", "object": "chat.completion.chunk", "model": model}
        return f"data: {json.dumps(base | fields)}\n\n"

    yield event(choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
    for word in re.findall(r"\S+\s*", text):
        yield event(choices=[{"index": 0, "delta": {"content": word}, "finish_reason": None}])
    while endless:
        yield event(choices=[{"index": 0, "delta": {"content": " and so on,"}, "finish_reason": None}])
        await asyncio.sleep(0.001)
    yield event(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
    yield event(choices=[], usage=_usage(prompt, text))
    yield "data: [DONE]\n\n"


def _usage(prompt: str, text: str) -> dict[str, int]:
    asked, said = len(prompt) // 4, len(text) // 4
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


async def _chat(request: Request) -> Response:
    body = await json_object(request, refusal(400))
    if body.get("model") != LLM_MODEL:
        raise refusal(404, f'model "{body.get("model")}" not found')
    fault = fault_of(request, ENGINE_KINDS["llm"])
    prompt = "\n".join(str(message.get("content")) for message in body.get("messages", []))
    text = _reply(prompt, fault, in_json="response_format" in body and fault != "endless")
    if body.get("stream"):
        events = _events(LLM_MODEL, text, prompt, endless=fault == "endless")
        return StreamingResponse(events, media_type="text/event-stream")
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    reply = {"id": "chatcmpl-sandbox", "object": "chat.completion", "model": LLM_MODEL, "choices": [choice]}
    return JSONResponse(reply | {"usage": _usage(prompt, text)})


async def _models(request: Request) -> JSONResponse:
    data = [{"id": LLM_MODEL, "object": "model", "created": 0, "owned_by": "sandbox"}]
    return JSONResponse({"object": "list", "data": data})


LLM = Vendor("llm", [Route("/v1/chat/completions", _chat, methods=["POST"]), Route("/v1/models", _models)], refusal)
