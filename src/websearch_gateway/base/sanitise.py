"""Makes the text of a page safe to pass on: no invisible characters, no live URLs that run code or leak data.

Visible words are never removed. Text that gives orders to a model may cause a warning and exclude the text from
answers, but never blocks or deletes text that a caller reads: patterns find a small part of real attacks and flag some
innocent text, so the defence is that all page text is passed on as quoted data. `docs/extraction.md` has the rules with
their reasons. Code stays unchanged only where every Markdown parser treats it as code: in doubt nothing is code.

Invisible characters stay where writing needs them: the visible ones on both sides of a run decide, and only those that
one script or emoji needs there are kept (https://www.unicode.org/reports/tr51/ for emoji,
https://www.unicode.org/reports/tr31/#Layout_and_Format_Control_Characters for joiners), too few for a hidden message.
Software that decodes escapes shows `https://bank.example/%E2%80%AEgpj.exe` as `exe.jpg`; the host of
`https://bank.example@evil.example` is evil.example, and a login may also be somebody's.
"""

from __future__ import annotations

import functools
import html
import re
import secrets
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from websearch_gateway.base.markdown import CODE, code_blocks
from websearch_gateway.base.query import matching_letters
from websearch_gateway.errors import MOST_SHOWN, shown
from websearch_gateway.models import LONGEST_URL

MANY = 8  # the least number of consecutive invisible characters that may be a hidden message

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, bidi controls, annotation marks, control
# characters but tab and line feed, private use, lone surrogates and non-characters.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_RUN = re.compile(f"[{_INVISIBLE}]+")
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b\[[0-9;?]{0,40}+[@-~]|\x1b\][^\x07\x1b\n]{0,400}+(?:\x07|\x1b\\)"
)
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")

_SMUGGLING = re.compile(
    f"[\U000e0001-\U000e007f\u202d\u202e\U000e0100-\U000e01ef]|[\ufe00-\ufe0f]{{2}}|[{_INVISIBLE}]{{{MANY}}}"
)

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff"
)
_IDEOGRAPHS = "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ua840-\ua87f\ua8e0-\ua8ff\uaa60-\uaa7f\ufb50-\ufdff"
    "\ufe70-\ufefe"
)
_LONGEST_NEEDED = 6  # the longest of the allowed runs below
_UNSPACED = "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u19e0-\u19ff"
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe"

# Allowed runs: (the character before, the run, the character after).
_ALLOWED = tuple(
    (re.compile(before), re.compile(run), re.compile(after, re.DOTALL))
    for before, run, after in (
        (
            "\U0001f3f4",
            "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "",
        ),  # England
        (
            "\U0001f3f4",
            "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
            "",
        ),  # Scotland
        ("\U0001f3f4", "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", ""),  # Wales
        (f"[{_EMOJI}]", "\ufe0f?\u200d", f"[{_EMOJI}]"),
        (f"[{_EMOJI}]", "[\ufe0e\ufe0f]", ""),
        ("[0-9#*]", "\ufe0f", "\u20e3"),
        (f"[{_IDEOGRAPHS}]", "[\ufe00-\ufe02\U000e0100-\U000e01ef]", ""),
        ("[\u1800-\u18af]", "[\u180b-\u180d\u180f]", ""),
        ("[\u1000-\u109f\uaa60-\uaa7f]", "\ufe00", ""),
        (f"[{_JOINING}]", "[\u200c\u200d]", "[^0-9A-Za-z]|$"),
        (f"[{_UNSPACED}]", "\u200b", f"[{_UNSPACED}]"),
        ("[\u0591-\u05c7]", "\u034f", "[\u0591-\u05c7]"),
        (r"[\s\S]?", "[\u200e\u200f\u061c]", f"[{_RIGHT_TO_LEFT}]"),
        (f"[{_RIGHT_TO_LEFT}]", "[\u200e\u200f\u061c]", ""),
    )
)


