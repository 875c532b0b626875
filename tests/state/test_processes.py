"""Several processes share one state: no concurrent addition is lost and no limit is exceeded."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from tests.patience import PATIENCE
from websearch_gateway.state.opening import open_state

PROCESSES = 4
CALLS = int(os.environ.get("CALLS_PER_PROCESS", "50"))

ADD = f"""
async def work(state):
    return await asyncio.gather(*(state.add("n", ttl=600) for _ in range({CALLS})))
"""

ASK = f"""
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.state.memory import MemoryState

async def work(state):
    rate_limits = RateLimits(state, MemoryState(), "60/10minutes")

    async def ask():
        try:
            await rate_limits.admit(Caller("one user"))
        except SearchRateLimitError:
            return 0
        return 1

    return await asyncio.gather(*(ask() for _ in range({CALLS})))
"""

CHILD = """
import asyncio, json, os, sys
from websearch_gateway.state.opening import open_state

async def main(url, work):
    state = open_state(url)
    if not url.startswith("sqlite"):
        state._seconds = 60.0  # tests run on busy machines
    await state.get("nothing")
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(await work(state)), flush=True)
    await state.close()

while line := sys.stdin.readline():
    url, code, emulator = json.loads(line)
    if emulator:
        os.environ["FIRESTORE_EMULATOR_HOST"] = emulator
    names = {"asyncio": asyncio}
    exec(code, names)
    asyncio.run(main(url, names["work"]))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def shared_url(request) -> str:
    """Without Firestore, whose emulator does not return what an addition made: see test_firestore.py."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(scope="module")
def children():
    """Processes that do the same work at the same moment. All tests share them, since a start takes long."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([sys.executable, "-c", CHILD], **pipes) for _ in range(PROCESSES)]
    yield started
    for child in started:
        child.communicate(timeout=PATIENCE)
    assert [child.returncode for child in started] == [0] * PROCESSES


def together(children: list[subprocess.Popen[str]], work: str, url: str) -> list[int]:
    """The results of all processes, which begin at the same moment."""
    for child in children:
        tell(child, json.dumps([url, work, os.environ.get("FIRESTORE_EMULATOR_HOST")]))
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        tell(child, "go")
    outcomes = [json.loads(child.stdout.readline()) for child in children]
    return [number for outcome in outcomes for number in outcome]


def tell(child: subprocess.Popen[str], line: str) -> None:
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


def test_every_addition_of_every_process_returns_its_own_number(children, shared_url):
    assert sorted(together(children, ADD, shared_url)) == list(range(1, PROCESSES * CALLS + 1))


@pytest.mark.parametrize("expired", ["counter", "value"])
async def test_no_addition_is_lost_when_all_find_an_expired_counter(children, shared_url, expired):
    """Exactly one of them starts it again. A value in its place does not count as an addition either."""
    state = open_state(shared_url)
    if expired == "counter":
        await state.add("n", 1_000, ttl=0.001)
    else:
        await state.put("n", b"1000")
    numbers = await asyncio.to_thread(together, children, ADD, shared_url)
    assert sorted(numbers) == list(range(1, PROCESSES * CALLS + 1))
    assert await state.get("n") == b"%d" % (PROCESSES * CALLS)
    await state.close()


def test_a_limit_of_60_lets_exactly_60_of_200_calls_through(children, shared_url):
    assert sum(together(children, ASK, shared_url)) == 60
