"""What the features are computed from: measures of blocks, their class names, and the rest of the page."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from websearch_gateway.readers.extraction.blocks import Outline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.int64]


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
        hints: the bits of `lexicon.text_bits`.
        titled: the share of its distinct words that are in the title.
        repeats: the number of blocks with the same text.
        place: the index of its innermost element.
        parent, depth, start, end, tag (e): as in `blocks.Container`; a tag is its TAG_NUMBER.
        near, far (e): the bits of `lexicon.name_bits` of the element and its parent, or of it and all its ancestors.
        inside (e): a bit for each tag of `lexicon.WITHIN` that the element or an ancestor has.
        siblings (e): the number of children of the same parent with the same tag and classes.
        signature (e): the tag and classes of the element and of its parent.
        found: the share of a block that another extractor chose; see `compare`.
        running, sums: of words, link words, found words, commas, stops and blocks, the sums over all blocks before a
            block, and the sums over the blocks below an element (e).
        fixed: columns of `features` that are do not depend on what another extractor chose, once computed.
        described (e): the features that describe an element around a block, one row each.
    """

    def __init__(self, outline: Outline, title: str) -> None:
        import numpy as np

        self.np = np
        self.outline = outline
        self._measure_blocks(title)
        self._measure_containers()
        self.fixed: tuple[dict[str, Any], dict[str, Any]] | None = None

    def compare(self, found: str) -> None:
        """Compare the blocks with the main text that another extractor chose, one block per line; "" for none."""
        self.found = _covered(self._tokens, found)
        self._sum()

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
        self.signature = [f"{signatures[c.parent]}/{s}" for c, s in zip(containers, signatures, strict=True)]

    def _sum(self) -> None:
        np = self.np
        quantities = (
            self.words,
            self.link_words,
            self.found * self.words,
            self.commas,
            self.stops,
            np.ones_like(self.words),
        )
        self.running = np.zeros((len(self.words) + 1, len(quantities)))
        np.cumsum(np.column_stack(quantities), axis=0, out=self.running[1:])
        self.sums = self.running[self.end] - self.running[self.start]
        words, links, found, commas, stops, blocks = self.sums.T
        one, some = np.maximum(1, words), np.maximum(1, blocks)
        shares = (words / max(1, self.running[-1, 0]), links / one, found / one, commas / one, stops / some)
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


_HEADINGS = [1 + TAGS.index(f"h{level}") for level in range(1, 7)]
_P, _H1 = 1 + TAGS.index("p"), 1 + TAGS.index("h1")
_COMMENTS = 4
"""Its index in `lexicon.NAME_HINTS`."""

_BREAK = 12.0
"""The number of words that a block without prose subtracts from a run of prose."""

_TITLED = 0.6
"""The least share of a heading's words that are in the title if it is the heading of the page."""

_SMALL = 0.3
"""An element with less than this share of the page's words may be a box after the text."""

_LABEL_WORDS = 12
_END_NAMES = {"foot": 1, "share": 6, "related": 7, "subscribe": 10, "card": 16, "author": 17}

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
"""The bits of `text_bits`."""

_END_WORDS = {"subscribe": SUBSCRIBE, "share": SHARE, "replies": REPLIES, "related": RELATED, "contact": CONTACT}
"""The hints of `lexicon` that often stand in the names and in the short lines of what follows a text."""

_OPINION = 0.5
"""The share of a block from which on it counts as chosen by the other extractor."""

_NEVER = 999


def context_columns(page: Measures) -> dict[str, Floats]:
    """Named columns with one value per block."""
    first, last = _core(page)
    return {
        **_prose_columns(page, first, last),
        **_ending_columns(page, first, last),
        **opinion_columns(page),
        **_heading_columns(page),
        **_teaser_columns(page),
        **_candidate_columns(page),
    }


