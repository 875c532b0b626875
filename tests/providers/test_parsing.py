"""The quirks of vendors' replies are parsed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from websearch_gateway.models import Hit
from websearch_gateway.ports import Provider
from websearch_gateway.providers.brave import Brave
from websearch_gateway.providers.duckduckgo import DuckDuckGo
from websearch_gateway.providers.google import Google
from websearch_gateway.providers.searxng import Searxng
from websearch_gateway.providers.serper import Serper
from websearch_gateway.providers.synthetic import Synthetic
from websearch_gateway.providers.tavily import Tavily

REPLIES = Path(__file__).parents[2] / "src" / "websearch_gateway" / "sandbox" / "replies"


def now() -> datetime:
    return datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def recorded(provider: Provider) -> list[Hit]:
    [path] = REPLIES.glob(f"{provider.name}.*")
    return provider.parse(path.read_bytes())


def test_serpers_dates_in_words_are_read_by_the_clock() -> None:
    assert [hit.published for hit in recorded(Serper("k", clock=now))] == [
        "2026-05-10",
        "2026-11-21T10:00:00+00:00",
    ]


def test_serpers_news_are_read_from_their_own_list() -> None:
    reply = b'{"searchParameters": {"type": "news"}, "news": [{"title": "T", "link": "https://a.example/n"}]}'
    assert [hit.url for hit in Serper("k").parse(reply)] == ["https://a.example/n"]


def test_tavilys_score_and_news_date_are_kept() -> None:
    first, second = recorded(Tavily("k"))
    assert (first.score, first.published) == (0.91, "2026-05-10T06:30:00+00:00")
    assert (second.score, second.published) == (0.4, None)


def test_braves_markup_is_removed_and_quoted_markup_is_kept() -> None:
    first, second = recorded(Brave("k", clock=now))
    assert first.title == "Heron & egret colonies counted"
    assert (
        first.snippet
        == "Volunteers counted 412 nests in the heron colony; the <nest> tag isn't new."
    )
    assert (first.published, second.published) == ("2026-05-10T06:30:00+00:00", "2026-11-18")


def test_braves_news_have_their_results_at_the_top() -> None:
    reply = b'{"type": "news", "results": [{"title": "T", "url": "https://a.example/n", "description": "D"}]}'
    assert [hit.url for hit in Brave("k").parse(reply)] == ["https://a.example/n"]


def test_googles_dates_are_those_that_pages_declare() -> None:
    assert [hit.published for hit in recorded(Google("k", "cx"))] == [
        "2026-05-10T06:30:00+00:00",
        None,
    ]


def test_synthetic_gives_the_whole_text_and_its_beginning_as_the_snippet() -> None:
    first, second = recorded(Synthetic("k"))
    assert first.content is not None
    assert first.content.endswith("Boots are provided.")
    assert len(first.snippet) <= 400
    assert first.snippet.endswith(" …")
    assert second.snippet == "Count from across the water."


def test_searxngs_dates_are_read() -> None:
    assert [hit.published for hit in recorded(Searxng("http://searx"))] == [
        "2026-05-10T06:30:00+00:00",
        None,
    ]


def test_duckduckgos_redirects_are_unwrapped_and_its_advertisements_dropped() -> None:
    first, second = recorded(DuckDuckGo())
    assert first.url == "https://wetland.example/herons/2026?a=1&b=2"
    assert first.title == "Heron colonies counted"
    assert (
        first.snippet
        == "Volunteers counted 412 nests in the heron colony; no bird's egg was harmed."
    )
    assert second.url == "https://birds.example/how-to"
    assert second.snippet.endswith("water – früh am Morgen.")


def test_links_of_duckduckgo_without_a_usable_target_are_dropped() -> None:
    links = (
        "//duckduckgo.com/l/?rut=1",
        "//duckduckgo.com/l/?uddg=javascript%3Aalert(1)",
        "http://[broken",
    )
    results = "".join(
        f'<div class="web-result"><h2><a href="{link}">T</a></h2></div>' for link in links
    )
    assert (
        DuckDuckGo().parse(
            f'<div id="links">{results}<div class="web-result"></div></div>'.encode()
        )
        == []
    )
