"""Finds what must not be sent: credentials in a text, and data that somebody could have put into an address, so that
reading it would send it away.

Credentials are the gateway's own configured secrets, and what rules find: keys of vendors, keys recognisable only by
context, passwords in connection strings, and payment cards. A text is read in several ways, since a key that is spaced
out or encoded is a key for anybody who receives it.

False alarms matter as much: git hashes, UUIDs, addresses, slugs and long words are ordinary in queries. A format that
they share with keys (40 hex digits, a UUID) counts only near a word such as `key`. A key in pieces counts only if most
pieces look random.

An address names a page by words, numbers and at most a few ids. Data in it looks otherwise, in one of these ways:

- opaque: characters in an order that words do not have, such as base64, hexadecimal digits or a key;
- running words: a sentence with blanks, or spread over parameters, directories or names of hosts;
- digits in numbers;
- characters that are escaped for no reason, JSON, or personal facts by name (`email=`, "the password is").

The slug of a title is no data: words in a path, with hyphens between them. A sentence that looks like a title passes.
Public ids of well-known sites are no data either, such as a commit or a playlist.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from websearch_gateway.base.tokenization import STOP_WORDS, fold
from websearch_gateway.base.urls import find_urls, is_web_address, strip_trackers
from websearch_gateway.errors import SearchValidationError

_CONFIGURED = "secret of this gateway's configuration"
_STILL_ENCODED = "data that is encoded several times"
SHORTEST_CONFIGURED_SECRET = (
    8  # configured secrets with fewer characters are ignored: they would match ordinary words
)

_MIXED = r"(?=[\w-]{0,80}?\d)(?=[\w-]{0,80}?[a-z])(?=[\w-]{0,80}?[A-Z])"

# Tokens with a known prefix, as in the vendors' documentation and SDKs.
_TOKENS = {
    "OpenAI key": r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}|sk-[A-Za-z0-9]{32,}",
    "Anthropic key": r"sk-ant-[\w-]{20,}",
    "OpenRouter key": r"sk-or-v1-[0-9a-f]{32,}",
    "Tavily key": r"tvly-(?=[\w-]{0,80}?(?:\d|[a-z][A-Z]))[\w-]{16,}",
    "Brave key": r"BSA(?=[\w-]{0,80}?\d)(?=[\w-]{0,80}?[a-z])(?=[\w-]{0,80}?[A-Z])[\w-]{28}(?![\w-])",
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
    "GitHub token": r"gh[opsur]_[A-Za-z0-9]{30,}|ghs_\d{1,12}_eyJ[\w.-]{20,}|github_pat_\w{22,}",
    "GitLab token": r"gl(?:pat|dt|rt|ptt|cbt|ft|soat)-[\w.-]{20,}",
    "Google API key": r"AIza[\w-]{30,}|AQ\.Ab[\w-]{30,}",
    "Google OAuth token": r"ya29\.[\w-]{20,}|1//0[\w-]{24,}|GOCSPX-[\w-]{20,}",
    "Google search engine id": r"(?:[0-9a-f]{17}|\d{21}):[\w-]{10,11}(?![\w-])",
    "AWS access key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?!\w)",
    "Slack token": r"xox[abeoprs][-.](?=[\w.-]{0,80}?\d)[\w.-]{16,}|xapp-\d-[\w-]{16,}",
    "Stripe key": r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}",
    "npm token": r"npm_[A-Za-z0-9]{36}|_authToken=\s?[0-9a-fA-F-]{36}",
    "PyPI token": r"pypi-Ag[\w-]{40,}",
    "Docker token": r"dckr_(?:pat|oat)_[\w-]{20,}",
    "DigitalOcean token": r"do[opr]_v1_[0-9a-f]{32,}",
    "Databricks token": r"dapi[0-9a-f]{32}",
    "Shopify token": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "Vault token": r"hvs\.[\w-]{24,}",
    "Supabase key": r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}",
    "Grafana token": r"gl(?:sa|c)_(?=\w{0,80}?\d)[A-Za-z0-9+/=_]{32,}",
    "Notion token": r"ntn_[A-Za-z0-9]{40,}",
    "Linear key": r"lin_api_[A-Za-z0-9]{32,}",
    "Atlassian token": r"ATATT3[\w=-]{40,}",
    "JSON Web Token": r"eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{8,}",
    "private key": r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: ?BLOCK)?-----(?:\\[rn]|\s){0,20}[A-Za-z0-9+/=]{20}",
    "token of a websearch-gateway": r"wsg_[\w-]{40,}",
    "Figma token": r"fig[a-z]{1,2}_(?=[\w-]{0,80}?\d)[\w-]{36,}",
    "Mailgun key": r"(?:pub)?key-[0-9a-f]{32}(?!\w)|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])",
    "Square token": r"sq0[a-z]{3}-[\w-]{22,}|EAAA(?=[\w-]{0,80}?\d)(?=[\w-]{0,80}?[a-z])[\w-]{56,60}(?![\w-])",
    "Doppler token": r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,}",
    "Langfuse key": r"[sp]k-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "Voyage key": rf"pa-{_MIXED}[\w-]{{40,}}",
    "age secret key": r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}",
    "Airtable token": r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    "Brevo key": r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
    "Cerebras key": r"csk-(?=[a-z]{0,40}\d)[a-z0-9]{40,}",
    "Contentful token": r"CFPAT-[\w-]{40,}",
    "Fireworks key": rf"fw_{_MIXED}[A-Za-z0-9]{{22,}}",
    "Fly token": r"fo1_[\w-]{40,}|fm2_[\w+/=]{60,}",
    "Heroku key": r"HRKU-[\w-]{36,}",
    "Mapbox token": r"sk\.eyJ[\w-]{40,}\.[\w-]{20,}",
    "Netlify token": r"nfp_[A-Za-z0-9]{36,}",
    "New Relic key": r"NRAK-[A-Z0-9]{27}",
    "Pinecone key": r"pcsk_[\w-]{40,}",
    "PlanetScale token": r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}",
    "Postman key": r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    "PostHog key": r"ph[sx]_[A-Za-z0-9]{40,}",
    "RubyGems key": r"rubygems_[0-9a-f]{48}",
    "SendGrid key": r"SG\.[\w-]{22}\.[\w-]{43}",
    "Sentry token": r"sntry[su]_[\w+/=]{40,}",
    "Sourcegraph token": r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
    "Terraform token": r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}",
    "Discord bot token": r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}",
    "Mailchimp key": r"[0-9a-f]{32}-us\d{1,2}(?!\w)",
    "Telegram bot token": r"\d{8,10}:[\w-]{35}(?![\w-])",
    "Twilio key": r"(?:AC|SK)[0-9a-f]{32}(?!\w)",
    "WooCommerce key": r"c[ks]_[0-9a-f]{40}(?!\w)",
    "Microsoft Entra secret": r"[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w~])",
    "Cloudflare token": r"cf(?:ut|at|k)_[A-Za-z0-9]{40,}",
    "Buildkite token": r"bk(?:ua|aa|ct)_[0-9a-f]{40}",
    "Pulumi token": r"pul-[0-9a-f]{40}",
    "Cursor key": r"crsr_[0-9a-f]{48,}",
    "Neon key": r"napi_(?=[a-z]{0,40}\d)[a-z0-9]{40,}",
    "E2B key": r"e2b_[0-9a-f]{40}",
}

_OUTSIDE_LINKS = tuple(
    kind
    for kind in _TOKENS
    if kind not in ("AWS access key", "Google search engine id", "JSON Web Token")
)
"""The kinds without those that links carry by design: a signature names its access key, a search page its engine."""

_HEX_OR_UUID = r"(?<![\w-])(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w-])"
_RANDOM = r"(?=[\w+/-]{0,80}?\d)(?=[\w+/-]{0,80}?[a-z])(?=[\w+/-]{0,80}?[A-Z])(?:[\w+-]{24,}|[A-Za-z0-9+/]{40}(?![\w+/]))"
# Letters and digits that alternate as in no word, number or slug; in what is called a key, fewer changes are enough.
_ALTERNATING = r"(?=[A-Za-z]*+(?:\d++[A-Za-z]++){4})"
_CHANGING = r"(?=[A-Za-z]*+(?:\d++[A-Za-z]++){3})"
# Prefixes of public ids and hashes, which are as long and random as keys.
_ID_PREFIX = (
    r"(?i:sha\d*|md5|blake\w*|rev|commit|build|hash|digest|id|img|image|layer|trace|span|file|resp|msg|run|asst|thread"
    r"|req|request|rs|ws|fc|call|chatcmpl|batch|vs|evt|event|step|item|user|order|job|node|session|object)"
)
_PREFIXED = rf"(?<![\w/.-])(?!{_ID_PREFIX}[-_])[A-Za-z][A-Za-z0-9]{{1,9}}[-_]{_ALTERNATING}[A-Za-z0-9]{{32,}}(?![\w-])"
"""What keys of any vendor look like: a short prefix, a separator, and something long and random."""
_NAMED = (
    r"(?i:[\w.-]{0,40}?(?:key|token|secret|credential|passw(?:or)?d|passphrase|apikey|auth)s?)['\"]?\s{0,3}(?:=|:|=>|->)\s{0,3}"
    rf"['\"`]?(?i:bearer )?{_CHANGING}[\w~.+/-]{{24,}}"
)
"""Something long and random that is assigned to a name which says that it is secret."""
_LABEL = r"(?i:(?<![a-z])(?:key|token|secret|credential|password|passwd|apikey|bearer|serper|exa(?!\.))s?(?![a-z]))"
_ASSIGNED = r"""(?i:\s*(?:is|[:=]|=>|->)?\s*['"`]?(?:bearer )?)"""
_PLACEHOLDER = r"(?:(?:pass(?:word|wd)?|pwd|secret|token|x+|\*+|\.+|(?:your|my)\w*|changeme)(?=[\s;@&'\"]|$)|[<${\[])"
_LOGIN = r"(?:server|data source|host|dbname|database|initial catalog|user(?: id)?|uid|accountname|endpoint)\s*="
_PASSWORD = rf"(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*(?!{_PLACEHOLDER})[^\s;]{{4,}}"

_MIXED_ENCODED = r"(?=[\w%+/-]{0,80}?\d)(?=[\w%+/-]{0,80}?[a-z])(?=[\w%+/-]{0,80}?[A-Z])"
_COOKIE = (
    r"(?:sess(?:ion)?(?:[-_.]?(?:id|token|key|data))?|sid|logged_in|(?:auth|remember|login|csrf|xsrf)[-_.]?token)"
    r"(?:[-_.][0-9a-f]{1,40})?"
)
_ALPHANUMERIC = r"(?=[A-Za-z]{0,11}\d)(?=\d{0,11}[A-Za-z])[A-Za-z0-9]{12}"
_PHRASES = {
    "Slack webhook": r"hooks\.slack\.com/(?:services|workflows)/T\w+/\w+/\w+",
    "Discord webhook": r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,20}/[\w-]{40,}",
    "Okta token": rf"(?<![\w-])00{_MIXED}[\w-]{{40}}(?![\w-])|\bSSWS\s+[\w-]{{30,}}",
    "Azure storage key": r"AccountKey=[A-Za-z0-9+/=]{88}",
    "Azure shared access signature": rf"(?<![\w-])sig={_MIXED_ENCODED}[\w%+/=-]{{40,}}",
    # The lookahead costs little where no `=` follows: a name is at most 95 characters long.
    "session cookie": rf"(?i)(?<![\w&?%-])(?=[\w.:-]{{3,95}}=)[\w.:-]{{0,40}}?{_COOKIE}="
    rf"[\w%.+/:~|-]{{0,80}}?{_ALPHANUMERIC}|\bcookie:\s*[\w.-]{{1,60}}=[\w%.+/:~|-]{{0,80}}?{_ALPHANUMERIC}",
    "password in a URL": rf"(?i)\b[a-z][a-z0-9+.-]{{0,20}}://[^\s/@:]*:(?!{_PLACEHOLDER})[^\s/@]{{3,}}@[\w.-]",
    "password in a connection string": rf"(?i)\b{_LOGIN}[^;]{{1,200}}?[; ]\s*{_PASSWORD}|\b{_PASSWORD}[; ]\s*{_LOGIN}",
    "password": rf"(?i:(?<![a-z])(?:password|passwd|passphrase|secret)\s*(?:is|[:=])\s*)(?i:(?!{_PLACEHOLDER}))['\"]?"
    r"(?=\S{0,80}?\d)(?=\S{0,80}?[a-z])(?=\S{0,80}?[A-Z])\S{8,}",
}

# These formats are secrets only near the words of _LABEL, and not near those of _PUBLIC, which mark public values.
_IN_CONTEXT = (
    rf"{_LABEL}{_ASSIGNED}(?:{_RANDOM}|{_CHANGING}[A-Za-z0-9]{{24,}})"
    rf"|{_LABEL}.{{0,60}}?{_HEX_OR_UUID}|{_HEX_OR_UUID}.{{0,30}}?{_LABEL}"
)
_PUBLIC = (
    r"(?i)\b(?:commits?|sha-?\d*|git|md5|checksum|hash|fingerprint|pgp|gpg|ssh|public|primary|foreign|cache|redis|registry"
    r"|partition|etag|uuid|guid|magnet|torrent|erc-?\d+)\b"
)
_BASIC_HEADER = r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})"

