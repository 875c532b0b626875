"""The warnings and errors that all engines share."""

from __future__ import annotations

from websearch_gateway.answers.outcomes import applying, declined, no_answer, not_searched
from websearch_gateway.errors import Refused, Unavailable


def test_only_notes_whose_condition_is_true_apply() -> None:
    assert applying({"first": 1, "second": 0, "third": "gone", "fourth": ""}) == ("first", "third")


def test_another_engine_replaces_a_bad_reply_but_not_a_declined_question() -> None:
    assert isinstance(declined(), Refused)
    for error in (not_searched("Vendor"), no_answer("Vendor")):
        assert isinstance(error, Unavailable)
        assert "Vendor" in error.message
