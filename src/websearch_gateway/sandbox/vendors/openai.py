"""OpenAI: the Responses API with web search, models, embeddings (https://platform.openai.com/docs/api-reference).

Shapes follow recorded replies: a citation spans `([host](url))` with its parentheses, in code points, the end
exclusive; `?utm_source=openai` is on cited URLs and not on those of `sources`; reasoning, searches and the message are
items of one list. Vectors depend only on the text, and are near each other if texts
share words.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import zlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox.server import OPENAI_KEY
from websearch_gateway.sandbox.small_web import Match, best_sentences, terms
from websearch_gateway.sandbox.vendors.own_servers import completion
from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    VendorRefusal,
    bearer,
    clock,
    fault_of,
    json_object,
    search_pages,
    within_domains,
)

_SEARCH_TOKENS = 8000
_SOURCES = "web_search_call.action.sources"
NOT_JSON = "We could not parse the JSON body of your request."
_REFUSAL = "I'm sorry, but I can't help with that."
_HEADERS = {
    "openai-version": "2020-10-01",
    "openai-processing-ms": "12",
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-reset-requests": "120ms",
}


def _authorise(request: Request) -> None:
    if (key := bearer(request)) != OPENAI_KEY:
        raise _bad_key(key)


def _reply(payload: Any) -> JSONResponse:
    request_id = hashlib.blake2b(repr(payload).encode(), digest_size=16).hexdigest()
    return JSONResponse(payload, headers={**_HEADERS, "x-request-id": f"req_{request_id}"})


def _items(draft: Draft, question: str, identity: str, *, sources: bool) -> list[dict[str, Any]]:
    thought = {"type": "reasoning", "summary": []}
    items: list[dict[str, Any]] = [{"id": f"rs_{identity}0", **thought}]
    if not draft.searched:
        return items
    action: dict[str, Any] = {"type": "search", "query": question, "queries": [question]}
    if sources:
        action["sources"] = [{"type": "url", "url": url} for url in draft.urls]
    call = {"type": "web_search_call", "status": "completed"}
    items.append({"id": f"ws_{identity}1", **call, "action": action})
    if draft.urls:
        opened = {"type": "open_page", "url": draft.urls[0]}
        items += [
            {"id": f"rs_{identity}2", **thought},
            {"id": f"ws_{identity}3", **call, "action": opened},
        ]
    return items


def _message(draft: Draft, identity: str, fault: str | None) -> dict[str, Any]:
    text = {
        "type": "output_text",
        "text": draft.text,
        "annotations": list(draft.annotations),
        "logprobs": [],
    }
    content = {"type": "refusal", "refusal": _REFUSAL} if fault == "refusal" else text
    return {
        "id": f"msg_{identity}9",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [content],
    }


def _usage(body: dict[str, Any], draft: Draft, written: int, thought: int) -> dict[str, Any]:
    asked = (
        _tokens(str(body["input"]) + (body.get("instructions") or ""))
        + _SEARCH_TOKENS * draft.searched
    )
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written + thought,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": asked + written + thought,
    }


def compose(
    request: Request, body: dict[str, Any], model: Model, fault: str | None
) -> dict[str, Any]:
    """The response object for a request that was checked, with a citation fault or none."""
    question = _question_of(body)
    is_form = ((body.get("text") or {}).get("format") or {}).get("type") == "json_schema"
    draft = _researched(request, question, body, fault or ("raw_markers" if is_form else None))
    identity = hashlib.blake2b(repr(sorted(body.items())).encode(), digest_size=20).hexdigest()
    effort = (body.get("reasoning") or {}).get("effort") or "medium"
    limit, thought, written = (
        body.get("max_output_tokens"),
        REASONING_TOKENS[effort],
        _tokens(draft.text),
    )
    if model.efforts == ():
        thought = 0
    cut = fault == "incomplete" or (limit is not None and thought + written > limit)
    if cut:
        # Reasoning comes first and uses the whole budget, so no message begins.
        thought, written = limit or thought, 0
    output = _items(draft, question, identity, sources=_SOURCES in (body.get("include") or []))
    return {
        "id": f"resp_{identity}",
        "object": "response",
        "created_at": int(clock(request).timestamp()),
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": limit,
        "metadata": body.get("metadata") or {},
        "model": "gpt-5-nano-2025-08-07" if model.id == "gpt-5-nano" else model.id,
        "output": output if cut else [*output, _message(draft, identity, fault)],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": effort, "summary": None},
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": body.get("text") or {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": body.get("tool_choice") or "auto",
        "tool_usage": {"web_search": {"num_requests": int(draft.searched)}},
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(body, draft, written, thought),
    }


async def _responses(request: Request) -> JSONResponse:
    _authorise(request)
    body = await json_object(request, bad_request(NOT_JSON))
    model = check_request(body)
    kind = fault_of(request)
    payload = compose(request, body, model, kind)
    if kind == "failed":
        error = {
            "code": request.state.fault.reason or "server_error",
            "message": "An error occurred while processing your request.",
        }
        payload |= {"status": "failed", "error": error, "output": [], "usage": None}
    return _reply(payload)


async def _chat(request: Request) -> Response:
    _authorise(request)
    body = await json_object(request, bad_request(NOT_JSON))
    model = _known_model(body)
    effort = body.get("reasoning_effort")
    for refused in ("max_tokens", "temperature"):
        if refused in body:
            raise bad_request(
                f"Unsupported parameter: '{refused}' is not supported with this model.", refused
            )
    if effort is not None and effort not in model.efforts:
        raise bad_request(
            f"Unsupported value: 'reasoning_effort' does not support '{effort}'.",
            "reasoning_effort",
        )
    return completion(body, fault_of(request))


async def _models(request: Request) -> JSONResponse:
    _authorise(request)
    return _reply({"object": "list", "data": [model.listing() for model in MODELS.values()]})


async def _embeddings(request: Request) -> JSONResponse:
    _authorise(request)
    body = await json_object(request, bad_request(NOT_JSON))
    model = _known_model(body)
    if not model.dimensions:
        raise bad_request(
            "You are not allowed to generate embeddings from this model", code="model_not_supported"
        )
    return _reply(_embed(body, model))


_MOST_PAGES, _MOST_SOURCES = 3, 10
_CLOSE_TO_BEST = 0.75
_QUESTION = re.compile(r"(?im)^\W*(?:question|query)\W*:\s*(.+)$")
_SPAN_SHIFT = 3

Mark = Callable[[int, str], str]
"""Makes the mark of a source in the text from its number and its URL."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is packed: its text, its annotations, and the URLs found for it."""

    text: str
    annotations: tuple[dict[str, Any], ...] = ()
    urls: tuple[str, ...] = ()
    searched: bool = False


