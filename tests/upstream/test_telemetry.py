"""The log reports the outcome of a search, in JSON on stderr, without secrets and queries."""

import asyncio
import logging
import os
import subprocess
import sys

import pytest

from tests.clock import Clock
from websearch_gateway.errors import SearchAuthError, SearchProviderError, SearchRateLimitError
from websearch_gateway.results import Citation, FallbackInfo, SearchResponse
from websearch_gateway.upstream.logs import configure_logging
from websearch_gateway.upstream.telemetry import Telemetry

QUERY = "what does Zebulon Pike's diary say?"
ANSWER = SearchResponse(
    text="It says much.",
    citations=(
        Citation(
            url="https://pike.example/diary?page=7", title="Diary", text_snippet="It says much."
        ),
    ),
    provider="openai",
    cost_usd=0.0105,
)


def search(telemetry: Telemetry, response: SearchResponse = ANSWER) -> None:
    with telemetry.call(QUERY) as event:
        event.answered(response)


class TestEvent:
    def test_an_answer_is_one_event(self, told):
        configure_logging("INFO", ())
        clock = Clock(50.0)
        with Telemetry(clock=clock).call(QUERY) as event:
            clock.now += 1.23456
            event.answered(ANSWER)
        (line,) = told()
        assert line.pop("timestamp").endswith("Z")
        assert len(line.pop("query_hash")) == 16
        assert line == {
            "event": "search",
            "tool": "search_web",
            "level": "info",
            "logger": "websearch_gateway.upstream.telemetry",
            "query_length": len(QUERY),
            "latency_ms": 1234.6,
            "route": "openai",
            "outcome": "ok",
            "result_count": 1,
            "cost_usd": 0.0105,
            "cache": "miss",
            "fallback_from": None,
            "fallback_reason": None,
            "saved_usd": 0.0,
            "joined": False,
        }

    def test_no_part_of_query_answer_or_sources_is_logged(self, capsys):
        configure_logging("DEBUG", ())
        reason = f"TIMEOUT: no answer to {QUERY}"
        search(
            Telemetry(),
            ANSWER.model_copy(update={"fallback": FallbackInfo(from_="openai", reason=reason)}),
        )
        with pytest.raises(SearchProviderError), Telemetry().call(QUERY):
            raise SearchProviderError(
                f"no answer to {QUERY} from https://pike.example/diary?page=7"
            )
        told = capsys.readouterr().err
        assert told.count("\n") == 2
        assert not [
            word for word in ("Zebulon", "diary", "pike.example", "says much") if word in told
        ]

    def test_records_keep_what_another_handler_prints_of_them(self, caplog):
        configure_logging("DEBUG", ())
        logging.getLogger().addHandler(caplog.handler)
        logging.getLogger("another.library").warning("It rains.")
        (record,) = caplog.records
        printed = "%(process)d %(processName)s %(thread)d %(threadName)s %(filename)s"
        assert logging.Formatter(printed).format(record).startswith(f"{os.getpid()} MainProcess ")
        assert record.filename == "test_telemetry.py"

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"cache": "exact"}, {"route": "cache", "cache": "exact"}),
            ({"provider": "serper-raw-search"}, {"route": "serper-raw-search"}),
            (
                {"fallback": FallbackInfo(from_="openai", reason="PROVIDER: 500 from upstream")},
                {"fallback_from": "openai", "fallback_reason": "PROVIDER"},
            ),
            (
                {"fallback": FallbackInfo(from_="openai", reason="free words")},
                {"fallback_reason": "OTHER"},
            ),
        ],
    )
    def test_the_origin_of_the_answer_is_logged(self, told, change, expected):
        configure_logging("INFO", ())
        search(Telemetry(), ANSWER.model_copy(update=change))
        (line,) = told()
        assert expected.items() <= line.items()

    @pytest.mark.parametrize(
        ("error", "route", "outcome"),
        [
            (SearchRateLimitError("later"), "refused", "RATE_LIMIT"),
            (SearchAuthError("wrong key"), "refused", "AUTH"),
            (SearchProviderError("down"), "failed", "PROVIDER"),
            (asyncio.CancelledError(), "failed", "CANCELLED"),
            (ZeroDivisionError(), "failed", "INTERNAL"),
        ],
    )
    def test_a_failure_is_logged_and_passes_through(self, told, error, route, outcome):
        configure_logging("INFO", ())
        with pytest.raises(type(error)), Telemetry().call(QUERY):
            raise error
        (line,) = told()
        assert (line["route"], line["outcome"], line["result_count"]) == (route, outcome, 0)

    def test_the_hash_shows_repetitions_within_a_process_and_nothing_outside(self, told):
        configure_logging("INFO", ())
        one, other = Telemetry(), Telemetry()
        for telemetry in (one, one, other):
            search(telemetry)
        first, second, third = (line["query_hash"] for line in told())
        assert first == second != third

    def test_any_text_can_be_hashed(self, told):
        configure_logging("INFO", ())
        with Telemetry().call("lone \ud800"):
            pass
        assert told()[0]["query_length"] == 6

    @pytest.mark.parametrize("level", ["WARNING", "ERROR"])
    def test_above_info_there_is_no_event(self, told, level):
        configure_logging(level, ())
        search(Telemetry())
        assert told() == []

    def test_a_process_that_configures_nothing_stays_silent(self):
        script = "from websearch_gateway.upstream.telemetry import Telemetry\nwith Telemetry().call('x'): pass"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"", b"")
