"""The contract of a store, kept by SQLite."""

import pytest

from tests.docs.store.contract import *  # noqa: F403

pytestmark = pytest.mark.parametrize("docs", ["sqlite"], indirect=True)
