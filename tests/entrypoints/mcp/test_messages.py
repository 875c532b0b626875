"""Messages that the SDK cannot read."""

from __future__ import annotations

import pytest
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
)

from websearch_gateway.entrypoints.mcp.messages import refusal_of, refusal_of_value

DEEP = "[" * 400 + "]" * 400
"""Deeper than pydantic reads, and not than Python does."""
TOO_DEEP = "[" * 20_000 + "]" * 20_000

NO_REPLY = "no reply"


def refused(line: str) -> int | str | None:
    """The id under which a line is refused."""
    refusal = refusal_of(line)
    if refusal is None:
        return NO_REPLY
    assert isinstance(refusal.message, JSONRPCError)
    assert refusal.message.error.code == PARSE_ERROR
    return refusal.message.id


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":1,"a":%s}}', 7),
        (
            '{"method":"tools/call","params":{"method":"m","a":%s},"jsonrpc":"2.0","id":"seven"}',
            "seven",
        ),
        ('{ "method" : "tools/call", "params": {"a": %s, "b": "}}\\"{"}, "id" : -7 }', -7),
        ('{"method":"notifications/initialized","params":%s}', NO_REPLY),
        ('{"jsonrpc":"2.0","method":"m","params":{"id":7,"a":%s}}', NO_REPLY),
        ('{"jsonrpc":"2.0","id":7,"result":%s}', NO_REPLY),
        ('{"id":{"id":7},"method":"m","params":%s}', None),
        ('{"id":7.5,"method":"m","params":%s}', None),
        ('[{"id":7,"method":"m","params":%s}]', None),
    ],
)
def test_a_deep_request_is_refused_under_its_id_or_null(
    line: str, expected: int | str | None
) -> None:
    assert refused(line % DEEP) == expected
    assert refused(line % TOO_DEEP) == expected


@pytest.mark.parametrize("line", ["{", "nonsense", "{}}", '{"id": 7', '"', "\x00"])
def test_a_line_that_is_not_json_is_refused(line: str) -> None:
    assert refused(line) is None


@pytest.mark.parametrize("line", ["", " \t\r"])
def test_an_empty_line_is_not_answered(line: str) -> None:
    assert refused(line) == NO_REPLY


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ({"jsonrpc": "2.0", "id": 7, "method": 1}, 7),
        ({"jsonrpc": "1.0", "id": "seven", "method": "ping"}, "seven"),
        ({"jsonrpc": "2.0", "id": 7}, 7),
        ({"method": "ping", "id": {"a": 1}}, None),
        ({"method": "ping", "id": True}, None),
        ({"method": "ping", "id": 10**400}, None),
        ({"method": "ping", "id": "a" * 300}, None),
        ({}, None),
        ([{"jsonrpc": "2.0", "id": 7, "method": "ping"}], None),
        ("ping", None),
        (None, None),
    ],
)
def test_json_that_is_no_request_is_refused_under_its_id_or_none(
    message: object, name: int | str | None
) -> None:
    refusal = refusal_of_value(message)
    assert refusal is not None
    assert isinstance(refusal.message, JSONRPCError)
    assert (refusal.message.id, refusal.message.error.code) == (name, INVALID_REQUEST)


@pytest.mark.parametrize(
    "message", [{"id": 7, "result": 1}, {"jsonrpc": "2.0", "id": None, "error": "x"}]
)
def test_a_broken_response_is_not_answered(message: object) -> None:
    assert refusal_of_value(message) is None
