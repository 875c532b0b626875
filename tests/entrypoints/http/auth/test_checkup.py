"""The doctor finds out before the first caller does whether tokens can be verified."""

from __future__ import annotations

from typing import Any

import pytest

from websearch_gateway.entrypoints.http.auth.checkup import check_auth
from websearch_gateway.settings import Settings

SECRET = "s" * 40
JWKS = {"auth_mode": "jwks", "auth_issuer": "https://i.example", "auth_audience": "a"}


@pytest.mark.parametrize(
    ("settings", "status", "told"),
    [
        ({}, "off", "AUTH_MODE=none"),
        ({"auth_mode": "secret", "auth_secret": SECRET}, "ok", "AUTH_MODE=secret"),
        ({"auth_mode": "secret", "auth_secret": "short"}, "fail", "AUTH_SECRET"),
        (JWKS, "fail", "AUTH_JWKS_URL"),
        ({**JWKS, "auth_jwks_url": "http://127.0.0.1:9/keys"}, "fail", "cannot be fetched"),
    ],
)
async def test_each_mode_is_told(settings: dict[str, Any], status: str, told: str) -> None:
    check = await check_auth(Settings(**settings))
    assert check.status == status
    assert told in check.finding
    assert SECRET not in repr(check)
    assert check.remedy or status == "ok"
