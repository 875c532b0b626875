"""A crawling process is identified, and known to be dead once it has ended."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from websearch_gateway.docs.store.docs import is_dead, this_process


def test_this_process_is_alive() -> None:
    assert not is_dead(this_process())


@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="when a process started is read there"
)
def test_a_later_process_with_the_same_pid_is_a_different_owner() -> None:
    assert is_dead(replace(this_process(), started=1.0))


def test_a_process_that_has_ended_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert is_dead(replace(this_process(), pid=child.pid))


def test_a_process_of_another_machine_is_never_dead() -> None:
    assert not is_dead(replace(this_process(), machine="elsewhere.example", started=1.0))
