"""Finds credentials in a text, which must not be sent.

Credentials are the gateway's own configured secrets, and what rules find: keys of vendors, keys recognisable only by
context, passwords in connection strings, and payment cards. A text is read in several ways, since a key that is spaced
out or encoded is a key for anybody who receives it.

False alarms matter as much: git hashes, UUIDs, addresses, slugs and long words are ordinary in queries. A format that
they share with keys (40 hex digits, a UUID) counts only near a word such as `key`. A key in pieces counts only if most
pieces look random.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from websearch_gateway.errors import SearchValidationError

_CONFIGURED = "secret of this gateway's configuration"
_STILL_ENCODED = "data that is encoded several times"
SHORTEST_CONFIGURED_SECRET = 8
"""Configured secrets with fewer characters are ignored: they would match ordinary words."""

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
"""Of the pieces of a key that look random; of pieces of one or two characters fewer do."""

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
    vendors = _key_of_vendor(text, tuple(_TOKENS))
    if vendors:
        return vendors
    for kind, shape in _PHRASES.items():
        if _compiled(shape).search(text):
            return kind
    return None


def _key_of_vendor(text: str, kinds: tuple[str, ...] = _OUTSIDE_LINKS) -> str | None:
    key = _tokens(kinds).search(text)
    return kinds[key.lastindex - 1] if key and key.lastindex else None


def _in_context(text: str) -> str | None:
    shapes = (_IN_CONTEXT, _PREFIXED, _NAMED)
    is_key = any(_compiled(shape).search(text) for shape in shapes)
    is_public = is_key and _compiled(_PUBLIC).search(text)
    return "key or token" if is_key and not is_public else None


def _basic_header(text: str) -> str | None:
    for header in _compiled(_BASIC_HEADER).finditer(text):
        try:
            login = base64.b64decode(header.group(1), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if login.isprintable() and ":" in login:
            return "Basic authorization header"
    return None


def _card(text: str) -> str | None:
    """A payment card, by its first digits, its length and its check digit (ISO/IEC 7812-1, Luhn)."""
    for number in _compiled(_CARD).finditer(text):
        digits = [int(character) for character in number.group() if character.isdigit()]
        digits.reverse()
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
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
    if _has_configured(text, configured):
        return _CONFIGURED
    beginning = text[:_LONGEST_DECODED]
    spaced_out = [run.group()[::2] for run in _compiled(_SPACED).finditer(beginning)]
    pieces: list[str] = []
    if len(_compiled(_RANDOM_PIECE).findall(beginning)) >= _FEWEST_RANDOM:
        pieces = list(filter(None, _compiled(_BETWEEN_PIECES).split(beginning)))
    if not (spaced_out or pieces or _compiled(_WORTH_A_LOOK).search(text)):
        return None
    kind = _first_kind(finder(text) for finder in finders)
    kind = kind or _first_kind(_spaced_out_kind(run, finders) for run in spaced_out)
    if kind is None and len(pieces) > 1:
        kind = _in_pieces(pieces, finders[0])
    if kind:
        return kind
    readings = _readings(beginning, "".join(pieces))
    if depth == _DEEPEST:  # nobody encodes words so often, but sites do so in their own links
        is_address = _in_context not in finders
        return None if is_address or next(readings, None) is None else _STILL_ENCODED
    kind = _first_kind(_kind(reading, configured, finders, depth + 1) for reading in readings)
    if kind is None and _compiled(_KEY_SIZED).search(text):
        return _key_of_vendor(text[::-1])
    return kind


def _first_kind(kinds: Iterable[str | None]) -> str | None:
    return next(filter(None, kinds), None)


def _spaced_out_kind(run: str, finders: tuple[_Finder, ...]) -> str | None:
    """The kind of a key that was written with blanks between its letters, which `run` has no longer."""
    shaped = finders[0]
    any_start = " ".join(
        run[start:] for start in range(4)
    )  # it may begin with a word of one letter
    kind = shaped(any_start)
    if kind is None and _card in finders:
        return _card(run)
    return kind


def _has_configured(text: str, configured: tuple[str, ...]) -> bool:
    """Whether the text has a secret of this gateway, a long one also without its case and punctuation."""
    for secret in configured:
        if len(secret) >= SHORTEST_CONFIGURED_SECRET and secret in text:
            return True
    squeezed_secrets = _squeezed_secrets(configured)
    if not squeezed_secrets:
        return False
    squeezed = _squeeze(text)
    return any(secret in squeezed for secret in squeezed_secrets)


_SHORTEST_SQUEEZED = 12
"""Characters of a secret that is no part of other words by chance."""


@functools.lru_cache(maxsize=8)
def _squeezed_secrets(configured: tuple[str, ...]) -> tuple[str, ...]:
    """The secrets that cannot be mistaken for words, even without case and punctuation."""
    squeezed = map(_squeeze, configured)
    return tuple(
        secret for secret in squeezed if len(secret) >= _SHORTEST_SQUEEZED and not secret.isalpha()
    )


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
            token = _token_in_pieces().match(joined, start, starts[last])
            if token:
                if _are_of_a_key(pieces[first + 1 : last]):
                    return shaped(token.group())
                break
    return None


def _are_of_a_key(pieces: list[str]) -> bool:
    """Whether so many pieces look random that they are no words."""
    random, digits = _compiled(_RANDOM_PIECE), _compiled(_DIGITS_OF_A_KEY)
    looking_random = [piece for piece in pieces if random.search(piece) or digits.fullmatch(piece)]
    are_short = sum(map(len, pieces)) < 3 * len(pieces)
    share = _RANDOM_SHARE_OF_SHORT if are_short else _RANDOM_SHARE
    return len(looking_random) >= share * len(pieces)


def _readings(text: str, joined: str) -> Iterator[str]:
    """What the text says to somebody who decodes it."""
    plain = text
    for _ in range(_DEEPEST + 1):
        plain = unquote(plain)
    if plain != text:
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
