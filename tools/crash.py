"""Kills writers of a state file at random moments and counts the losses: `python tools/crash.py [KILLS]`.

Several processes write to one SQLite file and print each write that has returned. SIGKILL ends them all; then the file
must open, be sound, and hold every printed value and addition. Prints one JSON object; the exit code is 1 after a loss.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from websearch_gateway.state.sqlite import SqliteState

WRITERS, VERBS_AT_ONCE = 3, 4
LONGEST_LIFE = 0.15

WRITER = """
import asyncio, itertools, os, pathlib, sys
from websearch_gateway.state.sqlite import SqliteState

async def main():
    state, name, numbers = SqliteState(pathlib.Path(sys.argv[1])), sys.argv[2], itertools.count()

    async def write():
        for number in numbers:
            key = f"k/{name}/{number}"
            await state.put(key, key.encode() * (number % 200))
            await state.add(f"n/{name}")
            os.write(1, f"{number}\\n".encode())

    await asyncio.gather(*(write() for _ in range(int(sys.argv[3]))))

asyncio.run(main())
"""


@dataclass
class Losses:
    """The losses of all kills. `acknowledged` counts pairs of a value and an addition."""

    kills: int = 0
    acknowledged: int = 0
    lost_values: int = 0
    lost_additions: int = 0
    surplus_additions: int = 0
    damaged: int = 0

    @property
    def nothing_lost(self) -> bool:
        return not (
            self.lost_values or self.lost_additions or self.surplus_additions or self.damaged
        )


def kill_writers(path: Path, names: list[str]) -> dict[str, list[int]]:
    """Let writers of these names write for a moment, kill them, and return the numbers that each acknowledged."""
    command = [sys.executable, "-c", WRITER, path]
    writers = {
        name: subprocess.Popen(
            [*command, name, str(VERBS_AT_ONCE)], stdout=subprocess.PIPE, text=True
        )
        for name in names
    }
    first = {name: writer.stdout.readline() for name, writer in writers.items() if writer.stdout}
    time.sleep(random.uniform(0, LONGEST_LIFE))
    for writer in writers.values():
        writer.send_signal(signal.SIGKILL)
    printed = {name: first[name] + writer.communicate()[0] for name, writer in writers.items()}
    # A line that the kill cut off does not count.
    return {
        name: [int(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        for name, text in printed.items()
    }


async def examine(path: Path, acknowledged: dict[str, list[int]], losses: Losses) -> None:
    """Look for everything that was acknowledged."""
    with closing(sqlite3.connect(path)) as connection:
        losses.damaged += connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]
    state = SqliteState(path)
    for name, numbers in acknowledged.items():
        keys = [f"k/{name}/{number}" for number in numbers]
        values = await asyncio.gather(*map(state.get, keys))
        expected = [
            key.encode() * (number % 200) for key, number in zip(keys, numbers, strict=True)
        ]
        losses.lost_values += sum(
            value != wanted for value, wanted in zip(values, expected, strict=True)
        )
        surplus = int(await state.get(f"n/{name}") or 0) - len(numbers)
        losses.lost_additions += max(0, -surplus)
        # Writes in flight when the signal came may have arrived.
        losses.surplus_additions += max(0, surplus - VERBS_AT_ONCE)
    await state.close()
    losses.kills += len(acknowledged)
    losses.acknowledged += sum(map(len, acknowledged.values()))
    losses.damaged += len(list(path.parent.glob("*.corrupt-*")))


def main(kills: int) -> Losses:
    """Kill at least `kills` writers of one file."""
    losses = Losses()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        while losses.kills < kills:
            names = [f"{losses.kills + index}" for index in range(WRITERS)]
            asyncio.run(examine(path, kill_writers(path, names), losses))
    return losses


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
    print(json.dumps(asdict(result)))
    sys.exit(not result.nothing_lost)
