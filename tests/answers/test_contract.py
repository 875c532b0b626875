"""The parts that every engine of the table must have besides its code, see docs/adding-an-engine.md."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from tests.answers.test_http_engine import APIS
from websearch_gateway.answers.table import ENGINES, Entry
from websearch_gateway.sandbox.app import VENDORS
from websearch_gateway.settings.loading import Settings

DOCS = Path(__file__).parents[2] / "docs"
HOSTED = [entry for entry in ENGINES if entry.name != "llm"]
TODAY = date(2026, 11, 22)

every_engine = pytest.mark.parametrize("entry", ENGINES, ids=lambda entry: entry.name)
every_hosted_engine = pytest.mark.parametrize("entry", HOSTED, ids=lambda entry: entry.name)


@every_engine
def test_the_documents_name_it_with_what_it_needs(entry: Entry) -> None:
    rows = re.findall(
        rf"^\| `{entry.name}` \| ([^|]+) \|", (DOCS / "engines.md").read_text(), re.MULTILINE
    )
    assert len(rows) == 1, f"docs/engines.md needs one row for {entry.name}"
    assert re.findall(r"`(\w+)`", rows[0]) == [need.upper() for need in entry.needs]
    assert entry.name in (Settings.model_fields["answer_engines"].description or "")


@every_hosted_engine
def test_it_has_a_stand_in_and_a_row_in_the_suite(entry: Entry) -> None:
    assert entry.name in {vendor.name for vendor in VENDORS}, "sandbox/vendors"
    assert entry.name in {api.name for api, _ in APIS}, "APIS of tests/answers/test_http_engine.py"


@every_hosted_engine
def test_its_price_names_its_source_and_date(entry: Entry) -> None:
    [api] = [api for api, _ in APIS if api.name == entry.name]
    assert re.fullmatch(r"https://\S+, .*20\d\d-[01]\d(?:-[0-3]\d)?", api.price_source)
    assert (
        f"| {entry.name} | {api.search_usd:g} | {api.price_source} |"
        in (DOCS / "prices.md").read_text()
    )


@every_hosted_engine
def test_its_default_models_include_the_cheapest_that_stays_for_a_year(entry: Entry) -> None:
    [api] = [api for api, _ in APIS if api.name == entry.name]
    in_a_year = datetime.combine(TODAY + timedelta(days=365), time(), UTC)
    stays = [model for model in api.known_models if not model.has_ended(in_a_year)]
    cheapest = min(stays, key=lambda model: model.tokens_usd(api.limits.usual, in_a_year))
    assert cheapest.name in Settings.model_fields[f"{api.name}_models"].default


@every_hosted_engine
def test_its_settings_have_the_usual_names(entry: Entry) -> None:
    names = {f"{entry.name}_{part}" for part in ("api_key", "base_url", "models")}
    assert names <= Settings.model_fields.keys()
