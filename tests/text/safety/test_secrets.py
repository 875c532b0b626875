"""Credentials are found, look-alikes are not. The keys are generated at random, so the source contains none."""

from __future__ import annotations

import base64
import random
import string
import sys
import uuid

import pytest

from websearch_gateway.text.normalise import normalise
from websearch_gateway.text.safety.secrets import SHORTEST_CONFIGURED_SECRET, credential_kind

_ALPHANUMERIC = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
_random = random.Random(20)


def _some(count: int, alphabet: str = _ALPHANUMERIC) -> str:
    return "".join(_random.choices(alphabet, k=count))


def _jwt() -> str:
    parts = (b'{"alg":"HS256"}', b'{"sub":"somebody"}', _random.randbytes(32))
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def _uuid() -> str:
    return str(uuid.UUID(int=_random.getrandbits(128), version=4))


CREDENTIALS = [
    ("OpenAI key", "sk-proj-" + _some(120)),
    ("OpenAI key", "sk-" + _some(20) + "T3BlbkFJ" + _some(20)),
    ("Anthropic key", "sk-ant-api03-" + _some(93)),
    ("Tavily key", "tvly-" + _some(32)),
    ("Tavily key", "tvly-dev-" + _some(32)),
    ("Brave key", "BSA" + "a1B" + _some(25)),
    ("synthetic.new key", "syn_" + _some(32, _HEX)),
    ("GitHub token", "ghp_" + _some(36)),
    ("GitHub token", "gho_" + _some(36)),
    ("GitHub token", "github_pat_" + _some(22) + "_" + _some(59)),
    ("GitLab token", "glpat-" + _some(20)),
    ("Google API key", "AIza" + _some(35)),
    ("Google OAuth token", "ya29." + _some(60)),
    ("Google search engine id", _some(17, _HEX) + ":" + _some(11)),
    ("AWS access key", "AKIA" + _some(16, _UPPER)),
    ("AWS access key", "ASIA" + _some(16, _UPPER)),
    ("Slack token", "xoxb-" + _some(12, string.digits) + "-" + _some(12, string.digits) + "-" + _some(24)),
    ("Slack webhook", "https://hooks.slack.com/services/T" + _some(8) + "/B" + _some(8) + "/" + _some(24)),
    ("Stripe key", "sk_" + "live_" + _some(24)),
    ("Hugging Face token", "hf_" + _some(34)),
    ("npm token", "npm_" + _some(36)),
    ("PyPI token", "pypi-" + "AgEIcHlwaS5vcmc" + _some(100)),
    ("JSON Web Token", _jwt()),
    ("private key", "-----BEGIN RSA " + "PRIVATE KEY-----\n" + _some(64) + "\n" + _some(64)),
    ("password in a URL", f"postgres://admin:{_some(12)}@db.internal:5432/app"),
    ("password in a URL", f"redis://:{_some(16)}@cache:6379"),
    ("password in a connection string", f"Server=db;User Id=sa;Password={_some(10)}!;"),
    ("password in a connection string", f"host=db dbname=x password={_some(10)}"),
    ("key or token", f"SERPER_API_KEY={_some(40, _HEX)}"),
    ("key or token", f"serper {_some(40, _HEX)}"),
    ("key or token", f"why is my key {_some(40, _HEX)}"),
    ("key or token", f"exa api key {_uuid()}"),
    ("key or token", f"{_some(40, _HEX)} is my api key"),
    ("key or token", f"Authorization: Bearer aB3{_some(40)}"),
    ("key or token", f"aws_secret_access_key=aB3{_some(37)}"),
    ("Basic authorization header", "Basic " + base64.b64encode(f"user:{_some(12)}".encode()).decode()),
    # These three come from the library alone.
    ("Twilio API Key", "SK" + _some(32, _HEX)),
    ("SendGrid API Key", "SG." + _some(22) + "." + _some(43)),
    ("Telegram Bot Token", _some(10, "123456789") + ":AA" + _some(33)),
]

