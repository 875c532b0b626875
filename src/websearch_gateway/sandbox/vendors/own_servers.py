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
from dataclasses import dataclass, replace
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
_MOST_SENTENCES = 2
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


@dataclass(frozen=True)
class _Passage:
    """A numbered passage of the prompt."""

    number: int
    heading: str
    text: str

    def sentences(self) -> list[str]:
        """Its sentences in order, without headings."""
        sentences = [sentence.strip() for sentence in _SENTENCE.findall(self.text)]
        return [sentence for sentence in sentences if not sentence.startswith("#")]


@dataclass(frozen=True)
class _Sentence:
    """A sentence that the "model" writes, the passages that it names for it, and the words that it quotes from them."""

    text: str
    passages: tuple[int, ...]
    quote: str


def _passages(prompt: str) -> list[_Passage]:
    return [
        _Passage(int(number), heading, text) for number, heading, text in _PASSAGE.findall(prompt)
    ]


def _answer(prompt: str, fault: str | None) -> list[_Sentence]:
    """The sentences of the passages that have most words of the question."""
    passages = _passages(prompt)
    sentences = _best_sentences(prompt, passages)
    if fault == "obey":
        sentences = _obeyed(passages) or sentences
    return [_spoiled(sentence, fault) for sentence in sentences]


def _best_sentences(prompt: str, passages: list[_Passage]) -> list[_Sentence]:
    questions = _QUESTION.findall(prompt)
    query = set(terms(questions[-1])) if questions else set()
    ranked = []
    for passage in passages:
        for sentence in passage.sentences():
            below_heading = len(query & set(terms(f"{passage.heading} {sentence}")))
            alone = len(query & set(terms(sentence)))
            if below_heading:
                written = _Sentence(sentence, (passage.number,), sentence)
                ranked.append(((below_heading, alone), written))
    ranked.sort(key=lambda row: row[0], reverse=True)
    return [sentence for _, sentence in ranked[:_MOST_SENTENCES]]


def _obeyed(passages: list[_Passage]) -> list[_Sentence]:
    """What the passages order to say."""
    sentences = []
    for passage in passages:
        for order in _ORDER.findall(passage.text):
            text = f"{order[:1].upper()}{order[1:]}."
            sentences.append(_Sentence(text, (passage.number,), text))
    return sentences


def _spoiled(sentence: _Sentence, fault: str | None) -> _Sentence:
    text = sentence.text
    match fault:
        case "own_words":
            return replace(sentence, text=f"In short, {text[:1].lower()}{text[1:]}")
        case "other_language":
            return replace(sentence, text="Leider steht die Antwort in keiner dieser Quellen.")
        case "made_up_sources":
            return replace(sentence, passages=tuple(number + 70 for number in sentence.passages))
        case "made_up_quotes":
            return replace(sentence, quote="words that no passage of the prompt has")
        case "wrong_numbers":
            return replace(
                sentence, text=re.sub(r"\d+", lambda digits: str(int(digits[0]) + 7), text)
            )
        case "wrong_names":
            return replace(sentence, text=re.sub(r"\s[A-Z]\w+", " Zebediah", text, count=1))
        case "no_marks":
            return replace(sentence, passages=(), quote="")
        case _:
            return sentence


def _judgements(claims: list[dict[str, Any]], fault: str | None) -> list[dict[str, Any]]:
    """A judgement for each claim: right as long as it and its sentences say the same with the same words.

    `says_yes` supports everything, `judges_some` leaves out every second claim, `made_up_quotes` quotes nothing real.
    """
    judgements = [_judgement(claim, fault) for claim in claims]
    return judgements[::2] if fault == "judges_some" else judgements


def _judgement(claim: dict[str, Any], fault: str | None) -> dict[str, Any]:
    words = set(terms(claim["text"]))

    def shared(sentence: str) -> float:
        return len(words & set(terms(sentence))) / max(1, len(words))

    sentence = max(claim["sentences"], key=shared)
    has_its_figures = set(_FIGURE.findall(claim["text"])) <= set(_FIGURE.findall(sentence))
    if fault == "says_yes":
        verdict = "supported"
    elif shared(sentence) < _SAME_WORDS:
        verdict = "unclear"
    else:
        verdict = "supported" if has_its_figures else "contradicted"
    quote = "words that no sentence of the prompt has" if fault == "made_up_quotes" else sentence
    return {"claim": claim["claim"], "verdict": verdict, "quote": quote}