def strip_invisible_characters(text: str) -> tuple[str, bool]:
    """`text` without invisible characters, and whether they look like a hidden message. Line ends become line feeds.

    Arabic, Hebrew, Indic, South-East Asian and Mongolian spelling, variants of ideographs, emoji with their joiners and
    the flags of England, Scotland and Wales stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text, False
    text = _ESCAPE_SEQUENCE.sub("", _LINE_ENDS.sub("\n", text))
    pieces = invisible_pieces(text)
    return _without(text, pieces), any(_SMUGGLING.search(text, start, end) for start, end in pieces)


def _without(text: str, pieces: Iterable[tuple[int, int]]) -> str:
    """The text without pieces, which are ordered and disjoint."""
    edges = [0, *(edge for piece in pieces for edge in piece), len(text)]
    return "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def invisible_pieces(text: str) -> list[tuple[int, int]]:
    """The ranges of the characters that `strip_invisible_characters` removes, as (start, end), ordered and disjoint.

    A line end that is a control character other than a line feed counts as invisible.
    """
    if text.isascii() and text.isprintable():
        return []
    pieces = []
    for run in _RUN.finditer(text):
        before, after = text[max(0, run.start() - 1) : run.start()], text[run.end() : run.end() + 1]
        stays = _needed(before, run[0][:_LONGEST_NEEDED], after)
        if run.start() + len(stays) < run.end():
            pieces.append((run.start() + len(stays), run.end()))
    return pieces


@functools.lru_cache(4096)
def _needed(before: str, run: str, after: str) -> str:
    """The beginning of an invisible run that the writing system needs between the characters `before` and `after`."""
    for letter_before, allowed, letter_after in _ALLOWED:
        beginning = allowed.match(run)
        if beginning and letter_before.fullmatch(before) and letter_after.match(after):
            return beginning[0]
    return ""


_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_AUTHORITY = re.compile(
    r"\s*(?:https?:[/\\]*|(?:[a-z][a-z0-9+.\-]{0,30}:)?[/\\]{2,})([^/?#\\]*)", re.IGNORECASE
)
"""The part with the host, as browsers find it: they accept any number of slashes, of either kind."""


def shown_url(url: str) -> str:
    """`url` without a login, and without invisible and bidirectional characters, escaped or not. Keeps those that
    spelling needs.

    Empty if their removal creates new ones (`%E2%00%80%AE`): only an attacker writes such a URL.
    """
    pieces = unshown_pieces(url)
    if not pieces:
        return url
    bare = _without(url, pieces)
    return "" if unshown_pieces(bare) else bare


def unshown_pieces(url: str) -> list[tuple[int, int]]:
    """The pieces of `url` that `shown_url` cuts, as (start, end), ordered and disjoint."""
    if (login := login_piece(url)) is None:
        return _invisible_pieces(url)
    start, end = login
    after = ((end + first, end + last) for first, last in _invisible_pieces(url[end:]))
    return [*_invisible_pieces(url[:start]), login, *after]


def login_piece(url: str) -> tuple[int, int] | None:
    """The place of the login in front of the host, with its `@`, as (start, end); None if there is none."""
    authority = _AUTHORITY.match(url) if "@" in url else None
    if authority is None:
        return None
    start = authority.start(1)
    length = authority[1].rfind("@") + 1
    return (start, start + length) if length else None


def _invisible_pieces(url: str) -> list[tuple[int, int]]:
    if url.isascii() and url.isprintable() and "%" not in url:
        return []
    characters: list[str] = []
    places: list[tuple[int, int]] = []
    done = 0
    for escapes in _ESCAPES.finditer(url):
        characters += url[done : escapes.start()]
        places += [(place, place + 1) for place in range(done, escapes.start())]
        place = escapes.start()
        for character in bytes.fromhex(escapes[0].replace("%", "")).decode(
            errors="surrogateescape"
        ):
            is_invalid = "\udc80" <= character <= "\udcff"
            characters.append("\ufffd" if is_invalid else character)
            places.append((place, place + 3 * (1 if is_invalid else len(character.encode()))))
            place = places[-1][1]
        done = escapes.end()
    characters += url[done:]
    places += [(place, place + 1) for place in range(done, len(url))]
    return [
        (places[start][0], places[end - 1][1])
        for start, end in invisible_pieces("".join(characters))
    ]


MAX_ALT_CHARS = 120
"""Of a picture's text: a longer one is no description."""
MAX_IMAGE_PATH_CHARS = 200
"""Of a picture's address: a longer one may carry data out."""
MIN_NONCE_CHARS = 16
"""Of the word in the marks around untrusted text: 16 letters and digits cannot be guessed."""
MAX_ROUNDS = 8
"""What needs more rounds was nested on purpose, and is then left out."""

