"""What the status page shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from tests.entrypoints.http.status.samples import BROKEN, FRESH, HEALTHY, HOSTILE, NOW, error
from websearch_gateway.admin.operations import Snapshot
from websearch_gateway.entrypoints.http.replies import tag
from websearch_gateway.entrypoints.http.status_page import rendered
from websearch_gateway.upstream.health import UpstreamStatus


def words(snapshot: Snapshot) -> str:
    """The text of the page, with single spaces."""
    return " ".join(" ".join(html.fromstring(rendered(snapshot, NOW)).itertext()).split())


def test_a_healthy_gateway_shows_its_numbers() -> None:
    text = words(HEALTHY)
    for shown in (
        "Every upstream asked so far is healthy",
        "14 per minute",
        "2,188 in all · 25 failed · 15 refused · 2 now",
        "43%",
        "402 exact · 118 similar · 684 new",
        "$1.83 of $5.00",
        "$3.17 left · cache saved $0.91",
        "1.8 s median",
        "brave not asked 0",
        "TIMEOUT · 2 h ago · No answer in time.",
        "FETCH get_content 42 s ago",
        "up 3 d",
    ):
        assert shown in text


def test_a_broken_one_says_what_is_wrong() -> None:
    text = words(BROKEN)
    assert "openai and serper are failing" in text
    assert "openai circuit open 24 s" in text
    assert "serper probing" in text
    assert "$0.09 left" in text


def test_a_new_one_claims_nothing() -> None:
    text = words(FRESH)
    assert "Waiting for the first call" in text
    assert "healthy" not in text
    assert "no budget set" in text


def test_costs_that_nobody_can_read_are_not_zero() -> None:
    text = words(replace(HEALTHY, days=[]))
    assert "The ledger cannot be read" in text
    assert "$" not in text


def test_an_upstreams_words_stay_words() -> None:
    page = html.fromstring(rendered(BROKEN, NOW))
    assert page.findall(".//script") == page.findall(".//img") == []
    assert HOSTILE in [cell.get("title") for cell in page.iter("p")]


@pytest.mark.parametrize("place", ["name", "message"])
@given(
    text=st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1)
)
def test_no_text_changes_the_structure(place: str, text: str) -> None:
    def shape(filling: str) -> list[object]:
        name, message = (filling, "m") if place == "name" else ("n", filling)
        ill = UpstreamStatus(name, "closed", None, 1, 1, None, None, error("PROVIDER", message, 1))
        return [
            element.tag
            for element in html.fromstring(rendered(replace(FRESH, upstreams=(ill,)), NOW)).iter()
        ]

    assert shape(text) == shape("plain")


def test_attributes_are_escaped() -> None:
    assert (
        tag("p", "<b>", class_='"><script>') == '<p class="&quot;&gt;&lt;script&gt;">&lt;b&gt;</p>'
    )
