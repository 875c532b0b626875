"""What runs in a worker process: a loop that answers one request after the other, until its input ends.

A request is a pickle (the parent is trusted), a reply is JSON (a page may have taken the worker over). Both go as a
frame: eight bytes of length, then so many bytes.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pickle
import signal
import sys
from typing import Any, BinaryIO

from websearch_gateway.errors import SearchFetchError

LENGTH_BYTES = 8


def framed(payload: bytes) -> bytes:
    """`payload` with its length before it."""
    return len(payload).to_bytes(LENGTH_BYTES, "big") + payload


def main() -> None:
    """Serve standard input and output. The first argument is how many megabytes of memory the process may have."""
    replies = os.fdopen(os.dup(1), "wb")
    # What a library prints must not end up among the replies.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _restrict(int(sys.argv[1]))
    serve(sys.stdin.buffer, replies)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while header := requests.read(LENGTH_BYTES):
        replies.write(framed(answer(requests.read(int.from_bytes(header, "big")))))
        replies.flush()


def answer(request: bytes) -> bytes:
    """Call `(function, arguments, seconds)` and tell the result, a refusal, or the kind of exception it raised.

    Raises:
        MemoryError: the process is not to be used again.
    """
    function, arguments, seconds = pickle.loads(request)  # noqa: S301 - our own parent wrote it
    _die_after(math.ceil(seconds) + 1)
    try:
        reply = {"result": _plain(function(*arguments))}
    except MemoryError:
        raise
    except SearchFetchError as error:
        reply = {"refusal": error.message}
    except Exception as error:  # noqa: BLE001 - the page's fault, whatever it is; the parent decides
        reply = {"fault": type(error).__name__}
    _die_after(0)
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", errors="replace")


def _plain(result: Any) -> Any:
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return dataclasses.asdict(result)
    return result


def _restrict(megabytes: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes our input
    if sys.platform != "win32":
        import resource

        size = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _die_after(seconds: int) -> None:
    # The parent kills a worker that is late. Should the parent be gone, the kernel does, even inside a C library.
    if sys.platform != "win32":
        signal.alarm(seconds)
