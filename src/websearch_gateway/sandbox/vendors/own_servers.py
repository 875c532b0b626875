"""The servers that people run themselves: a chat completions server, and rerankers.

The first has a small extractive "model", in the wire form that Ollama and vLLM share. It picks sentences out of the
numbered passages of its prompt and quotes them with their numbers. Its faults are those of real small models. The
rerankers have the form of Cohere, Jina, vLLM, Infinity and llama.cpp, that of Voyage, and that of TEI
(https://docs.cohere.com/reference/rerank, https://docs.voyageai.com/reference/reranker-api and
https://huggingface.github.io/text-embeddings-inference): a text scores by the share of its words that the query has.
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

from websearch_gateway.sandbox.server import LLM_MODEL
from websearch_gateway.sandbox.small_web import terms
from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    VendorRefusal,
    fault_of,
    json_object,
    posted,
    worded,
)

_PASSAGE = re.compile(
    r"^\[(\d+)\] ([^\n]*)\n(.*?)(?=^\[\d+\] |^</passages)", re.MULTILINE | re.DOTALL
)
_QUESTION = re.compile(r"^Question: (.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]")
_ORDER = re.compile(r"\bsay that ([^.\n]*)", re.IGNORECASE)
_CLAIMS = 2
_CLAIM = re.compile(r'^\{"claim": .*\}$', re.MULTILINE)
_FIGURE = re.compile(r"\d[\d,.]*\d|\d")
_SAME_WORDS = 0.6
"""The share of a claim's words from which on a sentence is about the same."""


_llm_refusal = worded(
    lambda status, message: {
        "error": {"message": message, "type": "api_error", "param": None, "code": status}
    },
    {},
)