def _core(page: Measures) -> tuple[int, int]:
    """The first and last block of the longest run of prose on the page, which is the core of its text."""
    np, words = page.np, page.words
    prose = (page.stops > 0) & (page.link_share < 0.5) & (words >= 8)
    total = np.cumsum(np.where(prose, words, -_BREAK))
    before = np.concatenate([[0.0], total[:-1]])
    last = int(np.argmax(total - np.minimum.accumulate(before)))
    return last - int(np.argmin(before[: last + 1][::-1])), last


def _prose_columns(page: Measures, first: int, last: int) -> dict[str, Floats]:
    """The distance of each block from the core."""
    np, running = page.np, page.running[:, 0]
    where = np.arange(len(page.words))
    outside = np.where(where < first, where - first, np.where(where > last, where - last, 0))
    return {
        "core": (outside == 0).astype(float),
        "core_distance": outside,
        "core_words_since": np.where(where > last, running[where] - running[last + 1], 0.0),
        "core_share": np.full(len(where), (running[last + 1] - running[first]) / max(1.0, running[-1])),
        "core_depth": page.depth[page.place] - np.median(page.depth[page.place[first : last + 1]]),
    }


def _ending_columns(page: Measures, first: int, last: int) -> dict[str, Floats]:
    """The distance from the first box or line after the middle of the core that looks like the end of the text, and
    the levels up and down from the middle of the core to the block."""
    np, running = page.np, page.running[:, 0]
    where = np.arange(len(page.words))
    middle = min(last, max(first, int(np.searchsorted(running, (running[first] + running[last + 1]) / 2)) - 1))
    boxes = (page.sums[:, 0] < _SMALL * max(1.0, running[-1])) & (page.end > page.start) & (page.start > middle)
    lines = (page.words <= _LABEL_WORDS) & (where > middle)
    begins = {f"end_{name}": page.start[boxes & (page.near >> bit & 1 == 1)] for name, bit in _END_NAMES.items()}
    for name, bit in _END_WORDS.items():
        begins[f"end_words_{name}"] = where[lines & (page.hints >> bit & 1 == 1)]
    shared, parents = page.depth.tolist(), page.parent.tolist()
    around = {place := int(page.place[middle])}
    while (place := parents[place]) not in around:
        around.add(place)
    for place, parent in enumerate(parents):  # the depth of the innermost element that also holds the middle
        if place not in around:
            shared[place] = shared[parent]
    common = np.array(shared)[page.place]
    return {
        **{name: where - begin[0] if len(begin) else np.full(len(where), -_NEVER) for name, begin in begins.items()},
        "levels_up": page.depth[page.place[middle]] - common,
        "levels_down": page.depth[page.place] - common,
    }


def opinion_columns(page: Measures) -> dict[str, Floats]:
    """The way to the next and the last block that the other extractor chose, and how much of its choice follows."""
    np = page.np
    where = np.arange(len(page.words))
    chosen = page.found >= _OPINION
    long = np.flatnonzero(chosen & (page.words >= 5))
    begin, end = (int(long[0]), int(long[-1]) + 1) if len(long) else (0, 0)
    before = np.maximum.accumulate(np.where(chosen, where, -_NEVER))
    after = np.minimum.accumulate(np.where(chosen, where, len(where) + _NEVER)[::-1])[::-1]
    found, prose = page.running[:, 2], page.running[:, 0] - page.running[:, 1]
    span = found[-1] / max(1.0, prose[end] - prose[begin])
    return {
        "found_follows": (found[-1] - found[1:]) / max(1.0, found[-1]),
        "found_in_span": np.full(len(where), span),
        "before_found": np.maximum(0, begin - where),
        "since_found": np.minimum(_NEVER, where - before),
        "until_found": np.minimum(_NEVER, after - where),
    }


