"""Finds data that somebody could have put into an address, so that reading it would send it away.

An address names a page by words, numbers and at most a few ids. Data in it looks otherwise, in one of these ways:

- opaque: characters in an order that words do not have, such as base64, hexadecimal digits or a key;
- running words: a sentence with blanks, or spread over parameters, directories or names of hosts;
- digits in numbers;
- characters that are escaped for no reason, JSON, or personal facts by name (`email=`, "the password is").

The slug of a title is no data: words in a path, with hyphens between them. A sentence that looks like a title passes.
Public ids of well-known sites are no data either, such as a commit or a playlist.

The limits were set so that each way of `tests/base/test_carried_data.py` to send a sentence is found, and none of its
ordinary addresses.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, quote, unquote, urlsplit

from websearch_gateway.base.tokenization import STOP_WORDS, fold
from websearch_gateway.base.urls import find_urls, is_web_address, strip_trackers

LEAST_CHARACTERS = 40
"""So many characters of data are suspicious: a short sentence, or a key."""
MOST_ADDRESSES, MOST_EXAMINED = 1_000, 10_000
"""How many addresses with data one text may give, and how many addresses are examined."""


def addresses_with_data(texts: Sequence[str]) -> list[str]:
    """The addresses in texts that carry data, each also without its trackers, at most MOST_ADDRESSES. Linear."""
    suspicious: dict[str, None] = {}
    examined: set[str] = set()
    for text in texts:
        for url in _addresses_in(text):
            if len(url) < LEAST_CHARACTERS or url in examined:
                continue
            examined.add(url)
            if carries_data(url):
                suspicious |= dict.fromkeys((url, strip_trackers(url)))
            if len(suspicious) >= MOST_ADDRESSES or len(examined) >= MOST_EXAMINED:
                return list(suspicious)
    return list(suspicious)


def _addresses_in(text: str) -> Iterator[str]:
    if is_web_address(text):
        yield text
    for start, end in find_urls(text):
        yield text[start:end]


def carries_data(url: str) -> bool:
    """Whether an address carries LEAST_CHARACTERS of data or more in its host, path, query or routing fragment."""
    return len(url) >= LEAST_CHARACTERS and carried_characters(url) >= LEAST_CHARACTERS


_LONGEST_ADDRESS = 2_000
"""A longer address is data as a whole: no page needs one."""
_MOST_NESTED = 3
"""How often an address may hold another one, or be escaped."""
_MOST_DIGITS = 50
"""So many digits, in numbers of three and more, are data: a page has a date and an id or two."""

_CHUNK = re.compile(r"[A-Za-z0-9]+")
_ADDRESS = re.compile(r"(?:https?:)?//[^/\s]|/[\w-]+/", re.IGNORECASE)


def carried_characters(url: str, depth: int = 0) -> int:
    """The number of characters of an address that look like data. Invalid and very long ones count in full. Linear."""
    if len(url) > _LONGEST_ADDRESS:
        return len(url)
    try:
        pieces = list(_pieces(urlsplit(_without_site_ids(url))))
    except ValueError:
        return len(url)
    is_search = _compiled(_SEARCH_PAGE, re.IGNORECASE).match(url.partition("//")[2]) is not None
    carried = digits = 0
    for piece in pieces:
        is_address = piece.place == "value" and _ADDRESS.match(piece.text)
        if is_address and depth < _MOST_NESTED:
            carried += carried_characters(piece.text, depth + 1)
        elif not (is_search and _is_searched(piece)):
            carried += _of_piece(piece)
            digits += _digits_in_numbers(piece.text)
    if digits >= _MOST_DIGITS:
        carried += digits
    return carried if carried >= LEAST_CHARACTERS else carried + _of_all(pieces)


def _digits_in_numbers(text: str) -> int:
    numbers = [chunk for chunk in _CHUNK.findall(text) if len(chunk) > 2 and chunk.isdigit()]
    return sum(map(len, numbers))


_SEARCH_PAGE = (
    r"\A(?:www\.|scholar\.|search\.|m\.)?(?:(?:google\.[a-z.]{2,6}|bing\.com|duckduckgo\.com|startpage\.com|ecosia\.org"
    r"|search\.brave\.com|kagi\.com|github\.com|stackoverflow\.com|youtube\.com|arxiv\.org|pubmed\.ncbi\.nlm\.nih\.gov"
    r"|[a-z-]+\.wikipedia\.org|amazon\.[a-z.]{2,6}|npmjs\.com|pypi\.org|crates\.io|reddit\.com)/?[\w/.-]*)\?"
)
"""The pages on which a parameter holds what a person searches for."""
_SEARCHED = frozenset({"q", "query", "search", "search_query", "term", "k", "keywords"})
_LONGEST_SEARCH = 80
"""Of the words for a search page: 99% of real queries are no longer."""


def _is_searched(piece: _Piece) -> bool:
    """Whether a piece of a search page's address is a query of ordinary words."""
    if piece.name not in _SEARCHED or len(piece.text) > _LONGEST_SEARCH:
        return False
    return not any(map(_opaque_characters, _CHUNK.findall(piece.text)))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of an address that somebody can choose: as it stands there (`raw`), and with all escapes resolved.

    `name` is the name of the parameter of which it is the value.
    """

    place: Literal["host", "path", "name", "value"]
    name: str
    raw: str
    text: str


def _pieces(parts: SplitResult) -> Iterator[_Piece]:
    """The parts of an address that somebody can choose. Only a value may be empty."""
    for label in filter(None, (parts.hostname or "").split(".")[:-1]):
        yield _Piece("host", "", label, _unicode(label))
    for segment in filter(None, (parts.username, parts.password, *parts.path.split("/"))):
        yield _Piece("path", "", segment, _plain(segment))
    for pair in filter(None, re.split("[&;]", parts.query)):
        name, equals, value = pair.partition("=")
        if not equals:
            name, value = "", pair
        if name:
            yield _Piece("name", "", name, _plain(name))
        yield _Piece("value", _plain(name).lower(), value, _plain(value.replace("+", " ")))
    if parts.fragment.startswith(("/", "!")):  # read by scripts of the page
        yield from _pieces(urlsplit(f"///{parts.fragment.lstrip('!/')}"))


def _plain(text: str) -> str:
    for _ in range(_MOST_NESTED):
        if "%" not in text:
            break
        text = unquote(text)
    return text


def _unicode(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError):
        return label


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


_ESCAPED_LETTER = re.compile(r"%(?:3[0-9]|[46][1-9A-F]|[57][0-9A]|2D|5F|7E)", re.IGNORECASE)
_MOST_ESCAPED_LETTERS = 4
"""A browser escapes no letter; a link that a person typed escapes one or two."""
_JSON = re.compile(r"\s*[\[{].*[\"']\s*[:,]", re.DOTALL)
_SHORT_PIECES, _SHORT_PIECE = 14, 2.5
"""So many pieces of so few characters in the mean are bytes or syllables: "48-65-6c-6c"."""
_LONG_NAME = 16
"""The name of a parameter is judged from so many characters on; shorter ones are abbreviations."""


def _of_piece(piece: _Piece) -> int:
    """The characters of data in one piece."""
    text = piece.text
    chunks = _CHUNK.findall(text)
    if _is_data(piece, chunks):
        # An ideograph says as much as two letters.
        return len(text) + _letters_beyond_ascii(text)
    if piece.name and _PERSONAL.fullmatch(piece.name):
        return len(piece.name) + len(text)
    if piece.place == "name" and len(text) < _LONG_NAME:
        return 0
    return sum(map(_opaque_characters, chunks))


def _is_data(piece: _Piece, chunks: Sequence[str]) -> bool:
    """Whether a piece is data as a whole. `chunks` are its runs of letters and digits."""
    has_escapes = "%" in piece.raw
    escaped = _ESCAPED_LETTER.findall(piece.raw.replace("%25", "%")) if has_escapes else ()
    longest = max(map(len, chunks), default=0)
    in_bytes = len(chunks) >= _SHORT_PIECES and sum(map(len, chunks)) <= _SHORT_PIECE * len(chunks)
    return (
        len(escaped) >= _MOST_ESCAPED_LETTERS
        or _JSON.match(piece.text) is not None
        or (piece.place == "value" and longest >= LEAST_CHARACTERS)
        or in_bytes
        or _runs(piece)
    )


_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]+|\d+")
_NUMBERED = re.compile(r"[a-z]+\d{1,4}|\d{1,4}[a-z]+|\d+x\d+", re.IGNORECASE)
_SHORTEST_OPAQUE = 4
"""Of fewer characters nobody can say whether they are a word."""
_SHORTEST_RARE = 7
"""Of fewer letters rare pairs say little: "xbox", "wfh"."""
_LONGEST_ID = 24
"""Digits; public ids have at most 20."""
_LONGEST_WORD = 45
"""Letters; the longest word of an English dictionary."""
_LONGEST_NUMBERED = 39
"""Letters and digits of one case: a hash of 40 is data."""


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
    # "readFromPage" and "covid19update" are words in a row: these must be most of it.
    shortest, share = (3, 0.7) if chunk.isalpha() else (4, 0.5)
    words = 0
    for part in _PART.findall(chunk):
        if part.isalpha() and len(part) >= shortest and not _is_rare(part):
            words += len(part)
    return 0 if words >= share * size else size


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


def _is_rare(letters: str) -> bool:
    """Whether letters follow each other as they do not in words."""
    pairs = _pairs_of(letters)
    return _rare_pairs(pairs) >= max(_FEWEST_RARE, _RARE_SHARE * len(pairs))


def _pairs_of(word: str) -> list[str]:
    lower = word.lower()
    return [lower[place : place + 2] for place in range(len(lower) - 1)]


def _rare_pairs(pairs: Iterable[str]) -> int:
    return sum(pair not in _PAIRS for pair in pairs)


_WORD, _WORD_OR_NUMBER = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W_]+")
_FILE_TYPE = re.compile(r"\.[A-Za-z0-9]{2,5}\Z")
_TITLED = frozenset({"title", "page", "slug", "name", "article", "topic", "post", "p"})
"""Parameters that hold titles."""
_RUNNING_WORDS = 4
"""Fewer words with blanks are a name or a title."""
_SENTENCE_WORDS = 6
"""From so many words on a share of function words makes a sentence."""
_FUNCTION_SHARE = 0.25
"""A quarter of the words of a sentence are function words; of a list of keywords hardly any."""
_RUNNING_FOREIGN = 20
"""So many letters beyond ASCII outside a path are a sentence in another script."""
_SPREAD_WORDS = 8
"""So many short pieces hold a sentence together, if function words are among them."""
_MOST_TOKENS = 12
"""A parameter with so many words and numbers is a list of them."""
_LONGEST_SLUG, _MOST_SLUG_WORDS = 255, 45
"""Characters and words of a title in a path; file systems take no longer name."""
_SHORTEST_CIPHER = 36
"""Letters from which their pairs tell a cipher from a title."""


def _runs(piece: _Piece) -> bool:
    """Whether a piece is running words and no title's slug."""
    text = piece.text
    if piece.place != "path" and _letters_beyond_ascii(text) >= _RUNNING_FOREIGN:
        return True
    tokens = _WORD_OR_NUMBER.findall(text)
    if len(tokens) < _RUNNING_WORDS:
        return False
    words = _WORD.findall(text)
    if not words:
        return False
    if piece.place == "host":
        return len(words) >= _SENTENCE_WORDS and len(text) >= LEAST_CHARACTERS
    if piece.place == "path":
        return _runs_in_path(text, words, tokens)
    is_spaced = text.count(" ") >= len(tokens) / 2
    is_list = len(tokens) >= _MOST_TOKENS and len(text) >= LEAST_CHARACTERS
    return is_spaced or ((_is_sentence(words) or is_list) and piece.name not in _TITLED)


