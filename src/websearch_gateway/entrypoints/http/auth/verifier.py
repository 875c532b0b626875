"""What turns the token of a request into its caller, whatever the mode."""

from __future__ import annotations

from typing import Protocol

from websearch_gateway.models import Caller


class Verifier(Protocol):
    """Accepts some tokens. `issuer` is who makes them: an https URL where clients can ask it for one."""

    @property
    def issuer(self) -> str: ...

    async def verify(self, token: str) -> Caller:
        """Who bears `token`, and what it allows.

        Raises:
            InvalidToken: it proves nothing.
            SearchError: its issuer's keys cannot be fetched.
        """
        ...

    async def check(self) -> None:
        """Fetch what verification needs; raises `SearchError` if that fails."""
        ...

    async def aclose(self) -> None:
        """Release sockets."""
        ...
