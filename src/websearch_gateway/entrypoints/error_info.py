"""Renders errors: the same facts at every entrypoint."""

from __future__ import annotations

import logging
import traceback

from websearch_gateway.errors import SearchError
from websearch_gateway.results import ErrorInfo

_log = logging.getLogger(__name__)


def describe(error: Exception) -> ErrorInfo:
    """The error for the caller. The text of an unexpected error goes only to the log, where secrets are masked."""
    if isinstance(error, SearchError):
        return ErrorInfo.of(error)
    # The frames without values and without the error's text: both may quote the query or a key.
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("unexpected_error %s\n%s", type(error).__name__, frames)
    return ErrorInfo(
        code="PROVIDER",
        message=f"The gateway failed in an unexpected way ({type(error).__name__}). Its log tells more.",
    )