_SAFE_SCHEMES = frozenset({"", "http", "https", "mailto", "tel"})
_SAFE_STARTS = ("https://", "http://")
_HARMFUL_SCHEMES = frozenset({"javascript", "vbscript", "data", "file", "blob", "filesystem"})
_SCHEME = re.compile(r"([a-z][a-z0-9+.\-]{0,30}+):", re.IGNORECASE)
_QUOTED = str.maketrans({character: f"%{ord(character):02X}" for character in ' ()<>"\n\t'})
_IGNORED_IN_SCHEMES = re.compile(r"[\x00-\x20\x7f\u00a0\\]+")

_TARGET = re.compile(
    r"\]\([ \t]*+\n?[ \t]*+(?:<(?P<angled>[^<>\n]{0,4000}+)>|(?P<bare>(?!<)(?:[^()\s]|\([^()\s]{0,500}+\)){0,4000}+))"
    r"(?P<title>\s++(?:\"[^\"]{0,1000}+\"|'[^']{0,1000}+'|\([^()]{0,1000}+\)))?\s*+\)"
)
_BRACKET = re.compile(r"\\?!\[|\\.|\[|\]", re.DOTALL)
_TARGET_START = re.compile(r"(?<=\])\((?P<address>[^()]{0,200})")
_AUTOLINK = re.compile(r"<(?P<address>[a-z][a-z0-9+.\-]{1,30}+:[^<>\s]*+)>", re.IGNORECASE)
# A link reference definition, a footnote or an abbreviation, also inside a list or a quotation; and a number anywhere,
# since a sentence or a passage that is cut out may begin with it.
_DEFINITION = re.compile(
    r"(^(?:[ \t]*+(?:[-*+>]|\d{1,9}+[.)]))*+[ \t]*+\*?\[(?:[^\[\]\\]|\\.){1,1000}+\]"
    r"|\[\s{0,9}+\^?\d{1,9}+\s{0,9}+\]):",
    re.MULTILINE | re.DOTALL,
)
_ACTIVE_TAG = re.compile(
    r"<(?=[?!]|/?(?:pre|img|image|picture|source|script|style|link|meta|base|iframe|frame|object|embed|applet|svg|math"
    r"|video|audio|track|form|input|button|textarea|template|body|html|head)\b)",
    re.IGNORECASE,
)
# A terminal colour sequence without its escape character, which an HTML parser drops.
_COLOUR_COMMAND = re.compile(r"\\?\[[0-9;]{1,20}+m")
# Code that is equally harmless as prose. It has no blank, which could end the target of a link.
_HARMLESS_CODE = re.compile(r"`+[\w.,-]*+`+")
_CODE_MARK = re.compile("\ue000([0-9]+)\ue001")
# For a text that changes in every round: nothing in it is a link, an image or a tag any more.
_NO_MARKS = str.maketrans({"[": "&#91;", "<": "&lt;"})

