"""Puts text from the web between marks that no page can close."""

from __future__ import annotations

import secrets
from typing import TypeVar

from websearch_gateway.results.base import WireModel
from websearch_gateway.text.safety.sanitise import wrap_untrusted

R = TypeVar("R", bound=WireModel)


def fresh_nonce() -> str:
    """The id in the marks of one call: 128 unguessable bits."""
    return secrets.token_hex(16)


def marked(result: R, field: str, nonce: str) -> R:
    """`result` with the text of `field` between marks."""
    return result.model_copy(update={field: wrap_untrusted(getattr(result, field), nonce)})
