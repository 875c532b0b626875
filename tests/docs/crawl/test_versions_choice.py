"""Which of the versions beside each other is chosen, and which others are named."""

from __future__ import annotations

import pytest

from websearch_gateway.docs.crawl.scope import Scope
from websearch_gateway.docs.crawl.versions import VersionFolders

HOME = "https://docs.example.org/"


def versions_of(*labels: str, wanted: str = "") -> VersionFolders:
    folders = VersionFolders(Scope.of(HOME), wanted)
    folders.note(f"{HOME}{label}/" for label in labels)
    return folders


@pytest.mark.parametrize(("others", "named"), [(20, 20), (21, 20)])
def test_twenty_versions_that_are_left_out_are_named(others: int, named: int) -> None:
    summary = versions_of(*(f"1.{number}" for number in range(others + 1))).summary()
    assert summary.partition("Others: ")[2].partition(". Add")[0].count(",") == named - 1


@pytest.mark.parametrize(
    ("labels", "wanted", "chosen"),
    [
        (("1.0", "2.0"), "", "2.0"),
        (("1.0", "stable"), "", "stable"),
        (("latest", "stable"), "", "stable"),
        (("1.0", "2.0"), "1.0", "1.0"),
        (("1.0", "2.0"), "3.0", "2.0"),
        (("1.0",), "", ""),
    ],
)
def test_one_of_the_versions_beside_each_other_is_chosen(
    labels: tuple[str, ...], wanted: str, chosen: str
) -> None:
    folders = versions_of(*labels, wanted=wanted)
    left_out = [label for label in labels if folders.other_version(f"{HOME}{label}/a.html")]
    assert left_out == [label for label in labels if chosen not in ("", label)]
    assert bool(folders.summary()) is bool(chosen)
    assert folders.other_version(f"{HOME}guide.html") == ""