_MARKER = "untrusted-web-text"
_MARKER_LIKE = re.compile(
    r"[<\uff1c\ufe64\u2039\u276e\u3008](?=[\s/\\|]*+untrusted)", re.IGNORECASE
)


def clean_markdown(markdown: str, page_url: str = "") -> tuple[str, tuple[str, ...]]:
    """The Markdown made safe to pass on, and warnings about it. Idempotent.

    Certain code (`certain_code`) loses only invisible characters. Elsewhere links that run code or contain data
    (`javascript:`, `data:`) keep only their text, and other links lose a login. Images keep only their alternative text
    if their URL could leak data: it has a query or is very long, and is not on the site of `page_url`.
    """
    if not markdown:  # as most titles of sources are
        return "", ()
    text, smuggled = without_live_parts(markdown, page_url)
    warnings = []
    if smuggled:
        warnings.append(
            "The text contained invisible characters, which can hide a message; they were removed."
        )
    if orders := reads_like_orders(text):
        warnings.append(orders)
    return text, tuple(warnings)


def without_live_parts(markdown: str, page_url: str = "") -> tuple[str, bool]:
    """The text of `clean_markdown`, and whether it contained invisible characters that may hide a message.

    While it works, private-use characters, of which the text then has none, replace the code.
    """
    text, smuggled = strip_invisible_characters(markdown)
    code: list[str] = []
    pieces, done = [], 0
    for start, end in code_pieces(text):
        if not _HARMLESS_CODE.fullmatch(text, start, end):
            pieces += [text[done:start], f"\ue000{len(code)}\ue001"]
            code.append(text[start:end])
            done = end
    prose = "".join([*pieces, text[done:]])
    for _ in range(MAX_ROUNDS):  # removing text may join the text around it
        before, prose = prose, _inert(prose, page_url)
        if prose == before:
            break
    else:
        prose = prose.translate(_NO_MARKS)
    return _CODE_MARK.sub(lambda mark: code[int(mark[1])], prose), smuggled


def reads_like_orders(text: str) -> str | None:
    """As `suspicious`, but also finds orders disguised by look-alike, wide or invisible characters."""
    if "[" in text:
        text = _COLOUR_COMMAND.sub(" ", text)
    orders = suspicious(text)
    if orders or text.isascii():
        return orders
    visible, _ = strip_invisible_characters(text)
    reduced = matching_letters(visible)
    return suspicious(reduced) if reduced is not None else None


def without_orders(text: str) -> str:
    """`text` without the paragraphs that read like orders to a language model, so that no answer is based on them."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(paragraph for paragraph in paragraphs if not reads_like_orders(paragraph))


def wrap_untrusted(text: str, nonce: str) -> str:
    """`text` between marks that declare it as data from the web. Pages cannot forge the end mark: it has the nonce.

    Args:
        nonce: new and unguessable for each call, at least 16 letters and digits. A part of the text that repeats it or
            looks like a mark is altered.

    Raises:
        ValueError: the nonce is too short or contains other characters.
    """
    if len(nonce) < MIN_NONCE_CHARS or not (nonce.isascii() and nonce.isalnum()):
        raise ValueError(f"A nonce is at least {MIN_NONCE_CHARS} letters and digits.")
    harmless, folded = text, text.casefold()
    # Looking for the words first takes a 20th of the time of the patterns.
    if nonce.casefold() in folded:
        harmless = re.sub(re.escape(nonce), "[mark]", text, flags=re.IGNORECASE)
    if "untrusted" in folded:
        harmless = _MARKER_LIKE.sub("&lt;", harmless)
    return f'<{_MARKER} id="{nonce}">\n{harmless}\n</{_MARKER} id="{nonce}">'


def quoted_line(text: str, most: int = MOST_SHOWN) -> str:
    """Somebody else's words for an error or a status: clean, on one line, cut, and between marks of their own."""
    line = " ".join(shown(clean_markdown(text[: 10 * most])[0], most).split())
    return wrap_untrusted(line, secrets.token_hex(16)).replace("\n", "")


