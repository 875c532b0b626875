"""Replies of OpenAI in the shape of real ones; their contents are invented."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPLIES = Path(__file__).parent / "replies"


@pytest.fixture
def recorded() -> Callable[[str], dict[str, Any]]:
    """Reads `replies/NAME.json`."""
    return lambda name: json.loads((REPLIES / f"{name}.json").read_text(encoding="utf-8"))
