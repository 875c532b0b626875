"""The log of a process, on stderr: lines of JSON, or on a terminal lines for people.

Events go through the standard library, so a process that configures nothing stays silent. Writing never blocks.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import re
import select
import sys
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, TextIO
from urllib.parse import quote, quote_plus

_OURS = "websearch_gateway"
_BATCH_SECONDS = 0.05
_NOT_FOR_PEOPLE = ("event", "exception", "query_hash", "query_length")
_TRACEBACK_FORMATTER = logging.Formatter()
_TRACEBACK_CHARACTERS = 3_000  # so that a record fits the 4 KiB that a pipe takes without blocking


def configure_logging(
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"],
    secrets: Collection[str],
    *,
    told: Collection[str] = (),
) -> None:
    """Send all logging of this process to stderr, in place of any earlier configuration.

    Each record is a line of JSON, or on a terminal a line for people.

    Args:
        level: the least level of the gateway's own log. Libraries always log from WARNING on, since the HTTP client
            logs whole URLs below that.
        secrets: values that must not appear; each is replaced by `***` anywhere in a record.
        told: names of loggers whose warnings the replies contain anyway, so that only their errors are logged.
    """
    root = logging.getLogger()
    for earlier in root.handlers[:]:
        root.removeHandler(earlier)
    handler = _Handler(sys.stderr, secrets)
    handler.addFilter(lambda record: record.levelno >= logging.ERROR or record.name not in told)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level)


def flush_logs() -> None:
    """Write all queued records. For a process that is about to end without clean-up."""
    for handler in logging.getLogger().handlers:
        handler.flush()


class _Handler(logging.StreamHandler[TextIO]):
    """Writes records as lines, and drops records that a slow reader does not take.

    In an event loop it writes a moment later, in batches: the answer does not wait for its record, and a record in a
    batch takes a third of the time. A warning is written at once, together with all queued records.
    """

    def __init__(self, stream: TextIO, secrets: Collection[str]) -> None:
        super().__init__(stream)
        self._redacted = Redaction(secrets)
        self._for_people = stream.isatty()
        self._scheduled_in: asyncio.AbstractEventLoop | None = None
        self._waiting: list[logging.LogRecord] = []
        # A filter of the handler, since a library may set the level of its own logger at any time.
        self.addFilter(
            lambda record: (
                record.levelno >= logging.WARNING or record.name.partition(".")[0] == _OURS
            )
        )

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON, or of words for people."""
        event: Any = record.msg if isinstance(record.msg, dict) else {"event": record.getMessage()}
        if not self._for_people:
            at = (
                datetime.fromtimestamp(record.created, UTC)
                .isoformat(timespec="microseconds")
                .replace("+00:00", "Z")
            )
            event = {
                **event,
                "logger": record.name,
                "level": record.levelname.lower(),
                "timestamp": at,
            }
        if record.exc_info:
            event["exception"] = _TRACEBACK_FORMATTER.formatException(record.exc_info)[
                -_TRACEBACK_CHARACTERS:
            ]
        shown = self._redacted(event)
        return _in_words(shown, record) if self._for_people else json.dumps(shown)

    def emit(self, record: logging.LogRecord) -> None:
        self._waiting.append(record)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()
            return
        if record.levelno >= logging.WARNING:
            self.flush()
        elif self._scheduled_in is not loop:
            self._scheduled_in = loop
            loop.call_later(_BATCH_SECONDS, self.flush)

    def flush(self) -> None:
        self.acquire()
        try:
            waiting, self._waiting, self._scheduled_in = self._waiting, [], None
            for record in waiting:
                if self._is_writable():
                    super().emit(record)  # close() flushes again, with nothing queued
            # A stderr that is closed or full must not end what was logged about.
            with suppress(OSError, ValueError):
                super().flush()
        finally:
            self.release()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the base class's
        """Print nothing: the base class would print the record unmasked, with any secret in it."""

    def _is_writable(self) -> bool:
        """Whether a write would not block. A client that never reads our stderr must not stop us."""
        try:
            return bool(select.select((), (self.stream,), (), 0)[1])
        except (OSError, ValueError):  # not a file of the operating system, so it never blocks
            return True


def _in_words(event: Mapping[str, Any], record: logging.LogRecord) -> str:
    """`12:30:05 WARNING what happened name=value ...`, without the level of ordinary events and empty values."""
    level = f"{record.levelname} " if record.levelno >= logging.WARNING else ""
    values = [
        f"{name}={value}" for name, value in event.items() if name not in _NOT_FOR_PEOPLE and value
    ]
    told = " ".join((f"{level}{event.get('event', '')}", *values))
    lines = f"{told}\n{event['exception']}" if "exception" in event else told
    clean = "".join(
        character if character.isprintable() or character == "\n" else " " for character in lines
    )
    # Indented, so that no message can look like two records.
    return f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {clean}".replace(
        "\n", "\n    "
    )


class Redaction:
    """Replaces secrets by `***` in every key and value of an event, at any depth, and converts values to JSON types."""

    def __init__(self, secrets: Collection[str]) -> None:
        # The plain values, and how they look in a URL and in a repr.
        forms: set[str] = set()
        for secret in filter(None, secrets):
            forms |= {secret, quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]}
        # The longest first, since a secret may contain another one.
        longest_first = sorted(forms, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        self._masked = functools.partial(pattern.sub, "***")
        # Events have the same few names.
        self._masked_key = functools.lru_cache(maxsize=256)(self._masked)

    def __call__(self, event: Mapping[str, Any]) -> dict[str, Any]:
        return {self._masked_key(str(key)): self._shown(value) for key, value in event.items()}

    def _shown(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._masked(value)
        if value is None or isinstance(value, (int, float)):
            return value
        if isinstance(value, dict):
            return {self._masked(str(key)): self._shown(item) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self._shown(item) for item in value]
        return self._masked(repr(value))
