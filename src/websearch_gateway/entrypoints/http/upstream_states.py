"""How the upstreams are, in a word each and in one sentence."""

from __future__ import annotations

from datetime import datetime

from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.upstream.health import UpstreamStatus
from websearch_gateway.upstream.ledger import LEVELS

REFUSED_SECONDS = 600.0
"""How long after rejecting our key an upstream counts as down: its circuit does not open for that."""

KEY_REJECTED = "key rejected"

_REFUSALS = {"AUTH": KEY_REJECTED, "NOT_CONFIGURED": "not set up"}
"""The state of an upstream by the code of its last error, while its circuit is closed."""

_STATES = {
    "closed": ("ok", "healthy"),
    "half_open": ("warn", "probing"),
    "open": ("bad", "circuit open"),
}

_MOST_NAMES = 2
"""More upstreams than this are counted, not named: the sentence is a headline."""


def level_of(snapshot: Snapshot, now: datetime) -> tuple[str, str]:
    """The status level of the whole gateway, and a sentence about it. Upstreams without calls do not count."""
    levels = {upstream.name: state_of(upstream, now)[0] for upstream in snapshot.upstreams}
    called = [name for name, level in levels.items() if level != "idle"]
    failing = [name for name in called if levels[name] != "ok"]
    if failing:
        level = "bad" if len(failing) == len(called) else "warn"
        is_total = len(failing) == len(levels)
        return level, "Every upstream is failing" if is_total else _failures(snapshot, failing, now)
    if snapshot.state_problem:
        return "warn", "Costs, limits and cache in memory only"
    if snapshot.daily_usd and snapshot.left_usd == 0:
        return "warn", "Today's budget is spent"
    if snapshot.daily_usd and snapshot.left_usd is not None:
        used = 1 - snapshot.left_usd / snapshot.daily_usd
        if used >= LEVELS[0]:
            return "warn", f"{used:.0%} of today's budget is spent"
    if not called:
        return "idle", "Waiting for the first call"
    if len(called) < len(levels):
        return "ok", "Every upstream asked so far is healthy"
    return "ok", "All upstreams are healthy"


def state_of(upstream: UpstreamStatus, now: datetime) -> tuple[str, str]:
    """The status level of an upstream, and its state in words."""
    if upstream.breaker != "closed":
        return _STATES[upstream.breaker]
    error = upstream.last_error
    is_recent = error is not None and (now - error.at).total_seconds() < REFUSED_SECONDS
    if error is not None and is_recent and error.code in _REFUSALS:
        return "bad", _REFUSALS[error.code]
    return _STATES["closed"] if upstream.calls else ("idle", "not asked")


def _failures(snapshot: Snapshot, failing: list[str], now: datetime) -> str:
    """Which upstreams fail, and whose keys are rejected."""
    states = {upstream.name: state_of(upstream, now) for upstream in snapshot.upstreams}
    rejected = [name for name, (_, words) in states.items() if words == KEY_REJECTED]
    if not rejected:
        return _are_failing(failing)
    keys = f"Key of {' and '.join(rejected[:_MOST_NAMES])} rejected"
    return keys if failing == rejected else f"{_are_failing(failing)}. {keys}"


def _are_failing(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{len(names)} upstreams are failing"
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} failing"
