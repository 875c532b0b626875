"""How much of a project is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from websearch_gateway.docs.project import javascript
from websearch_gateway.docs.project.files import UnusableFile
from websearch_gateway.docs.project.origins import Origins
from websearch_gateway.docs.project.reading import read_project

PYTHON = '[project]\ndependencies = ["acme", "heron"]'


def withheld(folder: Path) -> set[str]:
    """The direct dependencies that no public registry is asked for."""
    read = read_project(str(folder))
    assert read["problem"] == ""
    origins = {ecosystem: Origins(**one) for ecosystem, one in read["origins"].items()}
    return {name for ecosystem, name, _ in read["direct"] if origins[ecosystem].withheld(name)}


@pytest.mark.parametrize(("count", "is_usable"), [(2_000, True), (2_001, False)])
def test_a_workspace_has_at_most_two_thousand_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, is_usable: bool
) -> None:
    """To write so many files takes long."""
    files = [tmp_path / str(number) for number in range(count)]
    monkeypatch.setattr(javascript, "_workspace_patterns", lambda _: ["*"])
    monkeypatch.setattr(javascript, "_members", lambda *_: files)
    monkeypatch.setattr(javascript, "table_in", lambda path, _: {"name": path.name})
    if is_usable:
        assert len(javascript._siblings(tmp_path)) == count
    else:
        with pytest.raises(UnusableFile, match="more than 2,000 packages"):
            javascript._siblings(tmp_path)


def test_two_stars_of_a_workspace_stand_for_up_to_three_folders(tmp_path: Path) -> None:
    names = set()
    for depth in range(6):
        folder = tmp_path / "libs" / "/".join("abcdef"[:depth])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(f'{{"name": "n{depth}"}}')
        names.add(f"n{depth}")
    (tmp_path / "libs/node_modules/x").mkdir(parents=True)
    (tmp_path / "libs/node_modules/x/package.json").write_text('{"name": "x"}')
    (tmp_path / "package.json").write_text('{"workspaces": ["libs/**", "!libs/a", "../up"]}')
    assert javascript._siblings(tmp_path) == {"n0", "n1", "n2", "n3"}


@pytest.mark.parametrize(("length", "found"), [(20_000, set()), (20_001, {"acme", "heron"})])
def test_a_line_with_options_of_pip_that_is_longer_than_twenty_thousand_may_mean_any_index(
    tmp_path: Path, length: int, found: set[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON)
    line = f"{'x' * (length - 6)} --pre"
    (tmp_path / "requirements.txt").write_text(line)
    assert len(line) == length
    assert withheld(tmp_path) == found
