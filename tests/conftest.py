"""Fixtures for every test: no setting of the developer's machine, and one sandbox for all tests that use it."""

from __future__ import annotations

import contextlib
import gc
import itertools
import logging
import os
import socket
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from tests.clock import Clock
from tests.opening import gateway as gateway
from tests.patience import PATIENCE
from tests.shared_workers import SharedWorkers, shared_workers
from tests.tracing import Spans, recorded_spans
from tools.servers import NotHere, Postgresql, postgresql
from websearch_gateway.app import gateway as app
from websearch_gateway.base.net import client, dialling
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings
from websearch_gateway.state.memory import MemoryState

# Without time limits, and the same examples in each run: what forty do not find in the first, none finds later.
hypothesis_settings.register_profile(
    "tests", hypothesis_settings.get_profile("ci"), max_examples=40
)
hypothesis_settings.load_profile("tests")

SLOW = (
    "functions",
    "entrypoints",
    "state",
    "docs",
    "app",
    "base/safety/test_linear.py",
    "pages/browser",
    "pages/test_browser",
    "pages/test_linear_readers.py",
    "pages/visibility",
    "test_clients.py",
    "test_commands.py",
    "test_hosting.py",
    "test_release.py",
    "tools/test_site.py",
)
"""The folders and files of the slowest tests; most of them start processes and wait for them."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave the ten thousand tests and their modules to no garbage collection: each takes as long as a test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Alternate slow files with others, which use the processor while those wait, and leave quick ones for the end, so
    that no process of the run is idle there."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    slow_places = tuple(str(Path(__file__).parent / place) for place in SLOW)
    slow, others = [], []
    for path, tests in files.items():
        (slow if str(path).startswith(slow_places) else others).append(tests)
    pairs = itertools.zip_longest(slow, others, fillvalue=[])
    items[:] = [item for pair in pairs for tests in pair for item in tests]


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """Restore the log after each test: the stream of a command that ran in this process is closed by then."""
    root, ours = logging.getLogger(), logging.getLogger("websearch_gateway")
    levels = root.level, ours.level
    yield
    for handler in root.handlers[:]:
        if type(handler).__module__ == "websearch_gateway.upstream.logs":
            root.removeHandler(handler)
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


@pytest.fixture(autouse=True)
def _no_defects(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which a worker ran into an exception that it does not know: the caller gets an error of the page,
    and may go on without its answer. A test that wants one is marked `defective`."""
    watch = _Defects(logging.ERROR)
    log = logging.getLogger("websearch_gateway.base.workers.pool")
    log.addHandler(watch)
    yield
    log.removeHandler(watch)
    if request.node.get_closest_marker("defective") is None:
        assert watch.messages == []


class _Defects(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that are new for each test. pytest would look at all earlier ones for the next free name."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


SETTINGS = {name.upper() for name in Settings.model_fields} | {"WEBSEARCH_GATEWAY_CONFIG"}


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path]) -> None:
    """Use defaults only: no environment variable, settings file or data of the developer reaches a test."""
    for name in os.environ:
        if name.upper() in SETTINGS:
            monkeypatch.delenv(name)
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))  # where platformdirs looks on macOS
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("DATA_DIR", str(home / "data"))


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Postgresql]:
    try:
        with postgresql() as server:
            yield server
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def _running_sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(_running_sandbox: Sandbox) -> Iterator[Sandbox]:
    """A running sandbox without faults, whose counters start at zero."""
    _running_sandbox.reset()
    yield _running_sandbox
    _running_sandbox.reset()


@pytest.fixture(scope="session", autouse=True)
def _patient_connections() -> Iterator[None]:
    """A server of a test may get little of the processor, so only deadlines limit a connect."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (client, dialling):
            patch.setattr(module, "CONNECT_SECONDS", PATIENCE)
        yield


@pytest.fixture(scope="session", autouse=True)
def running_workers() -> Iterator[SharedWorkers]:
    """Every gateway in this process shares these workers; servers that tests start have their own."""
    with shared_workers() as workers, pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "Workers", lambda **_: workers)
        yield workers


@pytest.fixture
def workers(running_workers: SharedWorkers) -> SharedWorkers:
    """Worker processes, which start with the first long text and serve all tests of this process."""
    return running_workers


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port of this machine where connecting takes for ever: its queue is full."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(server.getsockname())
        yield server.getsockname()[1]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> MemoryState:
    """An empty state whose time is that of `clock`."""
    return MemoryState(clock=clock)


@pytest.fixture
def spans() -> Iterator[Spans]:
    """The spans of this process during the test."""
    recorded = recorded_spans()
    recorded.record(on=True)
    yield recorded
    recorded.record(on=False)
