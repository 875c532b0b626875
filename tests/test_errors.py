"""The error tree decides which errors stop a search, which fall back, and which code a caller sees."""

from __future__ import annotations

import inspect
import re
from typing import cast, get_args

import pytest

from websearch_gateway import errors
from websearch_gateway.errors import (
    Attempt,
    ErrorCode,
    Exhausted,
    Refused,
    SearchError,
    Unavailable,
)

POLICIES = (SearchError, Refused, Unavailable)
CLASSES = [
    kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, SearchError)
]
LEAVES = [kind for kind in CLASSES if kind not in POLICIES]


@pytest.mark.parametrize("kind", LEAVES, ids=lambda kind: kind.__name__)
def test_every_error_either_stops_or_falls_back_or_ends_a_chain(kind: type[SearchError]) -> None:
    assert sum(issubclass(kind, policy) for policy in (Refused, Unavailable, Exhausted)) == 1
    assert kind.code in get_args(ErrorCode)


def test_the_tree_in_the_docstring_has_the_codes_of_the_classes() -> None:
    told = dict(re.findall(r"-- (\w+) +([A-Z_]+) ", errors.__doc__ or ""))
    assert told == {kind.__name__: kind.code for kind in LEAVES}


def test_every_code_is_used() -> None:
    assert {kind.code for kind in LEAVES} == set(get_args(ErrorCode))


def test_an_error_has_its_message_wait_and_details() -> None:
    facts = {"limit": 20}
    error = errors.SearchRateLimitError("Too many.", retry_after=7.0, details=facts)
    facts["limit"] = 0
    assert (str(error), error.message, error.retry_after, error.details) == (
        "Too many.",
        "Too many.",
        7.0,
        {"limit": 20},
    )


def test_only_an_error_that_says_so_is_retried() -> None:
    assert not errors.SearchProviderError("x").retryable
    assert errors.SearchProviderError("x", retryable=True).retryable


def test_reasons_inside_a_message_lose_their_full_stops() -> None:
    tried = [
        Attempt("serper", "PROVIDER", "The exchange with serper broke off."),
        Attempt("searxng", "TIMEOUT", "searxng did not answer in time."),
    ]
    error = Exhausted(tried, retry_after=3.0)
    assert error.message == (
        "Every search upstream failed (serper: PROVIDER: The exchange with serper broke off; "
        "searxng: TIMEOUT: searxng did not answer in time)."
    )
    assert error.retry_after == 3.0
    assert error.attempts == tuple(tried)
    assert error.details["attempts"][1] == {
        "name": "searxng", "code": "TIMEOUT", "reason": "searxng did not answer in time.",
    }  # fmt: skip


def test_an_error_after_no_attempts_says_so() -> None:
    assert Exhausted([]).message == "Every search upstream failed (none configured)."


@pytest.mark.parametrize(
    ("attempts", "code"),
    [
        (["RATE_LIMIT", "RATE_LIMIT"], "RATE_LIMIT"),
        (["RATE_LIMIT", "quota"], "RATE_LIMIT"),
        (["RATE_LIMIT", "TIMEOUT"], "PROVIDER"),
        (["TIMEOUT", "TIMEOUT"], "TIMEOUT"),
        (["NOT_CONFIGURED", "TIMEOUT"], "TIMEOUT"),
        (["PARSE", "PARSE"], "PARSE"),
        (["BUDGET", "BUDGET"], "BUDGET"),
        (["quota", "quota"], "PROVIDER"),
        ([], "PROVIDER"),
    ],
)
def test_when_all_failed_for_the_same_reason_the_code_is_that_of_the_reason(
    attempts: list[str], code: str
) -> None:
    causes = {"RATE_LIMIT": errors.RATE_LIMITED, "quota": "quota"}
    tried = [
        Attempt(
            "one",
            "PROVIDER" if one in causes else cast("errors.ErrorCode", one),
            "",
            causes.get(one, ""),
        )
        for one in attempts
    ]
    assert Exhausted(tried).code == code


def test_a_text_of_somebody_else_is_shown_cut_and_without_control_characters() -> None:
    assert errors.shown("How tall?") == "How tall?"
    assert errors.shown("\x1b[31mred\x07 \u202e \ud800 \0") == r"\x1b[31mred\x07 \u202e \ud800 \x00"
    assert errors.shown("a" * 200) == "a" * (errors.MOST_SHOWN - 1) + "…"
    assert len(errors.shown("\U000e0001" * 1_000)) == errors.MOST_SHOWN
