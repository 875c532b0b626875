"""Documents that can go stale are tested."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import websearch_gateway
from websearch_gateway.doors.tools import TOOLS
from websearch_gateway.settings import Settings
from websearch_gateway.wire.answer import SearchResponse

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize(("tool", "document"), [("settings_table", "settings.md"), ("price_table", "prices.md")])
def test_a_generated_document_is_up_to_date(tool: str, document: str) -> None:
    """Write it anew with `python tools/TOOL.py > docs/DOCUMENT`."""
    table = runpy.run_path(str(ROOT / "tools" / f"{tool}.py"))["table"]
    assert (ROOT / "docs" / document).read_text() == table()


def test_every_setting_says_what_it_does() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_readme_names_every_tool_and_every_field_of_an_answer() -> None:
    readme = (ROOT / "README.md").read_text()
    fields = [field.serialization_alias or field.alias or name for name, field in SearchResponse.model_fields.items()]
    for name in [tool.name for tool in TOOLS] + fields:
        assert f"`{name}`" in readme or f"`{name}[]`" in readme, name


def test_the_page_of_tools_has_a_section_with_two_examples_for_each() -> None:
    sections = re.split(r"^## ", (ROOT / "docs" / "tools.md").read_text(), flags=re.MULTILINE)
    for tool in TOOLS:
        (section,) = [text for text in sections if text.startswith(f"`{tool.name}` ({tool.toolset})")]
        assert section.count("```json") == 2 or "As `" in section, tool.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_agents_page_fits_one_screen() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 50


def test_the_package_exports_what_it_promises() -> None:
    assert websearch_gateway.__all__ == ["__version__"]
    assert f'version = "{websearch_gateway.__version__}"' in (ROOT / "pyproject.toml").read_text()
