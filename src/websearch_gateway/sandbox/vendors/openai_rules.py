"""OpenAI's models, its refusals and their wording (https://platform.openai.com/docs/api-reference/responses).

Efforts and dates follow https://platform.openai.com/docs/models and /docs/deprecations as of November 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from websearch_gateway.sandbox.vendor import VendorRefusal

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
    403: ("request_forbidden", "unsupported_country_region_territory", "Country, region, or territory not supported"),
    404: (_INVALID, "model_not_found", "The model does not exist or you do not have access to it."),
    429: ("tokens", "rate_limit_exceeded", _RATE),
    500: ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
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
    status: int, message: str, *, param: str | None = None, code: str | None = None, kind: str = _INVALID
) -> VendorRefusal:
    return VendorRefusal(status, {"error": {"message": message, "type": kind, "param": param, "code": code}})


def bad_request(message: str, param: str | None = None, code: str | None = None, kind: str = _INVALID) -> VendorRefusal:
    """A refusal with HTTP 400."""
    return _error(400, message, param=param, code=code, kind=kind)


def bad_key(key: str) -> VendorRefusal:
    """The refusal of a key, which OpenAI quotes with its middle masked; or of a request without one."""
    if not key:
        return _error(401, "You didn't provide an API key.", kind=_INVALID)
    masked = f"{key[:4]}***{key[-4:]}" if len(key) > 12 else "***"
    place = "You can find your API key at https://platform.openai.com/account/api-keys."
    return _error(401, f"Incorrect API key provided: {masked}. {place}", code="invalid_api_key")


def known_model(body: dict[str, Any]) -> Model:
    """The model that a request names.

    Raises:
        VendorRefusal: the model is missing or does not exist.
    """
    name = body.get("model")
    if not name:
        raise bad_request("Missing required parameter: 'model'.", "model", "missing_required_parameter")
    if name not in MODELS:
        message = f"The model `{name}` does not exist or you do not have access to it."
        raise _error(404, message, code="model_not_found")
    return MODELS[name]


def _listed(values: tuple[str, ...]) -> str:
    quoted = [f"'{value}'" for value in values]
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def is_search(tool: Any) -> bool:
    """Whether a tool of a request is web search."""
    return isinstance(tool, dict) and tool.get("type") in _SEARCH_TOOLS


def check_response_request(body: dict[str, Any]) -> Model:
    """Refuse the same requests as `POST /v1/responses`. Returns the model.

    Raises:
        VendorRefusal: HTTP 400 or 404.
    """
    for name in body:
        if name not in _FIELDS:
            raise bad_request(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
    model = known_model(body)
    if not body.get("input"):
        raise bad_request("Missing required parameter: 'input'.", "input", "missing_required_parameter")
    for name in ("temperature", "top_p"):
        if body.get(name) is not None:
            raise bad_request(f"Unsupported parameter: '{name}' is not supported with this model.", name)
    _check_tokens(body.get("max_output_tokens"))
    _check_include(body.get("include") or [])
    tools = body.get("tools") or []
    for position, tool in enumerate(tools):
        if is_search(tool):
            _check_search_tool(tool, f"tools[{position}]")
    _check_effort(model, body, searching=any(map(is_search, tools)))
    _check_choice(body.get("tool_choice"), tools)
    return model


def _check_tokens(limit: Any) -> None:
    if limit is None:
        return
    if not isinstance(limit, int):
        raise bad_request(
            "Invalid type for 'max_output_tokens': expected an integer.", "max_output_tokens", "invalid_type"
        )
    if limit < _LEAST_OUTPUT_TOKENS:
        message = (
            "Invalid 'max_output_tokens': integer below minimum value. "
            f"Expected a value >= {_LEAST_OUTPUT_TOKENS}, but got {limit} instead."
        )
        raise bad_request(message, "max_output_tokens", "integer_below_min_value")


def _check_include(include: list[Any]) -> None:
    for position, name in enumerate(include):
        if name not in _INCLUDABLE:
            message = f"Invalid value: '{name}'. Supported values are: {_listed(_INCLUDABLE)}."
            raise bad_request(message, f"include[{position}]", "invalid_value")


def _check_search_tool(tool: dict[str, Any], where: str) -> None:
    size = tool.get("search_context_size", "medium")
    if size not in _CONTEXT_SIZES:
        message = f"Invalid value: '{size}'. Supported values are: {_listed(_CONTEXT_SIZES)}."
        raise bad_request(message, f"{where}.search_context_size", "invalid_value")
    for name in ("allowed_domains", "blocked_domains"):
        _check_domains((tool.get("filters") or {}).get(name) or [], f"{where}.filters.{name}")


def _check_domains(domains: list[Any], param: str) -> None:
    if len(domains) > _MOST_DOMAINS:
        message = (
            f"Invalid '{param}': array too long. Expected an array with maximum length {_MOST_DOMAINS}, "
            f"but got an array with length {len(domains)} instead."
        )
        raise bad_request(message, param, "array_above_max_length")


def _check_effort(model: Model, body: dict[str, Any], *, searching: bool) -> None:
    effort = (body.get("reasoning") or {}).get("effort")
    if effort is not None and effort not in model.efforts:
        message = (
            f"Unsupported value: '{effort}' is not supported with the '{model.id}' model. "
            f"Supported values are: {_listed(model.efforts) if model.efforts else 'none'}."
        )
        raise bad_request(message, "reasoning.effort", "unsupported_value")
    if searching and effort == "minimal":
        raise bad_request("The following tools cannot be used with reasoning.effort 'minimal': web_search.", "tools")
    if searching and ((body.get("text") or {}).get("format") or {}).get("type") == "json_object":
        raise bad_request("Web Search cannot be used with JSON mode.", "tools")


def _check_choice(choice: Any, tools: list[Any]) -> None:
    if isinstance(choice, dict) and choice.get("type") not in {tool.get("type") for tool in tools}:
        message = f"Tool choice '{choice.get('type')}' not found in 'tools' parameter."
        raise bad_request(message, "tool_choice")


_LUNA_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")

REASONING_TOKENS = {"none": 0, "minimal": 0, "low": 640, "medium": 1408, "high": 4096, "xhigh": 8192, "max": 16384}
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
