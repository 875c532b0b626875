"""Numbers as people read them."""

from __future__ import annotations

NONE = "–"
_NEAR = "\N{NO-BREAK SPACE}"


def duration(seconds: float | None) -> str:
    """A latency: `8 ms`, `412 ms`, `1.2 s`."""
    if seconds is None:
        return NONE
    return f"{seconds * 1000:.0f}{_NEAR}ms" if seconds < 0.9995 else f"{seconds:.1f}{_NEAR}s"


def span(seconds: float) -> str:
    """A long time in its largest unit: `42 s`, `3 min`, `4 h`, `9 d`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds / size)}{_NEAR}{unit}"
    return f"{max(0, int(seconds))}{_NEAR}s"


def dollars(usd: float) -> str:
    """An amount: in cents, or with more digits if it is below a cent: `$12.40`, `$0.0021`."""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.4f}"


def percent(share: float) -> str:
    """A share as a percentage, never rounded up to 100% or down to 0%."""
    if 0 < share < 0.01:
        return "< 1%"
    if 0.99 < share < 1:
        return "> 99%"
    return f"{share:.0%}"


def facts(*parts: str) -> str:
    """Short facts in a row; a line breaks only between two of them."""
    return " · ".join(fact.replace(" ", _NEAR) for fact in parts)
