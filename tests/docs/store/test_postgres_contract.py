"""The contract of a store, kept by PostgreSQL."""

import pytest

from tests.docs.store.contract import *  # noqa: F403

pytestmark = pytest.mark.parametrize("docs", ["postgresql"], indirect=True)
