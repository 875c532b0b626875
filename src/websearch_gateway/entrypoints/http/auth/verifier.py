"""The interface of all modes: turns the token of a request into its caller."""

from __future__ import annotations

from typing import Protocol

from websearch_gateway.models import Caller


class Verifier(Protocol):
    """Accepts some tokens. `issuer` issues them: an https URL if clients can request one there."""

    @property
    def issuer(self) -> str: ...

    async def verify(self, token: str) -> Caller:
        """The bearer of `token`, with its scopes.

        Raises:
            InvalidToken: it is invalid.
            SearchError: its issuer's keys cannot be fetched.
        """
        ...

    async def check(self) -> None:
        """Fetch the keys for verification; raises `SearchError` if that fails."""
        ...

    async def aclose(self) -> None:
        """Release sockets."""
        ...