def _written(prompt: str, fault: str | None) -> list[tuple[str, list[int], str]]:
    question = _QUESTION.findall(prompt)[-1:] or [""]
    wanted = set(terms(question[0]))

    def worth(said: tuple[str, str, str]) -> tuple[int, int]:
        """The words of the question in the sentence below its heading, and in the sentence itself."""
        _, heading, sentence = said
        return len(wanted & set(terms(f"{heading} {sentence}"))), len(wanted & set(terms(sentence)))

    said = [
        (number, heading, sentence.strip())
        for number, heading, text in _PASSAGE.findall(prompt)
        for sentence in _SENTENCE.findall(text)
        if not sentence.lstrip().startswith("#")
    ]
    best = [
        (one[2], [int(one[0])])
        for one in sorted(said, key=worth, reverse=True)[:_CLAIMS]
        if worth(one)[0]
    ]
    if fault == "obey":
        orders = [
            (order, [int(number)])
            for number, _, text in _PASSAGE.findall(prompt)
            for order in _ORDER.findall(text)
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


def _judged(claims: list[dict[str, Any]], fault: str | None) -> list[dict[str, Any]]:
    """A judgement for each claim: right as long as it and its sentences say the same with the same words.

    `says_yes` supports everything, `judges_some` leaves out every second claim, `made_up_quotes` quotes nothing real.
    """
    found = []
    for claim in claims:
        said = set(terms(claim["text"]))
        shares = [
            len(said & set(terms(sentence))) / max(1, len(said)) for sentence in claim["sentences"]
        ]
        best = max(range(len(shares)), key=shares.__getitem__)
        sentence = claim["sentences"][best]
        is_same = set(_FIGURE.findall(claim["text"])) <= set(_FIGURE.findall(sentence))
        verdict = (
            ("supported" if is_same else "contradicted")
            if shares[best] >= _SAME_WORDS
            else "unclear"
        )
        quote = (
            "words that no sentence of the prompt has" if fault == "made_up_quotes" else sentence
        )
        verdict = "supported" if fault == "says_yes" else verdict
        found.append({"claim": claim["claim"], "verdict": verdict, "quote": quote})
    return found[::2] if fault == "judges_some" else found


def _reply(prompt: str, fault: str | None, *, in_json: bool) -> str:
    if fault == "prompt_echo":
        return prompt
    if rows := _CLAIM.findall(prompt):
        return json.dumps({"judgements": _judged([json.loads(row) for row in rows], fault)})
    said = [] if fault == "no_answer" else _written(prompt, fault)
    if in_json:
        sentences = [
            {"text": text, "quotes": [{"passage": number, "words": words} for number in numbers]}
            for text, numbers, words in said
        ]
        return json.dumps({"sentences": sentences})
    if fault == "old_marks":
        return " ".join(
            f"{text} {''.join(f'[{number}]' for number in numbers)}" for text, numbers, _ in said
        )
    marked = (
        " ".join([text, *(f'[{number}: "{words}"]' for number in numbers)])
        for text, numbers, words in said
    )
    reply = " ".join(marked) or "NO ANSWER"
    if fault == "thinks_aloud":
        return f"Let me look at the passages.</think>\nBased on the passages, here is the answer:\n{reply}"
    return reply[: len(reply) * 2 // 3] if fault == "breaks_off" else reply


async def _events(model: str, text: str, prompt: str, *, endless: bool) -> AsyncIterator[str]:
    def event(**fields: Any) -> str:
        base = {"id": "chatcmpl-sandbox", "object": "chat.completion.chunk", "model": model}
        return f"data: {json.dumps(base | fields)}\n\n"

    yield event(
        choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]
    )
    for word in re.findall(r"\S+\s*", text):
        yield event(choices=[{"index": 0, "delta": {"content": word}, "finish_reason": None}])
    while endless:
        yield event(
            choices=[{"index": 0, "delta": {"content": " and so on,"}, "finish_reason": None}]
        )
        await asyncio.sleep(0.001)
    yield event(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
    yield event(choices=[], usage=_usage(prompt, text))
    yield "data: [DONE]\n\n"


def _usage(prompt: str, text: str) -> dict[str, int]:
    asked, said = len(prompt) // 4, len(text) // 4
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


async def _chat(request: Request) -> Response:
    body = await json_object(request, _llm_refusal(400))
    if body.get("model") != LLM_MODEL:
        raise _llm_refusal(404, f'model "{body.get("model")}" not found')
    return completion(body, fault_of(request))


def completion(body: dict[str, Any], fault: str | None) -> Response:
    """The reply of the "model" to a request that was checked."""
    prompt, model = (
        "\n".join(str(message.get("content")) for message in body.get("messages", [])),
        body["model"],
    )
    text = _reply(prompt, fault, in_json="response_format" in body and fault != "endless")
    if body.get("stream"):
        events = _events(model, text, prompt, endless=fault == "endless")
        return StreamingResponse(events, media_type="text/event-stream")
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    reply = {
        "id": "chatcmpl-sandbox",
        "object": "chat.completion",
        "model": model,
        "choices": [choice],
    }
    return JSONResponse(reply | {"usage": _usage(prompt, text)})


async def _models(request: Request) -> JSONResponse:
    data = [{"id": LLM_MODEL, "object": "model", "created": 0, "owned_by": "sandbox"}]
    return JSONResponse({"object": "list", "data": data})


LLM = Vendor(
    "llm",
    [Route("/v1/chat/completions", _chat, methods=["POST"]), Route("/v1/models", _models)],
    _llm_refusal,
)

_rerank_refusal = worded(
    lambda _, message: {"message": message},
    {
        400: "invalid request",
        401: "invalid api token",
        429: "too many requests",
        500: "internal server error",
    },
)
_MOST_TEI = 32


def _tei_refusal(status: int, message: str) -> VendorRefusal:
    return VendorRefusal(status, {"error": message, "error_type": "Validation"})


async def _scored(
    request: Request, field: str, score: str, missing: VendorRefusal
) -> list[dict[str, Any]]:
    body = await posted(request, "reranker", _rerank_refusal)
    query, texts = body.get("query"), body.get(field)
    if (
        not isinstance(query, str)
        or not isinstance(texts, list)
        or not all(isinstance(one, str) for one in texts)
    ):
        raise missing
    if field == "texts" and len(texts) > _MOST_TEI:
        raise _tei_refusal(413, f"batch size {len(texts)} > maximum allowed batch size {_MOST_TEI}")
    asked, *said = ([*re.findall(r"\w+", text.casefold())] for text in (query, *texts))
    scores = [sum(word in asked for word in words) / max(1, len(words)) for words in said]
    return [
        {"index": at, score: scores[at]}
        for at in sorted(range(len(texts)), key=lambda at: -scores[at])
    ]


async def _rerank(request: Request) -> JSONResponse:
    missing = _rerank_refusal(400, "documents must be a list of strings")
    rows = await _scored(request, "documents", "relevance_score", missing)
    if request.url.path.endswith("/voyage/v1/rerank"):
        return JSONResponse({"object": "list", "data": rows})
    return JSONResponse({"id": "sandbox", "results": rows})


async def _tei(request: Request) -> JSONResponse:
    missing = "Failed to deserialize the JSON body into the target type: missing field `texts`"
    return JSONResponse(await _scored(request, "texts", "score", _tei_refusal(422, missing)))


RERANKER = Vendor(
    "reranker",
    [
        Route("/v2/rerank", _rerank, methods=["POST"]),
        Route("/voyage/v1/rerank", _rerank, methods=["POST"]),
        Route("/tei/rerank", _tei, methods=["POST"]),
    ],
    _rerank_refusal,
)
