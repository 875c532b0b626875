"""Small SVG bars: without inline styles, which the policy forbids, only SVG can set a length."""

from __future__ import annotations

import math
from collections.abc import Sequence

from websearch_gateway.entrypoints.http.pages.html import Html, tag
from websearch_gateway.entrypoints.http.status.words import dollars, duration
from websearch_gateway.upstream.ledger import Day

FASTEST, SLOWEST = 0.01, 15.0
"""Seconds at the ends of the bar of latencies."""


def share_bar(parts: Sequence[tuple[str, float]], text: str) -> Html:
    """Shares of one, side by side, as (class, share). `text` says the same in words."""
    drawn, start = [], 0.0
    for kind, share in parts:
        drawn.append(_rectangle(kind, start * 100, 0, share * 100, 6))
        start += share
    return _drawing("share", 100, 6, text, _rectangle("track", 0, 0, 100, 6), *drawn)


def range_bar(p50: float | None, p95: float | None) -> Html:
    """From the median to the 95th percentile, on a logarithmic scale."""
    track = _rectangle("track", 0, 3, 100, 2)
    if p50 is None or p95 is None:
        return _drawing("range", 100, 8, "no latency yet", track)
    left, right = _place(p50), max(_place(p95), _place(p50) + 1.5)
    band = _rectangle("fill soft", left, 2, right - left, 4)
    text = f"half within {duration(p50)}, 95 of 100 within {duration(p95)}"
    return _drawing("range", 100, 8, text, track, band, _rectangle("fill", left, 0, 1.5, 8))


def days_bars(days: Sequence[Day]) -> Html:
    """What each day cost, today at the right."""
    most = max((day.usd for day in days), default=0.0) or 1.0
    bars = []
    for place, day in enumerate(reversed(days)):
        height = max(1.0, 20 * day.usd / most)
        bars.append(_rectangle("fill" if day is days[0] else "fill soft", place * 10, 20 - height, 7, height))
    text = "; ".join(f"{day.day}: {dollars(day.usd)}" for day in reversed(days))
    return _drawing("days", 10 * len(days) - 3, 20, text, *bars)


def _place(seconds: float) -> float:
    held = min(max(seconds, FASTEST), SLOWEST)
    return 97 * math.log(held / FASTEST) / math.log(SLOWEST / FASTEST)


def _drawing(kind: str, width: float, height: float, text: str, *shapes: Html) -> Html:
    box = f"0 0 {width:g} {height:g}"
    # The name of this attribute has a capital letter, which keyword arguments keep.
    return tag("svg", tag("title", text), *shapes, class_=kind, viewBox=box, preserveAspectRatio="none", role="img")


def _rectangle(kind: str, x: float, y: float, width: float, height: float) -> Html:
    return tag("rect", class_=kind, x=f"{x:.2f}", y=f"{y:.2f}", width=f"{width:.2f}", height=f"{height:.2f}")