ORDINARY = f"""\
git show {_some(40, _HEX)}
{_some(40, _HEX)}
github token bug fixed in commit {_some(40, _HEX)}
{_uuid()}
primary key {_uuid()}
sha256 {_some(64, _HEX)} docker image
md5 {_some(32, _HEX)}
pgp key fingerprint {_some(40, _HEX)}
erc20 token contract 0x{_some(40, _HEX)}
bitcoin address 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa
iban DE89370400440532013000
tracking number 1Z999AA10123456784
samsung QN65QN90BAFXZA vs intel i9-13900KS
https://www.youtube.com/watch?v=dQw4w9WgXcQ
https://docs.google.com/document/d/{_some(44)}/edit
https://example.com:8080/@scope/package
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4
sk-learn-random-forest-classifier-2024
fc-barcelona-2015-2016-season-results
pypi-server-docker-compose-v2-example
npm_config_registry_environment_variable
boy scouts BSA-troop-merit-badge-requirements
openai key starts with sk-proj-
what is a bearer token
basic instructions for chess
git clone https://user:password@github.com/org/repo syntax
postgres://user:password@localhost:5432/db format
Server=localhost;User Id=user;Password=password; syntax
BEGIN PRIVATE KEY vs BEGIN RSA PRIVATE KEY
-----BEGIN PRIVATE KEY----- meaning
what is eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9
unexpected token < in json at position 0
kubernetes secret kubernetes.io/service-account-token
access token docs.microsoft.com/en-us/Azure/v2
https://exa.ai/search?q={_uuid()}
3-(2-(dimethylamino)ethyl)-n-methyl-1h-indole-5-methanesulfonamide
how many octets are in a key = value pair""".splitlines()


@pytest.mark.parametrize(
    "query",
    [
        "DB_PASSWORD=hunter2Secret!",
        "password: sEz5jhy0I9lO7F",
        "my password is eYYXwSLQcWtx9",
        "secret: 8Ls9w0iAA0KPIxDj",
    ],
)
def test_a_password_that_is_called_one_is_found(query: str) -> None:
    assert credential_kind(normalise(query)) == "password"


@pytest.mark.parametrize(
    "query",
    ["what is the password of a router", "password: string in openapi", "the secret is out", "password=password"],
)
def test_talk_about_passwords_is_not_a_password(query: str) -> None:
    assert credential_kind(normalise(query)) is None


@pytest.mark.parametrize(("kind", "credential"), CREDENTIALS, ids=[kind for kind, _ in CREDENTIALS])
def test_a_credential_is_found_alone_and_in_a_sentence(kind: str, credential: str) -> None:
    for query in (credential, f"why does {credential} answer 401", f"rotate\n{credential}"):
        assert credential_kind(normalise(query)) == kind


@pytest.mark.parametrize("query", ORDINARY)
def test_a_look_alike_of_a_credential_is_allowed(query: str) -> None:
    assert credential_kind(normalise(query)) is None


def test_invisible_and_wide_letters_do_not_hide_a_key() -> None:
    key = "tvly-dev-" + _some(32)
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in key)
    for disguised in (wide, "\u200b".join(key), "\u00ad".join(key)):
        assert credential_kind(disguised) is None
        assert credential_kind(normalise(disguised)) == "Tavily key"


def test_a_secret_of_this_gateway_is_found_whatever_its_format() -> None:
    kind = credential_kind("is correct horse battery a good one", ("correct horse battery",))
    assert kind == "secret of this gateway's configuration"
    assert credential_kind("is correct horse a good one", ("correct horse battery",)) is None


def test_a_short_configured_secret_does_not_refuse_ordinary_words() -> None:
    short = "x" * (SHORTEST_CONFIGURED_SECRET - 1)
    assert credential_kind(f"what is {short}", (short,)) is None
    assert credential_kind(f"what is {short}x", (f"{short}x",)) is not None


def test_an_ordinary_question_does_not_load_the_rule_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its import takes 0.1 s, which would delay ordinary questions."""
    monkeypatch.setitem(sys.modules, "detect_secrets.core.plugins.util", None)
    from websearch_gateway.text.safety import secrets

    secrets._library_rules.cache_clear()
    assert credential_kind("what are the responsibilities of a paraprofessional in electrophysiology") is None
    with pytest.raises(ImportError):
        credential_kind("AB12" * 6)