_MARK = re.compile(rf'<(/?){_MARKER} id="([0-9a-zA-Z]+)">')


def cut_message(message: str, most: int) -> str:
    """The beginning of an error's message, in which the words of somebody else keep their closing mark.

    It has at most `most` characters, which must be more than those of two marks.
    """
    if len(message) <= most:
        return message
    length, opened = most, None
    for mark in _MARK.finditer(message):
        is_end = bool(mark[1])
        if is_end and mark.end() > most:
            break
        if not is_end and mark.end() + len(_end_of(mark)) > most:  # nothing of these words fits
            length = min(most, mark.start())
            break
        opened = None if is_end else mark
    if opened is None:
        return message[:length]
    return message[: most - len(_end_of(opened))] + _end_of(opened)


def _end_of(mark: re.Match[str]) -> str:
    """The end of words that begin with this mark and are cut."""
    return f'…</{_MARKER} id="{mark[2]}">'


def _inert(text: str, page_url: str) -> str:
    """`text` with harmful Markdown marks as character references, which look the same but have no effect.

    A blank before its colon ends a definition: the marks of our citations must not lead where a page or an engine
    wants, nor must an image be loaded by its name.
    """
    if "]:" in text:
        text = _DEFINITION.sub(r"\1 :", text)
    if "](" in text:
        text = _Brackets(text, page_url).checked()
        text = _TARGET_START.sub(
            lambda start: start[0] if _is_safe(start["address"]) else "&#40;" + start["address"],
            text,
        )
    if "<" not in text:
        return text
    text = _AUTOLINK.sub(_checked_autolink, text)
    return _ACTIVE_TAG.sub("&lt;", text)


def _checked_autolink(link: re.Match[str]) -> str:
    address = link["address"]
    if _scheme(address) in _HARMFUL_SCHEMES:
        return f"&lt;{link[0][1:]}"
    return f"<{_anonymous(address)}>"


class _Brackets:
    """Checks links and images in one pass from the innermost outwards, at any depth of nesting."""

    def __init__(self, text: str, page_url: str) -> None:
        self._text = text
        self._page_url = page_url
        self._last_target = text.rfind("](")
        self._pieces: list[str] = []
        self._length = 0
        # Of each: index in `_pieces`, offset in `_text`, length before.
        self._open: list[tuple[int, int, int]] = []

    def checked(self) -> str:
        """The text with inert links and images."""
        done = 0
        for mark in _BRACKET.finditer(self._text):
            if mark.start() < done or (mark[0].startswith("\\") and not mark[0].endswith("![")):
                continue
            self._add(self._text[done : mark.start()])
            done = mark.end()
            if mark[0] != "]":
                self._open.append((len(self._pieces), mark.start(), self._length))
                self._add(mark[0])
            elif self._open and (target := _TARGET.match(self._text, mark.start())):
                done = target.end()
                self._close(target)
            else:
                self._add("]")
                self._leave_open()
        self._add(self._text[done:])
        while self._open:
            self._leave_open()
        return "".join(self._pieces)

    def _add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def _leave_open(self) -> None:
        """Treat the last open bracket as text. An unparsable image loses its `!`."""
        if self._open:
            place, start, _ = self._open.pop()
            if start + 2 <= self._last_target:
                self._pieces[place] = self._pieces[place].replace("!", "&#33;")

    def _close(self, target: re.Match[str]) -> None:
        place, _, before = self._open.pop()
        address = target["angled"] or target["bare"] or ""
        mark = self._pieces[place]
        if mark.endswith("!["):
            self._close_image(place, self._length - before - len(mark), address)
        elif not _is_safe(address):
            self._pieces[place] = ""
            self._length -= 1
        else:
            anonymous = _anonymous(address)
            is_unchanged = anonymous == address and not target["title"]
            self._add(target[0] if is_unchanged else f"]({anonymous})")

    def _close_image(self, place: int, length: int, address: str) -> None:
        label = "".join(self._pieces[place + 1 :]) if length <= MAX_ALT_CHARS else ""
        label = label.replace("<", "&lt;")  # a tag could end the label at another place
        image = label
        if _may_be_loaded(address, self._page_url):
            image = f"![{label}]({_anonymous(address)})"
        escaped = self._pieces[place][:-2]
        self._length -= length + 2
        del self._pieces[place:]
        self._add(escaped + image)


