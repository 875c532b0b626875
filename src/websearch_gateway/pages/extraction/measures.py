"""Measures a page: its blocks of text and the elements around them, as arrays of numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from websearch_gateway.pages.extraction.blocks import Container, Outline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

_TAGS = (
    "p div li td th h1 h2 h3 h4 h5 h6 pre dt dd blockquote figcaption button section article main header footer nav"
    " aside form ul ol dl table tr details summary noscript figure body fieldset address legend caption center label"
)
TAG_NUMBER = {tag: number for number, tag in enumerate(_TAGS.split(), 1)}
"""The number of each container tag that the filter distinguishes; other tags have 0."""

HEADING_TAGS = [TAG_NUMBER[f"h{level}"] for level in range(1, 7)]

SENTENCE = 8
"""The least number of words of a block of prose: a shorter one may be a label."""

MOSTLY_LINKS = 0.5
"""From this share of its characters in links, a block is a list of links and no prose."""


class Measures:
    """The measures of one page. Arrays hold one value for each block or, where marked with (e), for each element.

    Elements are the containers of the outline.

    Attributes:
        tokens, words, links: the words of a block, their count, and the links in it.
        link_share: the share of its characters that are in links.
        stops: 1 if it ends like a sentence.
        share, replies, related: whether one of its first words is of this kind in _LINES_AFTER_TEXT.
        titled: the share of its distinct words that are in the title.
        repeats: the number of blocks with the same text.
        place, tags: the index of its innermost element, and the tag of that.
        parent, depth, start, end, tag (e): as in `Container`; a tag is its TAG_NUMBER.
        name_bits (e): what the names of the element tell, as the bits of _NAMES.
        siblings (e): the number of children of the same parent with the same tag and classes.
        alike (e): a number for the tag and classes of the element and of its parent.
        kind: what the page declares itself to be, as `page.declared_kind`.
        running, sums: of words, words in links, words in paragraphs, stops and blocks, the sums over all blocks before
            a block, and the sums over the blocks below an element (e).
    """

    def __init__(self, outline: Outline, title: str, kind: str = "") -> None:
        import numpy as np

        self.np = np
        self.outline = outline
        self.kind = kind
        self._measure_blocks(title)
        self._measure_elements(outline.containers)
        self.tags = self.tag[self.place]
        quantities = (
            self.words,
            self.link_share * self.words,
            self.words * self.is_in("p"),
            self.stops,
            np.ones_like(self.words),
        )
        self.running = np.zeros((len(self.words) + 1, len(quantities)))
        np.cumsum(np.column_stack(quantities), axis=0, out=self.running[1:])
        self.sums = self.running[self.end] - self.running[self.start]

    @property
    def total_words(self) -> Any:
        """The number of words of the page, at least 1."""
        return max(1, self.running[-1, 0])

    @property
    def is_prose(self) -> Any:
        """For each block, whether it reads like a sentence."""
        return (self.link_share < MOSTLY_LINKS) & (self.stops > 0) & (self.words >= SENTENCE)

    def around(self, elements: Any) -> Any:
        """How many of the elements are around each block, given a truth value for each element."""
        np, count = self.np, len(self.words) + 1
        opened = np.bincount(self.start[elements], minlength=count)
        closed = np.bincount(self.end[elements], minlength=count)
        return np.cumsum((opened - closed)[:-1])

    def has_tag(self, tag: str) -> Any:
        """Whether each element has this tag."""
        return self.tag == TAG_NUMBER[tag]

    def is_in(self, tag: str) -> Any:
        """Whether the innermost element of each block has this tag."""
        return self.tags == TAG_NUMBER[tag]

    def is_named(self, name: str) -> Any:
        """Whether each element has a name of this kind in _NAMES."""
        return self.name_bits & _NAME_BIT[name] > 0

    def is_named_near(self, name: str) -> Any:
        """Whether each element, or its parent, has a name of this kind in _NAMES."""
        return self._near_name_bits & _NAME_BIT[name] > 0

    def in_comments(self) -> Any:
        """For each block, whether an element around it other than the body has a name for comments."""
        return self.around(self.is_named("comment") & ~self.has_tag("body")) > 0

    def in_consent(self) -> Any:
        """For each block, whether an element around it, with at most half of them, asks for consent to cookies."""
        is_small = 2 * (self.end - self.start) <= len(self.words)
        return self.around(self.is_named("consent") & is_small) > 0

    def beside_text(self) -> Any:
        """For each block, whether it is a line that belongs to no text: it leads away, or credits a picture."""
        opens_section = self._opens_section()
        is_beside = []
        for block, words, opens in zip(self.outline.blocks, self.words, opens_section, strict=True):
            text = block.text.strip()
            is_sentence = text[-1:] in ".!?" and ":" not in text
            may_lead = not opens and not is_sentence and words <= _LONGEST_AWAY
            leads_away = may_lead and _AWAY.match(text)
            is_credit = words <= _LONGEST_CREDIT and _CREDIT.match(text)
            is_beside.append(bool(leads_away or is_credit))
        return self.np.array(is_beside, dtype=bool)

    def _opens_section(self) -> Any:
        """For each block, whether it is a heading over prose: "More about tides" opens a section of the text."""
        np = self.np
        is_followed = np.append(self.is_prose[1:], False)
        return is_followed & (self.links == 0) & np.isin(self.tags, HEADING_TAGS)

    def share_in(self, text: str) -> Floats:
        """The share of each block that is in the main text that another extractor chose, one block per line.

        Of a block of three words and more, the share of its triples counts; a shorter one must be a line of its own.
        """
        shares = self.np.zeros(len(self.tokens))
        lines = [words_of(line) for line in text.splitlines()]
        if not lines:
            return shares
        whole = {tuple(line) for line in lines}
        triples: set[tuple[str, ...]] = set()
        for line in lines:
            triples.update(_triples(line))
        for place, words in enumerate(self.tokens):
            if len(words) > 2:
                shares[place] = sum(map(triples.__contains__, _triples(words))) / (len(words) - 2)
            elif words:
                shares[place] = tuple(words) in whole
        return shares

    def _measure_blocks(self, title: str) -> None:
        np, blocks = self.np, self.outline.blocks
        texts = [block.text.strip() for block in blocks]
        self.place = np.array([block.place for block in blocks])
        self.tokens = [words_of(text) for text in texts]
        self.words = np.array([len(words) for words in self.tokens], dtype=np.float64)
        self.repeats = _times(texts, np)
        self.stops = np.array([text[-1:] in ".!?…。:;" for text in texts], dtype=np.float64)

        self.links = np.array([block.links for block in blocks])
        characters = np.array([len(text) for text in texts], dtype=np.float64)
        in_links = np.array([block.link_chars for block in blocks])
        self.link_share = np.minimum(1, in_links / np.maximum(1, characters))

        self.share = self._begins_with_one_of(_WORDS_AFTER_TEXT["share"])
        self.replies = self._begins_with_one_of(_WORDS_AFTER_TEXT["replies"])
        self.related = self._begins_with_one_of(_WORDS_AFTER_TEXT["related"])
        title_words = set(words_of(title))
        titled = [_share_among(title_words, words) for words in self.tokens]
        self.titled = np.array(titled, dtype=np.float64)

    def _begins_with_one_of(self, hints: frozenset[str]) -> Any:
        return self.np.array([not hints.isdisjoint(words[:_FIRST_WORDS]) for words in self.tokens])

    def _measure_elements(self, containers: Sequence[Container]) -> None:
        np = self.np
        self.parent = np.array([container.parent for container in containers])
        self.depth = np.array([container.depth for container in containers])
        self.start = np.array([container.start for container in containers])
        self.end = np.array([container.end for container in containers])
        self.tag = np.array([TAG_NUMBER.get(container.tag, 0) for container in containers])

        signatures: list[str] = []
        name_bits: list[int] = []
        among_siblings: list[tuple[int, str]] = []
        in_parent: list[tuple[str, str]] = []
        for container in containers:
            names = {name: value for name, value in container.element.items() if name in _NAMING}
            name_bits.append(_bits_of_names(" ".join(names.values())) if names else 0)
            signature = f"{container.tag} {names.get('class', '')}"
            signatures.append(signature)
            among_siblings.append((container.parent, signature))
            in_parent.append((signatures[container.parent], signature))
        self.name_bits = np.array(name_bits)
        self._near_name_bits = self.name_bits | self.name_bits[self.parent]
        self.siblings = _times(among_siblings, np)
        numbers = {pair: number for number, pair in enumerate(dict.fromkeys(in_parent))}
        self.alike = np.array([numbers[pair] for pair in in_parent])


_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def _triples(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return zip(words, words[1:], words[2:], strict=False)


def _share_among(wanted: set[str], words: Sequence[str]) -> float:
    """The share of the distinct words that are among others."""
    count = len(wanted.intersection(words))
    return count / len(set(words)) if count else 0.0


def _times(keys: Sequence[Any], np: Any) -> Any:
    """For each key, how often it occurs among the keys."""
    counts = Counter(keys)
    return np.array([counts[key] for key in keys], dtype=np.float64)


# What the names of elements tell.

_NAMING = frozenset(("class", "id", "role", "itemprop", "data-testid"))
_NAMES = {
    "nav": r"\bnav|menu|breadcrumb|tabs?\b|toolbar|pagination|pager|skip",
    "foot": r"foot(?!note)|bottom|colophon|legal|copyright",
    "comment": r"comment|repl(?:y|ies)|disqus|discussion|respond",
    "share": r"share|social|follow|twitter|facebook",
    "related": r"relat|recommend|similar|more-|also|upsell|cross-?sell|recent|popular|trending|suggest|next|prev",
    "popup": r"cookie|consent|gdpr|modal|popup|dialog|overlay|toast|alert|lightbox",
    "subscribe": r"log-?in|sign-?(?:in|up)|register|subscri|newsletter|account|cart|basket|checkout|wishlist",
    "content": r"content|article|story|entry|prose|richtext|rich-text|markdown|rte|wysiwyg|copy\b|\btext",
    "author": r"author|byline|meta|date|time\b|tags?\b|categor|avatar|user|profile|badge|rank",
    # What managers of consent call their boxes; a shop of cookies has names that only end in it.
    "consent": r"(?<![\w-])(?:(?:eu-)?cookie(?!s?(?:\s|$))|onetrust|cybot|didomi|gdpr|cmplz|borlabs|usercentrics"
    r"|iubenda)",
}
"""What the names of an element (class, id, role, itemprop, data-testid) tell, as a pattern."""

_NAME_BIT = {name: 1 << place for place, name in enumerate(_NAMES)}
_PATTERNS = [(_NAME_BIT[name], re.compile(pattern)) for name, pattern in _NAMES.items()]
_ANY_NAME = re.compile("|".join(_NAMES.values()))


@lru_cache(maxsize=5_000)
def _bits_of_names(names: str) -> int:
    bits = 0
    for name in names.lower().split():
        bits |= _bits_of_name(name)
    return bits


@lru_cache(maxsize=20_000)
def _bits_of_name(name: str) -> int:
    if not _ANY_NAME.search(name):  # one search instead of ten: most names tell nothing
        return 0
    return sum(bit for bit, pattern in _PATTERNS if pattern.search(name))


# What the words of blocks tell.

_LINES_AFTER_TEXT = {
    "share": "share tweet facebook twitter linkedin pinterest whatsapp instagram youtube follow teilen telegram partager"
    " compartir condividi compartilhar delen udostępnij seguici síguenos folgen",
    "replies": "reply replies quote report posted joined post posts like likes views member thread topic moderator wrote"
    " said kommentar kommentare kommentieren antwort antworten antworte commentaires répondre comentarios comentar"
    " responder commenti rispondi comentários reacties reageer komentarze komentarz odpowiedz",
    "related": "related recommended might similar popular recent trending latest next previous also bought auch ähnliche"
    " verwandte weitere passend neueste meistgelesen beliebt interessieren themen nächster vorheriger aussi"
    " articles populaires également también relacionadas relacionados relacionado interesar anche correlati"
    " potrebbe também ook gerelateerd także również podobne powiązane zobacz",
}
"""Words of the lines after a text in English, German, French, Spanish, Italian, Portuguese, Dutch and Polish."""
_WORDS_AFTER_TEXT = {kind: frozenset(words.split()) for kind, words in _LINES_AFTER_TEXT.items()}

_FIRST_WORDS = 40
"""How many words of a block are compared with these: a line after a text begins with one, prose has them anywhere."""

_AWAY = re.compile(
    r"\W{0,3}(?:"
    r"(?:also |please )?(?:read|see|watch|check out) (?:here )?(?:also|more|next|related)\b"
    r"|(?:you (?:may|might) )?also (?:like|read)\b|more (?:on|from|about|stories|news)\b"
    r"|related (?:articles?|stor(?:y|ies)|posts?|content|links|news|reading)"
    r"|(?:jetzt |hier )?(?:lesen sie|lies|sehen sie|siehe) (?:hier |dazu )?(?:auch|mehr|weiter)\b|passend dazu"
    r"|mehr (?:zum thema|aus|zu|von|über|infos?|informationen)\b|zum (?:thema|weiterlesen)\b"
    r"|weitere (?:informationen|artikel|beiträge|infos|links|themen|meldungen)\b|das könnte (?:sie|dich|dir) auch"
    r"|(?:lea|lee|vea|ver|mira|mire) (?:además|también|tambien|más|mas)\b|(?:lea|lee|vea|mira)\s?:"
    r"|(?:le|te) (?:puede|podría) interesar|(?:noticias|artículos|notas|entradas) relacionad[ao]s"
    r"|(?:à )?(?:lire|voir) (?:aussi|plus|également)\b|sur le même sujet|articles (?:liés|similaires)"
    r"|(?:leggi|guarda) anche\b|(?:leia|veja) (?:também|mais)\b|(?:lees|bekijk) (?:ook|meer)\b"
    r"|(?:czytaj|zobacz) (?:też|także|więcej|również)\b)",
    re.IGNORECASE,
)
"""The beginnings of lines that send readers to another text."""
_CREDIT = re.compile(
    r"\W{0,2}(?:©|(?:foto|photo|bild|image|picture|imagen|crédit|credit|fotoquelle|bildquelle)\w{0,2}(?: photos?)?"
    r"\s?[:/©])",
    re.IGNORECASE,
)
"""The beginnings of lines that name who took a picture."""
_LONGEST_AWAY, _LONGEST_CREDIT = 40, 15
"""The most words of such lines: a longer block is prose that begins with the same words."""