def _letters_beyond_ascii(text: str) -> int:
    return 0 if text.isascii() else sum(not letter.isascii() for letter in text)


def _is_sentence(words: Sequence[str]) -> bool:
    return len(words) >= _SENTENCE_WORDS and _function_share(words) >= _FUNCTION_SHARE


def _runs_in_path(text: str, words: Sequence[str], tokens: Sequence[str]) -> bool:
    """Whether a directory or file is more than a title: with blanks, too long, or in letters that make no words."""
    if len(words) > _MOST_SLUG_WORDS or len(text) > _LONGEST_SLUG:
        return True
    is_spaced = text.count(" ") >= len(tokens) / 2
    if is_spaced and len(tokens) > _RUNNING_WORDS and not _FILE_TYPE.search(text):
        return True
    has_plus_signs = text.count("+") >= len(tokens) / 2
    if has_plus_signs and len(words) >= _SPREAD_WORDS and _is_sentence(words):
        return True
    # A product's code is not a key.
    spelled = [token for token in tokens if token.isalpha() and token.isascii()]
    return sum(map(len, spelled)) >= _SHORTEST_CIPHER and _is_cipher(spelled)


def _is_cipher(words: Sequence[str]) -> bool:
    """Whether ASCII words are no words of a title: their letters are rare neighbours, or are words when rotated."""
    pairs = [pair for word in words for pair in _pairs_of(word)]
    if _rare_pairs(pairs) >= _RARE_SHARE_OF_SLUG * max(1, len(pairs)):
        return True
    rotated = [codecs.encode(word, "rot13") for word in words]
    return not _function_share(words) and _function_share(rotated) >= _FUNCTION_SHARE