def _heading_columns(page: Measures) -> dict[str, Floats]:
    """The heading that is the title, later ones of its level, sections whose heading says "related", and comments."""
    np, n = page.np, len(page.words)
    where, tags = np.arange(n), page.tag[page.place]
    headings = np.isin(tags, _HEADINGS)
    titled = np.flatnonzero(headings & (page.titled >= _TITLED))
    title = int(titled[np.argmax(page.titled[titled])]) if len(titled) else -1
    level = tags[title] if title >= 0 else _H1
    second = headings & (tags == level) & (where > title)
    related = headings & (page.hints >> RELATED & 1 == 1)
    first_block = np.minimum(page.start, n - 1)
    opens = related[first_block] & (page.end > page.start + 1)
    small = page.sums[:, 0] < 0.5 * max(1.0, page.running[-1, 0])
    within = _inherited(page, opens & small)
    comments = (page.near >> _COMMENTS & 1 == 1) & (page.end > page.start)
    begins = int(page.start[comments].min()) if comments.any() else n
    return {
        "since_title": where - title if title >= 0 else np.full(n, -999),
        "same_level_headings": np.cumsum(second),
        "in_related": within[page.place],
        "since_related": where - np.maximum.accumulate(np.where(related, where, -999)),
        "since_comments": where - begins,
    }


def _inherited(page: Measures, flags: Floats) -> Floats:
    """For each container, whether it or an ancestor has the flag. Parents come before their children."""
    inside = flags.tolist()
    for place, parent in enumerate(page.parent.tolist()):
        inside[place] = inside[place] or inside[parent]
    flagged: Floats = page.np.array(inside, dtype=float)
    return flagged


def _teaser_columns(page: Measures) -> dict[str, Floats]:
    """Linked headings, lines that are nothing but a link, and paragraphs, in the elements around a block."""
    np, n = page.np, len(page.words)
    tags = page.tag[page.place]
    linked = page.link_share > 0.8
    quantities = (
        linked & np.isin(tags, _HEADINGS),
        linked & (page.words >= 4),
        np.where(tags == _P, page.words, 0.0),
        np.ones(n),
    )
    running = np.zeros((n + 1, len(quantities)))
    np.cumsum(np.column_stack(quantities), axis=0, out=running[1:])
    sums = running[page.end] - running[page.start]
    columns: dict[str, Floats] = {}
    at = page.parent[page.place]
    for level in range(1, 5):
        _teasers(columns, f"up{level}", page, sums, at)
        at = page.parent[at]
    where = np.arange(n)
    for width in (5, 15):
        low, high = np.maximum(0, where - width), np.minimum(n, where + width + 1)
        part = running[high] - running[low]
        columns[f"window{width}_linked_headings"] = part[:, 0]
        columns[f"window{width}_linked_lines"] = part[:, 1] / part[:, 3]
    return columns


def _teasers(columns: dict[str, Floats], name: str, page: Measures, sums: Floats, at: Ints) -> None:
    np = page.np
    columns[f"{name}_linked_headings"] = sums[at, 0]
    columns[f"{name}_linked_lines"] = sums[at, 1] / np.maximum(1, sums[at, 3])
    columns[f"{name}_paragraphs"] = sums[at, 2] / np.maximum(1, page.sums[at, 0])


def _candidate_columns(page: Measures) -> dict[str, Floats]:
    """The element whose own paragraphs contain the most prose, and the position of each block relative to it."""
    np, tags = page.np, page.tag[page.place]
    prose = (page.link_share < 0.5) & (page.words >= 8)
    holder = np.where(tags == _P, page.parent[page.place], page.place)
    gained = np.where(prose, page.words * (1 + page.stops), 0.0)
    score = np.bincount(holder, gained, minlength=len(page.parent))
    score += 0.5 * np.bincount(page.parent[holder], gained, minlength=len(page.parent))
    best = int(np.argmax(score))
    where = np.arange(len(tags))
    start, end = int(page.start[best]), int(page.end[best])
    outside = np.where(where < start, where - start, np.where(where >= end, where - end + 1, 0))
    return {
        "candidate": (outside == 0).astype(float),
        "candidate_distance": outside,
        "candidate_depth": page.depth[page.place] - page.depth[best],
        "candidate_share": np.full(len(tags), page.sums[best, 0] / max(1.0, page.running[-1, 0])),
    }


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
