"""CSS custom properties: inherited by child elements, and substituted for `var()`.

https://www.w3.org/TR/css-variables-1/. A `var()` that the page itself does not define stays as written, which gives a
value that never hides text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Style = Mapping[str, str]
NONE: Style = {}

MAX_ROUNDS = 6
MAX_VALUE_CHARS = 300

_VAR = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,([^()]*+(?:\([^()]*+\)[^()]*+)*+))?\)")


def resolved(style: Style, inherited: Style) -> tuple[Style, Style]:
    """The style with its variables substituted, and all variables that its children inherit."""
    if not style:
        return style, inherited
    own = {name: value for name, value in style.items() if name.startswith("--")}
    known = {**inherited, **own} if own else inherited
    if not any("var(" in value for value in style.values()):
        return style, known
    return {name: value if name in own else _filled(value, known) for name, value in style.items()}, known


def _filled(value: str, known: Style) -> str:
    def substitute(var: re.Match[str]) -> str:
        return known.get(var[1], var[2] if var[2] is not None else var[0]).strip()

    for _ in range(MAX_ROUNDS):
        before, value = value, _VAR.sub(substitute, value)
        if value == before or len(value) > MAX_VALUE_CHARS:
            break
    return value[:MAX_VALUE_CHARS]
