"""The picture of the demo: whole scenes of the real output, and nothing to load."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "demo_picture.py"))


def test_only_whole_scenes_are_shown() -> None:
    scene = "\n".join(["", *(f"line {number}" for number in range(15))])
    shown = TOOL["opening"]("\n".join([scene] * 4))
    assert shown.split("\n\n") == [scene.strip()] * 2


def test_a_terminal_is_drawn_with_its_colours_and_without_anything_to_load() -> None:
    drawn = TOOL["picture"]("\x1b[31mred\x1b[0m and plain")
    ElementTree.fromstring(drawn)
    assert ">red</text>" in drawn
    assert "@font-face" not in drawn
    assert "url(http" not in drawn


def test_the_readme_shows_the_picture_that_the_tool_draws() -> None:
    place = TOOL["PICTURE"].relative_to(ROOT).as_posix()
    assert f"]({place})" in (ROOT / "README.md").read_text()
    drawn = TOOL["PICTURE"].read_text()
    assert "@font-face" not in drawn
    assert re.search(r"Eiffel.{0,6}Tower", drawn)
    assert re.search(r"OpenAI.{0,6}is.{0,6}down", drawn), (
        "the second panel, which the README's text names"
    )
