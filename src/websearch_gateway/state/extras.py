"""Backends whose library is an extra of the package."""

from __future__ import annotations

import importlib.util

from websearch_gateway.errors import SearchNotConfiguredError


def require(module: str, *, extra: str, setting: str = "STATE_URL") -> None:
    """Check that a library is installed, without importing it.

    Raises:
        SearchNotConfiguredError: it is not installed; the message has the command that installs it.
    """
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # one of its parent packages is missing
        found = False
    if not found:
        raise SearchNotConfiguredError(
            f"{setting} names a backend whose library is not installed: pip install 'websearch-gateway[{extra}]'."
        )
