"""Draws `docs/images/demo.svg`, the picture in the README, from the output of `websearch-gateway demo`."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 80
MOST_LINES = 40
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "demo.svg"
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def opening(printed: str) -> str:
    """The first scenes, as many as fit. An empty line separates them."""
    lines = printed.strip("\n").splitlines()
    last = max(number for number, line in enumerate(lines[: MOST_LINES + 1]) if not line.strip())
    return "\n".join(lines[:last])


def picture(printed: str) -> str:
    """The terminal as SVG. It loads nothing, so the reader's own font shows it."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(printed))
    return _FONT_FACE.sub("", console.export_svg(title="websearch-gateway demo", unique_id="demo"))


def main() -> None:
    command = [str(Path(sys.executable).with_name("websearch-gateway")), "demo"]
    environment = {
        **os.environ,
        "FORCE_COLOR": "1",
        "COLUMNS": str(COLUMNS),
        "TERM": "xterm-256color",
    }
    printed = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout
    PICTURE.write_text(picture(opening(printed)), encoding="utf-8")


if __name__ == "__main__":
    main()