def _question_of(body: dict[str, Any]) -> str:
    """The question in the last user message of a request: its `Question:` line if it has one, else all of it."""
    message = body["input"]
    if isinstance(message, list):
        users = [item for item in message if item.get("role", "user") == "user"]
        message = users[-1].get("content", "") if users else ""
    if isinstance(message, list):
        message = "\n".join(part.get("text", "") for part in message)
    questions: list[str] = _QUESTION.findall(message)
    return questions[-1].strip() if questions else str(message)


def _researched(request: Request, question: str, body: dict[str, Any], fault: str | None) -> Draft:
    """Search as the search tool wants it, and answer from the results; `fault` names a citation fault to make."""
    tool = next(filter(_is_search, body.get("tools") or []), None)
    if tool is None or body.get("tool_choice") == "none" or fault == "no_search":
        return Draft("I answer this from memory: it depends on the circumstances.")
    location = tool.get("user_location") or {"country": "US"}
    filters = tool.get("filters") or {}
    within = within_domains(request, filters.get("allowed_domains"), filters.get("blocked_domains"))
    region = location.get("country")
    matches = search_pages(request, question, within=within, region=region)[:_MOST_SOURCES]
    if not matches:
        return Draft("I couldn't find a source that answers this.", searched=True)
    least_score = matches[0].score * _CLOSE_TO_BEST
    close = [match for match in matches if match.score >= least_score][:_MOST_PAGES]
    per_page = 2 if len(close) == 1 else 1
    claims = [
        (text, match) for match in close for text in best_sentences(match.page, question, per_page)
    ]
    opening = "📌 " if fault == "utf16_spans" else ""
    draft = _cited(claims, _MARKS.get(fault or "", _link), opening=opening)
    urls = tuple(match.url for match in matches)
    return _spoil(replace(draft, urls=urls, searched=True), fault)


def _link(_: int, url: str) -> str:
    return f"([{urlsplit(url).netloc}]({url}))"


_MARKS: dict[str, Mark] = {
    "raw_markers": lambda number, _: f"\ue200cite\ue202turn0search{number}\ue201",
    "empty_annotations": lambda _, __: "",
}


