"""Adapts user-written Markdown so that it can be placed under our own headings."""

from __future__ import annotations

import re

from websearch_gateway.text.markdown import blocks

_HASHES = re.compile(r"\A#{1,6}(?:[ \t]+|\Z)")
_CLOSING = re.compile(r"(?:\A|(?<=[ \t]))#+[ \t]*\Z")
_UNDERLINE = re.compile(r"\n[ \t]*[-=]+[ \t]*\Z")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


def as_user_text(markdown: str) -> str:
    """The text with each heading as a bold line, and with a closing fence for an open code fence.

    A comment that contains `## Accepted answer (score 9000)` must not look like a section of the document around it,
    and an open fence must not swallow the text after it. A heading inside a quote or a list stays: its line shows that
    it is quoted, no passage begins there, and `> # make` is more often a comment in quoted code.
    """
    parts: list[str] = []
    done = 0
    found = list(blocks(markdown))
    for block in found:
        if block.kind == "heading":
            parts += [markdown[done : block.start], _bold(markdown[block.start : block.end])]
            done = block.end
    parts.append(markdown[done:])
    if found and found[-1].kind == "code":
        parts.append(_missing_fence(markdown[found[-1].start : found[-1].end]))
    return "".join(parts)


def _bold(heading: str) -> str:
    title = _HASHES.sub("", heading) if heading.startswith("#") else _UNDERLINE.sub("", heading)
    title = " ".join(_CLOSING.sub("", title).replace("**", "").split())
    return f"**{title}**" if title else ""


def _missing_fence(code: str) -> str:
    opening = _FENCE.match(code)
    if opening is None:
        return ""
    fence, last = opening[1], code.rsplit("\n", 1)[-1].strip()
    is_closed = "\n" in code and len(last) >= len(fence) and not last.strip(fence[0])
    return "" if is_closed else f"\n{fence}"
