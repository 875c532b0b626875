"""The recipe of docs/adding-a-provider.md, followed to the letter for a made-up vendor in a copy of the project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.recipe import copied, insert, run, suite

TABLE = "src/websearch_gateway/settings/loading.py"

SANDBOXED = """
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.models import WebSearchRequest
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import load_settings


async def test_the_vendor_serves_in_the_sandbox(tmp_path):
    async with Sandbox() as sandbox:
        settings = load_settings(**sandbox.flags(), search_providers="heronsearch", data_dir=tmp_path, state_url="memory://")
        async with open_gateway(settings) as gateway:
            found = await gateway.web_search(WebSearchRequest("how tall is the eiffel tower", max_results=2))
    assert [result.provider for result in found.results] == ["heronsearch", "heronsearch"]
    assert found.results[0].link.endswith("/pages/eiffel-tower")
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return copied(tmp_path, ["tests/providers"], without=Path(__file__))


def add_vendor(copy: Path) -> None:
    """Steps 1 to 8."""
    package = copy / "src" / "websearch_gateway"
    code = (package / "providers" / "synthetic.py").read_text().replace("SYNTHETIC", "HERONSEARCH")
    code = code.replace('"synthetic"', '"heronsearch"').replace("Synthetic", "HeronSearch")
    code = code.replace(
        "Capabilities()",
        'Capabilities(cost_per_call_usd=0.002, price_source="https://h.example, 2026-11")',
    )
    (package / "providers" / "heronsearch.py").write_text(code)
    row = '    ProviderRow("heronsearch", "Heron Search", "https://api.heron.example"),\n    # Free, if you run it.\n'
    table = copy / TABLE
    table.write_text(table.read_text().replace("    # Free, if you run it.\n", row))
    replies = package / "sandbox" / "replies"
    shutil.copy(replies / "synthetic.json", replies / "heronsearch.json")
    cells = "heronsearch | `HERONSEARCH_API_KEY` | `HERONSEARCH_BASE_URL` | no | no | no | no | no | no | 10 | 0.002"
    insert(copy / "docs" / "adding-a-provider.md", "| searxng | `SEARXNG", f"| {cells} |\n")


@pytest.mark.timeout(300)
def test_one_file_one_row_one_recording_and_one_docs_row_add_a_provider(copy: Path) -> None:
    add_vendor(copy)
    (copy / "tests" / "test_heronsearch.py").write_text(SANDBOXED)
    for tool in ("settings_table", "price_table"):
        assert "HERONSEARCH" in run(copy, f"tools/{tool}.py").stdout.upper()
    asked = run(copy, "-c", "from tools.bundle import manifest; print(manifest()['user_config'])")
    assert "heronsearch_api_key" in asked.stdout, asked.stderr
    # The contract suite, and all other tests that name the vendor.
    done = suite(copy, "heronsearch or order")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.timeout(300)
def test_the_contract_names_each_part_that_is_missing(copy: Path) -> None:
    add_vendor(copy)
    document = copy / "docs" / "adding-a-provider.md"
    document.write_text(
        "\n".join(line for line in document.read_text().split("\n") if "| heronsearch" not in line)
    )
    (copy / "src" / "websearch_gateway" / "sandbox" / "replies" / "heronsearch.json").unlink()
    done = suite(copy, "heronsearch", "tests/providers/test_contract.py")
    assert done.returncode == 1
    assert "put a recorded reply of heronsearch" in done.stdout
    assert "needs one row for heronsearch" in done.stdout