_CARD = (
    r"(?<![\w.])(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|35\d\d|6\d{3})(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{4}"
    r"|3[47]\d\d(?P<space>[ -]?)\d{6}(?P=space)\d{5}"
    r"|3(?:0[0-5]|[68]\d)\d(?P<blank>[ -]?)\d{6}(?P=blank)\d{4})(?!\w|\.\d)"
)

# Fast path: ordinary questions contain no part that is long enough, or looks like an assignment, a URL or a card, or is
# encoded or spaced out.
_WORTH_A_LOOK = r"[!-~]{16}|=|://|(?i:pass|secret)|%[0-9A-Fa-f]{2}|\d(?:[ -]?\d){12}"
_KEY_SIZED = r"(?<![!-~])(?=[!-~]{20})[!-~]*?\d"

_SPACED = r"(?<!\w)[!-~]([ .,;:|/_*~+-])(?:[!-~]\1){10,}[!-~]"
_BETWEEN_PIECES = r"[\s,;|/?&=\"'`+()\[\]{}<>]+"
_RANDOM_PIECE = r"\d[A-Za-z]|[A-Za-z]\d|[a-z][A-Z]"
_DIGITS_OF_A_KEY = r"[A-Z\d]|(?!(?:19|20)\d\d$)\d{3,}"
"""Also: a piece of one capital or digit, or of digits that are not a year."""
_FEWEST_RANDOM, _MOST_PIECES, _LONGEST_KEY = 3, 80, 3_000
_RANDOM_SHARE, _RANDOM_SHARE_OF_SHORT = 0.5, 0.3

