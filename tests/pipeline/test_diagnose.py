"""Each trouble comes with a remedy that helps."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchNotConfiguredError,
    SearchProviderError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Deadline, SearchQuery, SearchResults
from websearch_gateway.pipeline.diagnose import Doctor
from websearch_gateway.pipeline.fallback import UnconfiguredEngine
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.wire.ops import Check


@dataclass
class Failing:
    error: SearchError
    name: str = "duckduckgo"

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        raise self.error


async def check(error: SearchError) -> Check:
    doctor = Doctor(UnconfiguredEngine("openai", "OPENAI_API_KEY"), [Failing(error)], MemoryState())
    [found] = [check for check in (await doctor.examine()).checks if check.name == "duckduckgo"]
    return found


@pytest.mark.parametrize("kind", [SearchAuthError, SearchNotConfiguredError, SearchValidationError])
async def test_what_waiting_cannot_mend_is_left_to_the_words_of_the_error(kind: type[SearchError]) -> None:
    found = await check(kind("It is so; check SERPER_API_KEY."))
    assert found.status == "fail"
    assert found.finding == f"{kind.code}: It is so; check SERPER_API_KEY."
    assert "later" not in found.remedy
    assert "_API_KEY" not in found.remedy, "only the error knows which variable it is"


@pytest.mark.parametrize("kind", [SearchProviderError, SearchTimeoutError])
async def test_what_passes_is_waited_for(kind: type[SearchError]) -> None:
    assert (await check(kind("It is so."))).remedy.startswith("Try again later")
