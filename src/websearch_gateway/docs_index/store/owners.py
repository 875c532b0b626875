"""Identifies the process that crawls a version, and says whether it still runs."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from pathlib import Path

from websearch_gateway.docs_index.models import Owner


@cache
def this_process() -> Owner:
    """The current process."""
    return Owner(platform.node(), os.getpid(), _started(os.getpid()))


def is_dead(owner: Owner) -> bool:
    """Whether `owner` has certainly ended. False for a process of another machine, or on Windows."""
    if owner.machine != platform.node() or sys.platform == "win32":
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return _started(owner.pid) != owner.started


def _started(pid: int) -> float:
    """When a process started, in clock ticks since the boot (proc(5), field 22); 0 if unknown."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    return float(status.rpartition(")")[2].split()[19])