def _anonymous(address: str) -> str:
    """The address of a link without a login in front of its host."""
    plain = html.unescape(address) if "&" in address else address
    piece = login_piece(plain)
    return _without(plain, [piece]).translate(_QUOTED) if piece else address


def _scheme(address: str) -> str:
    """The scheme of an address as a browser reads it: without blanks, with entities resolved, in lower case."""
    if ":" not in address and "&" not in address:
        return ""
    plain = _IGNORED_IN_SCHEMES.sub("", html.unescape(address)).lstrip("<")
    scheme = _SCHEME.match(plain)
    return scheme[1].lower() if scheme else ""


def _is_safe(address: str) -> bool:
    return address.startswith(_SAFE_STARTS) or _scheme(address) in _SAFE_SCHEMES


def _may_be_loaded(address: str, page_url: str) -> bool:
    """Whether loading an image leaks no data: it is on the page's own site, or its URL is short and has no query."""
    if len(address) > LONGEST_URL or _scheme(address) not in ("", "http", "https"):
        return False
    try:
        target, page = urlsplit(html.unescape(address)), urlsplit(page_url).hostname or ""
        host = target.hostname or ""
    except ValueError:
        return False
    if not host or (page and f".{host}".endswith("." + page.removeprefix("www."))):
        return True
    return not target.query and not target.fragment and len(target.path) <= MAX_IMAGE_PATH_CHARS


_SPAN_OR_ESCAPE = re.compile(rf"\\.|{CODE.pattern}", re.DOTALL)
_CHUNK = re.compile(r"\n[ \t]*+\n")
_TAG = re.compile(r"<[a-z/!?]", re.IGNORECASE)
_FENCED_IN_CONTAINER = re.compile(
    r"^[ \t]*+(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]*+)++(?:`{3}|~{3})", re.MULTILINE
)


def code_pieces(text: str) -> Iterator[tuple[int, int]]:
    """The code blocks and spans of `text` as (start, end), in order, that every parser treats as code.

    A block counts if it stands alone: no tag opens an HTML block around it, and no list around it ends inside it
    (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). After the first doubtful block nothing counts. A span
    counts if it is on one line, in a paragraph without tags and unmatched ticks, and has no `|`, which may end a cell.
    """
    done, in_lists = 0, None
    for begin, end in code_blocks(text):
        if in_lists is None:
            in_lists = not _FENCED_IN_CONTAINER.search(text)
        start = text.rfind("\n", 0, begin) + 1
        yield from _spans(text, done, start)
        if not _stands_alone(text, done, start, end, in_lists=in_lists):
            return
        yield start, end
        done = end
    yield from _spans(text, done, len(text))


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if text.find("`", start, end) >= 0:
        for blank in _CHUNK.finditer(text, start, end):
            yield from _spans_of_chunk(text, start, blank.start())
            start = blank.end() - 1  # the line feed may begin the next blank line
        yield from _spans_of_chunk(text, start, end)


def _spans_of_chunk(text: str, start: int, end: int) -> list[tuple[int, int]]:
    if text.find("`", start, end) < 0:
        return []
    spans, at = [], start
    for span in _SPAN_OR_ESCAPE.finditer(text, start, end):
        if not span["ticks"]:
            continue
        if _is_doubtful(text, at, span.start()) or "\n" in span[0] or "|" in span[0]:
            return []
        spans.append(span.span())
        at = span.end()
    return [] if spans and _is_doubtful(text, at, end) else spans


