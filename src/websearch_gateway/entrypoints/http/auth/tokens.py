"""Turns a bearer token into a Caller: PyJWT checks the signature and the standard claims, we check the shape."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import jwt

from websearch_gateway.entrypoints.http.auth.keys import KeySource
from websearch_gateway.entrypoints.http.auth.scopes import granted
from websearch_gateway.entrypoints.http.auth.shape import InvalidToken, check_claims, checked_header
from websearch_gateway.models import Caller

_OPTIONS: jwt.types.Options = {
    "require": ["exp", "sub", "aud", "iss"],
    "enforce_minimum_key_length": True,
    # Checked with our leeway; expiry has none.
    "verify_iat": False,
    "verify_nbf": False,
}


@dataclass(frozen=True, slots=True)
class TokenVerifier:
    """Accepts the tokens of one issuer, for one audience, signed with one algorithm."""

    algorithm: str
    issuer: str
    audience: str
    keys: KeySource
    clock: Callable[[], float] = time.time

    async def check(self) -> None:
        """Fetch the issuer's keys; raises `SearchError` if that fails."""
        await self.keys.key(None)

    async def aclose(self) -> None:
        """Release the connection to the issuer."""
        await self.keys.aclose()

    async def verify(self, token: str) -> Caller:
        """The bearer of `token`, with its scopes.

        Raises:
            InvalidToken: it is invalid.
            SearchError: the issuer's keys are unavailable.
        """
        header = checked_header(token, self.algorithm)
        check_claims(token, self.clock())
        key = await self.keys.key(header.get("kid"))
        if key is None:
            raise InvalidToken("It is not signed with a key that this server knows.")
        try:
            claims = jwt.decode(
                token, key, algorithms=[self.algorithm], audience=self.audience, issuer=self.issuer, options=_OPTIONS
            )
        except jwt.ExpiredSignatureError:
            raise InvalidToken("It has expired.") from None
        except jwt.InvalidSignatureError:
            raise InvalidToken("Its signature is wrong.") from None
        except jwt.PyJWTError:
            raise InvalidToken("Its issuer, its audience or another claim is not the one wanted here.") from None
        return Caller(claims["sub"], granted(claims))