_BASE64, _HEX = r"[A-Za-z0-9+/_-]{12,}", r"(?:[0-9A-Fa-f]{2}){8,}"
_PRINTABLE = r"[ -~\t\r\n]{8,}"
_LONGEST_DECODED, _DEEPEST = 20_000, 2


@functools.cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)


@functools.cache
def _tokens(kinds: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern with a group for each kind: a search for each would read the text many times.

    The lookahead spares most characters of a spaced-out text all the kinds: each begins with two such characters.
    """
    return re.compile(
        rf"(?<![\w-])(?=[\w-][\w/-])(?:{'|'.join(f'({_TOKENS[kind]})' for kind in kinds)})"
    )


@functools.cache
def _token_in_pieces() -> re.Pattern[str]:
    """Any token. What precedes and follows it does not matter: the next piece may be a word."""
    return re.compile(
        "|".join(re.sub(r"\(\?!\[?\\w-?\]?\)", "", shape) for shape in _TOKENS.values())
    )


def _shaped(text: str) -> str | None:
    found = _key_of_vendor(text, tuple(_TOKENS))
    return found or next(
        (kind for kind, shape in _PHRASES.items() if _compiled(shape).search(text)), None
    )


def _key_of_vendor(text: str, kinds: tuple[str, ...] = _OUTSIDE_LINKS) -> str | None:
    found = _tokens(kinds).search(text)
    return kinds[found.lastindex - 1] if found and found.lastindex else None


def _in_context(text: str) -> str | None:
    shapes = (_IN_CONTEXT, _PREFIXED, _NAMED)
    found = any(_compiled(shape).search(text) for shape in shapes) and not _compiled(
        _PUBLIC
    ).search(text)
    return "key or token" if found else None


def _basic_header(text: str) -> str | None:
    for found in _compiled(_BASIC_HEADER).finditer(text):
        try:
            login = base64.b64decode(found.group(1), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if login.isprintable() and ":" in login:
            return "Basic authorization header"
    return None


def _card(text: str) -> str | None:
    """A payment card, by its first digits, its length and its check digit (ISO/IEC 7812-1, Luhn)."""
    for found in _compiled(_CARD).finditer(text):
        digits = [int(one) for one in found.group() if one.isdigit()][::-1]
        doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
        if (sum(digits[::2]) + sum(doubled)) % 10 == 0:
            return "payment card"
    return None


_Finder = Callable[[str], str | None]


def credential_kind(text: str, configured: Iterable[str] = ()) -> str | None:
    """The kind of credential in a normalised text, such as "Tavily key"; None if there is none.

    A key also counts percent-encoded, as base64 or hex, backwards, and with blanks or other marks in it.

    Args:
        text: the query after `normalise`, so that invisible characters and wide letters cannot hide a key.
        configured: the secrets of this gateway. Long ones count without regard to case and punctuation.
    """
    return _kind(text, tuple(configured), (_shaped, _in_context, _basic_header, _card))


def credential_kind_in_address(url: str, configured: Iterable[str] = ()) -> str | None:
    """As `credential_kind`, for an address to read: only secrets of this gateway and keys of vendors.

    A signed link is a credential too, but one that its site has made for whoever reads the page.
    """
    return _kind(url, tuple(configured), (_key_of_vendor,))


def credential_error(field: str, subject: str, kind: str) -> SearchValidationError:
    """The refusal of a text that carries a credential; `subject` begins its message, such as "The query"."""
    return SearchValidationError(
        f"{subject} carries a credential ({kind}). Nothing was sent; remove it and ask again.",
        details={"field": field, "credential": kind},
    )


def _kind(
    text: str, configured: tuple[str, ...], finders: tuple[_Finder, ...], depth: int = 0
) -> str | None:
    squeezed = _squeezed_secrets(configured)
    if any(
        secret in text for secret in configured if len(secret) >= SHORTEST_CONFIGURED_SECRET
    ) or (squeezed and any(map(_squeeze(text).__contains__, squeezed))):
        return _CONFIGURED
    spaced_out = [
        found.group()[::2] for found in _compiled(_SPACED).finditer(text[:_LONGEST_DECODED])
    ]
    pieces: list[str] = []
    if len(_compiled(_RANDOM_PIECE).findall(text[:_LONGEST_DECODED])) >= _FEWEST_RANDOM:
        pieces = [
            piece for piece in _compiled(_BETWEEN_PIECES).split(text[:_LONGEST_DECODED]) if piece
        ]
    if not (spaced_out or pieces or _compiled(_WORTH_A_LOOK).search(text)):
        return None
    if kind := next((kind for find in finders if (kind := find(text))), None):
        return kind
    shaped = finders[0]
    for run in spaced_out:  # the run may begin with a word of one letter
        if (
            kind := shaped(" ".join(run[start:] for start in range(4)))
            or (_card in finders and _card(run))
            or None
        ):
            return kind
    if len(pieces) > 1 and (kind := _in_pieces(pieces, shaped)):
        return kind
    readings = _readings(text[:_LONGEST_DECODED], "".join(pieces))
    if depth == _DEEPEST:  # nobody encodes words so often, but sites do so in their own links
        is_address = _in_context not in finders
        return None if is_address or next(readings, None) is None else _STILL_ENCODED
    if kind := next(
        (kind for one in readings if (kind := _kind(one, configured, finders, depth + 1))), None
    ):
        return kind
    return _key_of_vendor(text[::-1]) if _compiled(_KEY_SIZED).search(text) else None


@functools.lru_cache(maxsize=8)
def _squeezed_secrets(configured: tuple[str, ...]) -> tuple[str, ...]:
    """The secrets that cannot be mistaken for words, even without case and punctuation."""
    squeezed = map(_squeeze, configured)
    return tuple(one for one in squeezed if len(one) >= 12 and not one.isalpha())


def _squeeze(text: str) -> str:
    return _compiled(r"[\W_]+").sub("", text).casefold()


def _in_pieces(pieces: list[str], shaped: _Finder) -> str | None:
    """The kind of a key that is written in several pieces, which begins where one of them does."""
    joined, starts = "".join(pieces), [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    for first, start in enumerate(starts[:-1]):
        if not _token_in_pieces().match(joined, start, start + _LONGEST_KEY):
            continue
        for last in range(first + 2, min(first + _MOST_PIECES, len(starts))):
            if found := _token_in_pieces().match(joined, start, starts[last]):
                rest = pieces[first + 1 : last]
                is_short = sum(map(len, rest)) < 3 * len(rest)
                share = _RANDOM_SHARE_OF_SHORT if is_short else _RANDOM_SHARE
                random, digits = _compiled(_RANDOM_PIECE), _compiled(_DIGITS_OF_A_KEY)
                if sum(
                    bool(random.search(one) or digits.fullmatch(one)) for one in rest
                ) >= share * len(rest):
                    return shaped(found.group())
                break
    return None


def _readings(text: str, joined: str) -> Iterator[str]:
    """What the text says to somebody who decodes it."""
    if (
        plain := functools.reduce(lambda form, _: unquote(form), range(_DEEPEST + 1), text)
    ) != text:
        yield plain
    for form in (text, joined) if joined else (text,):
        for run in _compiled(_BASE64).findall(form):
            standard = run.replace("-", "+").replace("_", "/")
            for skipped in range(4):
                part = standard[skipped:]
                decoded = base64.b64decode(part + "A" * (-len(part) % 4))
                yield from _compiled(_PRINTABLE).findall(decoded.decode("latin-1"))
        for run in _compiled(_HEX).findall(form):
            yield from _compiled(_PRINTABLE).findall(bytes.fromhex(run).decode("latin-1"))


LEAST_CHARACTERS = 40  # so many characters of data are suspicious
MOST_ADDRESSES, MOST_EXAMINED = 1_000, 10_000
"""How many addresses with data one text may give, and how many addresses are examined."""

_LONGEST_ADDRESS = 2_000  # a longer address is data as a whole: no page needs one
_MOST_NESTED = 3  # how often an address may hold another one, or be escaped

# The letters that often follow a letter, counted over 63,000 words of web pages in Latin script: 98.5% of their pairs.
_FOLLOWING = (
    "a:abcdefghijklmnoprstuvwxyz b:abceilorsuy c:acehiklorstuy d:abcdegilmnorsuvy e:abcdefghiklmnopqrstuvwxyz "
    "f:aefilorstuy g:aeghilnorstuy h:aeilmnorstuy i:abcdefgiklmnopqrstuvxz j:aeiou k:aehilnorstuy l:abcdefgiklmopstuvy "
    "m:abceilmopsuy n:abcdefghijklmnoprstuvyz o:abcdefghiklmnoprstuvwxyz p:acehiloprstuy q:u r:abcdefghiklmnoprstuvwy "
    "s:acdefhiklmnopqrstuwy t:acefhilmnoprstuwyz u:abcdefgiklmnoprstvyz v:aeio w:aehilnors x:aceipt y:abceilmnopstu "
    "z:aeiou"
)
_PAIRS = frozenset(first[0] + letter for first in _FOLLOWING.split() for letter in first[2:])
_FEWEST_RARE, _RARE_SHARE, _RARE_SHARE_OF_SLUG = 2, 0.3, 0.26
"""From this share of other pairs on, letters are no word: at most 0.7% of words reach it, and 65% of random letters."""

_CHUNK = re.compile(r"[A-Za-z0-9]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]+|\d+")
_WORD, _WORD_OR_NUMBER = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"[a-z]+\d{1,4}|\d{1,4}[a-z]+|\d+x\d+", re.IGNORECASE)
_ESCAPED_LETTER = re.compile(r"%(?:3[0-9]|[46][1-9A-F]|[57][0-9A]|2D|5F|7E)", re.IGNORECASE)
_NEEDLESS_ESCAPE = re.compile(
    r"%(?:2[146-9A-F]|3[0-9ABD]|4[0-9A-F]|6[1-9A-F]|[57][0-9A]|5F|7E)", re.IGNORECASE
)
_FILE_TYPE = re.compile(r"\.[A-Za-z0-9]{2,5}\Z")
_ADDRESS = re.compile(r"(?:https?:)?//[^/\s]|/[\w-]+/", re.IGNORECASE)
_JSON = re.compile(r"\s*[\[{].*[\"']\s*[:,]", re.DOTALL)

_SHORTEST_OPAQUE, _SHORTEST_RARE, _LONGEST_WORD, _LONGEST_NUMBERED, _LONGEST_ID = 4, 7, 45, 39, 24
_LONGEST_SLUG, _MOST_SLUG_WORDS, _SHORTEST_CIPHER = 255, 45, 36
_MOST_DIGITS, _MOST_ESCAPED_LETTERS = 50, 4
_SHORT_PIECES, _SHORT_PIECE, _LONG_NAME = 14, 2.5, 16
_RUNNING_WORDS, _SENTENCE_WORDS, _SPREAD_WORDS, _RUNNING_FOREIGN = 4, 6, 8, 20
_MOST_TOKENS, _MOST_LABELS = 12, 8
_FUNCTION_SHARE = 0.25
_ALSO_NAMES = "a about all any as by de en es for in is la les no on our to und up us"
_SENTENCE_MAKERS = STOP_WORDS - frozenset(_ALSO_NAMES.split())
"""Words that no path or parameter is called, and no switch is set to."""
_FEWEST_MAKERS = 2
_SPREAD_OVER = (("host",), ("path",), ("name",), ("value",), ("name", "value"))
_TITLED = frozenset({"title", "page", "slug", "name", "article", "topic", "post", "p"})
_PERSONAL = re.compile(
    r"(?:user_?|customer_?)?(?:e_?mail|phone|mobile|tel|pass(?:word|wd|phrase)?|pwd|secret|ssn|iban|salary|address|birth\w*"
    r"|dob|full_?name|first_?name|last_?name|credentials?|notes?|memory|context|conversation|history|employer|diagnosis)"
)
_PRIVATE = (
    r"(?:password|passwort|passphrase|pin code|ssn|iban|(?:account|card|phone|security) number)"
)
_FACT = rf"(?:name|e?mail|phone|address|birthday|diagnosis|balance|{_PRIVATE})"
_DISCLOSURES = (
    rf"{_PRIVATE} (?:is |are |was )?[a-z]*\d\w*",
    r"\w+ at (?:gmail|outlook|hotmail|icloud|protonmail) (?:dot )?com",
    r"the users? (?:is called|said|says|asked|told|wants|lives|works)",
    r"(?:conversation|chat) so far|system prompt (?:is|says|you)|you are (?:the|an?|a helpful) (?:assistant|ai|agent)",
    r"(?:never|do not|dont) (?:reveal|disclose)",
)
"""Words that hand over facts of a person or of a system. One is enough."""
_HINTS = (
    r"the (?:users?|customer|client|owner|human|operator)",
    rf"{_FACT} (?:is|are|was|equals|ist|lautet)",
    r"(?:lives|live|works|work|living|working|wohnt|arbeitet) (?:in|at|for|bei)|is (?:called|named)",
    r"confidential|internal only|keep (?:it|this) (?:secret|private)",
    r"meeting notes|system prompt|api key|access token|private key|credit card|social security",
)
"""Of these, titles have one at most."""
_ENOUGH_HINTS = 2

# Public ids that well-known sites give their pages, and marks with which their own pages are linked.
_CODE_HOST = (
    r"(?:[\w.-]+\.)?(?:git[\w-]*|bitbucket|codeberg|kernel|googlesource|huggingface)\.[a-z.]{2,12}"
)
_SITE_IDS = (
    rf"{_CODE_HOST}/.*?/(?:-/)?(?:commits?|blob|tree|raw|blame|compare|archive|resolve|\+)/(?:\?id=)?"
    r"(?P<id>[0-9a-f]{40})(?![0-9a-z])",
    r"semanticscholar\.org/paper/(?:[^/]+/)?(?P<id>[0-9a-f]{40})\Z",
    r"raw\.githubusercontent\.com/[^/]+/[^/]+/(?P<id>[0-9a-f]{40})/",
    r"gist\.github(?:usercontent)?\.com/[^/]+/(?P<id>[0-9a-f]{32}(?:/raw/[0-9a-f]{40})?)(?![0-9a-z])",
    r"hub\.docker\.com/layers/.*?/(?P<id>sha256[-:][0-9a-f]{64})",
    r"docs\.google\.com/(?:document|spreadsheets|presentation|drawings)/d/(?P<id>[\w-]{44})(?:/|\Z)",
    r"youtube\.com/(?:watch|playlist)\?(?P<id>(?:(?:v=[\w-]{11}|list=[\w-]{13,41}|index=\d+|t=\d+s?|si=[\w-]{16})(?:&|\Z))+)",
    r"open\.spotify\.com/\w+/(?P<id>\w{22}(?:\?si=\w{16,22})?)\Z",
    r"(?:[\w-]+\.)?notion\.(?:so|site)/(?:.*?-)?(?P<id>[0-9a-f]{32}(?:\?v=[0-9a-f]{32})?)\Z",
    r"(?:google\.[a-z.]{2,6}|maps\.google\.[a-z.]{2,6})/maps/[^?]*?(?P<id>@[\d.,-]+\d+[zm](?:/data=[!\w.:%+-]*)?)",
)
_SEARCH_PAGE = (
    r"\A(?:www\.|scholar\.|search\.|m\.)?(?:(?:google\.[a-z.]{2,6}|bing\.com|duckduckgo\.com|startpage\.com|ecosia\.org"
    r"|search\.brave\.com|kagi\.com|github\.com|stackoverflow\.com|youtube\.com|arxiv\.org|pubmed\.ncbi\.nlm\.nih\.gov"
    r"|[a-z-]+\.wikipedia\.org|amazon\.[a-z.]{2,6}|npmjs\.com|pypi\.org|crates\.io|reddit\.com)/?[\w/.-]*)\?"
)
_LONGEST_SEARCH = 80  # of the words for a search page: 99% of real queries are no longer
_SEARCHED = frozenset({"q", "query", "search", "search_query", "term", "k", "keywords"})


class _Piece(NamedTuple):
    place: Literal["host", "path", "name", "value"]
    name: str
    raw: str
    text: str


def identity(url: str) -> str:
    """The spelling by which two addresses are compared. Unlike `urls.canonical` it keeps all that one carries, also a
    choice of characters to escape.

    Returns invalid addresses unchanged.
    """
    try:
        parts = urlsplit(url.strip())
        port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
    except ValueError:
        return url
    host = (parts.hostname or "").removesuffix(".")
    path, query = (_one_spelling(text) for text in (parts.path, parts.query))
    fragment = parts.fragment if parts.fragment.startswith(("/", "!")) else ""
    return f"{host}{port}{path.rstrip('/')}?{query}#{fragment}"


def _one_spelling(text: str) -> str:
    if len(_NEEDLESS_ESCAPE.findall(text)) >= _MOST_ESCAPED_LETTERS:
        return text
    return quote(
        unquote(text, errors="surrogateescape"), safe="/?!$&'()*+,;=:@~", errors="surrogateescape"
    )


def addresses_with_data(texts: Sequence[str]) -> list[str]:
    """The addresses in texts that carry data, each also without its trackers, at most MOST_ADDRESSES. Linear."""
    found: dict[str, None] = {}
    seen: set[str] = set()
    for text in texts:
        whole = [text] if is_web_address(text) else []
        for url in (*whole, *(text[start:end] for start, end in find_urls(text))):
            if len(url) < LEAST_CHARACTERS or url in seen:
                continue
            seen.add(url)
            if carries_data(url):
                found |= dict.fromkeys((url, strip_trackers(url)))
            if len(found) >= MOST_ADDRESSES or len(seen) >= MOST_EXAMINED:
                return list(found)
    return list(found)


def carries_data(url: str) -> bool:
    """Whether an address carries LEAST_CHARACTERS of data or more in its host, path, query or routing fragment."""
    return len(url) >= LEAST_CHARACTERS and carried_characters(url) >= LEAST_CHARACTERS


def carried_characters(url: str, depth: int = 0) -> int:
    """The number of characters of an address that look like data. Invalid and very long ones count in full. Linear."""
    if len(url) > _LONGEST_ADDRESS:
        return len(url)
    try:
        pieces = list(_pieces(urlsplit(_without_site_ids(url))))
    except ValueError:
        return len(url)
    is_search = _compiled(_SEARCH_PAGE, re.IGNORECASE).match(url.partition("//")[2]) is not None
    found = digits = 0
    for piece in pieces:
        if depth < _MOST_NESTED and piece.place == "value" and _ADDRESS.match(piece.text):
            found += carried_characters(piece.text, depth + 1)
        elif not (
            is_search
            and piece.name in _SEARCHED
            and len(piece.text) <= _LONGEST_SEARCH
            and not any(map(_opaque_characters, _CHUNK.findall(piece.text)))
        ):
            found += _of_piece(piece)
            digits += sum(
                len(chunk)
                for chunk in _CHUNK.findall(piece.text)
                if len(chunk) > 2 and chunk.isdigit()
            )
    found += digits if digits >= _MOST_DIGITS else 0
    return found if found >= LEAST_CHARACTERS else found + _of_all(pieces)


def _pieces(parts: SplitResult) -> Iterator[_Piece]:
    """The parts of an address that somebody can choose, each with all escapes resolved in `text`."""
    for label in (parts.hostname or "").split(".")[:-1]:
        yield _Piece("host", "", label, _unicode(label))
    for segment in (parts.username or "", parts.password or "", *parts.path.split("/")):
        yield _Piece("path", "", segment, _plain(segment))
    for pair in re.split("[&;]", parts.query):
        name, equals, value = pair.partition("=")
        if not equals:
            name, value = "", pair
        yield _Piece("name", "", name, _plain(name))
        yield _Piece("value", _plain(name).lower(), value, _plain(value.replace("+", " ")))
    if parts.fragment.startswith(("/", "!")):  # read by scripts of the page
        yield from _pieces(urlsplit(f"///{parts.fragment.lstrip('!/')}"))


def _plain(text: str) -> str:
    for _ in range(_MOST_NESTED):
        text = unquote(text)
    return text


def _unicode(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError):
        return label


def _without_site_ids(url: str) -> str:
    """The address without a public id of a well-known site, unless the id is text in hexadecimal digits."""
    bare = url.partition("//")[2]
    for pattern in _SITE_IDS:
        found = _compiled(rf"(?:www\.|m\.|music\.)?{pattern}", re.IGNORECASE).match(bare)
        if found and not _is_text(found["id"]):
            start, end = (len(url) - len(bare) + place for place in found.span("id"))
            return url[:start] + url[end:]
    return url


def _is_text(digits: str) -> bool:
    try:
        return all(32 <= byte < 127 for byte in bytes.fromhex(digits))
    except ValueError:
        return False


def _of_piece(piece: _Piece) -> int:
    """The characters of data in one piece."""
    text, chunks = piece.text, _CHUNK.findall(piece.text)
    if (
        len(_ESCAPED_LETTER.findall(piece.raw.replace("%25", "%"))) >= _MOST_ESCAPED_LETTERS
        or _JSON.match(text)
        or (piece.place == "value" and max(map(len, chunks), default=0) >= LEAST_CHARACTERS)
        or (len(chunks) >= _SHORT_PIECES and sum(map(len, chunks)) <= _SHORT_PIECE * len(chunks))
        or _runs(piece)
    ):
        # An ideograph says as much as two letters.
        return len(text) + sum(not one.isascii() for one in text)
    if piece.name and _PERSONAL.fullmatch(piece.name):
        return len(piece.name) + len(text)
    return (
        sum(map(_opaque_characters, chunks))
        if piece.place != "name" or len(text) >= _LONG_NAME
        else 0
    )


def _opaque_characters(chunk: str) -> int:
    """The length of a run of letters and digits if it is in an order that words do not have, else 0."""
    size = len(chunk)
    if size < _SHORTEST_OPAQUE or chunk.isdigit():
        return size if size > _LONGEST_ID else 0
    if chunk.islower() or chunk.isupper() or chunk.istitle():
        if size > (_LONGEST_WORD if chunk.isalpha() else _LONGEST_NUMBERED):
            return size
        if chunk.isalpha():
            return size if size >= _SHORTEST_RARE and _is_rare(chunk) else 0
        if _NUMBERED.fullmatch(chunk) and not _is_rare(chunk.strip("0123456789")):
            return 0
    parts = [part for part in _PART.findall(chunk) if part.isalpha() and not _is_rare(part)]
    shortest, share = (3, 0.7) if chunk.isalpha() else (4, 0.5)
    return 0 if sum(len(part) for part in parts if len(part) >= shortest) >= share * size else size


def _is_rare(letters: str) -> bool:
    """Whether letters follow each other as they do not in words."""
    lower = letters.lower()
    pairs = [lower[place : place + 2] for place in range(len(lower) - 1)]
    return sum(pair not in _PAIRS for pair in pairs) >= max(_FEWEST_RARE, _RARE_SHARE * len(pairs))


def _runs(piece: _Piece) -> bool:
    """Whether a piece is running words and no title's slug."""
    text, words, tokens = piece.text, _WORD.findall(piece.text), _WORD_OR_NUMBER.findall(piece.text)
    if piece.place != "path" and sum(not one.isascii() for one in text) >= _RUNNING_FOREIGN:
        return True
    if len(tokens) < _RUNNING_WORDS or not words:
        return False
    is_spaced = text.count(" ") >= len(tokens) / 2
    is_sentence = len(words) >= _SENTENCE_WORDS and _function_share(words) >= _FUNCTION_SHARE
    if piece.place == "host":
        return len(words) >= _SENTENCE_WORDS and len(text) >= LEAST_CHARACTERS
    if piece.place == "path":
        # A product's code is not a key.
        spelled = [token for token in tokens if token.isalpha() and token.isascii()]
        letters = sum(map(len, spelled))
        return (
            len(words) > _MOST_SLUG_WORDS
            or len(text) > _LONGEST_SLUG
            or (is_spaced and len(tokens) > _RUNNING_WORDS and not _FILE_TYPE.search(text))
            or (text.count("+") >= len(tokens) / 2 and is_sentence and len(words) >= _SPREAD_WORDS)
            or (letters >= _SHORTEST_CIPHER and _is_cipher(spelled))
        )
    is_list = len(tokens) >= _MOST_TOKENS and len(text) >= LEAST_CHARACTERS
    return is_spaced or ((is_sentence or is_list) and piece.name not in _TITLED)


def _is_cipher(words: Sequence[str]) -> bool:
    """Whether ASCII words are no words of a title: their letters are rare neighbours, or are words when rotated."""
    pairs = [word[place : place + 2].lower() for word in words for place in range(len(word) - 1)]
    if sum(pair not in _PAIRS for pair in pairs) >= _RARE_SHARE_OF_SLUG * max(1, len(pairs)):
        return True
    rotated = [codecs.encode(word, "rot13") for word in words]
    return not _function_share(words) and _function_share(rotated) >= _FUNCTION_SHARE


def _function_share(words: Sequence[str]) -> float:
    return sum(fold(word) in STOP_WORDS for word in words) / len(words)


def _of_all(pieces: Sequence[_Piece]) -> int:
    """The letters of personal facts, or of running words that many short pieces hold together; 0 if there are none."""
    tokens = [(piece.place, _WORD_OR_NUMBER.findall(piece.text)) for piece in pieces]
    sentence = fold(" ".join(token for _, several in tokens for token in several))
    hints = sum(
        bool(_compiled(rf"\b(?:{one})\b", re.IGNORECASE).search(sentence)) for one in _HINTS
    )
    if hints >= _ENOUGH_HINTS or any(
        _compiled(rf"\b(?:{one})\b", re.IGNORECASE).search(sentence) for one in _DISCLOSURES
    ):
        return len(sentence)
    most = 0
    for places in _SPREAD_OVER:
        most_words = 1 if places == ("path",) else 2
        short = [
            several
            for place, several in tokens
            if place in places and 0 < len(several) <= most_words
        ]
        spread = [token for several in short for token in several if len(token) > 1]
        makers = {fold(token) for token in spread} & _SENTENCE_MAKERS
        is_long_host = places == ("host",) and len(short) >= _MOST_LABELS
        if is_long_host or (len(spread) >= _SPREAD_WORDS and len(makers) >= _FEWEST_MAKERS):
            most = max(most, sum(map(len, spread)) + len(spread))
    return most
