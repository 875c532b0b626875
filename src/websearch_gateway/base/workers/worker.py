"""The main loop of a worker process, which answers one request after another until its input ends.

A request is a pickle (the parent is trusted), a reply is JSON (a page may have taken over the worker). Each is a frame:
the length in eight bytes, then the payload. Bytes arguments follow the request in further frames.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import math
import os
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple

from websearch_gateway.errors import SearchError, Unavailable

LENGTH_BYTES = 8
COLLECTION_THRESHOLD = 100_000
"""The number of new objects that starts a garbage collection. A page makes tens of thousands that live until its end; a
collection at every 20,000 took a twelfth of its time. The memory of a process is limited anyway.
"""

NICENESS = 5
"""The niceness of a worker, so that processes that answer calls run before workers that read pages."""


class Limits(NamedTuple):
    """Resource limits of a process and of each job.

    `megabytes` is the address space, `resident_megabytes` the memory above which the process asks to be replaced;
    `seconds` (by the clock) and `cpu_seconds` are per job. The processor time decides, since it is the same on a busy
    machine; the clock ends only a job that waits for something that never comes. Callers wait as long as they like.
    """

    megabytes: int = 1024
    resident_megabytes: int = 200
    seconds: float = 30.0
    cpu_seconds: float = 8.0


CONTAINER_SHARE = 0.5
"""The largest part of a container's memory that one worker may take. The rest is for the process that answers calls,
and for other workers: if they need more together, the kernel ends any of them."""

LEAST_MEGABYTES = 384
"""The address space that a worker needs to import its libraries and to read an ordinary page."""

_CONTAINER_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""The memory limit of a control group, version 2 (https://docs.kernel.org/admin-guide/cgroup-v2.html) and 1."""


def within_container(megabytes: int, groups: str = "/sys/fs/cgroup") -> int:
    """A limit of memory (MiB), lowered to the share of a worker if the container has little memory."""
    for name in _CONTAINER_LIMITS:
        try:
            with open(os.path.join(groups, name), encoding="ascii") as file:
                share = int(int(file.read()) * CONTAINER_SHARE) // 2**20
        except (OSError, ValueError):  # no such control group, or `max`: no limit
            continue
        return min(megabytes, max(share, LEAST_MEGABYTES))
    return megabytes


def framed(payload: bytes) -> tuple[bytes, bytes]:
    """The two parts of a frame: the length of `payload`, and `payload`."""
    return len(payload).to_bytes(LENGTH_BYTES, "big"), payload


def request_frames(function: Callable[..., object], arguments: Sequence[object]) -> list[bytes]:
    """A call as frames. Bytes arguments are sent as they are, without a copy."""
    large = [argument for argument in arguments if isinstance(argument, bytes)]
    small = [None if isinstance(argument, bytes) else argument for argument in arguments]
    places = [place for place, argument in enumerate(arguments) if isinstance(argument, bytes)]
    parts = [*framed(pickle.dumps((function, small, places)))]
    for argument in large:
        parts += framed(argument)
    return parts


def prepare(calls: Sequence[Callable[[], object]]) -> None:
    """Make some calls as a warm-up, so that later calls find everything imported."""
    for call in calls:
        call()


def main() -> None:
    """Serve standard input and output. The arguments are the `Limits`."""
    replies = os.fdopen(os.dup(1), "wb")
    # Libraries may print; their output must not mix with the replies.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    megabytes, resident, seconds, cpu = sys.argv[1:]
    limits = Limits(int(megabytes), int(resident), float(seconds), float(cpu))
    # The parent handles Ctrl-C and then closes our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        size = within_container(limits.megabytes) * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, replies, limits)


def serve(requests: BinaryIO, replies: BinaryIO, limits: Limits) -> None:
    """Answer requests until there are no more.

    Raises:
        MemoryError: out of memory; the process must not be reused.
    """
    first = True
    while header := requests.read(LENGTH_BYTES):
        size = int.from_bytes(header, "big")
        function, arguments, places = pickle.loads(requests.read(size))  # noqa: S301 - our own parent wrote it
        for place in places:
            arguments[place] = requests.read(int.from_bytes(requests.read(LENGTH_BYTES), "big"))
        # The first call is the warm-up: it reads no page, and on a busy machine it may take longer than a job.
        _limit_job_time(None if first else limits)
        reply = call(function, arguments)
        _limit_job_time(None)
        del arguments
        if _resident_megabytes() > limits.resident_megabytes:
            _give_back_memory()
            if _resident_megabytes() > limits.resident_megabytes:
                reply["retire"] = True
        for part in framed(json.dumps(reply, ensure_ascii=False).encode("utf-8", errors="replace")):
            replies.write(part)
        replies.flush()
        if first:
            if sys.platform != "win32":
                os.nice(NICENESS)  # only after the first reply, since a caller waits for the start
            gc.freeze()
            gc.set_threshold(COLLECTION_THRESHOLD, 20, 20)
        first = False


def call(function: Callable[..., object], arguments: Sequence[object]) -> dict[str, Any]:
    """The result of a call, the `Unavailable` error that it raised, or a description of any other exception."""
    try:
        return {"result": _plain(function(*arguments))}
    except MemoryError:
        raise
    except Unavailable as error:
        fields = {
            "message": error.message,
            "retry_after": error.retry_after,
            "details": error.details,
        }
        return {"error": {"kind": type(error).__name__, **fields}}
    except SearchError as error:
        return {"fault": error.message}
    except Exception as error:  # noqa: BLE001 - a page may cause any exception; the parent handles it
        return {"fault": type(error).__name__, "is_defect": True}


def _plain(result: Any) -> Any:
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return dataclasses.asdict(result)
    if isinstance(result, list | tuple):
        return [_plain(item) for item in result]
    return result


def _limit_job_time(limits: Limits | None) -> None:
    """Make the kernel kill this process if a job takes too long, even in a C library; with None, lift the limit."""
    if sys.platform == "win32":
        return
    import resource

    signal.alarm(math.ceil(limits.seconds) + 1 if limits else 0)
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    most = math.ceil(used + limits.cpu_seconds) if limits else resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))


def _give_back_memory() -> None:
    """Return free heap memory, which glibc would keep, to the system (malloc_trim(3))."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not in musl
        if trim is not None:
            trim(0)


def _resident_megabytes() -> float:
    """The resident memory of this process in MiB; 0 on systems without `/proc`."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0
