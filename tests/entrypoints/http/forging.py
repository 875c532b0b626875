"""Tokens by hand: what an honest issuer makes, and what somebody makes who wants in."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import Any

SECRET = "shared-by-two-and-known-to-nobody-else"
ISSUER = "https://issuer.example"
AUDIENCE = "https://gateway.example/mcp"


def encoded(data: bytes) -> str:
    """Base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(header: bytes, claims: bytes, secret: str = SECRET) -> str:
    """A token of exactly these bytes, signed with a secret."""
    signed = f"{encoded(header)}.{encoded(claims)}"
    return f"{signed}.{encoded(hmac.digest(secret.encode(), signed.encode(), 'sha256'))}"


def good_claims(**changed: Any) -> dict[str, Any]:
    """Those of a good token, with what differs; None leaves a name out."""
    now = int(time.time())
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "alice",
        "iat": now,
        "exp": now + 600,
        "scope": "search read",
    }
    return {name: value for name, value in {**claims, **changed}.items() if value is not None}


def token(header: dict[str, Any] | None = None, **changed: Any) -> str:
    """A well-signed token with the good header and claims, and what differs."""
    described = {"alg": "HS256", "typ": "JWT", **(header or {})}
    return compact(json.dumps(described).encode(), json.dumps(good_claims(**changed)).encode())


def with_claims(text: str) -> str:
    """A well-signed token whose claims are the good ones with `text` written into their JSON."""
    return compact(
        b'{"alg":"HS256"}',
        json.dumps(good_claims()).encode().rstrip(b"}") + b"," + text.encode() + b"}",
    )


def hostile_tokens() -> dict[str, str]:
    """By name, tokens that must not give access. All but the first group are signed with the right secret."""
    good, now = token(), int(time.time())
    own_secret = "a secret that the sender made up and sends along"
    own_key = {"kty": "oct", "k": encoded(own_secret.encode())}
    head, body, signature = good.split(".")
    unsigned = encoded(b'{"alg":"none"}')
    return {
        "no signature": f"{head}.{body}.",
        "alg none": f"{unsigned}.{body}.",
        "alg none, signed": token({"alg": "none"}),
        "alg NonE": token({"alg": "NonE"}),
        "alg of another family": token({"alg": "RS256"}),
        "alg of another size": token({"alg": "HS512"}),
        "alg missing": compact(b'{"typ":"JWT"}', json.dumps(good_claims()).encode()),
        "alg list": token({"alg": ["HS256"]}),
        "alg number": token({"alg": 1}),
        "another signature": f"{head}.{body}.{encoded(b'x' * 32)}",
        "signed with a key that it brings": compact(
            json.dumps({"alg": "HS256", "jwk": own_key}).encode(),
            json.dumps(good_claims()).encode(),
            own_secret,
        ),
        "another body": f"{head}.{encoded(json.dumps(good_claims(sub='bob')).encode())}.{signature}",
        "padding": f"{good}==",
        "white space": f"{head}.{body}. {signature}",
        "line break": f"{good}\n",
        "junk letters": f"{good}!!",
        "letters of another base64": token(sub="~~~???>>>").replace("_", "/").replace("-", "+")
        + "+",
        "non-canonical last letter": f"{head}.{body}.{signature[:-1]}{chr(ord(signature[-1]) + 1)}",
        "four parts": f"{good}.{signature}",
        "two parts": f"{head}.{body}",
        "only dots": "..",
        "empty": "",
        "not ASCII": "ä.ö.ü",
        "more than 8 KB": token(padding="x" * 8_192),
        "crit": token({"crit": ["exp"]}),
        "crit empty": token({"crit": []}),
        "b64": token({"b64": False}),
        "kid path": token({"kid": "../../dev/null"}),
        "kid SQL": token({"kid": "' OR '1'='1"}),
        "kid object": token({"kid": {"a": 1}}),
        "type of an ID token": token({"typ": "id_token"}),
        "type number": token({"typ": 1}),
        "header deep": compact(b'{"alg":"HS256","x":' + b"[" * 2_500 + b"]" * 2_500 + b"}", b"{}"),
        "header huge number": compact(b'{"alg":"HS256","x":' + b"9" * 5_000 + b"}", b"{}"),
        "header not UTF-8": compact(b'{"alg":"HS256","x":"\xff"}', b"{}"),
        "claims list": compact(b'{"alg":"HS256"}', b"[]"),
        "claims deep": with_claims('"x":' + "[" * 2_500 + "]" * 2_500),
        "aud missing": token(aud=None),
        "aud empty": token(aud=[]),
        "aud of another": token(aud="https://other.example/mcp"),
        "aud longer": token(aud=AUDIENCE + "/more"),
        "aud with number": token(aud=[AUDIENCE, 1]),
        "iss missing": token(iss=None),
        "iss of another": token(iss=ISSUER + ".evil.example"),
        "iss list": token(iss=[ISSUER]),
        "exp missing": token(exp=None),
        "exp null": compact(
            b'{"alg":"HS256"}', json.dumps({**good_claims(), "exp": None}).encode()
        ),
        "exp past": token(exp=now - 1),
        "exp now": token(exp=now),
        "exp list": token(exp=[now + 600]),
        "exp infinite": with_claims('"exp":Infinity'),
        "nbf ahead": token(nbf=now + 40),
        "iat ahead": token(iat=now + 40),
        "sub missing": token(sub=None),
        "sub empty": token(sub=""),
        "sub blank": token(sub=" "),
        "sub number": token(sub=7),
        "sub long": token(sub="x" * 256),
        "sub with a line break": token(sub="alice\nbob"),
        "sub with NUL": token(sub="alice\0"),
        "sub half a character": token(sub="\ud800"),
        "sub of this machine": token(sub="local"),
        "scope number": token(scope=7),
        "scope list with number": token(scope=["admin", 1]),
        "scp object": token(scope=None, scp={"admin": True}),
        "scp with number": token(scope=None, scp=["search", 1]),
    }
