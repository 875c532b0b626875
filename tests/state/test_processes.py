"""Several processes share one state: whatever they do at once, no addition is lost and no limit is exceeded."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from websearch_gateway.state import open_state

PROCESSES = 4
CALLS = int(os.environ.get("CALLS_PER_PROCESS", "50"))

ADD = f"""
async def work(state):
    return await asyncio.gather(*(state.add("n", ttl=600) for _ in range({CALLS})))
"""

ASK = f"""
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller
from websearch_gateway.pipeline.rate_limit import RateLimits

async def work(state):
    rate_limits = RateLimits(state, "60/10minutes")

    async def ask():
        try:
            await rate_limits.admit(Caller("one user"))
        except SearchRateLimitError:
            return 0
        return 1

    return await asyncio.gather(*(ask() for _ in range({CALLS})))
"""

FRAME = """
import asyncio, json, sys
from websearch_gateway.state import open_state
{work}
async def main():
    state = open_state(sys.argv[1])
    if not sys.argv[1].startswith("sqlite"):
        state._timeouts._seconds = 60.0  # tests run on busy machines
    await state.get("nothing")
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(await work(state)), flush=True)
    await state.close()

asyncio.run(main())
"""


def in_processes(work: str, url: str) -> list[int]:
    """What all processes return together, having begun at the same moment."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", FRAME.format(work=work), url]
    children = [subprocess.Popen(command, **pipes) for _ in range(PROCESSES)]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    outcomes = [json.loads(child.communicate(timeout=150)[0]) for child in children]
    assert [child.returncode for child in children] == [0] * PROCESSES
    return [number for outcome in outcomes for number in outcome]


def test_every_addition_of_every_process_has_its_own_number(shared_url):
    assert sorted(in_processes(ADD, shared_url)) == list(range(1, PROCESSES * CALLS + 1))


@pytest.mark.parametrize("expired", ["counter", "value"])
async def test_no_addition_is_lost_when_all_find_an_expired_counter(shared_url, expired):
    """Ours: exactly one of them starts it anew. A value in its place is none of its additions either."""
    state = open_state(shared_url)
    if expired == "counter":
        await state.add("n", 1_000, ttl=0.001)
    else:
        await state.put("n", b"1000")
    numbers = await asyncio.to_thread(in_processes, ADD, shared_url)
    assert sorted(numbers) == list(range(1, PROCESSES * CALLS + 1))
    assert await state.get("n") == b"%d" % (PROCESSES * CALLS)
    await state.close()


def test_a_limit_of_60_lets_exactly_60_of_200_calls_through(shared_url):
    assert sum(in_processes(ASK, shared_url)) == 60
