"""Every error that the gateway raises, and what the pipeline does about it.

The class of an error decides the policy, so the fallback never inspects messages::

    SearchError
    |-- Refused                        stop: another upstream cannot help, or would hide the cause
    |   |-- SearchValidationError      VALIDATION      the caller must change the request
    |   |-- SearchAuthError            AUTH            a key or token is wrong
    |   |-- SearchRateLimitError       RATE_LIMIT      the caller is over the gateway's own limit
    |   |-- SearchNotConfiguredError   NOT_CONFIGURED  a setting is missing
    |   `-- ForbiddenUrlError          FORBIDDEN_URL   the address may not be fetched
    |-- Unavailable                    try the next one and pause this one
    |   |-- SearchProviderError        PROVIDER        an upstream failed or refused for now
    |   |-- SearchTimeoutError         TIMEOUT         an upstream did not answer in time
    |   |-- SearchFetchError           FETCH           a page could not be fetched or read
    |   |-- SearchProviderParseError   PARSE           a reply is not what the vendor documents
    |   |-- NotAsked                   PROVIDER        an upstream with an open circuit, or no turn in time
    |   |   `-- SearchBudgetError      BUDGET          the day's budget does not cover it; a free one may serve
    |   `-- StateUnavailable           PROVIDER        the shared state cannot be reached; continue without it
    `-- Exhausted                      PROVIDER        every upstream was tried; names each attempt (the common
                                                       code if all failed alike: RATE_LIMIT, TIMEOUT, BUDGET ...)

Callers see the messages. They never contain a key, a token or a query.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ErrorCode = Literal[
    "AUTH",
    "RATE_LIMIT",
    "PROVIDER",
    "VALIDATION",
    "PARSE",
    "TIMEOUT",
    "BUDGET",
    "NOT_CONFIGURED",
    "FORBIDDEN_URL",
    "FETCH",
]


RATE_LIMITED = "rate_limit"
"""`details["reason"]` of an upstream that answered 429, or has no turn in its rate limit before the deadline."""

UNUSABLE = ("AUTH", "NOT_CONFIGURED")
"""Codes of an upstream that cannot serve until its operator corrects a setting."""

QUOTA = "quota"
"""`details["reason"]` of an upstream whose account has no quota or credit left."""

QUOTA_PAUSE_SECONDS = 900.0
"""How long such an upstream rests (seconds). Quotas return after hours, but an operator may pay sooner."""

BLOCKED = "blocked"
"""`details["reason"]` of an upstream that treats this address as a bot."""

UNRELATED = "unrelated results"
"""`details["reason"]` of an upstream whose results have nothing to do with the query."""

TOO_COSTLY = "too_costly"
"""`details["reason"]` of a job that took more time than jobs may."""

NO_MODEL = "no_model"
"""`details["reason"]` of an embedding server that does not have the model."""


MOST_SHOWN = 100
"""The most characters to quote from a caller or from a library's message."""


def shown(text: str, most: int = MOST_SHOWN) -> str:
    """A text of somebody else for an error or a log: cut, and with escapes for what a terminal would not print."""
    seen = text[: most + 1]
    if not seen.isprintable():
        seen = "".join(
            character if character.isprintable() or character == "\n" else repr(character)[1:-1]
            for character in seen
        )
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"


def frames(error: BaseException) -> str:
    """Where an error was raised, for a log. Without values and without its text: both may quote a query or a key."""
    return "".join(traceback.format_tb(error.__traceback__))


class SearchError(Exception):
    """The root of all errors of the gateway.

    Args:
        message: one sentence for the caller: what is wrong and what to do about it.
        retry_after: seconds after which the same call may succeed, if known.
        details: JSON-ready facts for a program, such as the limits that were broken.
    """

    code: ErrorCode = "PROVIDER"

    def __init_subclass__(cls, code: ErrorCode | None = None) -> None:
        cls.code = code or cls.code

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.details = dict(details) if details else {}


class Refused(SearchError):
    """Stop: the request, a key or a limit is at fault, not an upstream."""


class SearchValidationError(Refused, code="VALIDATION"):
    """The request itself is unacceptable and must be changed."""


class SearchAuthError(Refused, code="AUTH"):
    """A key or token was rejected. Shown to the operator, never masked by a fallback."""


class SearchRateLimitError(Refused, code="RATE_LIMIT"):
    """The caller, or the gateway as a whole, is over its own limit."""


class SearchNotConfiguredError(Refused, code="NOT_CONFIGURED"):
    """A setting that this call needs is missing; the message names it."""


class ForbiddenUrlError(Refused, code="FORBIDDEN_URL"):
    """The URL points to an address that the gateway must not fetch."""


class Unavailable(SearchError):
    """This upstream cannot serve now; another may. Do not call it again for `retry_after` seconds.

    `retryable` tells `net.requests` whether to send the same request once more at once.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        retryable: bool = False,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, retry_after=retry_after, details=details)
        self.retryable = retryable


class SearchProviderError(Unavailable, code="PROVIDER"):
    """An upstream failed: 5xx, its own rate limit, an exhausted quota, a refused connection."""


class SearchTimeoutError(Unavailable, code="TIMEOUT"):
    """An upstream or the whole call ran out of time."""


class SearchFetchError(Unavailable, code="FETCH"):
    """A page could not be fetched, or was fetched and cannot be read."""


class SearchProviderParseError(Unavailable, code="PARSE"):
    """A reply arrived, but its format is not the one that the vendor documents."""


class NotAsked(Unavailable):
    """Nothing was sent: the circuit is open after failures, or the rate limit leaves no turn before the deadline."""


class SearchBudgetError(NotAsked, code="BUDGET"):
    """The day's budget does not cover a call of this upstream. A free one may serve."""


class StateUnavailable(Unavailable, code="PROVIDER"):
    """The state backend failed. Never stops a search: limits and caches continue in memory."""


def shortest(waits: Iterable[float | None]) -> float | None:
    """The shortest of several `retry_after`; None if one of them is unknown, since it may be the shortest."""
    known = list(waits)
    return (
        None if None in known else min((wait for wait in known if wait is not None), default=None)
    )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One upstream that was tried, and why it failed. `cause` is `details["reason"]` of its error."""

    name: str
    code: ErrorCode
    reason: str
    cause: str = ""


class Exhausted(SearchError):
    """Every upstream failed. `attempts` holds each name and reason, in order.

    If all failed for the same reason, `code` is that of the reason: RATE_LIMIT if each hit a rate limit.
    `advice` says how the operator can fix it permanently.
    """

    def __init__(
        self, attempts: Sequence[Attempt], *, retry_after: float | None = None, advice: str = ""
    ) -> None:
        tried = (
            "; ".join(f"{a.name}: {a.code}: {a.reason.removesuffix('.')}" for a in attempts)
            or "none configured"
        )
        super().__init__(
            f"Every search upstream failed ({tried}).{' ' if advice else ''}{advice}",
            retry_after=retry_after,
            details={
                "attempts": [{"name": a.name, "code": a.code, "reason": a.reason} for a in attempts]
            },
        )
        self.attempts = tuple(attempts)
        self.advice = advice
        self.code = _common_code([attempt for attempt in attempts if attempt.code not in UNUSABLE])


def _common_code(attempts: Sequence[Attempt]) -> ErrorCode:
    causes = {attempt.cause for attempt in attempts}
    if RATE_LIMITED in causes and causes <= {RATE_LIMITED, QUOTA}:
        return "RATE_LIMIT"
    codes = {attempt.code for attempt in attempts}
    return codes.pop() if len(codes) == 1 else "PROVIDER"
