"""The outside world on one loopback port: search vendors, an answer engine and a small web, with faults on request.

    async with Sandbox() as sandbox:
        sandbox.environment()                                # settings that point a gateway at it
        sandbox.fault("openai", "status", status=429, reason="insufficient_quota")
        sandbox.calls("serper")                              # how many requests arrived

It is deterministic, needs no network and no key, and refuses the same requests as the real vendors, in their words.
`create_app()` is the same as an ASGI app. Nothing here loads a web framework before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from websearch_gateway.sandbox.board import Call, Fault
from websearch_gateway.sandbox.keys import (
    GOOGLE_ENGINE,
    OPENAI_KEY,
    environment,
    key_of,
)
from websearch_gateway.sandbox.running import Sandbox, serving

if TYPE_CHECKING:
    from websearch_gateway.sandbox.app import create_app

__all__ = [
    "GOOGLE_ENGINE",
    "OPENAI_KEY",
    "Call",
    "Fault",
    "Sandbox",
    "create_app",
    "environment",
    "key_of",
    "serving",
]


def __getattr__(name: str) -> Any:
    if name == "create_app":
        from websearch_gateway.sandbox.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
