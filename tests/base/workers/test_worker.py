"""Calls as a worker process runs them; most of its main loop is tested through the pool."""

from __future__ import annotations

import io
import json
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from websearch_gateway.base.workers.worker import (
    LENGTH_BYTES,
    Limits,
    call,
    prepare,
    request_frames,
    within_container,
)
from websearch_gateway.errors import SearchFetchError, SearchValidationError, Unavailable
from websearch_gateway.models import Hit


def frames(parts: list[bytes]) -> list[bytes]:
    """The payloads of a request, whose lengths must be right."""
    lengths, payloads = parts[::2], parts[1::2]
    assert lengths == [len(payload).to_bytes(LENGTH_BYTES, "big") for payload in payloads]
    return payloads


def test_large_arguments_follow_the_call_without_a_copy() -> None:
    body = bytes(1_000)
    head, sent, empty = frames(request_frames(max, [body, "text", b""]))
    assert sent is body
    assert empty == b""
    assert pickle.loads(head) == (max, [None, "text", None], [0, 2])


@pytest.mark.parametrize(
    ("name", "limit", "megabytes"),
    [
        *(
            ("memory.max", "1073741824", 512),
            ("memory.max", "2147483648", 1024),
            ("memory.max", "8589934592", 1024),
        ),
        *(
            ("memory.max", "268435456", 384),
            ("memory.max", "max", 1024),
            ("memory.current", "1", 1024),
        ),
        *(
            ("memory/memory.limit_in_bytes", "1073741824", 512),
            ("memory/memory.limit_in_bytes", f"{2**63 - 4096}", 1024),
        ),
    ],
)
def test_a_worker_takes_at_most_half_of_the_memory_of_its_container(
    tmp_path: Path, name: str, limit: str, megabytes: int
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(f"{limit}\n", encoding="ascii")
    assert within_container(1024, str(tmp_path)) == megabytes


def raising(error: BaseException) -> None:
    raise error


def test_a_result_is_plain() -> None:
    assert call(divmod, (7, 2)) == {"result": [3, 1]}
    (result,) = call(lambda: (Hit("https://t.example/", "Tides", "The sea.", "test"),), ())[
        "result"
    ]
    assert (result["title"], result["snippet"]) == ("Tides", "The sea.")


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        (ValueError("may quote the page"), {"fault": "ValueError", "is_defect": True}),
        (RecursionError(), {"fault": "RecursionError", "is_defect": True}),
        (SearchValidationError("No such thing."), {"fault": "No such thing."}),
    ],
)
def test_a_fault_is_reported_by_its_type_or_in_our_words(
    error: Exception, reply: dict[str, str]
) -> None:
    assert call(raising, (error,)) == reply


def test_an_error_of_ours_keeps_its_message_and_details() -> None:
    error: Unavailable = SearchFetchError("Closed.", retry_after=3.0, details={"status": 503})
    told = {
        "kind": "SearchFetchError",
        "message": "Closed.",
        "retry_after": 3.0,
        "details": {"status": 503},
    }
    assert call(raising, (error,)) == {"error": told}


def test_a_process_without_memory_is_not_used_again() -> None:
    with pytest.raises(MemoryError):
        call(raising, (MemoryError(),))


def test_a_warm_up_makes_each_call_in_order() -> None:
    done: list[int] = []
    prepare([lambda: done.append(1), lambda: done.append(2)])
    assert done == [1, 2]


CHILD = "from websearch_gateway.base.workers.worker import main; main()"


def results_of(calls: list[tuple[Callable[..., object], tuple[object, ...]]]) -> list[object]:
    """What a worker process answers to these calls, the first of which is its warm-up."""
    requests = b"".join(part for made in calls for part in request_frames(*made))
    command = (sys.executable, "-c", CHILD, *map(str, Limits()))
    replies = io.BytesIO(subprocess.run(command, input=requests, capture_output=True).stdout)
    results = []
    while length := replies.read(LENGTH_BYTES):
        results.append(json.loads(replies.read(int.from_bytes(length, "big")))["result"])
    return results


def test_the_processor_time_of_a_page_decides_and_a_busy_machine_may_take_thrice_the_time() -> None:
    limits = Limits()
    assert (limits.cpu_seconds, limits.seconds) == (8.0, 30.0)
    assert (limits.megabytes, limits.resident_megabytes) == (1024, 200)


def test_jobs_have_limits_of_time_and_the_warm_up_before_them_has_none() -> None:
    """On a busy machine a start takes longer than a page may: a limit would kill every worker before its first page."""
    alarm = (signal.getitimer, (signal.ITIMER_REAL,))
    cpu_limit = (resource.getrlimit, (resource.RLIMIT_CPU,))
    warm_up, job = results_of([alarm, alarm])
    assert warm_up == [0.0, 0.0]
    assert job != [0.0, 0.0]
    warm_up, job = results_of([cpu_limit, cpu_limit])
    assert warm_up == [resource.RLIM_INFINITY, resource.RLIM_INFINITY]
    assert job != warm_up
