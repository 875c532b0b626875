"""The command line as tests run it: in their own process, unless they are about a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from typer.testing import CliRunner

from tests.patience import PATIENCE
from websearch_gateway.entrypoints.cli.commands import cli

Done = subprocess.CompletedProcess[str]


def run(environment: Mapping[str, str], *arguments: str, text: str = "") -> Done:
    """Run a command in this process; `text` is what the user types."""
    result = CliRunner().invoke(cli, arguments, env=environment, input=text)
    return Done(arguments, result.exit_code, result.stdout, result.stderr)


def start(environment: Mapping[str, str], *arguments: str) -> Done:
    """Run a command in a process of its own, as a shell does."""
    command = [sys.executable, "-m", "websearch_gateway", *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
