"""Maps OpenAI's refusals to our errors. The only mapping of the SDK's exceptions.

The codes: https://platform.openai.com/docs/guides/error-codes. OpenAI's own message is passed on only for HTTP 400,
where it says what to change, and only without keys, names of organisations and the question. The message about a wrong
key quotes a part of the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from websearch_gateway.answers.outcomes import ModelGone, declined
from websearch_gateway.errors import (
    RATE_LIMITED,
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.net.retry import PASSING_STATUSES, parse_retry_after

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

OPTIONS = ("tool_choice", "reasoning", "max_tool_calls")
"""Optional parameters that some models refuse."""

_PASSING_CODES = ("server_error", "rate_limit_exceeded", "server_is_overloaded", "slow_down")
_QUOTA = ("insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached", "billing_not_active")
_REFUSED_PROMPTS = ("invalid_prompt", "content_filter", "content_policy_violation")
_IDENTIFIERS = re.compile(r"\b(?:sk|sess|org|proj|req|user)[-_][\w*.-]+")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")
_QUOTED_CHARS = 20
_MAX_MESSAGE = 200


class OptionRefused(SearchValidationError):
    """The model refuses an optional parameter."""

    def __init__(self, option: str) -> None:
        super().__init__(f"OpenAI refused the request: its model does not accept {option}.")
        self.option = option


def from_sdk(error: OpenAIError, private: Sequence[str], now: float) -> SearchError:
    """Our error for one of the SDK's.

    Args:
        private: values that the error must not repeat: the key and the question.
        now: seconds since the epoch.
    """
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APITimeoutError):
        return SearchTimeoutError("OpenAI did not answer in time.")
    if isinstance(error, APIConnectionError):
        return SearchProviderError(
            "OpenAI cannot be reached, or the connection broke off.", retryable=True, details={"reason": "unreachable"}
        )
    if isinstance(error, APIStatusError):
        return _from_status(error, private, now)
    return SearchProviderParseError(f"The OpenAI SDK could not read the reply ({type(error).__name__}).")


def from_failure(failure: Mapping[str, Any]) -> SearchError:
    """Our error for a reply with HTTP 200 whose status is `failed`."""
    code = str(failure.get("code") or "unknown")
    if code == "model_not_found":
        return ModelGone("The model is gone.")
    if code in _REFUSED_PROMPTS:
        return declined()
    if code in _QUOTA:
        return _quota_is_spent()
    shown = code if code.replace("_", "").isalnum() else "unknown"
    return SearchProviderError(f"OpenAI failed ({shown[:60]}).", retryable=code in _PASSING_CODES)


def _from_status(error: APIStatusError, private: Sequence[str], now: float) -> SearchError:
    status, code = error.status_code, error.code or ""
    if code == "model_not_found" or (status == 404 and error.param == "model"):
        return ModelGone("The model does not exist, or not for this key.")
    if status == 401:
        return SearchAuthError("OpenAI rejected the key (HTTP 401); check OPENAI_API_KEY.")
    if status == 403 and not _is_html(error):
        return SearchAuthError(_forbidden(code))
    if status == 402 or code in _QUOTA or error.type in _QUOTA:
        return _quota_is_spent()
    if status in (400, 413, 422):
        return _bad_request(error, private)
    if status == 404:
        return SearchProviderError("There is no Responses API at OPENAI_BASE_URL (HTTP 404).")
    return SearchProviderError(
        "OpenAI's rate limit is reached (HTTP 429)." if status == 429 else f"OpenAI answered with HTTP {status}.",
        retry_after=parse_retry_after(error.response.headers, now),
        retryable=status in PASSING_STATUSES,
        details={"reason": RATE_LIMITED} if status == 429 else None,
    )


def _quota_is_spent() -> SearchProviderError:
    return SearchProviderError(
        "OpenAI's quota for this key is spent; check the plan and billing of the account.", details={"reason": "quota"}
    )


def _forbidden(code: str) -> str:
    if code == "unsupported_country_region_territory":
        return "OpenAI does not serve the country that this gateway calls from (HTTP 403)."
    return "OpenAI does not let this key use the Responses API or its model (HTTP 403); check the key's permissions."


def _is_html(error: APIStatusError) -> bool:
    """Whether this is a proxy's page, such as a bot check, which says nothing about the key."""
    return isinstance(error.body, str) and error.body.startswith("<")


def _bad_request(error: APIStatusError, private: Sequence[str]) -> SearchError:
    body = error.body if isinstance(error.body, Mapping) else {}
    message = body.get("message")
    words = message if isinstance(message, str) else ""
    if error.code in _REFUSED_PROMPTS:
        return declined()
    named = f"{error.param or ''} {words}".casefold().replace(" ", "_")
    if option := next((option for option in OPTIONS if option in named), None):
        return OptionRefused(option)
    shown = _without_identifiers(words, private)
    return SearchValidationError(
        f"OpenAI refused the request (HTTP {error.status_code}){': ' if shown else ''}{shown}."
    )


def _without_identifiers(message: str, private: Sequence[str]) -> str:
    """The message in one line; empty if it quotes a private value."""
    folded = message.casefold()
    for secret in private:
        pieces = {secret[i : i + _QUOTED_CHARS] for i in range(max(1, len(secret) - _QUOTED_CHARS + 1))}
        if any(piece.casefold() in folded for piece in pieces):
            return ""
    return _BLANK.sub(" ", _IDENTIFIERS.sub("…", message)).strip()[:_MAX_MESSAGE].rstrip(". ")
