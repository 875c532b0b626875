"""The markers that OpenAI's models write for a citation and that its API normally turns into links.

Some replies contain raw markers: U+E200 `cite` U+E202 `turn0search0` U+E201, sometimes torn or without the
private-use characters (https://github.com/openai/openai-agents-python/issues/2051).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from websearch_gateway.models import Span
from websearch_gateway.text.citation.spans import cut, moved

_SOURCE = r"turn\d{1,4}[a-z]{1,12}\d{1,4}"
MARKER = (
    r"(?:\ue200[^\ue200\ue201\n]{0,500}+\ue201"  # complete
    r"|\ue200[^\ue200\ue201\s]{0,120}+\Z"  # truncated with the text
    rf"|\ue200[a-z]{{0,12}}(?:\ue202{_SOURCE})*+"  # torn
    rf"|\b(?:file)?cite(?:{_SOURCE})++(?!\w)"  # without its private-use characters
    r"|[\ue200-\ue20f])"  # a remaining character of one
)
_RUN = re.compile(rf"[ \t]{{0,8}}+{MARKER}(?:[ \t]{{0,8}}+{MARKER})*+(?=[\s.,;:!?)]|\Z)|{MARKER}++")


def strip_markers(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """`text` without markers and the blanks before them, and the spans with new offsets.

    A span that covered only a marker becomes empty and is at the end of its claim.
    """
    bare, move = cut(text, [match.span() for match in _RUN.finditer(text)])
    return bare, moved(spans, move)