def _function_share(words: Sequence[str]) -> float:
    return sum(fold(word) in STOP_WORDS for word in words) / len(words)


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


def _of_all(pieces: Sequence[_Piece]) -> int:
    """The letters of personal facts, or of running words that many short pieces hold together; 0 if there are none."""
    words = [_WORD_OR_NUMBER.findall(piece.text) for piece in pieces]
    sentence = fold(" ".join(word for several in words for word in several))
    if _says(_DISCLOSURES, sentence):
        return len(sentence)
    # Hardly any address has a hint, so all are looked for at once before each is.
    if (
        _says(_HINTS, sentence)
        and sum(_says((hint,), sentence) for hint in _HINTS) >= _ENOUGH_HINTS
    ):
        return len(sentence)
    return max(_spread_characters(places, pieces, words) for places in _SPREAD_OVER)


def _says(patterns: tuple[str, ...], sentence: str) -> bool:
    """Whether a sentence has the words of any of the patterns."""
    return _any_of(patterns).search(sentence) is not None


_SPREAD_OVER = (("host",), ("path",), ("name",), ("value",), ("name", "value"))
"""The places over which a sentence may be spread, a word or two in each piece."""
_MOST_LABELS = 8
"""A host with so many labels of words is a sentence."""
_ALSO_NAMES = "a about all any as by de en es for in is la les no on our to und up us"
_SENTENCE_MAKERS = STOP_WORDS - frozenset(_ALSO_NAMES.split())
"""Words that no path or parameter is called, and no switch is set to."""
_FEWEST_MAKERS = 2


