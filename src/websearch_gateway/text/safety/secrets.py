"""Finds credentials in a query before it is sent.

Three layers: the gateway's own configured secrets; our rules for secrets that common rule sets miss (keys of search and
model vendors, keys recognisable only by context, passwords in connection strings); and the provider rules of Yelp's
`detect-secrets` (https://github.com/Yelp/detect-secrets), imported only for a query with a part as long as a key.

False alarms matter as much: git hashes, UUIDs, addresses, slugs and long words are ordinary in queries. A format that
they share with keys (40 hex digits, a UUID) counts only near a word such as `key`.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

SHORTEST_CONFIGURED_SECRET = 8
"""Configured secrets with fewer characters are ignored: they would match ordinary words."""

# Tokens with a known prefix, as in the vendors' documentation and SDKs.
_TOKENS = {
    "OpenAI key": r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}|sk-[A-Za-z0-9]{32,}",
    "Anthropic key": r"sk-ant-[\w-]{20,}",
    "OpenRouter key": r"sk-or-v1-[0-9a-f]{32,}",
    "Tavily key": r"tvly-(?=[\w-]*\d)[\w-]{16,}",
    "Brave key": r"BSA(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{28}(?![\w-])",
    "synthetic.new key": r"(?:syn|glhf)_[A-Za-z0-9]{20,}",
    "Perplexity key": r"pplx-[A-Za-z0-9]{32,}",
    "Jina key": r"jina_[\w-]{32,}",
    "Firecrawl key": r"fc-[0-9a-f]{32}",
    "Groq key": r"gsk_[A-Za-z0-9]{32,}",
    "xAI key": r"xai-[A-Za-z0-9]{40,}",
    "NVIDIA key": r"nvapi-[\w-]{40,}",
    "Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "Replicate token": r"r8_[A-Za-z0-9]{30,}",
    "LangSmith key": r"lsv2_(?:pt|sk)_[0-9a-f]{32}",
    "GitHub token": r"gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\w{22,}",
    "GitLab token": r"gl(?:pat|dt|rt|ptt|cbt|ft|soat)-[\w.-]{20,}",
    "Google API key": r"AIza[\w-]{30,}|AQ\.Ab[\w-]{30,}",
    "Google OAuth token": r"ya29\.[\w-]{20,}|1//0[\w-]{24,}|GOCSPX-[\w-]{20,}",
    "Google search engine id": r"(?:[0-9a-f]{17}|\d{21}):[\w-]{10,11}(?![\w-])",
    "AWS access key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?!\w)",
    "Slack token": r"xox[abeoprs][-.](?=[\w.-]*\d)[\w.-]{16,}|xapp-\d-[\w-]{16,}",
    "Stripe key": r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}",
    "npm token": r"npm_[A-Za-z0-9]{36}",
    "PyPI token": r"pypi-Ag[\w-]{40,}",
    "Docker token": r"dckr_(?:pat|oat)_[\w-]{20,}",
    "DigitalOcean token": r"do[opr]_v1_[0-9a-f]{32,}",
    "Databricks token": r"dapi[0-9a-f]{32}",
    "Shopify token": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "Vault token": r"hvs\.[\w-]{24,}",
    "Supabase key": r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}",
    "Grafana token": r"gl(?:sa|c)_(?=\w*\d)[A-Za-z0-9+/=_]{32,}",
    "Notion token": r"ntn_[A-Za-z0-9]{40,}",
    "Linear key": r"lin_api_[A-Za-z0-9]{32,}",
    "Atlassian token": r"ATATT3[\w=-]{40,}",
    "JSON Web Token": r"eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{8,}",
}

_HEX_OR_UUID = (
    r"(?<![\w-])(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w-])"
)
_RANDOM = r"(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])(?:[\w+-]{24,}|[A-Za-z0-9+/]{40}(?![\w+/]))"
_LABEL = r"(?i:(?<![a-z])(?:key|token|secret|credential|password|passwd|apikey|bearer|serper|exa(?!\.))s?(?![a-z]))"
_ASSIGNED = r"""(?i:\s*(?:is|[:=]|=>|->)?\s*['"`]?(?:bearer )?)"""
_PLACEHOLDER = r"(?:(?:pass(?:word|wd)?|pwd|secret|token|x+|\*+|\.+|(?:your|my)\w*|changeme)(?=[\s;@&'\"]|$)|[<${\[])"
_LOGIN = r"(?:server|data source|host|dbname|database|initial catalog|user(?: id)?|uid|accountname|endpoint)\s*="
_PASSWORD = rf"(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*(?!{_PLACEHOLDER})[^\s;]{{4,}}"

_PHRASES = {
    "private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\[rn]|\s)*[A-Za-z0-9+/=]{20}",
    "Slack webhook": r"hooks\.slack\.com/(?:services|workflows)/T\w+/\w+/\w+",
    "password in a URL": rf"(?i)\b[a-z][a-z0-9+.-]*://[^\s/@:]*:(?!{_PLACEHOLDER})[^\s/@]{{3,}}@[\w.-]",
    "password in a connection string": rf"(?i)\b{_LOGIN}[^;]{{1,200}}?[; ]\s*{_PASSWORD}|\b{_PASSWORD}[; ]\s*{_LOGIN}",
    "password": rf"(?i:(?<![a-z])(?:password|passwd|passphrase|secret)\s*(?:is|[:=])\s*)(?i:(?!{_PLACEHOLDER}))['\"]?"
    r"(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])\S{8,}",
}

# These formats are secrets only near the words of _LABEL, and not near those of _PUBLIC, which mark public values.
_IN_CONTEXT = rf"{_LABEL}{_ASSIGNED}{_RANDOM}|{_LABEL}.{{0,60}}?{_HEX_OR_UUID}|{_HEX_OR_UUID}.{{0,30}}?{_LABEL}"
_PUBLIC = (
    r"(?i)\b(?:commits?|sha-?\d*|git|md5|checksum|hash|fingerprint|pgp|gpg|ssh|public|primary|foreign|cache|redis|registry"
    r"|partition|etag|uuid|guid|magnet|torrent|erc-?\d+)\b"
)
_BASIC_HEADER = r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})"

