"""The contract of every provider in the table. A provider without its recording or its docs row fails here."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.dates import bucket
from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.models import HttpRequest, SearchQuery
from websearch_gateway.pipeline.web_results import MOST_HITS
from websearch_gateway.ports import Provider
from websearch_gateway.providers.table import PROVIDERS, Entry
from websearch_gateway.settings.loading import Settings

KEY = "contract-key-51b2"
QUERY = SearchQuery("heron colony census")
REPLIES = Path(__file__).parents[2] / "src" / "websearch_gateway" / "sandbox" / "replies"
DOCS = Path(__file__).parents[2] / "docs" / "adding-a-provider.md"
SETTINGS = Settings(
    **{need: KEY for entry in PROVIDERS for need in entry.needs if need.endswith("_api_key")},
    **{
        need: "https://own.example"
        for entry in PROVIDERS
        for need in entry.needs
        if need.endswith("_base_url")
    },
    google_search_engine_id="engine",
)

EMPTY_ELSEWISE: dict[str, bytes] = {
    "wikipedia": b'{"batchcomplete": true}',
    "serper": b'{"searchParameters": {"q": "x", "type": "search", "engine": "google"}, "credits": 1}',
    "brave": b'{"type": "search", "query": {"original": "x", "more_results_available": false}}',
    "google": b'{"kind": "customsearch#search", "searchInformation": {"totalResults": "0"}}',
    "duckduckgo": b'<html><body><div id="links"><div class="no-results">No results found.</div></div></body></html>',
}
"""The replies without results of vendors that send no empty list."""

GARBAGE = {
    "nothing": b"",
    "noise": b"\x00\xff<<{]]]} \xc3\x28",
    "null": b"null",
    "a list": b"[]",
    "a string": b'"results"',
    "an empty object": b"{}",
    "an error with status 200": b'{"error": {"message": "something went wrong"}}',
    "a foreign page": b"<!doctype html><html><title>Just a moment...</title><p>Checking your browser</p></html>",
    "bottomless": b'{"results":' + b"[" * 200_000,
    "cut short": b'{"results": [{"url": "https://a.exam',
}


@pytest.fixture(params=PROVIDERS, ids=lambda entry: entry.name)
def entry(request: pytest.FixtureRequest) -> Entry:
    found: Entry = request.param
    return found


@pytest.fixture
def provider(entry: Entry) -> Provider:
    return entry.build(SETTINGS)


def recording(name: str) -> bytes:
    paths = sorted(REPLIES.glob(f"{name}.*"))
    assert paths, f"put a recorded reply of {name} into {REPLIES}"
    return paths[0].read_bytes()


def built(name: str) -> Provider:
    return next(entry for entry in PROVIDERS if entry.name == name).build(SETTINGS)


def with_lists_replaced(part: Any, value: Any) -> Any:
    """A document in which every list outside of lists is `value`."""
    if isinstance(part, dict):
        return {name: with_lists_replaced(inner, value) for name, inner in part.items()}
    return value if isinstance(part, list) else part


def places_of_key(request: HttpRequest) -> list[str]:
    return [place for place, value in asdict(request).items() if KEY in json.dumps(value)]


def rows_of(name: str) -> list[list[str]]:
    """The cells of the rows that the documentation has for a provider."""
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith(f"| {name} |")
    ]


def test_the_recording_gives_clean_hits(provider: Provider) -> None:
    hits = provider.parse(recording(provider.name))
    assert len(hits) == 2, "two of the web, and nothing that is no web page"
    for hit in hits:
        assert re.match(r"https?://\w", hit.url)
        assert hit.provider == provider.name
        assert hit.title
        assert hit.snippet
        assert not re.search(r"<strong>|<b>|&\w+;|&#|\n", hit.title + hit.snippet)
        assert hit.published is None or datetime.fromisoformat(hit.published)
    assert "412 nests" in hits[0].snippet


@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE.keys())
def test_a_reply_of_another_shape_is_a_parse_error(provider: Provider, body: bytes) -> None:
    with pytest.raises(SearchProviderParseError) as raised:
        provider.parse(body)
    assert provider.name in raised.value.message.lower()


@pytest.mark.parametrize("value", ["a string", {"an": "object"}, 7, ["strings", "only"]], ids=str)
@pytest.mark.parametrize("name", [path.stem for path in sorted(REPLIES.glob("*.json"))])
def test_a_result_list_of_the_wrong_type_is_a_parse_error(name: str, value: Any) -> None:
    body = json.dumps(with_lists_replaced(json.loads(recording(name)), value)).encode()
    with pytest.raises(SearchProviderParseError):
        built(name).parse(body)


def empty_reply(name: str) -> bytes:
    return (
        EMPTY_ELSEWISE.get(name)
        or json.dumps(with_lists_replaced(json.loads(recording(name)), [])).encode()
    )


def test_an_empty_reply_is_an_answer_without_hits(provider: Provider) -> None:
    assert provider.parse(empty_reply(provider.name)) == []


def test_the_key_is_in_no_repr_and_in_one_place_of_the_request(
    entry: Entry, provider: Provider
) -> None:
    request = provider.request(QUERY)
    assert KEY not in repr(provider)
    assert KEY not in repr(request)
    assert QUERY.text not in repr(request)
    assert len(places_of_key(request)) == (1 if entry.row.has_key else 0)


def test_freshness_is_sent_exactly_when_it_is_applied(provider: Provider) -> None:
    sent = set()
    for hours in (1, 24, 25, 168, 169, 720, 721, 8760, 8761):
        query = replace(QUERY, freshness_hours=hours)
        applied = provider.applied(query).freshness
        assert applied == (bucket(hours) if provider.capabilities.freshness else None)
        assert (provider.request(query) != provider.request(QUERY)) == (applied is not None)
        sent.add(json.dumps(asdict(provider.request(query)), sort_keys=True))
    assert len(sent) == (5 if provider.capabilities.freshness else 1)


def test_the_region_is_sent_exactly_when_it_is_applied(provider: Provider) -> None:
    applied_at_all = False
    for language in (None, "en"):
        for region in ("GB", "DE", "US", "KP", "AQ", None):
            query = replace(QUERY, region=region, language=language)
            applied = provider.applied(query).region
            assert applied in (None, region)
            assert (provider.request(query) != provider.request(replace(query, region=None))) == (
                applied is not None
            )
            applied_at_all |= applied is not None
    assert applied_at_all == provider.capabilities.region


def test_the_language_is_sent_exactly_when_it_is_applied(provider: Provider) -> None:
    for language in ("de", "he", "nb", "zh", "zu"):
        query = replace(QUERY, language=language)
        applied = provider.applied(query).language
        assert applied in (None, language)
        assert (provider.request(query) != provider.request(QUERY)) == (applied is not None)
    german, french = (replace(QUERY, language=language, region="CH") for language in ("de", "fr"))
    assert (provider.applied(german).language == "de") == provider.capabilities.language
    assert (provider.request(german) != provider.request(french)) == provider.capabilities.language


def test_what_is_not_sent_is_not_reported_as_applied(provider: Provider) -> None:
    can = provider.capabilities
    applied = provider.applied(replace(QUERY, safe_search="strict", topic="news", max_results=50))
    assert applied.safe_search == ("strict" if can.safe_search else None)
    assert applied.news == can.news
    assert applied.max_results == can.max_results
    assert 1 <= can.max_results <= MOST_HITS


def test_safe_search_and_news_are_sent_exactly_when_the_provider_has_them(
    provider: Provider,
) -> None:
    plain = provider.request(QUERY)
    assert (
        provider.request(replace(QUERY, safe_search="off")) != plain
    ) == provider.capabilities.safe_search
    # Not the topic alone: Tavily's body always holds one.
    assert (provider.request(replace(QUERY, topic="news")) != plain) == provider.capabilities.news


def test_there_is_a_second_page_exactly_when_the_provider_pages(provider: Provider) -> None:
    query = replace(QUERY, max_results=50, freshness_hours=24, region="GB", language="en")
    second = provider.next_page(query, recording(provider.name), 2)
    assert (second is not None) == provider.capabilities.paging
    assert second != provider.request(query)


def test_the_key_setting_is_that_of_the_table(entry: Entry, provider: Provider) -> None:
    assert [provider.key_setting] == (
        [need.upper() for need in entry.needs if need.endswith("_api_key")] or [None]
    )


def test_an_ordinary_reply_is_not_a_refusal(provider: Provider) -> None:
    assert provider.refusal(200, {}, recording(provider.name)) is None


def test_the_documentation_has_a_true_row(entry: Entry, provider: Provider) -> None:
    rows = rows_of(entry.name)
    assert len(rows) == 1, f"docs/adding-a-provider.md needs one row for {entry.name}"
    name, needs, base_url, *abilities, price = rows[0]
    can = provider.capabilities
    assert name == entry.name
    assert re.findall(r"`(\w+)`", needs) == [need.upper() for need in entry.needs]
    assert base_url.strip("`").lower() in Settings.model_fields
    *claimed, most = abilities
    claims = [ability.startswith("yes") for ability in claimed]
    assert claims == [
        can.freshness,
        can.region,
        can.language,
        can.safe_search,
        can.paging,
        can.news,
    ]
    assert (int(most), float(price)) == (can.max_results, can.cost_per_call_usd)


def test_a_price_names_its_source_and_date(provider: Provider) -> None:
    can = provider.capabilities
    told = re.fullmatch(r"https://\S+, .*20\d\d-[01]\d", can.price_source)
    assert bool(told) == bool(can.cost_per_call_usd), (
        'price_source is "https://PAGE, what it says, YYYY-MM"'
    )


def test_the_documentation_has_the_order_of_the_table() -> None:
    names = [entry.name for entry in PROVIDERS]
    text = DOCS.read_text(encoding="utf-8")
    places = [text.index(f"\n| {name} |") for name in names]
    assert places == sorted(places)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.text()
    | st.sampled_from(["https://a.example/", "http://[", "//x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = (
    "url link title snippet content description text date age page_age published publishedDate published_date score "
    "pagemap metatags"
)
ROWS = st.lists(st.dictionaries(st.sampled_from(NAMES.split()), JSON) | JSON, max_size=4)


@given(ROWS)
def test_no_row_can_break_a_provider(rows: list[Any]) -> None:
    for path in REPLIES.glob("*.json"):
        body = json.dumps(with_lists_replaced(json.loads(path.read_bytes()), rows)).encode()
        try:
            hits = built(path.stem).parse(body)
        except SearchProviderParseError:
            continue
        for hit in hits:
            assert re.match(r"https?://", hit.url, re.IGNORECASE)
            (hit.url + hit.title + hit.snippet).encode()


def test_domains_are_sent_exactly_when_they_are_reported_as_applied(provider: Provider) -> None:
    many = tuple(f"host{number}.example" for number in range(60))
    for include, exclude in ((("a.example",), ()), ((), ("a.example",)), (many, ()), ((), ())):
        query = replace(QUERY, include_domains=include, exclude_domains=exclude)
        bare = provider.request(replace(query, include_domains=(), exclude_domains=()))
        applied = provider.applied(query).domains
        assert applied in (None, "upstream")
        assert (provider.request(query) != bare) == (applied is not None)
