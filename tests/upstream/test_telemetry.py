"""The log reports the outcome of a search, in JSON on stderr, without secrets and queries."""

import asyncio
import json
import logging
import os
import pty
import re
import subprocess
import sys
import threading
from contextlib import contextmanager, redirect_stderr

import httpx2
import pytest

from tests.clock import Clock
from tests.patience import PATIENCE
from websearch_gateway.errors import SearchAuthError, SearchProviderError, SearchRateLimitError
from websearch_gateway.results import Citation, FallbackInfo, SearchResponse
from websearch_gateway.upstream.telemetry import Redaction, Telemetry, configure_logging

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


@pytest.fixture(autouse=True)
def _logging_as_before():
    root, ours = logging.getLogger(), logging.getLogger("websearch_gateway")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


@pytest.fixture
def told(capsys):
    """The parsed lines on stderr since the last read; stdout belongs to the protocol."""

    def read() -> list[dict]:
        captured = capsys.readouterr()
        assert captured.out == ""
        return [json.loads(line) for line in captured.err.splitlines()]

    return read


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


@contextmanager
def terminal(secrets=()):
    """Log to a pseudo-terminal; yields a function that gives the lines that a person sees."""
    master, slave = pty.openpty()
    with open(slave, "w", encoding="utf-8") as stderr, redirect_stderr(stderr):
        configure_logging("INFO", secrets)
        yield lambda: os.read(master, 4096).decode().splitlines()
    os.close(master)


class TestTerminal:
    def test_a_call_is_a_line_of_words_without_empty_fields(self):
        with terminal() as shown:
            search(Telemetry(clock=Clock(0.0)))
            (line,) = shown()
        assert re.fullmatch(
            r"\d\d:\d\d:\d\d search tool=search_web route=openai outcome=ok result_count=1 cost_usd=0.0105 cache=miss",
            line,
        )

    def test_a_warning_says_so_and_hides_secrets_and_control_characters(self):
        with terminal(["sk-s3cret"]) as shown:
            logging.getLogger("some.library").warning("key %s\x1b[31m", "sk-s3cret")
            (line,) = shown()
        assert line[9:] == "WARNING key *** [31m"

    def test_a_traceback_follows_on_lines_of_its_own(self):
        with terminal() as shown:
            try:
                raise ZeroDivisionError("by nothing")
            except ZeroDivisionError:
                logging.getLogger("websearch_gateway").exception("It broke")
            first, *trace = shown()
        assert first.endswith("ERROR It broke")
        assert trace[-1] == "    ZeroDivisionError: by nothing"


class TestRedaction:
    def test_a_secret_is_masked_at_any_place(self, capsys):
        configure_logging("INFO", ("sk-s3cret", 'qu"ote\\d ü&=', ""))
        log = logging.getLogger("some.library")
        log.warning("key %s in a message", "sk-s3cret")
        log.warning(
            "https://x.example/?key=qu%22ote%5Cd%20%C3%BC%26%3D and +: qu%22ote%5Cd+%C3%BC%26%3D"
        )
        log.warning("repr: %r", {"key": 'qu"ote\\d ü&='})
        try:
            raise ValueError("sk-s3cret was rejected") from KeyError("sk-s3cret")
        except ValueError:
            log.exception("failed")
        told = capsys.readouterr().err
        assert "sk-s3cret" not in told
        assert "ote" not in told
        assert told.count("***") >= 6
        assert all(json.loads(line)["logger"] == "some.library" for line in told.splitlines())

    def test_keys_and_nested_values_are_covered(self):
        redact = Redaction(["s3cret"])
        event = {
            "s3cret": 1,
            "a": [{"b": ("xs3crety", b"s3cret", ValueError("s3cret"))}],
            "n": None,
            "f": 1.5,
        }
        assert redact(event) == {
            "***": 1,
            "a": [{"b": ["x***y", "b'***'", "ValueError('***')"]}],
            "n": None,
            "f": 1.5,
        }

    def test_a_secret_that_contains_another_is_masked_as_a_whole(self):
        assert Redaction(["abc", "abcdef"])({"k": "abcdef"}) == {"k": "***"}

    def test_without_secrets_nothing_changes(self):
        assert Redaction(())({"k": "text"}) == {"k": "text"}


class TestLibraries:
    async def test_request_lines_of_the_http_client_never_appear(self, told):
        """httpx2 logs whole URLs at INFO, and vendors take keys in URLs."""
        configure_logging("DEBUG", ())
        logging.getLogger("httpx2").setLevel(logging.DEBUG)
        async with httpx2.AsyncClient(
            transport=httpx2.MockTransport(lambda _: httpx2.Response(200))
        ) as client:
            await client.get("http://vendor.example/?key=hunter2")
        logging.getLogger("httpx2").setLevel(logging.NOTSET)
        assert told() == []

    def test_their_warnings_have_the_same_form_and_lower_levels_are_dropped(self, told):
        configure_logging("DEBUG", ())
        for name in ("mcp.server", "uvicorn.error"):
            logging.getLogger(name).info("chatter")
            logging.getLogger(name).warning("trouble")
        logging.getLogger("websearch_gateway.x").debug("ours")
        assert [(line["logger"], line["event"], line["level"]) for line in told()] == [
            ("mcp.server", "trouble", "warning"),
            ("uvicorn.error", "trouble", "warning"),
            ("websearch_gateway.x", "ours", "debug"),
        ]

    def test_earlier_handlers_are_replaced_so_that_nothing_is_logged_twice(self, told):
        logging.getLogger().addHandler(logging.StreamHandler(sys.stdout))
        configure_logging("INFO", ())
        configure_logging("INFO", ())
        logging.getLogger("some.library").warning("once")
        assert len(told()) == 1


class TestHandler:
    def test_a_client_that_never_reads_our_stderr_blocks_nothing(self):
        script = (
            "import logging\nfrom websearch_gateway.upstream.telemetry import configure_logging\n"
            "configure_logging('INFO', ())\n"
            "for _ in range(1_000): logging.getLogger('websearch_gateway').info('x' * 300)\n"
            "print('done', flush=True)"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        killer = threading.Timer(15, child.kill)
        killer.start()
        assert child.stdout.read() == b"done\n"
        lines = child.communicate()[1].splitlines()
        killer.cancel()
        assert 100 < len(lines) < 1_000
        assert all(json.loads(line)["event"] == "x" * 300 for line in lines)

    def test_a_stderr_that_is_closed_ends_nothing(self):
        script = (
            "import logging, sys\nfrom websearch_gateway.upstream.telemetry import configure_logging\n"
            "configure_logging('INFO', ())\nsys.stderr.close()\n"
            "logging.getLogger('websearch_gateway').warning('x')\nprint('done')"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, timeout=PATIENCE, check=False
        )
        assert (done.returncode, done.stdout) == (0, b"done\n")

    def test_a_long_traceback_keeps_its_end(self, told):
        configure_logging("INFO", ())
        try:
            raise ValueError("x" * 10_000 + "the end")
        except ValueError:
            logging.getLogger("some.library").exception("failed")
        (line,) = told()
        assert len(line["exception"]) == 3_000
        assert line["exception"].endswith("the end")

    def test_a_record_that_cannot_be_written_is_dropped_silently(self, capsys):
        class Unprintable:
            def __repr__(self) -> str:
                raise RuntimeError("hunter2")

        configure_logging("INFO", ())
        logging.getLogger("some.library").warning("%r", Unprintable())
        assert capsys.readouterr() == ("", "")
