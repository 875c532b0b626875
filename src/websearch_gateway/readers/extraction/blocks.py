"""Splits a DOM into blocks of text, each of which is kept or dropped as a whole, and measures them.

A block is a continuous run of text and inline elements. Blocks are in document order, so the blocks below any element
are one range, and a sum over a subtree is the difference of two running sums.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.int64]

INLINE = frozenset(
    [
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em"),
        *("font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp"),
        *("small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    ]
)

Slot = tuple[Any, Literal["text", "tail", "alt"]]
"""Where a piece of text is: before the first child of an lxml element, after its end, or in place of a picture."""


@dataclass(slots=True)
class Block:
    """A run of text. `place` is the index of its innermost container; `link_chars` counts characters inside links."""

    place: int
    slots: list[Slot] = field(default_factory=list)
    text: str = ""
    link_chars: int = 0
    links: int = 0


@dataclass(slots=True)
class Container:
    """A block-level element. The blocks below it are `blocks[start:end]`; the root is its own parent."""

    element: Any
    tag: str
    parent: int
    depth: int
    start: int
    end: int = 0


@dataclass(slots=True)
class Outline:
    """All blocks and block-level elements of a page, both in document order."""

    blocks: list[Block] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)


class _Walk:
    """Builds an outline during a walk over the elements. `links` and `verbatim` count the open `<a>` and `<pre>`."""

    def __init__(self) -> None:
        self.outline = Outline()
        self.path: list[int] = []
        self.links = 0
        self.verbatim = 0
        self.run: Block | None = None
        self.pieces: list[str] = []
        self.pictures: list[Slot] = []

    def text(self, slot: Slot, text: str) -> None:
        if self.run is None:
            if text.isspace():
                return
            self.run = Block(self.path[-1], self.pictures)
            self.pictures = []
        self.run.slots.append(slot)
        self.pieces.append(text)
        if self.links:
            self.run.link_chars += len(text.strip())

    def close(self) -> None:
        if self.run is not None:
            self.run.text = "".join(self.pieces)
            self.outline.blocks.append(self.run)
            self.run = None
        self.pieces.clear()
        for picture, _ in self.pictures:
            picture.attrib.pop("alt", None)
        self.pictures = []

    def picture(self, element: Any) -> None:
        """Add the alternative text of a picture to the text around it; ignore a picture without one."""
        (self.pictures if self.run is None else self.run.slots).append((element, "alt"))

    def start(self, element: Any) -> None:
        tag = element.tag
        if self.verbatim or tag in INLINE:
            if tag == "a":
                self.links += 1
                if self.run is not None:
                    self.run.links += 1
            elif tag == "img":
                self.picture(element)
            elif tag == "br" and self.run is not None:
                self.pieces.append("\n")
        else:
            self.close()
            containers = self.outline.containers
            parent = self.path[-1] if self.path else 0
            self.path.append(len(containers))
            containers.append(Container(element, tag, parent, len(self.path), len(self.outline.blocks)))
        self.verbatim += tag == "pre"
        if text := element.text:
            self.text((element, "text"), text)

    def end(self, element: Any) -> None:
        tag = element.tag
        self.verbatim -= tag == "pre"
        if self.verbatim or tag in INLINE:
            self.links -= tag == "a"
        else:
            self.close()
            self.outline.containers[self.path.pop()].end = len(self.outline.blocks)
        if self.path and (text := element.tail):
            self.text((element, "tail"), text)


def outline(root: Any) -> Outline:
    """The blocks below an lxml element, which has no comments, scripts or styles."""
    from lxml import etree

    walk = _Walk()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            walk.start(element)
        else:
            walk.end(element)
    return walk.outline


TAGS = (
    *("p", "div", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "dt", "dd", "blockquote"),
    *("figcaption", "button", "section", "article", "main", "header", "footer", "nav", "aside", "form", "ul"),
    *("ol", "dl", "table", "tr", "details", "summary", "noscript", "figure", "body", "fieldset", "address"),
    *("legend", "caption", "center", "label"),
)
"""The container tags that the filter distinguishes, by index."""

TAG_NUMBER = {tag: number for number, tag in enumerate(TAGS, 1)}
"""The number of each tag in `Measures.tag`; other tags have 0."""

_WORD = re.compile(r"\w+")
_NAMING = ("class", "id", "role", "itemprop", "data-testid")

WITHIN = (
    *("nav", "header", "footer", "aside", "main", "article", "section", "form", "table", "ul", "ol", "dl", "pre"),
    *("blockquote", "noscript", "figure", "button"),
)
"""The tags that apply to everything inside them, by index."""

_WITHIN_BITS = {tag: 1 << place for place, tag in enumerate(WITHIN)}


class Measures:
    """The measures of one page. Arrays hold one value for each block or, where marked with (e), for each element.

    Elements are the containers of the outline.

    Attributes:
        words, chars, commas, links: the counts in a block.
        link_share, link_words: the share of its characters, and the number of its words, that are in links.
        stops: 1 if it ends like a sentence.
        hints: the bits of `text_bits`.
        titled: the share of its distinct words that are in the title.
        repeats: the number of blocks with the same text.
        place: the index of its innermost element.
        parent, depth, start, end, tag (e): as in `blocks.Container`; a tag is its TAG_NUMBER.
        near, far (e): the bits of `name_bits` of the element and its parent, or of it and all its ancestors.
        inside (e): a bit for each tag of `WITHIN` that the element or an ancestor has.
        siblings (e): the number of children of the same parent with the same tag and classes.
        alike (e): a number for the tag and classes of the element and of its parent.
        running, sums: of words, link words, commas, stops and blocks, the sums over all blocks before a block, and the
            sums over the blocks below an element (e).
        described (e): the features that describe an element around a block, one row each.
        columns: what `features.columns` computed, once it did.
    """

    def __init__(self, outline: Outline, title: str) -> None:
        import numpy as np

        self.np = np
        self.outline = outline
        self._measure_blocks(title)
        self._measure_containers()
        self._sum()
        self.columns: dict[str, Any] = {}

    def found_in(self, text: str) -> Floats:
        """The share of each block that is in the main text that another extractor chose, one block per line."""
        return _covered(self._tokens, text)

    def _measure_blocks(self, title: str) -> None:
        np, texts = self.np, [block.text for block in self.outline.blocks]
        self._tokens = tokens = [words_of(text) for text in texts]
        self.words = np.array([len(t) for t in tokens], dtype=np.float64)
        self.chars = np.array([len(text.strip()) for text in texts], dtype=np.float64)
        self.links = np.array([block.links for block in self.outline.blocks])
        link_chars = np.array([block.link_chars for block in self.outline.blocks], dtype=np.float64)
        self.link_share = np.minimum(1, link_chars / np.maximum(1, self.chars))
        self.link_words = self.link_share * self.words
        self.commas = np.array([text.count(",") + text.count("、") for text in texts], dtype=np.float64)
        self.stops = np.array([text.rstrip()[-1:] in ".!?…。:;" for text in texts], dtype=np.float64)
        self.hints = np.array([text_bits(words) for words in tokens], dtype=np.int64)
        wanted = set(words_of(title))
        self.titled = np.array([_share(wanted, words) for words in tokens])
        self.repeats = _times([text.strip() for text in texts], np)

    def _measure_containers(self) -> None:
        np, containers = self.np, self.outline.containers
        self.parent = np.array([c.parent for c in containers])
        self.depth = np.array([c.depth for c in containers])
        self.start = np.array([c.start for c in containers])
        self.end = np.array([c.end for c in containers])
        self.place = np.array([block.place for block in self.outline.blocks])
        self.tag = np.array([TAG_NUMBER.get(c.tag, 0) for c in containers])
        names: list[int] = []
        near: list[int] = []
        far: list[int] = []
        inside: list[int] = []
        signatures: list[str] = []
        for container in containers:
            element = container.element
            present = element.keys()
            own = name_bits(" ".join([element.get(name) for name in _NAMING if name in present])) if present else 0
            tag = _WITHIN_BITS.get(container.tag, 0)
            is_root = container.parent == len(names)
            names.append(own)
            near.append(own | (0 if is_root else names[container.parent]))
            far.append(own | (0 if is_root else far[container.parent]))
            inside.append(tag | (0 if is_root else inside[container.parent]))
            signatures.append(f"{container.tag} {element.get('class', '') if present else ''}")
        self.near, self.far, self.inside = np.array(near), np.array(far), np.array(inside)
        keyed = [f"{containers[c.parent].start} {c.parent} {s}" for c, s in zip(containers, signatures, strict=True)]
        self.siblings = _times(keyed, np)
        numbers: dict[tuple[str, str], int] = {}
        self.alike = np.array(
            [
                numbers.setdefault((signatures[c.parent], s), len(numbers))
                for c, s in zip(containers, signatures, strict=True)
            ]
        )

    def _sum(self) -> None:
        np = self.np
        quantities = (
            self.words,
            self.link_words,
            self.commas,
            self.stops,
            np.ones_like(self.words),
        )
        self.running = np.zeros((len(self.words) + 1, len(quantities)))
        np.cumsum(np.column_stack(quantities), axis=0, out=self.running[1:])
        self.sums = self.running[self.end] - self.running[self.start]
        words, links, commas, stops, blocks = self.sums.T
        one, some = np.maximum(1, words), np.maximum(1, blocks)
        shares = (words / max(1, self.running[-1, 0]), links / one, commas / one, stops / some)
        self.described = np.array([words, *shares, words / some, self.siblings])


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def _share(wanted: set[str], words: list[str]) -> float:
    """The share of distinct words that are wanted."""
    found = len(wanted.intersection(words))
    return found / len(set(words)) if found else 0.0


def _times(keys: list[str], np: Any) -> Any:
    """For each key, how often it occurs among the keys."""
    counts = Counter(keys)
    return np.array([counts[key] for key in keys], dtype=np.float64)


def _covered(tokens: list[list[str]], found: str) -> Floats:
    """The share of each block that is in the text of another extractor, from 0 to 1."""
    import numpy as np

    covered = np.zeros(len(tokens))
    if not found:
        return covered
    sequences = [words_of(line) for line in found.splitlines()]
    whole = {" ".join(sequence) for sequence in sequences}
    triples = {triple for s in sequences for triple in zip(s, s[1:], s[2:], strict=False)}
    for row, words in enumerate(tokens):
        own = list(zip(words, words[1:], words[2:], strict=False))
        if own:
            covered[row] = sum(map(triples.__contains__, own)) / len(own)
        elif words:
            covered[row] = " ".join(words) in whole
    return covered


# One bit each, in this order, in English, German, French, Spanish, Italian, Portuguese, Dutch and Polish.
_WORD_LISTS = (
    "login log sign register subscribe newsletter password email account anmelden abonnieren abo passwort"
    " registrieren eingeloggt inscrivez abonnez connexion suscríbete suscribirse iscriviti assine aanmelden zaloguj"
    " zapisz",
    "share tweet facebook twitter linkedin pinterest whatsapp instagram youtube follow teilen telegram partager"
    " compartir condividi compartilhar delen udostępnij seguici síguenos folgen",
    "reply replies quote report posted joined post posts like likes views member thread topic moderator wrote said"
    " kommentar kommentare kommentieren antwort antworten antworte commentaires répondre comentarios comentar"
    " responder commenti rispondi comentários reacties reageer komentarze komentarz odpowiedz",
    "related recommended might similar popular recent trending latest next previous also bought auch ähnliche"
    " verwandte weitere passend neueste meistgelesen beliebt interessieren themen nächster vorheriger aussi articles"
    " populaires également también relacionadas relacionados relacionado interesar anche correlati potrebbe também"
    " ook gerelateerd także również podobne powiązane zobacz",
    "contact about careers help support faq sitemap home press kontakt über autor redaktion pressekontakt telefon"
    " tel ansprechpartner auteur autora redacción autore redakcja pressestelle",
)
SUBSCRIBE, SHARE, REPLIES, RELATED, CONTACT = range(len(_WORD_LISTS))

# Matched against class, id, role, itemprop and data-testid of an element. One bit each, in this order.
NAME_HINTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bnav|menu|breadcrumb|tabs?\b|toolbar|pagination|pager|skip",
        r"foot(?!note)|bottom|colophon|legal|copyright",
        r"header|masthead|topbar|banner|hero|jumbotron",
        r"side-?bar|aside|widget|rail\b|secondary|complementary",
        r"comment|repl(?:y|ies)|disqus|discussion|respond",
        r"\bposts?\b|post[-_]?(?:body|content|text|message)|message|thread|topic|answer|question",
        r"share|social|follow|twitter|facebook",
        r"relat|recommend|similar|more-|also|upsell|cross-?sell|recent|popular|trending|suggest|next|prev",
        r"promo|\bads?\b|advert|sponsor|banner|cta\b|campaign",
        r"cookie|consent|gdpr|modal|popup|dialog|overlay|toast|alert|lightbox",
        r"log-?in|sign-?(?:in|up)|register|subscri|newsletter|account|cart|basket|checkout|wishlist",
        r"content|article|story|entry|prose|richtext|rich-text|markdown|rte|wysiwyg|copy\b|\btext",
        r"\bmain|primary|page-?body",
        r"product|detail|descri|spec|feature|overview|summary",
        r"price|sku|stock|buy|quantity|variant|swatch|shipping|deliver",
        r"review|rating|testimonial|stars?\b",
        r"card|tile|item|result|grid|list|teaser|carousel|slide|swiper|row\b",
        r"author|byline|meta|date|time\b|tags?\b|categor|avatar|user|profile|badge|rank",
        r"hidden|hide|collapse|sr-only|visually|screen-reader|invisible|offscreen|d-none|print",
        r"toc|table-of|contents\b|index|anchor",
        r"caption|figure|image|photo|gallery|media|video|credit",
        r"search|filter|sort|facet|refine",
        r"title|headline|heading|subtitle|tagline",
        r"faq|accordion|question|step|how|benefit|why|section|block",
        r"signature|\bsig\b|quote|edited|controls|actions|buttons?\b|btn",
    )
)
_ANY_HINT = re.compile("|".join(hint.pattern for hint in NAME_HINTS))

_FIRST_WORDS = 40
_WORD_BITS: dict[str, int] = {}


for _place, _words in enumerate(_WORD_LISTS):
    for _word in _words.split():
        _WORD_BITS[_word] = _WORD_BITS.get(_word, 0) | 1 << _place


_HINT_WORDS = frozenset(_WORD_BITS)


@lru_cache(maxsize=5_000)
def name_bits(names: str) -> int:
    """A bit for each of NAME_HINTS that occurs in `names`: the names of an element, separated by blanks."""
    bits = 0
    for name in names.lower().split():
        bits |= _bits_of_name(name)
    return bits


@lru_cache(maxsize=20_000)
def _bits_of_name(name: str) -> int:
    if not _ANY_HINT.search(name):
        return 0
    return sum(1 << place for place, hint in enumerate(NAME_HINTS) if hint.search(name))


def text_bits(words: list[str]) -> int:
    """A bit for each word list that contains one of the lower-case words of a block. Looks only at its first words."""
    bits = 0
    for word in _HINT_WORDS.intersection(words[:_FIRST_WORDS]):
        bits |= _WORD_BITS[word]
    return bits