def _cited(claims: list[tuple[str, Match]], mark: Mark, opening: str) -> Draft:
    text, annotations = opening, []
    for number, (sentence, match) in enumerate(claims):
        url = f"{match.url}?utm_source=openai"
        text += f"{sentence} "
        start = len(text)
        text += mark(number, url)
        if mark is _link:
            place = {"start_index": start, "end_index": len(text)}
            annotations.append(
                {"type": "url_citation", **place, "title": match.page.title, "url": url}
            )
        text += " "
    # A removed mark leaves two spaces, as in real replies.
    return Draft(text if mark is _MARKS["empty_annotations"] else text.rstrip(), tuple(annotations))


def _spoil(draft: Draft, fault: str | None) -> Draft:
    def moved(offset: int) -> int:
        return (
            offset + _SPAN_SHIFT
            if fault == "shifted_spans"
            else len(draft.text[:offset].encode("utf-16-le")) // 2
        )

    if fault not in {"shifted_spans", "utf16_spans"}:
        return draft
    spoiled = (
        {**note, "start_index": moved(note["start_index"]), "end_index": moved(note["end_index"])}
        for note in draft.annotations
    )
    return replace(draft, annotations=tuple(spoiled))


_MOST_INPUTS, _MOST_TOKENS_EACH, _MOST_TOKENS = 2048, 8192, 300_000
_CHARACTERS_PER_TOKEN = 4


def _tokens(text: str) -> int:
    return max(1, math.ceil(len(text) / _CHARACTERS_PER_TOKEN))


def vector(text: str, dimensions: int) -> array[float]:
    """A unit vector: each stem and each of its three-letter pieces adds to one place, with a sign, by its checksum."""
    values = [0.0] * dimensions
    for term in terms(text) or [text]:
        pieces = [term[i : i + 3] for i in range(max(1, len(term) - 2))]
        for piece, weight in [(term, 1.0), *((piece, 0.25) for piece in pieces)]:
            checksum = zlib.crc32(piece.encode())
            values[checksum % dimensions] += weight if checksum & 0x8000_0000 else -weight
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return array("f", (value / length for value in values))


def _embed(body: dict[str, Any], model: Model) -> dict[str, Any]:
    texts, dimensions = _checked_inputs(body.get("input")), model.dimensions
    if (requested := body.get("dimensions")) is not None:
        if not model.may_shorten:
            raise bad_request("This model does not support specifying dimensions.", "dimensions")
        if not (isinstance(requested, int) and 1 <= requested <= dimensions):
            raise bad_request(
                f"Invalid value for 'dimensions': must be 1 to {dimensions}.", "dimensions"
            )
        dimensions = requested
    vectors = (vector(text, dimensions) for text in texts)
    # Little-endian float32, which is what every machine we run on has natively.
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index}
        | {"embedding": base64.b64encode(values.tobytes()).decode() if packed else list(values)}
        for index, values in enumerate(vectors)
    ]
    total = sum(map(_tokens, texts))
    usage = {"prompt_tokens": total, "total_tokens": total}
    return {"object": "list", "data": data, "model": model.id, "usage": usage}


