"""Credentials are found, look-alikes are not. The keys are generated at random, so the source contains none."""

from __future__ import annotations

import base64
import random
import string
import time
import uuid
from collections.abc import Callable
from urllib.parse import quote

import pytest

from websearch_gateway.base.query import normalise
from websearch_gateway.base.secrets import (
    SHORTEST_CONFIGURED_SECRET,
    credential_kind,
    credential_kind_in_address,
)

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
    (
        "Slack token",
        "xoxb-" + _some(12, string.digits) + "-" + _some(12, string.digits) + "-" + _some(24),
    ),
    (
        "Slack webhook",
        "https://hooks.slack.com/services/T" + _some(8) + "/B" + _some(8) + "/" + _some(24),
    ),
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
    (
        "Basic authorization header",
        "Basic " + base64.b64encode(f"user:{_some(12)}".encode()).decode(),
    ),
    ("token of a websearch-gateway", "wsg_" + _some(43)),
    ("Figma token", "figd_" + "7" + _some(39)),
    ("Mailgun key", "key-" + _some(32, _HEX)),
    ("Mailgun key", f"{_some(32, _HEX)}-{_some(8, _HEX)}-{_some(8, _HEX)}"),
    ("Square token", "sq0atp-" + _some(22)),
    ("Square token", "EAAA" + "a1" + _some(58)),
    ("Doppler token", "dp.pt." + _some(43)),
    ("Doppler token", "dp.st.prd." + _some(43)),
    (
        "Discord webhook",
        "https://discord.com/api/webhooks/" + _some(18, "123456789") + "/" + _some(68),
    ),
    ("Okta token", "00" + "aB3" + _some(37)),
    ("Azure shared access signature", "sv=2022-11-02&sr=b&sig=aB3" + _some(36) + "%3D"),
    ("Langfuse key", "sk-lf-" + _uuid()),
    ("Voyage key", "pa-" + "aB3" + _some(40)),
    ("age secret key", "AGE-SECRET-KEY-1" + _some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    ("session cookie", "PHPSESSID=a1" + _some(24, "abcdefghij0123456789")),
    ("session cookie", "sessionid=b2" + _some(30, "abcdefghij0123456789")),
    ("session cookie", "connect.sid=s%3Ac3" + _some(30) + "." + _some(43)),
    ("session cookie", "Cookie: theme=dark1234567890abc"),
    ("payment card", "4539 1488 0343 6467"),
    ("payment card", "5500005555555559"),
    ("payment card", "3714-496353-98431"),
    ("SendGrid key", "SG." + _some(22) + "." + _some(43)),
    ("Airtable token", "pat" + _some(14) + "." + _some(64, _HEX)),
    ("Brevo key", "xkeysib-" + _some(64, _HEX) + "-" + _some(16)),
    ("Pinecone key", "pcsk_" + _some(60)),
    ("New Relic key", "NRAK-" + _some(27, _UPPER)),
    ("Sentry token", "sntrys_" + _some(60)),
    ("Twilio key", "SK" + _some(32, _HEX)),
    (
        "npm token",
        "//registry.example.org/:_authToken=" + "-".join(_some(n, _HEX) for n in (8, 4, 4, 4, 12)),
    ),
    ("Mailchimp key", _some(32, _HEX) + "-us12"),
    ("Discord bot token", "M" + _some(23) + "." + _some(6) + "." + _some(27)),
    ("Azure storage key", "AccountKey=" + _some(86) + "=="),
    ("Telegram bot token", _some(10, "123456789") + ":AA" + _some(33)),
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
how many octets are in a key = value pair
order 4539148803436468 at shop
isbn 978-3-16-148410-0 and 979-8-6024-0541-8
1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
a b c d e f g h i j k l m n o p q r s t u v w x y z
what does %20 mean in https://example.com/a%20b%20c%20d%20e
sk-learn RandomForest2 GridSearchCV n_jobs4 max_depth10 minSamples5 xgboost3
BSA Form1120S Schedule K1 for 2023 on irs.gov with A1B2 and C3D4
session=spring-2024-orientation-week
where is the session cookie stored in php
base64 of VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw==
68656c6c6f20776f726c642c20746869732069732068657861646563696d616c""".splitlines()


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
    [
        "what is the password of a router",
        "password: string in openapi",
        "the secret is out",
        "password=password",
    ],
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


DISGUISES: dict[str, Callable[[str], str]] = {
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 for URLs without padding": lambda key: (
        base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")
    ),
    "base64 of a sentence": lambda key: base64.b64encode(
        f"the key is {key}, use it".encode()
    ).decode(),
    "base64 twice": lambda key: base64.b64encode(base64.b64encode(key.encode())).decode(),
    "base64 after other letters": lambda key: "x1" + base64.b64encode(key.encode()).decode(),
    "base64 in pieces": lambda key: " ".join(_parts(base64.b64encode(key.encode()).decode(), 8)),
    "hexadecimal": lambda key: key.encode().hex(),
    "bytes in hexadecimal": lambda key: key.encode().hex(" "),
    "percent-encoded": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "percent-encoded twice": lambda key: "".join(f"%25{byte:02X}" for byte in key.encode()),
    "percent-encoded marks": lambda key: key.replace("-", "%2D").replace("_", "%5F"),
    "spaced": " ".join,
    "after a word of one letter": lambda key: "a " + " ".join(key),
    "dotted": ".".join,
    "hyphenated": "-".join,
    "pieces of four": lambda key: " ".join(_parts(key, 4)),
    "pieces of nine": lambda key: " ".join(_parts(key, 9)),
    "a sum of strings": lambda key: '"' + '" + "'.join(_parts(key, 12)) + '"',
    "backwards": lambda key: key[::-1],
}


def _parts(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_key_in_another_form_is_found(disguise: str) -> None:
    for kind, key in (
        ("OpenAI key", "sk-proj-" + _some(60)),
        ("Tavily key", "tvly-dev-" + _some(32)),
        ("GitHub token", "ghp_" + _some(36)),
        ("token of a websearch-gateway", "wsg_" + _some(43)),
    ):
        disguised = DISGUISES[disguise](key)
        for text in (disguised, f"what is {disguised} for", f"use it: {disguised}"):
            assert credential_kind(normalise(text)) == kind
            assert credential_kind_in_address(f"https://a.example/?q={quote(text)}") == kind


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_secret_of_this_gateway_in_another_form_is_found(disguise: str) -> None:
    secret = "Tr0ub4dor&3-horse-battery"
    if disguise == "backwards":
        return
    text = f"is {DISGUISES[disguise](secret)} good"
    assert credential_kind(text, (secret,)) == "secret of this gateway's configuration"
    assert credential_kind(text, ("another-5ecret-of-it",)) is None


def test_case_and_punctuation_do_not_hide_a_long_secret_of_this_gateway() -> None:
    for text in ("TR0UB4DOR 3 HORSE", "https://tr0ub4dor-3-horse.example.com/"):
        assert credential_kind(text, ("Tr0ub4dor&3-horse",)) is not None
    assert credential_kind("the correct, horse battery", ("correct-horse-battery",)) is None, (
        "these are words"
    )


def test_a_card_needs_its_check_digit_and_a_usual_grouping() -> None:
    assert credential_kind("4539 1488 0343 6468") is None
    assert credential_kind("4 5391488034364 67") is None
    assert credential_kind("4 5 3 9 1 4 8 8 0 3 4 3 6 4 6 7") == "payment card"
    assert credential_kind("id 24539148803436467") is None


@pytest.mark.parametrize(
    "link",
    [
        f"https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA{_some(16, _UPPER)}&X-Amz-Signature={_some(64, _HEX)}",
        f"https://a.blob.core.windows.net/c/f?sv=2022-11-02&sr=b&sig=aB3{_some(36)}%3D",
        f"https://files.example/download?token={_jwt()}",
        f"https://cse.google.com/cse?cx={_some(17, _HEX)}:{_some(11)}",
        f"https://shop.example/pay?session={_some(32, _HEX)}&card=4539148803436467",
        f"https://github.com/o/r/commit/{_some(40, _HEX)}",
        f"https://example.com/reset?key={_some(40, _HEX)}",
    ],
)
def test_a_link_that_its_site_has_signed_may_be_read(link: str) -> None:
    assert credential_kind_in_address(link) is None


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-" + _some(60),
        "tvly-" + _some(32),
        "AIza" + _some(35),
        "hf_" + _some(34),
        "wsg_" + _some(43),
    ],
)
def test_an_address_with_the_key_of_a_vendor_may_not(key: str) -> None:
    for url in (
        f"https://a.example/?k={key}",
        f"https://a.example/{key}/x",
        f"https://{key}.a.example/",
    ):
        assert credential_kind_in_address(url) is not None


def test_a_secret_of_this_gateway_is_found_whatever_its_format() -> None:
    kind = credential_kind("is correct horse battery a good one", ("correct horse battery",))
    assert kind == "secret of this gateway's configuration"
    assert credential_kind("is correct horse a good one", ("correct horse battery",)) is None


def test_a_short_configured_secret_does_not_refuse_ordinary_words() -> None:
    short = "x" * (SHORTEST_CONFIGURED_SECRET - 1)
    assert credential_kind(f"what is {short}", (short,)) is None
    assert credential_kind(f"what is {short}x", (f"{short}x",)) is not None


@pytest.mark.parametrize(
    "text", [". " * 2_000, "a . " * 1_000], ids=["points", "letters and points"]
)
def test_points_with_blanks_cost_little_more_than_letters_with_blanks(text: str) -> None:
    def seconds(text: str) -> float:
        began = time.process_time()
        assert credential_kind(text) is None
        return time.process_time() - began

    pairs = [(seconds(text), seconds("a b c d " * 500)) for _ in range(9)]
    assert min(one for one, _ in pairs) < 3.5 * min(other for _, other in pairs)


HEX = "3f9a0c7be1d24856a0b7c9d1e3f5a7b9c0d2e4f6"
LOWER = "a8f3k2m9x7q1w5e6r4t2y8u3i9o1p7z5c4v6b2n8"
MIXED = "Zk3vB9xQ2mR7tY1pL5wN8cJ4hF6dS0gAaUeXoKiT"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (f"bkua_{HEX}", "Buildkite token"),
        (f"pul-{HEX}", "Pulumi token"),
        (f"crsr_{HEX}{HEX[:24]}", "Cursor key"),
        (f"napi_{LOWER}{LOWER[:24]}", "Neon key"),
        (f"e2b_{HEX}", "E2B key"),
        (f"sk_{HEX}{HEX[:8]}", "key or token"),
        ("Ab18Q~Zk3vB9xQ2mR7.tY1pL5wN8cJ4hF6dS0g~A", "Microsoft Entra secret"),
        (f"cfut_{MIXED}", "Cloudflare token"),
        (f"cfat_{MIXED}", "Cloudflare token"),
        (f"cfk_{MIXED}{HEX[:8]}", "Cloudflare token"),
        (f"ghs_1234567_eyJhbGciOi.{MIXED}.{MIXED}", "GitHub token"),
        (f"zq_{LOWER}", "key or token"),
        (f"newco-{HEX}", "key or token"),
        (f"Vendor2_{MIXED}", "key or token"),
        (f"MY_SECRET={LOWER[:28]}", "key or token"),
        (f'"accessToken": "{LOWER[:30]}"', "key or token"),
        (f"client_secret: {LOWER[:24]}", "key or token"),
        (f"my token is {LOWER[:26]}", "key or token"),
        (f"api key {LOWER[:24]}", "key or token"),
    ],
)
def test_a_key_of_a_new_shape_is_found_by_what_keys_have_in_common(key: str, kind: str) -> None:
    for text in (key, f"why is {key} refused", f"export X={key}"):
        assert credential_kind(text) is not None
    assert credential_kind(key) == kind


@pytest.mark.parametrize(
    "text",
    [
        f"sha256_{HEX}{HEX[:24]}",
        f"git revert rev-{HEX}",
        f"what is resp_{HEX}",
        f"commit_{HEX}",
        "order_507f1f77bcf86cd799439011",
        "pi_3MtwBwLkdIwHu7ix28a3tqPa",
        "a_really_long_name_of_a_function_with_2_numbers_3_and_4_more",
        "https://a.example/file_3f9a0c7be1d24856a0b7c9d1e3f5a7b9c0d2e4f6.js",
        "monkey = banana and keyboard: mechanical keyboards of 2024",
        "token: JWT or opaque",
        "the secret: how to bake 12 loaves in 3 ovens",
    ],
)
def test_ids_hashes_and_names_are_no_keys(text: str) -> None:
    assert credential_kind(text) is None
