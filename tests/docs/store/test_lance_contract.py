"""The contract of a store, kept by SQLite with LanceDB for the vectors."""

import pytest

from tests.docs.store.contract import *  # noqa: F403

pytestmark = pytest.mark.parametrize("docs", ["lance"], indirect=True)