def _checked_inputs(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if (
        not isinstance(texts, list)
        or not texts
        or not all(isinstance(text, str) and text for text in texts)
    ):
        raise bad_request("'$.input' is invalid. Please check the API reference.", "input")
    if len(texts) > _MOST_INPUTS:
        raise bad_request(f"'$.input' is invalid: more than {_MOST_INPUTS} inputs.", "input")
    for position, text in enumerate(texts):
        if _tokens(text) > _MOST_TOKENS_EACH:
            raise bad_request(
                f"Invalid 'input[{position}]': maximum input length is {_MOST_TOKENS_EACH} tokens."
            )
    if (total := sum(map(_tokens, texts))) > _MOST_TOKENS:
        message = f"Requested {total} tokens, max {_MOST_TOKENS} tokens per request"
        raise bad_request(message, code="max_tokens_per_request", kind="max_tokens_per_request")
    return texts


_FIELD_NAMES = (
    "background conversation include input instructions max_output_tokens max_tool_calls metadata model "
    "parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning "
    "safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p "
    "truncation user"
)
_FIELDS = frozenset(_FIELD_NAMES.split())
_INCLUDABLE = (
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
)
_SEARCH_TOOLS = frozenset({"web_search", "web_search_2025_08_26"})
_CONTEXT_SIZES = ("low", "medium", "high")
_LEAST_OUTPUT_TOKENS = 16
_MOST_DOMAINS = 100
_INVALID = "invalid_request_error"
_OVERLOADED = "Our servers are currently overloaded. Please try again later."
_RATE = (
    "Rate limit reached for gpt-5-nano in organization org-sandbox on tokens per min (TPM): Limit 200000, Used 172647, "
    "Requested 31344. Please try again in 1.197s."
)
_QUOTA = "You exceeded your current quota, please check your plan and billing details."

_BY_STATUS: dict[int, tuple[str, str | None, str]] = {
    400: (_INVALID, None, "Invalid request."),
    401: (_INVALID, "invalid_api_key", "Incorrect API key provided."),
    403: (
        "request_forbidden",
        "unsupported_country_region_territory",
        "Country, region, or territory not supported",
    ),
    404: (_INVALID, "model_not_found", "The model does not exist or you do not have access to it."),
    429: ("tokens", "rate_limit_exceeded", _RATE),
    500: (
        "server_error",
        None,
        "The server had an error while processing your request. Sorry about that!",
    ),
    503: ("service_unavailable_error", "server_is_overloaded", _OVERLOADED),
}
_BY_REASON: dict[str, tuple[str, str]] = {
    "insufficient_quota": ("insufficient_quota", _QUOTA),
    "credit_balance_exhausted": ("insufficient_quota", _QUOTA),
    "slow_down": ("service_unavailable_error", "Slow down."),
}


def refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """OpenAI's error of that HTTP status, or of that code where a status has several."""
    kind, code, message = _BY_STATUS.get(status, ("server_error", None, "The server had an error."))
    if reason in _BY_REASON:
        kind, message = _BY_REASON[reason]
    return _error(status, message, kind=kind, code=reason or code)


def _error(
    status: int,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    kind: str = _INVALID,
) -> VendorRefusal:
    return VendorRefusal(
        status, {"error": {"message": message, "type": kind, "param": param, "code": code}}
    )


def bad_request(
    message: str, param: str | None = None, code: str | None = None, kind: str = _INVALID
) -> VendorRefusal:
    return _error(400, message, param=param, code=code, kind=kind)


def _bad_key(key: str) -> VendorRefusal:
    """The refusal of a key, which OpenAI quotes with its middle masked; or of a request without one."""
    if not key:
        return _error(401, "You didn't provide an API key.", kind=_INVALID)
    masked = f"{key[:4]}***{key[-4:]}" if len(key) > 12 else "***"
    place = "You can find your API key at https://platform.openai.com/account/api-keys."
    return _error(401, f"Incorrect API key provided: {masked}. {place}", code="invalid_api_key")


def _known_model(body: dict[str, Any]) -> Model:
    name = body.get("model")
    if not name:
        raise bad_request(
            "Missing required parameter: 'model'.", "model", "missing_required_parameter"
        )
    if name not in MODELS:
        message = f"The model `{name}` does not exist or you do not have access to it."
        raise _error(404, message, code="model_not_found")
    return MODELS[name]


def _listed(values: tuple[str, ...]) -> str:
    quoted = [f"'{value}'" for value in values]
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def _is_search(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("type") in _SEARCH_TOOLS


Fault = tuple[object, str, str | None, str | None]
"""Whether a request has it, the message, the parameter and the code."""


def check_request(body: dict[str, Any]) -> Model:
    """The model of a request that OpenAI accepts. Raises VendorRefusal for any other one."""
    for name in body:
        if name not in _FIELDS:
            raise bad_request(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
    model = _known_model(body)
    for is_wrong, message, param, code in chain(_faults(body), _faults_of_search(model, body)):
        if is_wrong:
            raise bad_request(message, param, code)
    return model


def _faults(body: dict[str, Any]) -> Iterator[Fault]:
    missing = "missing_required_parameter"
    yield not body.get("input"), "Missing required parameter: 'input'.", "input", missing
    for name in ("temperature", "top_p"):
        message = f"Unsupported parameter: '{name}' is not supported with this model."
        yield body.get(name) is not None, message, name, None
    name, limit = "max_output_tokens", body.get("max_output_tokens")
    limit = _LEAST_OUTPUT_TOKENS if limit is None else limit
    yield (
        not isinstance(limit, int),
        f"Invalid type for '{name}': expected an integer.",
        name,
        "invalid_type",
    )
    message = f"Invalid '{name}': integer below minimum value. Expected a value >= {_LEAST_OUTPUT_TOKENS}, but got {limit}"
    yield limit < _LEAST_OUTPUT_TOKENS, f"{message} instead.", name, "integer_below_min_value"
    for position, included in enumerate(body.get("include") or []):
        message = f"Invalid value: '{included}'. Supported values are: {_listed(_INCLUDABLE)}."
        yield included not in _INCLUDABLE, message, f"include[{position}]", "invalid_value"


def _faults_of_search(model: Model, body: dict[str, Any]) -> Iterator[Fault]:
    tools, choice = body.get("tools") or [], body.get("tool_choice")
    for position, tool in enumerate(tools if isinstance(tools, list) else []):
        where, size = f"tools[{position}]", tool.get("search_context_size", "medium")
        message = f"Invalid value: '{size}'. Supported values are: {_listed(_CONTEXT_SIZES)}."
        yield size not in _CONTEXT_SIZES, message, f"{where}.search_context_size", "invalid_value"
        for name in ("allowed_domains", "blocked_domains"):
            count = len((tool.get("filters") or {}).get(name) or [])
            most, param = f"array with maximum length {_MOST_DOMAINS}", f"{where}.filters.{name}"
            message = f"Invalid '{param}': array too long. Expected an {most}, but got an array with length {count}"
            yield count > _MOST_DOMAINS, f"{message} instead.", param, "array_above_max_length"
    searching, effort = any(map(_is_search, tools)), (body.get("reasoning") or {}).get("effort")
    supported = _listed(model.efforts) if model.efforts else "none"
    message = f"Unsupported value: '{effort}' is not supported with the '{model.id}' model. Supported values are: "
    is_unknown = effort is not None and effort not in model.efforts
    yield is_unknown, f"{message}{supported}.", "reasoning.effort", "unsupported_value"
    minimal = "The following tools cannot be used with reasoning.effort 'minimal': web_search."
    yield searching and effort == "minimal", minimal, "tools", None
    shape = ((body.get("text") or {}).get("format") or {}).get("type")
    yield (
        searching and shape == "json_object",
        "Web Search cannot be used with JSON mode.",
        "tools",
        None,
    )
    kind = choice.get("type") if isinstance(choice, dict) else None
    is_lost = kind is not None and kind not in {tool.get("type") for tool in tools}
    yield is_lost, f"Tool choice '{kind}' not found in 'tools' parameter.", "tool_choice", None


_LUNA_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")

REASONING_TOKENS = {
    "none": 0,
    "minimal": 0,
    "low": 640,
    "medium": 1408,
    "high": 4096,
    "xhigh": 8192,
    "max": 16384,
}
"""Output tokens that an answer's reasoning uses, by effort. Even at `low` it is more than 600."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model. `efforts` is empty for one that does not reason; `dimensions` is 0 unless it embeds."""

    id: str
    created: int
    efforts: tuple[str, ...] = ()
    shutdown_date: str | None = None
    dimensions: int = 0
    may_shorten: bool = False

    def listing(self) -> dict[str, Any]:
        """The entry in `GET /v1/models`."""
        return {
            "id": self.id,
            "object": "model",
            "created": self.created,
            "owned_by": "system",
            "shutdown_date": self.shutdown_date,
        }


_GPT_5_NANO = ("minimal", "low", "medium", "high")

MODELS = {
    model.id: model
    for model in (
        Model("gpt-5-nano", 1754426384, _GPT_5_NANO, "2026-12-11"),
        Model("gpt-5-nano-2025-08-07", 1754426303, _GPT_5_NANO, "2026-12-11"),
        Model("gpt-5.4-nano", 1773014400, ("none", "low", "medium", "high", "xhigh")),
        Model("gpt-5.6-luna", 1782777600, _LUNA_EFFORTS),
        Model("gpt-6-luna", 1790035200, _LUNA_EFFORTS),
        Model("text-embedding-3-small", 1705948997, dimensions=1536, may_shorten=True),
        Model("text-embedding-3-large", 1705953180, dimensions=3072, may_shorten=True),
        Model("text-embedding-ada-002", 1671217299, dimensions=1536),
    )
}


OPENAI = Vendor(
    "openai",
    [
        Route("/v1/responses", _responses, methods=["POST"]),
        Route("/v1/chat/completions", _chat, methods=["POST"]),
        Route("/v1/models", _models),
        Route("/v1/embeddings", _embeddings, methods=["POST"]),
    ],
    refusal,
)
