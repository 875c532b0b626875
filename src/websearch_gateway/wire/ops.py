"""The results of what operators ask."""

from __future__ import annotations

from typing import Literal

from websearch_gateway.wire.base import ErrorInfo, WireModel


class Check(WireModel):
    """The health of one part of the gateway, and how to mend it."""

    name: str = ""
    status: Literal["ok", "warn", "fail", "off"] = "ok"
    finding: str = ""
    remedy: str = ""


class Diagnosis(WireModel):
    """The result of `doctor`: one check per part."""

    checks: tuple[Check, ...] = ()
    error: ErrorInfo | None = None
