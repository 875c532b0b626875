"""Every example program runs, and every configuration has names that its app reads."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.entrypoints.http.compatible.conftest import PYTHON, serve, settings_of_server
from tests.patience import PATIENCE
from websearch_gateway.entrypoints.http.compatible.table import BY_PATH
from websearch_gateway.sandbox import Sandbox

EXAMPLES = Path(__file__).parents[1] / "examples"
LITELLM = "litellm==1.106.2"
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
    yield from serve(settings_of_server(_running_sandbox))


def run(python: str, name: str, **environment: str) -> str:
    done = subprocess.run(
        [python, "-W", "ignore", str(EXAMPLES / name)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
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
def test_a_program_of_another_framework_runs(address: str) -> None:
    """That of OpenAI's is run by `tests/clients/openai_agents.py`."""
    if not PYTHON.exists():
        pytest.skip("the clients are not installed: make .venv/.clients")
    assert "/pages/descale-espresso-machine" in run(
        os.fspath(PYTHON), "langchain_tool.py", GATEWAY_URL=address
    )


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


def test_litellm_searches_and_answers_by_its_configuration(address: str) -> None:
    """LiteLLM in an environment of its own: it wants another version of OpenAI's SDK than the other clients."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed: pip install uv")
    text = (EXAMPLES / "litellm.yaml").read_text()
    assert paths(text) - {"/v1", "/tavily", "/searxng"} == set()
    config = text.replace("http://GATEWAY:8080", address).replace("os.environ/GATEWAY_TOKEN", "any")
    script = PYTHON.parents[3] / "tests" / "clients" / "litellm_search.py"
    alone = ["run", "--quiet", "--no-project", "--python", sys.executable, "--with", LITELLM]
    command = [str(uv), *alone, "python", "-W", "ignore", str(script)]
    done = subprocess.run(
        command, input=config, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    for name in ("websearch", "websearch-searxng"):
        assert seen[name][0].endswith("/pages/descale-espresso-machine"), name
    assert "330 metres" in seen["answer"]


def test_openclaw_searches_by_its_configuration(address: str, tmp_path: Path) -> None:
    """Half a gigabyte, so it is not installed for this test."""
    command = shutil.which("openclaw")
    if command is None:
        pytest.skip("OpenClaw is not installed: npm install -g openclaw, then its SearXNG plugin")
    (tmp_path / ".openclaw").mkdir()
    config = (EXAMPLES / "openclaw.json").read_text().replace("http://127.0.0.1:8080", address)
    (tmp_path / ".openclaw" / "openclaw.json").write_text(config)

    def openclaw(*arguments: str) -> str:
        environment = {**os.environ, "HOME": str(tmp_path)}
        return subprocess.check_output(
            [command, *arguments], env=environment, text=True, timeout=PATIENCE
        )

    shown = openclaw(
        "infer", "web", "search", "--query", "How do I descale an espresso machine?", "--json"
    )
    assert "/pages/descale-espresso-machine" in shown
    assert "6 tools" in openclaw("mcp", "probe", "websearch")