# Fast path: ordinary questions contain no part that is long enough or looks like an assignment or a URL.
_WORTH_A_LOOK = r"[!-~]{16}|=|://|(?i:pass|secret)"
_KEY_SIZED = r"(?=[!-~]{20})[!-~]*?\d"

# Rules of the library that cause false alarms in prose (entropy, keywords, addresses), or have stricter ones above.
_UNUSED_LIBRARY_RULES = frozenset(
    {
        "Artifactory Credentials",
        "Base64 High Entropy String",
        "Basic Auth Credentials",
        "Hex High Entropy String",
        "Private Key",
        "Public IP (ipv4)",
        "Secret Keyword",
    }
)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@functools.cache
def _own_rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    tokens = [(kind, rf"(?<![\w-])(?:{shape})") for kind, shape in _TOKENS.items()]
    return tuple((kind, re.compile(pattern)) for kind, pattern in (*tokens, *_PHRASES.items()))


@functools.cache
def _library_rules() -> tuple[BasePlugin, ...]:
    """The provider rules of `detect-secrets`. The first call costs about 0.1 s of imports."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    rules: Mapping[str, Callable[[], BasePlugin]] = get_mapping_from_secret_type_to_class()
    return tuple(rule() for kind, rule in rules.items() if kind not in _UNUSED_LIBRARY_RULES)


def _shaped(text: str) -> str | None:
    return next((kind for kind, rule in _own_rules() if rule.search(text)), None)


def _in_context(text: str) -> str | None:
    if not _compiled(_IN_CONTEXT).search(text) or _compiled(_PUBLIC).search(text):
        return None
    return "key or token"


def _basic_header(text: str) -> str | None:
    for found in _compiled(_BASIC_HEADER).finditer(text):
        try:
            login = base64.b64decode(found.group(1), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if login.isprintable() and ":" in login:
            return "Basic authorization header"
    return None


def _known_to_library(text: str) -> str | None:
    if not _compiled(_KEY_SIZED).search(text):
        return None
    return next((rule.secret_type for rule in _library_rules() if any(True for _ in rule.analyze_string(text))), None)


_FINDERS: tuple[Callable[[str], str | None], ...] = (_shaped, _in_context, _basic_header, _known_to_library)


def credential_kind(text: str, configured: Iterable[str] = ()) -> str | None:
    """The kind of credential in a normalised text, such as "Tavily key"; None if there is none.

    Args:
        text: the query after `normalise`, so that invisible characters and wide letters cannot hide a key.
        configured: the secrets of this gateway, which are matched verbatim.
    """
    if any(secret in text for secret in configured if len(secret) >= SHORTEST_CONFIGURED_SECRET):
        return "secret of this gateway's configuration"
    if not _compiled(_WORTH_A_LOOK).search(text):
        return None
    return next((kind for find in _FINDERS if (kind := find(text))), None)
