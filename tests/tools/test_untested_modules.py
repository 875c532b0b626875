"""Tests mirror the tree."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
untested = runpy.run_path(str(ROOT / "tools" / "untested_modules.py"))["untested"]

MOST = 115
"""How many modules are tested by files of other names alone. Lower it; never raise it."""


def test_a_new_module_comes_with_a_test_of_its_name() -> None:
    """See the list with `python tools/untested_modules.py`."""
    assert len(untested()) <= MOST
