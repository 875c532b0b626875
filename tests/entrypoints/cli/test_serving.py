"""How the servers start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.patience import PATIENCE
from websearch_gateway.entrypoints.cli import exit_on_error
from websearch_gateway.errors import SearchRateLimitError

SERVED_WITHOUT_TYPER = """
import sys
from websearch_gateway.entrypoints.cli import main
sys.argv = ["websearch-gateway", "serve"]
main()
assert "mcp.server" in sys.modules
assert not {"typer", "rich"} & set(sys.modules)
"""


def test_a_server_over_stdio_loads_no_parser_of_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVED_WITHOUT_TYPER],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_says_when_to_try_again(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise SearchRateLimitError("Too many calls.", retry_after=7)

    with pytest.raises(SystemExit) as ended:
        exit_on_error(fail, as_json=False)
    assert ended.value.code == 1
    assert capsys.readouterr() == ("", "RATE_LIMIT: Too many calls. Try again in 7 s.\n")
