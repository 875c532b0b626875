"""The time at which a quota resets, as the two vendors that report it write it."""

from __future__ import annotations

import pytest

from websearch_gateway.net.quota_reset import LONGEST_SECONDS, seconds_until_reset

NOW = 1_790_000_000.0


@pytest.mark.parametrize(
    ("remaining", "reset", "seconds"),
    [
        ("0", str(int(NOW) + 90), 90.0),  # GitHub: the moment
        ("0.0", "45", 45.0),  # Reddit: the while
        ("1", "45", 0.0),
        ("0", str(int(NOW) - 5), 0.0),
        ("0", str(int(NOW) + 10**9), LONGEST_SECONDS),
        ("0", "inf", 0.0),
        ("0", "soon", 0.0),
        ("none", "45", 0.0),
    ],
)
def test_only_an_exhausted_quota_gives_a_wait_of_at_most_a_day(remaining: str, reset: str, seconds: float) -> None:
    headers = {"x-ratelimit-remaining": remaining, "x-ratelimit-reset": reset}
    assert seconds_until_reset(headers, NOW) == seconds


def test_a_reply_without_quota_headers_gives_no_wait() -> None:
    assert seconds_until_reset({"x-ratelimit-remaining": "0"}, NOW) == 0.0
