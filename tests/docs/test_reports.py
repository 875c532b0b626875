"""What people and models are told of a site."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from websearch_gateway.docs.models import SiteVersion, Skipped
from websearch_gateway.docs.reports import listed
from websearch_gateway.results import DocsSite

SITE = SiteVersion(1, "gull", "1", "https://gull.example/")


class Noted:
    """A store that has noted what each site leaves out."""

    async def skipped(self, ids: list[int]) -> dict[int, tuple[Skipped, ...]]:
        return {at: tuple(Skipped(f"reason {n}", 9 - n, ()) for n in range(5)) for at in ids}


async def told(site: SiteVersion) -> DocsSite:
    return (await listed(Noted(), [site])).sites[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (59, "59 seconds"),
        (60, "1 minute"),
        (3_599, "59 minutes"),
        (3_600, "1 hour"),
        (86_399, "23 hours"),
        (86_400, "1 day"),
        (200_000, "2 days"),
    ],
)
async def test_an_age_is_told_in_its_largest_unit(
    monkeypatch: pytest.MonkeyPatch, seconds: int, age: str
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0 + seconds)
    assert (await told(replace(SITE, indexed_at=1_700_000_000.0))).age == age


async def test_a_list_names_three_reasons_of_what_is_left_out() -> None:
    assert (await told(SITE)).left_out == "9 reason 0; 8 reason 1; 7 reason 2"
