"""What the log of a process looks like, and what it never holds."""

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

from tests.clock import Clock
from tests.patience import PATIENCE
from websearch_gateway.upstream.logs import Redaction, configure_logging
from websearch_gateway.upstream.telemetry import Telemetry


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
            with Telemetry(clock=Clock(0.0)).call("a question") as event:
                event.served("openai", 1, cost_usd=0.0105)
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
            "import logging\nfrom websearch_gateway.upstream.logs import configure_logging\n"
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
            "import logging, sys\nfrom websearch_gateway.upstream.logs import configure_logging\n"
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
