"""Verbs of the state per second, on each backend whose server is installed: 64 at once, and one by one."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.table import Row
from tools.servers import NotHere, firestore_emulator, postgresql
from websearch_gateway.ports import State
from websearch_gateway.state.opening import open_state

VERBS = 640
AT_ONCE = 64
VALUE = os.urandom(2_000)  # about an answer

Verb = Callable[[State, int], Awaitable[object]]
MEASURED: dict[str, Verb] = {
    "put": lambda state, number: state.put(f"bench/{number}", VALUE, ttl=600),
    "get": lambda state, number: state.get(f"bench/{number}"),
    "add": lambda state, number: state.add("bench/counter", ttl=600),
}


def measure() -> list[Row]:
    """Three rows per backend, or one row with the reason if its server is missing."""
    return [row for name, place in PLACES.items() for row in _rows(name, place)]


def _rows(name: str, place: Callable[[ExitStack], str]) -> Iterator[Row]:
    with ExitStack() as stack:
        try:
            url = place(stack)
        except NotHere as reason:
            yield Row(f"state {name}", str(reason), "", "", "")
            return
        for verb, (together, alone) in asyncio.run(_measure(url)).items():
            rate = f"{together / alone:.1f}"
            yield Row(
                f"state {name}: {verb}",
                f"{together:,.0f} per s",
                f"one by one {alone:,.0f} per s",
                rate,
                "",
            )


async def _measure(url: str) -> dict[str, tuple[float, float]]:
    state = open_state(url)
    await state.get("bench/first")  # connects
    try:
        return {
            name: (await _rate(state, verb, AT_ONCE), await _rate(state, verb, 1))
            for name, verb in MEASURED.items()
        }
    finally:
        await state.close()


async def _rate(state: State, verb: Verb, at_once: int) -> float:
    numbers = iter(range(VERBS))

    async def work() -> None:
        for number in numbers:
            await verb(state, number)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return VERBS / (time.perf_counter() - started)


def _sqlite(stack: ExitStack) -> str:
    return f"sqlite:///{Path(stack.enter_context(tempfile.TemporaryDirectory())) / 'state.db'}"


def _firestore(stack: ExitStack) -> str:
    emulator = stack.enter_context(firestore_emulator())
    stack.enter_context(_environment("FIRESTORE_EMULATOR_HOST", emulator.host))
    return "firestore://demo-gateway/bench"


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Google's library reads the emulator's address from there."""
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


PLACES: dict[str, Callable[[ExitStack], str]] = {
    "memory": lambda _: "memory://",
    "sqlite": _sqlite,
    "postgresql": lambda stack: stack.enter_context(postgresql()).url,
    "firestore emulator": _firestore,
}
