"""What a caller and the log learn of an error."""

from __future__ import annotations

import logging

import pytest

from websearch_gateway.entrypoints.lifecycle import describe
from websearch_gateway.errors import SearchRateLimitError, SearchValidationError
from websearch_gateway.results import LONGEST_MESSAGE

SECRET = "sk-planted-0123456789"


def test_an_error_of_ours_keeps_its_message_and_its_wait_is_rounded_up() -> None:
    info = describe(SearchRateLimitError("too often", retry_after=2.1, details={"limit": "20/10minutes"}))
    assert (info.code, info.message, info.retry_after_seconds) == ("RATE_LIMIT", "too often", 3)
    assert info.details == {"limit": "20/10minutes"}


def test_a_message_that_quotes_a_long_argument_is_cut() -> None:
    info = describe(SearchValidationError(f"No site is called {'x' * 100_000}."))
    assert len(info.message) == LONGEST_MESSAGE
    assert info.message.startswith("No site is called xxx")


def test_an_unexpected_error_leaves_its_frames_in_the_log_and_none_of_its_values(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(key: str) -> None:
        raise KeyError(key)

    with caplog.at_level(logging.ERROR):
        try:
            fail(SECRET)
        except KeyError as error:
            info = describe(error)
    assert info.code == "PROVIDER"
    assert "in fail" in caplog.text
    assert "KeyError" in caplog.text
    for place in (caplog.text, info.message, *capsys.readouterr()):
        assert SECRET not in place
