"""The log: lines of JSON on stderr, without a secret, and never a reason to wait."""

from __future__ import annotations

import functools
import logging
import re
import select
import sys
from collections.abc import Collection, MutableMapping
from typing import Any, Literal, TextIO
from urllib.parse import quote, quote_plus

_OURS = "websearch_gateway"
_MOST_OF_A_TRACEBACK = 3_000  # characters, so that a record fits the 4 KiB that a pipe takes without waiting


def configure_logging(level: Literal["DEBUG", "INFO", "WARNING", "ERROR"], secrets: Collection[str]) -> None:
    """Send all logging of this process to stderr as lines of JSON, in place of whatever was configured before.

    Args:
        level: how much the gateway itself tells. Libraries are heard from WARNING on, whatever it is: the HTTP client
            logs whole URLs below that.
        secrets: values that must not appear; each is replaced by `***` wherever it stands in a record.
    """
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
    root.addHandler(_JsonHandler(sys.stderr, secrets))
    root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level)


class _JsonHandler(logging.StreamHandler[TextIO]):
    """Writes records as lines of JSON, and drops one rather than wait for a reader who does not read."""

    def __init__(self, stream: TextIO, secrets: Collection[str]) -> None:
        super().__init__(stream)
        self._secrets = secrets
        self.addFilter(_is_ours_or_a_warning)

    @functools.cached_property
    def _json(self) -> logging.Formatter:
        import structlog

        return structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.add_logger_name,
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                _shorten_traceback,
                Redaction(self._secrets),
                structlog.processors.JSONRenderer(),
            ]
        )

    def format(self, record: logging.LogRecord) -> str:
        return self._json.format(record)

    def emit(self, record: logging.LogRecord) -> None:
        if self._takes_a_line():
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the base class's
        """Say nothing: the base class would print the record as it is, with whatever secret it holds."""

    def _takes_a_line(self) -> bool:
        """Whether writing would not block. A client that starts us and never reads our stderr must not stop us."""
        try:
            return bool(select.select((), (self.stream,), (), 0)[1])
        except (OSError, ValueError):  # not a file of the system: nothing to wait for
            return True


def _is_ours_or_a_warning(record: logging.LogRecord) -> bool:
    # On the handler, for a library may set its own logger's level at any time.
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] == _OURS


def _shorten_traceback(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if "exception" in event:
        event["exception"] = event["exception"][-_MOST_OF_A_TRACEBACK:]
    return event


class Redaction:
    """A structlog processor that replaces secrets by `***` in every key and value of an event, however nested."""

    def __init__(self, secrets: Collection[str]) -> None:
        # As they are, as they look in a URL, and as they look in a repr.
        forms = {form(secret) for secret in secrets if secret for form in (str, _in_url, quote_plus, _in_repr)}
        pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or r"(?!)")
        self._masked = functools.partial(pattern.sub, "***")

    def __call__(self, _: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {self._masked(str(key)): self._shown(value) for key, value in event.items()}

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


def _in_url(secret: str) -> str:
    return quote(secret, safe="")


def _in_repr(secret: str) -> str:
    return repr(secret)[1:-1]
