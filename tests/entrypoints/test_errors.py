"""What a caller and the log learn of an error."""

from __future__ import annotations

import logging

import pytest

from websearch_gateway.entrypoints.errors import describe
from websearch_gateway.errors import SearchRateLimitError, SearchValidationError
from websearch_gateway.results.base import LONGEST_MESSAGE

SECRET = "sk-planted-0123456789"


def test_an_error_of_ours_is_told_as_it_is_and_waits_are_rounded_up() -> None:
    told = describe(SearchRateLimitError("too often", retry_after=2.1, details={"limit": "20/10minutes"}))
    assert (told.code, told.message, told.retry_after_seconds) == ("RATE_LIMIT", "too often", 3)
    assert told.details == {"limit": "20/10minutes"}


def test_a_message_that_quotes_a_long_argument_is_cut() -> None:
    told = describe(SearchValidationError(f"No site is called {'x' * 100_000}."))
    assert len(told.message) == LONGEST_MESSAGE
    assert told.message.startswith("No site is called xxx")


def test_an_unexpected_error_leaves_its_frames_in_the_log_and_none_of_its_values(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(key: str) -> None:
        raise KeyError(key)

    with caplog.at_level(logging.ERROR):
        try:
            fail(SECRET)
        except KeyError as error:
            told = describe(error)
    assert told.code == "PROVIDER"
    assert "in fail" in caplog.text
    assert "KeyError" in caplog.text
    for place in (caplog.text, told.message, *capsys.readouterr()):
        assert SECRET not in place
