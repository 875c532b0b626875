"""Every example program runs, and every configuration has names that its app reads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.entrypoints.http.compatible.conftest import PYTHON, _serve, _settings
from websearch_gateway.entrypoints.http.compatible.table import BY_PATH
from websearch_gateway.sandbox import Sandbox

EXAMPLES = Path(__file__).parents[1] / "examples"
OPEN_WEBUI = {
    "ENABLE_WEB_SEARCH",
    "WEB_SEARCH_ENGINE",
    "EXTERNAL_WEB_SEARCH_URL",
    "EXTERNAL_WEB_SEARCH_API_KEY",
    "WEB_LOADER_ENGINE",
    "EXTERNAL_WEB_LOADER_URL",
    "EXTERNAL_WEB_LOADER_API_KEY",
    "ENABLE_OPENAI_API",
    "OPENAI_API_BASE_URL",
    "OPENAI_API_KEY",
}
"""https://docs.openwebui.com/getting-started/env-configuration"""
LIBRECHAT = {
    "searchProvider",
    "scraperProvider",
    "tavilyApiKey",
    "tavilySearchUrl",
    "tavilyExtractUrl",
}
"""https://www.librechat.ai/docs/configuration/librechat_yaml/object_structure/web_search"""


@pytest.fixture(scope="module")
def address(_running_sandbox: Sandbox) -> Iterator[str]:
    yield from _serve(_settings(_running_sandbox))


def run(python: str, name: str, **environment: str) -> str:
    done = subprocess.run(
        [python, "-W", "ignore", str(EXAMPLES / name)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["plain.py", "sync.py", "mcp_client.py"])
def test_a_program_runs(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    shown = run(sys.executable, name, **sandbox.environment(), DATA_DIR=str(tmp_path))
    assert "330 metres" in shown
    if name == "plain.py":
        assert "FORBIDDEN_URL" in shown


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "told"), [("openai_agents_sdk.py", "330 metres"), ("langchain_tool.py", "/pages/descale-espresso-machine")]
)
def test_a_program_of_another_framework_runs(name: str, told: str, address: str) -> None:
    if not PYTHON.exists():
        pytest.skip("the clients are not installed: make .venv/.clients")
    assert told in run(os.fspath(PYTHON), name, GATEWAY_URL=address)


def paths(text: str) -> set[str]:
    return set(re.findall(r"http://GATEWAY:8080(/[\w/]+)", text))


def test_the_configuration_of_open_webui_has_names_that_it_reads() -> None:
    text = (EXAMPLES / "openwebui.env").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert {line.partition("=")[0] for line in lines} == OPEN_WEBUI
    assert paths(text) - {"/v1"} <= set(BY_PATH)


def test_the_configuration_of_librechat_has_names_that_it_reads() -> None:
    text = (EXAMPLES / "librechat.yaml").read_text()
    read = yaml.safe_load(text)
    assert set(read["webSearch"]) == LIBRECHAT
    assert set(read["endpoints"]["custom"][0]) == {"name", "apiKey", "baseURL", "models"}
    assert paths(text) - {"/v1"} <= set(BY_PATH)