def _spread_characters(
    places: tuple[str, ...], pieces: Sequence[_Piece], words: Sequence[Sequence[str]]
) -> int:
    """The letters of a sentence that is spread over the short pieces at `places`; 0 if they are none."""
    most_words = 1 if places == ("path",) else 2
    labels = 0
    spread: list[str] = []
    for piece, several in zip(pieces, words, strict=True):
        if piece.place in places and 0 < len(several) <= most_words:
            labels += 1
            spread += [word for word in several if len(word) > 1]
    is_long_host = places == ("host",) and labels >= _MOST_LABELS
    if is_long_host or (len(spread) >= _SPREAD_WORDS and _makes_a_sentence(spread)):
        return sum(map(len, spread)) + len(spread)
    return 0


def _makes_a_sentence(words: Sequence[str]) -> bool:
    makers = {fold(word) for word in words} & _SENTENCE_MAKERS
    return len(makers) >= _FEWEST_MAKERS


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


_NEEDLESS_ESCAPE = re.compile(
    r"%(?:2[146-9A-F]|3[0-9ABD]|4[0-9A-F]|6[1-9A-F]|[57][0-9A]|5F|7E)", re.IGNORECASE
)


def _one_spelling(text: str) -> str:
    if len(_NEEDLESS_ESCAPE.findall(text)) >= _MOST_ESCAPED_LETTERS:
        return text
    return quote(
        unquote(text, errors="surrogateescape"), safe="/?!$&'()*+,;=:@~", errors="surrogateescape"
    )


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")


@functools.cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled on first use: most processes never judge an address."""
    return re.compile(pattern, flags)
