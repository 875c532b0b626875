"""The function as real processes: an instance of it, or the Firebase emulator around one."""

from __future__ import annotations

import os
import queue
import select
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.patience import PATIENCE

SECONDS = 600
"""What a start or an end may take on a busy machine."""


class Running:
    """A server that runs. `lines` is what it has said so far; `folder` is the only one that it is told of."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.lines: list[str] = []
        self._unread: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_for(self, text: str) -> str:
        """The next line that contains `text`."""
        while line := self._unread.get(timeout=SECONDS):
            if text in line:
                return line
        raise AssertionError(f"It ended before it said {text!r}:\n" + "".join(self.lines))

    def end(self) -> None:
        """Ask it to end, as Cloud Run does, and wait until it has and all is said."""
        self.process.terminate()
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._unread.put(line)
        self._unread.put("")


@contextmanager
def running(
    command: Sequence[str | Path], cwd: Path, folder: Path, settings: Mapping[str, str]
) -> Iterator[Running]:
    """Run a server with nothing but `settings` in its environment, and end it.

    Its home is an empty part of `folder`. The name of another part is the mark by which `left_behind` knows every
    process that descends from it.
    """
    for name in ("home", "temporary"):
        (folder / name).mkdir(parents=True)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "HTTPS_PROXY": "http://127.0.0.1:9",  # nothing listens there: this machine is all there is
        "NO_PROXY": "127.0.0.1,localhost",
        "GUNICORN_LOG_LEVEL": "info",
        **settings,
    }
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        server = Running(process, folder)
        try:
            yield server
        finally:
            server.end()


def left_behind(folder: Path, seconds: float = PATIENCE) -> list[str]:
    """The commands of processes that still run in `folder` after `seconds`."""
    mark = f"TMPDIR={folder / 'temporary'}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(
                    (
                        os.pidfd_open(int(entry.name)),
                        (entry / "cmdline").read_text().replace("\0", " "),
                    )
                )
        except (OSError, ProcessLookupError):
            continue  # it has ended meanwhile, or is not ours
    remaining = [
        command for handle, command in found if not select.select([handle], [], [], seconds)[0]
    ]
    for handle, _ in found:
        os.close(handle)
    return remaining
