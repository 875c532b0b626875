"""Keeps the keys in a settings file from other users of the machine."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from websearch_gateway.errors import SearchNotConfiguredError

_OTHERS = stat.S_IRGRP | stat.S_IROTH

_log = logging.getLogger(__name__)


def keep_private(path: Path) -> None:
    """Make a file that contains a key readable only by its owner, and log it if that changes the mode.

    Windows has no such modes; there the user's folder protects the file.

    Raises:
        SearchNotConfiguredError: other users can read it and its mode cannot be changed.
    """
    if os.name != "posix" or not path.stat().st_mode & _OTHERS:
        return
    try:
        path.chmod(0o600)
    except OSError as error:
        raise SearchNotConfiguredError(
            f"The settings file {path} holds a key and is readable by others, and its mode cannot be changed "
            f"({error.strerror}). Run chmod 600 on it as its owner, or put the keys into environment variables."
        ) from None
    _log.warning("The settings file %s holds a key and was readable by others: its mode is 0600 now.", path)
