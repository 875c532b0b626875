"""Documents match the code that they describe."""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import runpy
from pathlib import Path

import pytest

import websearch_gateway
from websearch_gateway import Gateway
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.results import SearchResponse
from websearch_gateway.settings.loading import Settings

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "websearch_gateway"
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "tools" / "README.md"]
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = ("src", "tests", "docs", "tools", "bench", "functions", "deploy")
GENERATED = {"node_modules", "venv", "package", "__pycache__"}
FOREIGN = {
    "web.search",
    "web.readFromPage",
    "web.results",
    "fallback.reason",
    "server.MCPServer",
    "server.json",
    "html.md",
    "index.html",
    "docs.db",
}
"""Fields and foreign names that look like a module of ours and its symbol."""
NOT_KEPT = {"functions/venv", "functions/package/", "functions/.env", "text/markdown"}
STATE_KEYS = {"cache/near/", "cache/exact/"}


def _files() -> list[str]:
    found = [path.name for path in ROOT.iterdir()]
    for folder in FOLDERS:
        for where, folders, files in os.walk(ROOT / folder):
            folders[:] = sorted(set(folders) - GENERATED)
            inside = Path(where).relative_to(ROOT)
            found += [str(inside), *(str(inside / file) for file in files)]
    return found


FILES = _files()


@functools.cache
def _is_there(name: str) -> bool:
    """Whether the path of a file or folder of the repository ends with `name`. NAME and the like match any name."""
    wanted = re.compile(
        "(^|/)" + re.sub(r"[A-Z]{2,}", lambda match: "[^/]*", re.escape(name.rstrip("/"))) + "$"
    )
    return any(wanted.search(path) for path in FILES)


def _paths(text: str) -> set[str]:
    """The files and folders of this repository that a text names."""
    rooms = "|".join(
        [
            *FOLDERS,
            *sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()),
        ]
    )
    modules = re.findall(r"(?<![\w./:-])[\w/-]*\w\.py\b", text)
    return {*modules, *re.findall(rf"`((?:{rooms})/[\w./-]*)`", text)} - STATE_KEYS - NOT_KEPT


def _symbols(text: str) -> set[tuple[str, str]]:
    """(module, symbol) of every `module.symbol` whose module is one of ours."""
    ours = {path.stem for path in MODULES} - {"query"}  # more often a SearchQuery than the module
    found = re.findall(r"`(?:[a-z_]+\.)*([a-z_]+)\.([A-Za-z_]+)(?:\([^`]*\))?`", text)
    return {
        (module, symbol)
        for module, symbol in found
        if module in ours and symbol not in ("py", "env")
    } - {tuple(name.split(".")) for name in FOREIGN}


@functools.cache
def _words(module: str) -> set[str]:
    """The words in the sources of a module, or of a folder of modules."""
    sources = [path.read_text() for path in MODULES if module in (path.stem, path.parent.name)]
    return {word for source in sources for word in re.findall(r"\w+", source)}


def _is_defined(module: str, symbol: str) -> bool:
    return symbol in _words(module)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_and_symbol_that_a_document_names_exists(document: Path) -> None:
    text = document.read_text()
    assert {name for name in _paths(text) if not _is_there(name)} == set()
    assert {
        f"{module}.{symbol}" for module, symbol in _symbols(text) if not _is_defined(module, symbol)
    } == set()


def test_every_path_and_symbol_that_a_docstring_names_exists() -> None:
    for module in MODULES:
        text = " ".join(re.findall(r'"""(.*?)"""', module.read_text(), re.DOTALL))
        assert {name for name in _paths(text) if not _is_there(name)} == set(), module
        missing = {f"{a}.{b}" for a, b in _symbols(text) if not _is_defined(a, b)}
        assert missing == set(), module


def test_the_picture_of_the_layers_is_drawn_from_the_code() -> None:
    """Draw it again with `make docs`."""
    picture = runpy.run_path(str(ROOT / "tools" / "layer_picture.py"))["picture"]
    assert picture() in (ROOT / "docs" / "architecture.md").read_text()