def _reply(prompt: str, fault: str | None, *, in_json: bool) -> str:
    if fault == "prompt_echo":
        return prompt
    if claims := _CLAIM.findall(prompt):
        return json.dumps({"judgements": _judgements(list(map(json.loads, claims)), fault)})
    sentences = [] if fault == "no_answer" else _answer(prompt, fault)
    if in_json:
        return json.dumps({"sentences": list(map(_as_json, sentences))})
    if fault == "old_marks":
        return " ".join(map(_with_old_marks, sentences))
    reply = " ".join(map(_with_quotes, sentences)) or "NO ANSWER"
    if fault == "thinks_aloud":
        thoughts = (
            "Let me look at the passages.</think>\nBased on the passages, here is the answer:"
        )
        return f"{thoughts}\n{reply}"
    return reply[: len(reply) * 2 // 3] if fault == "breaks_off" else reply


def _as_json(sentence: _Sentence) -> dict[str, Any]:
    quotes = [{"passage": number, "words": sentence.quote} for number in sentence.passages]
    return {"text": sentence.text, "quotes": quotes}


def _with_old_marks(sentence: _Sentence) -> str:
    marks = "".join(f"[{number}]" for number in sentence.passages)
    return f"{sentence.text} {marks}"


def _with_quotes(sentence: _Sentence) -> str:
    marks = [f'[{number}: "{sentence.quote}"]' for number in sentence.passages]
    return " ".join([sentence.text, *marks])


async def _events(
    model: str, text: str, usage: dict[str, int] | None, *, endless: bool
) -> AsyncIterator[str]:
    def event(**fields: Any) -> str:
        base = {"id": "chatcmpl-sandbox", "object": "chat.completion.chunk", "model": model}
        return f"data: {json.dumps(base | fields)}\n\n"

    def delta(finish: str | None = None, **fields: str) -> str:
        return event(choices=[{"index": 0, "delta": fields, "finish_reason": finish}])

    yield delta(role="assistant", content="")
    for word in re.findall(r"\S+\s*", text):
        yield delta(content=word)
    while endless:
        yield delta(content=" and so on,")
        await asyncio.sleep(0.001)
    yield delta("stop")
    if usage is not None:
        yield event(choices=[], usage=usage)
    yield "data: [DONE]\n\n"


def _usage(prompt: str, text: str) -> dict[str, int]:
    read, written = len(prompt) // 4, len(text) // 4
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


async def _chat(request: Request) -> Response:
    body = await json_object(request, _llm_refusal(400))
    if body.get("model") != LLM_MODEL:
        raise _llm_refusal(404, f'model "{body.get("model")}" not found')
    return completion(body, fault_of(request))


def completion(body: dict[str, Any], fault: str | None) -> Response:
    """The reply of the "model" to a request that was checked."""
    prompt = "\n".join(str(message.get("content")) for message in body.get("messages", []))
    is_endless = fault == "endless"
    text = _reply(prompt, fault, in_json="response_format" in body and not is_endless)
    if body.get("stream"):
        usage = None if fault == "uncounted" else _usage(prompt, text)
        events = _events(body["model"], text, usage, endless=is_endless)
        return StreamingResponse(events, media_type="text/event-stream")
    message = {"role": "assistant", "content": text}
    reply = {
        "id": "chatcmpl-sandbox",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _usage(prompt, text),
    }
    return JSONResponse(reply)


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
    if not isinstance(query, str) or not isinstance(texts, list):
        raise missing
    if not all(isinstance(text, str) for text in texts):
        raise missing
    if field == "texts" and len(texts) > _MOST_TEI:
        raise _tei_refusal(413, f"batch size {len(texts)} > maximum allowed batch size {_MOST_TEI}")
    query_words = _words(query)
    rows = [
        {"index": place, score: _share_in(query_words, _words(text))}
        for place, text in enumerate(texts)
    ]
    return sorted(rows, key=lambda row: -row[score])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _share_in(query: list[str], words: list[str]) -> float:
    return sum(word in query for word in words) / max(1, len(words))


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
