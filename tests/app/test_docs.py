"""The documentation index is made when it is first used, and its settings are checked before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.opening import Open
from websearch_gateway.app.docs import LazyDocs, lazy_docs
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings


async def test_the_index_is_made_once_and_closed_only_if_made(gateway: Open, tmp_path: Path) -> None:
    made = []
    unused = LazyDocs(lambda: made.append(1))  # type: ignore[arg-type, func-returns-value]
    await unused.close()
    assert made == []
    async with gateway(docs_url=f"sqlite:///{tmp_path}/docs.db") as opened:
        assert opened.docs is opened.docs


def test_a_gateway_without_documentation_does_not_import_its_index() -> None:
    program = "import sys, websearch_gateway.app; print([name for name in sys.modules if '.docs_index.' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_missing_library_is_reported_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SearchNotConfiguredError, match="lancedb"):
        lazy_docs(Settings(docs_vectors="lance:///vectors"), None, None)  # type: ignore[arg-type]
