"""The documentation as a site: every link and anchor leads somewhere, and every document is in the menu."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]


def built(config: Path, to: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(config),
        "--site-dir",
        str(to),
    ]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=PATIENCE
    )


def test_the_site_is_built_without_a_warning_and_starts_with_the_readme(tmp_path: Path) -> None:
    result = built(ROOT / "mkdocs.yml", tmp_path)
    assert result.returncode == 0, result.stderr
    start = (tmp_path / "index.html").read_text()
    assert "cited" in start
    assert 'href="settings/"' in start
    pages = {path.parent.name for path in tmp_path.glob("*/index.html")}
    assert pages >= {path.stem for path in (ROOT / "docs").glob("*.md")}
    for page in tmp_path.glob("**/index.html"):
        assert (
            re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', page.read_text()) == []
        ), page
    listed = (tmp_path / "llms.txt").read_text()
    whole = (tmp_path / "llms-full.txt").read_text()
    for document in (ROOT / "docs").glob("*.md"):
        text = document.read_text()
        assert f"]({document.stem}/): " in listed, document
        assert text in whole, document
    assert not re.findall(r": $", listed, re.MULTILINE)


def test_a_link_to_nowhere_or_a_document_outside_of_the_menu_stops_the_build(
    tmp_path: Path,
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Start\n\n[gone](gone.md)\n")
    (tmp_path / "docs" / "hidden.md").write_text("# Hidden\n\n[no such place](index.md#nowhere)\n")
    (tmp_path / "README.md").write_text("# Start\n")
    whole = (ROOT / "mkdocs.yml").read_text()
    own = (
        re.sub(r"(?s)^nav:.*|^hooks:[^\n]*\n", "", whole, flags=re.MULTILINE)
        + "nav:\n  - index.md\n"
    )
    (tmp_path / "mkdocs.yml").write_text(own)
    result = built(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert result.returncode != 0
    assert all(word in result.stderr for word in ("gone.md", "hidden.md", "#nowhere"))