@pytest.mark.parametrize(
    ("tool", "document"),
    [("settings_table", "settings.md"), ("price_table", "prices.md"), ("cli_table", "cli.md")],
)
def test_a_generated_document_is_up_to_date(tool: str, document: str) -> None:
    """Write it again with `make docs`."""
    table = runpy.run_path(str(ROOT / "tools" / f"{tool}.py"))["table"]
    assert (ROOT / "docs" / document).read_text() == table()


def test_the_tables_of_tools_are_up_to_date() -> None:
    """Write them again with `make docs`."""
    with_tables = runpy.run_path(str(ROOT / "tools" / "tool_tables.py"))["with_tables"]
    document = (ROOT / "docs" / "tools.md").read_text()
    assert with_tables(document) == document


MOST_WORDS = 22_500
TABLES_BY_TOOLS = {"settings.md", "prices.md", "cli.md"}
"""Documents whose tables are made from the code."""


def test_the_documents_are_short_enough_to_be_read() -> None:
    """Without tables, pictures and lists that are made from the code, and without blocks of code."""
    words = 0
    for document in (ROOT / "docs").glob("*.md"):
        text = document.read_text()
        text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"<!-- \w+: made by .*?<!-- end -->", "", text, flags=re.DOTALL)
        if document.name in TABLES_BY_TOOLS:
            text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
        words += len(text.split())
    assert words <= MOST_WORDS


def test_every_setting_says_what_it_does() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_page_of_tools_names_every_tool_and_every_field_of_an_answer() -> None:
    page = (ROOT / "docs" / "tools.md").read_text()
    fields = [
        field.serialization_alias or field.alias or name
        for name, field in SearchResponse.model_fields.items()
    ]
    for name in [tool.name for tool in TOOLS] + fields:
        assert f"`{name}`" in page or f"`{name}[]`" in page, name


def test_the_page_of_tools_has_a_section_with_two_examples_for_each_tool() -> None:
    sections = re.split(r"^## ", (ROOT / "docs" / "tools.md").read_text(), flags=re.MULTILINE)
    for tool in TOOLS:
        (section,) = [
            text for text in sections if text.startswith(f"`{tool.name}` ({tool.toolset})")
        ]
        assert section.count("```json") == 2 or "As `" in section, tool.name


def test_the_spans_of_an_example_are_the_places_of_its_links() -> None:
    examples = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "tools.md").read_text(), re.DOTALL)
    answers = [example for example in examples if '"startIndex"' in example and '"text"' in example]
    assert answers
    for answer in map(json.loads, answers):
        for citation in answer["citations"]:
            for span in [citation, *citation["spans"]]:
                place = answer["text"][span["startIndex"] : span["endIndex"]]
                assert re.fullmatch(r"\(?\[[^\]]+\](?:\([^()]+\)\)?)?", place), place


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_agents_page_fits_one_screen() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 50


def test_the_package_exports_what_it_promises() -> None:
    calls = [
        call
        for name, call in vars(Gateway).items()
        if inspect.iscoroutinefunction(call) and name[0] != "_"
    ]
    results = {inspect.signature(call).return_annotation for call in calls}
    assert set(websearch_gateway.__all__) == {
        "Claim",
        "Gateway",
        "SearchError",
        "SyncGateway",
        "__version__",
        *results,
    }
    assert all(hasattr(websearch_gateway, name) for name in websearch_gateway.__all__)
    assert f'version = "{websearch_gateway.__version__}"' in (ROOT / "pyproject.toml").read_text()


def test_every_message_in_troubleshooting_is_one_that_the_gateway_gives() -> None:
    sources = "".join(module.read_text() for module in MODULES)
    document = (ROOT / "docs" / "troubleshooting.md").read_text()
    entries = re.findall(r"^\*\*(.+?)\*\*", document, re.MULTILINE)
    messages = [
        text for entry in entries for text in re.findall(r"`([^`]+)`", entry) if " " in text
    ]
    assert len(messages) > 12
    assert [text for text in messages if text not in sources] == []
