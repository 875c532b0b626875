"""Sites are selected by names, and by patterns that cannot harm the process."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.shared_workers import SharedWorkers
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.base.workers.worker import Limits
from websearch_gateway.docs.models import Run, SiteVersion, named, quoted, select
from websearch_gateway.errors import SearchTimeoutError, SearchValidationError

SITES = (
    SiteVersion(1, "python", "3.12", "https://docs.python.org/3.12/"),
    SiteVersion(2, "python", "3.13", "https://docs.python.org/3.13/"),
    SiteVersion(3, "c++", "23", "http://127.0.0.1:8000/w/?lang=c++(23)"),
    SiteVersion(4, "a" * 60 + "!", "1", "https://a.example.org/"),
)


async def chosen(workers: Run, sites_filter: str) -> list[int]:
    return [version.id for version in await select(SITES, None, sites_filter, None, workers)]


@pytest.mark.parametrize("sites_filter", ["(a)", "a{2}", "a?" * 9 + "b", ".*" * 9])
async def test_a_pattern_that_may_take_long_runs_in_a_process(sites_filter: str) -> None:
    async with Workers(count=1, limits=Limits(seconds=0.0)) as workers:
        with pytest.raises(SearchValidationError, match="too costly"):
            await chosen(workers, sites_filter)


@pytest.mark.parametrize(
    ("sites_filter", "ids"),
    [
        ("python", [1, 2]),
        ("PYTHON", [1, 2]),
        ("^pyth.n$", [1, 2]),
        (r"3\.13/$", [2]),
        ("127.0.0.1", [3]),
        ("http://127.0.0.1:8000/w/?lang=c++(23)", [3]),
        ("?lang=", [3]),
        ("ruby", []),
        ("^ruby$", []),
        ("", [1, 2, 3, 4]),
    ],
)
async def test_a_pattern_or_a_part_of_a_name_or_url_selects(
    workers: SharedWorkers, sites_filter: str, ids: list[int]
) -> None:
    assert await chosen(workers, sites_filter) == ids


@pytest.mark.parametrize(
    "sites_filter",
    [
        "((((",
        "x{99999999999999}",
        "[",
        "*",
        "(?P<n>a)(?P<n>b)",
        "(?au)a",
        "\\",
        "(?\x1bq)",
        "\ud800(",
        "(" * 200,
    ],
)
async def test_an_unusable_pattern_is_a_fault_of_the_caller(
    workers: SharedWorkers, sites_filter: str
) -> None:
    with pytest.raises(SearchValidationError, match="not a regular expression") as caught:
        await chosen(workers, sites_filter)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    "sites_filter", ["(a+)+$", "(a|a?)+$", "(.*)*(.*)*(.*)*(.*)*#", "(a?){60}a{60}"]
)
async def test_a_pattern_that_takes_too_long_is_a_fault_of_the_caller(sites_filter: str) -> None:
    async with Workers(count=1, limits=Limits(seconds=0.2)) as workers:
        with pytest.raises(SearchValidationError, match="too costly"):
            await chosen(workers, sites_filter)


async def test_no_pattern_is_compiled_in_this_process(
    workers: SharedWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[Any] = []
    compile_here = re._compiler.compile  # type: ignore[attr-defined]

    def noted(pattern: Any, flags: Any) -> Any:
        compiled.append(pattern)
        return compile_here(pattern, flags)

    monkeypatch.setattr("re._compiler.compile", noted)
    assert await chosen(workers, r"^(pyth)on$") == [1, 2]
    assert r"^(pyth)on$" not in compiled


@pytest.mark.parametrize(
    ("sites_filter", "ids"),
    [
        *(
            ("^pyth.n$", [1, 2]),
            (r"3\.13/$", [2]),
            ("ruby|c..", [1, 2, 3]),
            (r"c\+\+", [3]),
            (r"\bpython\b", [1, 2]),
        ),
        *(
            ("127.0.0.1:8000", [3]),
            ("https://docs.python.org/3.12/", [1]),
            ("|".join("a" * 100), [3, 4]),
            ("", [1, 2, 3, 4]),
        ),
        *(
            (".*", [1, 2, 3, 4]),
            ("pyth.+", [1, 2]),
            ("^py.*?n$", [1, 2]),
            ("[p-q]ython", [1, 2]),
            (r"3\.1\d*/$", [1, 2]),
        ),
    ],
)
async def test_a_simple_pattern_starts_no_worker(sites_filter: str, ids: list[int]) -> None:
    async with Workers() as workers:
        assert await chosen(workers, sites_filter) == ids
        assert not workers._all


async def test_a_long_pattern_is_refused_before_it_is_compiled(workers: SharedWorkers) -> None:
    with pytest.raises(SearchValidationError, match="at most 200 characters"):
        await chosen(workers, "p" * 201)
    assert await chosen(workers, "p" * 200) == []


async def test_busy_workers_are_no_fault_of_the_pattern() -> None:
    class Busy(Workers):
        async def run(self, *_: object, **__: object) -> object:
            raise SearchTimeoutError("The page could not be read in time.")

    with pytest.raises(SearchTimeoutError):
        await chosen(Busy(), "(pyth)+on")


def test_a_text_of_a_caller_is_cut_after_a_hundred_characters() -> None:
    assert quoted("x" * 100) == f"'{'x' * 100}'"
    assert quoted("x" * 101) == f"'{'x' * 100}…'"


def test_an_error_names_twenty_sites() -> None:
    versions = [SiteVersion(at, "gull", str(at), "https://a.example/") for at in range(21)]
    assert named(versions[:20]).endswith("19 (gull 19)")
    assert named(versions).endswith("19 (gull 19) and 1 more")


@pytest.mark.parametrize(
    ("length", "starts_one"),
    [(998, False), (1_001, True)],  # a repetition over a thousand characters: a million steps
)
async def test_a_pattern_that_takes_a_million_steps_runs_in_a_process(
    length: int, starts_one: bool
) -> None:
    sites = (SiteVersion(1, "x" * length, "", ""),)
    async with Workers() as workers:
        await select(sites, None, "y.*", None, workers)
        assert bool(workers._all) is starts_one
