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


def compact(header: bytes, claims: bytes) -> str:
    """A token of exactly these bytes, signed with the right secret."""
    signed = f"{encoded(header)}.{encoded(claims)}"
    return f"{signed}.{encoded(hmac.digest(SECRET.encode(), signed.encode(), 'sha256'))}"


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
        "zip": token({"zip": "DEF"}),
        "embedded key": token({"jwk": {"kty": "oct", "k": encoded(SECRET.encode())}}),
        "key by URL": token({"jku": "http://169.254.169.254/"}),
        "certificate by URL": token({"x5u": "http://127.0.0.1/"}),
        "embedded certificate": token({"x5c": ["MIIB"]}),
        "kid path": token({"kid": "../../dev/null"}),
        "kid SQL": token({"kid": "' OR '1'='1"}),
        "kid object": token({"kid": {"a": 1}}),
        "kid half a character": compact(
            b'{"alg":"HS256","kid":"\\ud800"}', json.dumps(good_claims()).encode()
        ),
        "type of an ID token": token({"typ": "id_token"}),
        "type number": token({"typ": 1}),
        "header twice alg": compact(
            b'{"alg":"none","alg":"HS256"}', json.dumps(good_claims()).encode()
        ),
        "header deep": compact(b'{"alg":"HS256","x":' + b"[" * 2_500 + b"]" * 2_500 + b"}", b"{}"),
        "header huge number": compact(b'{"alg":"HS256","x":' + b"9" * 5_000 + b"}", b"{}"),
        "header not UTF-8": compact(b'{"alg":"HS256","x":"\xff"}', b"{}"),
        "claims list": compact(b'{"alg":"HS256"}', b"[]"),
        "claims BOM": compact(
            b'{"alg":"HS256"}', b"\xef\xbb\xbf" + json.dumps(good_claims()).encode()
        ),
        "claims UTF-16": compact(b'{"alg":"HS256"}', json.dumps(good_claims()).encode("utf-16")),
        "claims deep": with_claims('"x":' + "[" * 2_500 + "]" * 2_500),
        "claims huge number": with_claims('"x":' + "9" * 5_000),
        "claims infinite number": with_claims('"x":1e999'),
        "claims not a number": with_claims('"x":NaN'),
        "two subjects": with_claims('"sub":"admin"'),
        "aud missing": token(aud=None),
        "aud empty": token(aud=[]),
        "aud of another": token(aud="https://other.example/mcp"),
        "aud longer": token(aud=AUDIENCE + "/more"),
        "aud with number": token(aud=[AUDIENCE, 1]),
        "aud object": token(aud={AUDIENCE: 1}),
        "iss missing": token(iss=None),
        "iss of another": token(iss=ISSUER + ".evil.example"),
        "iss list": token(iss=[ISSUER]),
        "exp missing": token(exp=None),
        "exp null": compact(
            b'{"alg":"HS256"}', json.dumps({**good_claims(), "exp": None}).encode()
        ),
        "exp past": token(exp=now - 1),
        "exp now": token(exp=now),
        "exp text": token(exp=str(now + 600)),
        "exp true": token(exp=True),
        "exp list": token(exp=[now + 600]),
        "exp fraction in the past": token(exp=now - 600.5),
        "exp beyond calendars": token(exp=10**30),
        "exp infinite": with_claims('"exp":Infinity'),
        "exp negative": token(exp=-1),
        "nbf ahead": token(nbf=now + 3_600),
        "nbf text": token(nbf="0"),
        "iat ahead": token(iat=now + 3_600),
        "iat infinite": token(iat=float("inf")),
        "auth_time ahead": token(auth_time=now + 3_600),
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
        "jti number": token(jti=7),
    }
