"""How much data an address carries: text that somebody could have put into it, so that reading it would send it away.

An address names a page by words, numbers and at most a few ids. Data in it looks otherwise, in one of these ways:

- opaque: characters in an order that words do not have, such as base64, hexadecimal digits or a key;
- running words: a sentence with blanks, or spread over parameters, directories or names of hosts;
- digits in numbers;
- characters that are escaped for no reason, JSON, or personal facts by name (`email=`, "the password is").

The slug of a title is no data: words in a path, with hyphens between them. A sentence that looks like a title passes.
Public ids of well-known sites are no data either, such as a commit or a playlist.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from websearch_gateway.text.tokens import STOP_WORDS, fold
from websearch_gateway.text.urls import find_urls, is_web_address, strip_trackers

LEAST_CHARACTERS = 40  # so many characters of data are suspicious
MOST_ADDRESSES, MOST_EXAMINED = 1_000, 10_000
"""How many addresses with data one text may give, and how many addresses are examined."""

_LONGEST = 2_000  # a longer address is data as a whole: no page needs one
_DEEPEST = 3  # how often an address may hold another one, or be escaped

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
_WORD, _TOKEN = re.compile(r"[^\W\d_]+"), re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"[a-z]+\d{1,4}|\d{1,4}[a-z]+|\d+x\d+", re.IGNORECASE)
_ESCAPED_LETTER = re.compile(r"%(?:3[0-9]|[46][1-9A-F]|[57][0-9A]|2D|5F|7E)", re.IGNORECASE)
_NEEDLESS_ESCAPE = re.compile(r"%(?:2[146-9A-F]|3[0-9ABD]|4[0-9A-F]|6[1-9A-F]|[57][0-9A]|5F|7E)", re.IGNORECASE)
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
_PRIVATE = r"(?:password|passwort|passphrase|pin code|ssn|iban|(?:account|card|phone|security) number)"
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
_CODE_HOST = r"(?:[\w.-]+\.)?(?:git[\w-]*|bitbucket|codeberg|kernel|googlesource|huggingface)\.[a-z.]{2,12}"
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


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


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
    return quote(unquote(text, errors="surrogateescape"), safe="/?!$&'()*+,;=:@~", errors="surrogateescape")


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
    if len(url) > _LONGEST:
        return len(url)
    try:
        pieces = list(_pieces(urlsplit(_without_site_ids(url))))
    except ValueError:
        return len(url)
    is_search = _compiled(_SEARCH_PAGE).match(url.partition("//")[2]) is not None
    found = digits = 0
    for piece in pieces:
        if depth < _DEEPEST and piece.place == "value" and _ADDRESS.match(piece.text):
            found += carried_characters(piece.text, depth + 1)
        elif not (
            is_search
            and piece.name in _SEARCHED
            and len(piece.text) <= _LONGEST_SEARCH
            and not any(map(_opaque_characters, _CHUNK.findall(piece.text)))
        ):
            found += _of_piece(piece)
            digits += sum(len(chunk) for chunk in _CHUNK.findall(piece.text) if len(chunk) > 2 and chunk.isdigit())
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
    for _ in range(_DEEPEST):
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
        found = _compiled(rf"(?:www\.|m\.|music\.)?{pattern}").match(bare)
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
        return len(text) + sum(not one.isascii() for one in text)  # an ideograph says as much as two letters
    if piece.name and _PERSONAL.fullmatch(piece.name):
        return len(piece.name) + len(text)
    return sum(map(_opaque_characters, chunks)) if piece.place != "name" or len(text) >= _LONG_NAME else 0


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
    text, words, tokens = piece.text, _WORD.findall(piece.text), _TOKEN.findall(piece.text)
    if piece.place != "path" and sum(not one.isascii() for one in text) >= _RUNNING_FOREIGN:
        return True
    if len(tokens) < _RUNNING_WORDS or not words:
        return False
    is_spaced = text.count(" ") >= len(tokens) / 2
    is_sentence = len(words) >= _SENTENCE_WORDS and _function_share(words) >= _FUNCTION_SHARE
    if piece.place == "host":
        return len(words) >= _SENTENCE_WORDS and len(text) >= LEAST_CHARACTERS
    if piece.place == "path":
        spelled = [token for token in tokens if token.isalpha() and token.isascii()]  # a product's code is none
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
    tokens = [(piece.place, _TOKEN.findall(piece.text)) for piece in pieces]
    sentence = fold(" ".join(token for _, several in tokens for token in several))
    hints = sum(bool(_compiled(rf"\b(?:{one})\b").search(sentence)) for one in _HINTS)
    if hints >= _ENOUGH_HINTS or any(_compiled(rf"\b(?:{one})\b").search(sentence) for one in _DISCLOSURES):
        return len(sentence)
    most = 0
    for places in _SPREAD_OVER:
        most_words = 1 if places == ("path",) else 2
        short = [several for place, several in tokens if place in places and 0 < len(several) <= most_words]
        spread = [token for several in short for token in several if len(token) > 1]
        makers = {fold(token) for token in spread} & _SENTENCE_MAKERS
        is_long_host = places == ("host",) and len(short) >= _MOST_LABELS
        if is_long_host or (len(spread) >= _SPREAD_WORDS and len(makers) >= _FEWEST_MAKERS):
            most = max(most, sum(map(len, spread)) + len(spread))
    return most
