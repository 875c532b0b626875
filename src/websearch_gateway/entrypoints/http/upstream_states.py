"""How the upstreams are, in a word each and in one sentence."""

from __future__ import annotations

from datetime import datetime

from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.upstream.health import UpstreamStatus
from websearch_gateway.upstream.ledger import LEVELS

REFUSED_SECONDS = 600.0
"""How long after rejecting our key an upstream counts as down: its circuit does not open for that."""

KEY_REJECTED = "key rejected"

_STATES = {
    "closed": ("ok", "healthy"),
    "half_open": ("warn", "probing"),
    "open": ("bad", "circuit open"),
}
_MOST_NAMES = 2


def level_of(snapshot: Snapshot, now: datetime) -> tuple[str, str]:
    """The status level of the whole gateway, and a sentence about it. Upstreams without calls do not count."""
    levels = {upstream.name: state_of(upstream, now)[0] for upstream in snapshot.upstreams}
    asked = [name for name, level in levels.items() if level != "idle"]
    failing = [name for name in asked if levels[name] != "ok"]
    if failing:
        level = "bad" if len(failing) == len(asked) else "warn"
        if len(failing) == len(levels):
            return level, "Every upstream is failing"
        rejected = [
            upstream.name
            for upstream in snapshot.upstreams
            if state_of(upstream, now)[1] == KEY_REJECTED
        ]
        keys = f"Key of {' and '.join(rejected[:_MOST_NAMES])} rejected" if rejected else ""
        if failing == rejected:
            return level, keys
        return level, f"{_are_failing(failing)}. {keys}" if keys else _are_failing(failing)
    if snapshot.state_problem:
        return "warn", "Costs, limits and cache in memory only"
    if snapshot.daily_usd and snapshot.left_usd == 0:
        return "warn", "Today's budget is spent"
    if snapshot.daily_usd and snapshot.left_usd is not None:
        used = 1 - snapshot.left_usd / snapshot.daily_usd
        if used >= LEVELS[0]:
            return "warn", f"{used:.0%} of today's budget is spent"
    if not asked:
        return "idle", "Waiting for the first call"
    return "ok", "All upstreams are healthy" if len(asked) == len(
        levels
    ) else "Every upstream asked so far is healthy"


def state_of(upstream: UpstreamStatus, now: datetime) -> tuple[str, str]:
    """The status level of an upstream, and its state in words."""
    error = upstream.last_error
    if upstream.breaker != "closed":
        return _STATES[upstream.breaker]
    if (
        error
        and error.code in ("AUTH", "NOT_CONFIGURED")
        and (now - error.at).total_seconds() < REFUSED_SECONDS
    ):
        return "bad", KEY_REJECTED if error.code == "AUTH" else "not set up"
    return _STATES["closed"] if upstream.calls else ("idle", "not asked")


def _are_failing(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{len(names)} upstreams are failing"
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} failing"
