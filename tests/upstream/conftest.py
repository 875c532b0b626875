"""The log of a test."""

import json
import logging

import pytest


@pytest.fixture(autouse=True)
def _logging_as_before():
    root, ours = logging.getLogger(), logging.getLogger("websearch_gateway")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


@pytest.fixture
def told(capsys):
    """The parsed lines on stderr since the last read; stdout belongs to the protocol."""

    def read() -> list[dict]:
        captured = capsys.readouterr()
        assert captured.out == ""
        return [json.loads(line) for line in captured.err.splitlines()]

    return read
