"""Long texts in windows that together are the text."""

from __future__ import annotations


def window(text: str, offset: int, most: int) -> tuple[str, int | None]:
    """At most `most` characters of `text` from `offset` on, and where the next window begins; None after the last.

    A window ends with a line, where one ends in its last eighth. No character is lost or told twice: windows that are
    asked for one after the other make up the text.

    Args:
        offset: from 0; beyond the end the window is empty.
        most: at least 1.
    """
    end = offset + most
    if end >= len(text):
        return text[offset:], None
    line_end = text.rfind("\n", end - most // 8, end) + 1
    end = line_end or end
    return text[offset:end], end