def _is_doubtful(text: str, start: int, end: int) -> bool:
    return text.find("`", start, end) >= 0 or bool(_TAG.search(text, start, end))


def _stands_alone(text: str, before: int, start: int, end: int, *, in_lists: bool) -> bool:
    """Whether every parser treats `text[start:end]`, which begins at the start of a line, as a code block."""
    lines = text[start:end].split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    if lines[0][indent : indent + 1] == "\t" or "|" in lines[0]:
        return False
    blank = max(text.rfind("\n\n", before, start), before)
    if _TAG.search(text, blank, start):
        return False
    if not indent:
        return not lines[-1][:1].isspace()
    is_inside = all(not line.strip() or line.startswith(" " * indent) for line in lines)
    closes_where_it_opens = lines[-1][indent : indent + 1] != " "
    return (
        in_lists
        and is_inside
        and closes_where_it_opens
        and (indent < 4 or text[max(0, start - 2) : start] == "\n\n")
    )


_EARLIER = r"(?:all|any|the|your|my|these|those|previous|prior|above|earlier|preceding|foregoing|initial|original|system)"
_ORDERS = r"(?:instructions?|prompts?|rules|directives|guidelines|constraints)"

# A speaker at the beginning of a line or cell, as in chat transcripts.
_ROLE = r"(?:^|[\n|>\"'(\[])[ \t]{0,8}[*_#\[<]{0,4}[ \t]?%s(?:[ \t](?:message|prompt|note|override))?[*_\]>]{0,4}[ \t]?:"
_NEW_ROLE = r"(?:ignore|disregard|forget|override|from\s+now\s+on|new\s+(?:instructions?|rules|orders|task|role))\b"

_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("gnore", "regard", "forget", "overr", "bypa"),
        rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:{_EARLIER}\s+(?:of\s+)?){{1,4}}{_ORDERS}\b",
    ),
    (
        ("prompt",),
        r"\b(?:reveal|print|repeat|output|show|leak)\s+(?:me\s+)?(?:your|the)\s+(?:hidden\s+|initial\s+)?"
        r"system\s+prompt\b",
    ),
    (
        ("now",),
        r"\byou\s+are\s+now\s+(?:dan\b|in\s+\w+\s+mode|an?\s+(?:unrestricted|unfiltered|jailbroken)|no\s+longer\s+bound)",
    ),
    (
        ("mode",),
        r"\b(?:enable|enter|activate)\s+(?:developer|dan|god|jailbreak)\s+mode\b"
        r".{0,80}\b(?:assistant|model|ai|chatgpt|you)\b",
    ),
    (("<", "[/", "[inst"), r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|<</?SYS>>"),
    (("#",), r"^\s*#{2,}\s*(?:system|instruction)s?\s*:"),
    (
        ("the",),
        r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+the\s+user\b",
    ),
    (
        ("ystem", "developer"),
        _ROLE % "(?:system|developer)"
        + r"\s{0,8}[*_\"']{0,4}\s?(?:you(?:'re|\s+are|\s+must|\s+will|\s+should|\s+shall|\s+have\s+to)\b|act\s+as\b)",
    ),
    (
        ("now", "new", "gnore", "regard", "forget", "overr"),
        _ROLE % "(?:system|developer|assistant|human|user)" + rf"\s{{0,8}}{_NEW_ROLE}",
    ),
)
"""Patterns of orders, each after words of which every match contains one: searching for a word is much faster."""


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def suspicious(text: str) -> str | None:
    """A warning for the caller if the text reads like orders to a language model, else None."""
    folded = text.casefold()
    for words, pattern in _PATTERNS:
        if any(word in folded for word in words) and _compiled(pattern).search(text):
            return "The text reads like instructions to a language model; it was treated as plain text."
    return None
