"""Measures the blocks of a page, and judges by these features how likely each belongs to the main text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from websearch_gateway.pages.extraction import trees
from websearch_gateway.pages.extraction.blocks import Outline

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

_P, _H1 = TAG_NUMBER["p"], TAG_NUMBER["h1"]
_HEADINGS = [TAG_NUMBER[f"h{level}"] for level in range(1, 7)]
_KINDS = ("", "article", "product", "thread")
"""What a page can declare itself to be, by index."""
_WITHIN = ("nav", "header", "footer", "aside", "main")
"""The tags that apply to everything inside them, by index."""

_WORD = re.compile(r"\w+")
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

_BITS = {name: 1 << place for place, name in enumerate(_NAMES)}
_PATTERNS = [(_BITS[name], re.compile(pattern)) for name, pattern in _NAMES.items()]
_ANY_NAME = re.compile("|".join(_NAMES.values()))
_MEASURED = ("words", "link_share", "links", "titled", "repeats", "stops")
"""The measures of a block that are features as they are."""
_NAME_COLUMNS = ("nav", "foot", "comment", "popup", "content")
_END_NAMES = ("foot", "share", "related", "subscribe", "author")

# In English, German, French, Spanish, Italian, Portuguese, Dutch and Polish.
_SHARE, _REPLIES, _RELATED = (
    frozenset(words.split())
    for words in (
        "share tweet facebook twitter linkedin pinterest whatsapp instagram youtube follow teilen telegram partager"
        " compartir condividi compartilhar delen udostępnij seguici síguenos folgen",
        "reply replies quote report posted joined post posts like likes views member thread topic moderator wrote said"
        " kommentar kommentare kommentieren antwort antworten antworte commentaires répondre comentarios comentar"
        " responder commenti rispondi comentários reacties reageer komentarze komentarz odpowiedz",
        "related recommended might similar popular recent trending latest next previous also bought auch ähnliche"
        " verwandte weitere passend neueste meistgelesen beliebt interessieren themen nächster vorheriger aussi"
        " articles populaires également también relacionadas relacionados relacionado interesar anche correlati"
        " potrebbe também ook gerelateerd także również podobne powiązane zobacz",
    )
)
"""Words that often stand in the lines after a text."""

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
_CREDIT = re.compile(
    r"\W{0,2}(?:©|(?:foto|photo|bild|image|picture|imagen|crédit|credit|fotoquelle|bildquelle)\w{0,2}(?: photos?)?"
    r"\s?[:/©])",
    re.IGNORECASE,
)
"""The beginnings of lines that send readers to another text, and of those that name who took a picture."""
_LONGEST_AWAY, _LONGEST_CREDIT = 40, 15

_FIRST_WORDS = 40
_DEEPEST = 64
_BREAK = 12.0  # the number of words that a block without prose subtracts from a run of prose
_TITLED = 0.6  # the least share of a heading's words that are in the title if it is the heading of the page
_SMALL = 0.3  # an element with less than this share of the page's words may be a box after the text
_LABEL_WORDS = 12
_NEVER = 999


class Measures:
    """The measures of one page. Arrays hold one value for each block or, where marked with (e), for each element.

    Elements are the containers of the outline.

    Attributes:
        tokens, words, links: the words of a block, their count, and the links in it.
        link_share: the share of its characters that are in links.
        stops: 1 if it ends like a sentence.
        share, replies, related: whether it has one of these words.
        titled: the share of its distinct words that are in the title.
        repeats: the number of blocks with the same text.
        place, tags: the index of its innermost element, and the tag of that.
        parent, depth, start, end, tag (e): as in `Container`; a tag is its TAG_NUMBER.
        named, near (e): the bits of the names of the element, and of it and its parent.
        siblings (e): the number of children of the same parent with the same tag and classes.
        alike (e): a number for the tag and classes of the element and of its parent.
        kind: what the page declares itself to be, one of _KINDS.
        running, sums: of words, words in links, words in paragraphs, stops and blocks, the sums over all blocks before
            a block, and the sums over the blocks below an element (e).
    """

    def __init__(self, outline: Outline, title: str, kind: str = "") -> None:
        import numpy as np

        self.np = np
        self.outline = outline
        self.kind = kind
        self._measure_blocks(title)
        self._measure_containers()
        self.tags = self.tag[self.place]
        paragraphs = self.words * (self.tags == _P)
        quantities = (
            self.words,
            self.link_share * self.words,
            paragraphs,
            self.stops,
            np.ones_like(self.words),
        )
        self.running = np.zeros((len(self.words) + 1, len(quantities)))
        np.cumsum(np.column_stack(quantities), axis=0, out=self.running[1:])
        self.sums = self.running[self.end] - self.running[self.start]

    def found_in(self, text: str) -> Floats:
        """The share of each block that is in the main text that another extractor chose, one block per line."""
        covered = self.np.zeros(len(self.tokens))
        lines = [words_of(line) for line in text.splitlines()]
        whole = {tuple(line) for line in lines}
        triples: set[tuple[str, ...]] = set()
        for line in lines:
            triples.update(zip(line, line[1:], line[2:], strict=False))
        for row, words in enumerate(self.tokens if lines else ()):
            if len(words) > 2:
                own = zip(words, words[1:], words[2:], strict=False)
                covered[row] = sum(map(triples.__contains__, own)) / (len(words) - 2)
            elif words:
                covered[row] = tuple(words) in whole
        return covered

    def _measure_blocks(self, title: str) -> None:
        np, blocks = self.np, self.outline.blocks
        texts = [block.text.strip() for block in blocks]
        self.tokens = tokens = [words_of(text) for text in texts]
        self.words = np.array([len(t) for t in tokens], dtype=np.float64)
        self.links = np.array([block.links for block in blocks])
        chars = np.array([len(text) for text in texts], dtype=np.float64)
        self.link_share = np.minimum(
            1, np.array([block.link_chars for block in blocks]) / np.maximum(1, chars)
        )
        self.stops = np.array([text[-1:] in ".!?…。:;" for text in texts], dtype=np.float64)
        first = [words[:_FIRST_WORDS] for words in tokens]
        self.share, self.replies, self.related = (
            np.array([not hints.isdisjoint(words) for words in first])
            for hints in (_SHARE, _REPLIES, _RELATED)
        )
        wanted = set(words_of(title))
        shared = ((len(wanted.intersection(words)), words) for words in tokens)
        self.titled = np.array(
            [count and count / len(set(words)) for count, words in shared], dtype=np.float64
        )
        self.repeats = _times(texts, np)
        self.place = np.array([block.place for block in blocks])

    def _measure_containers(self) -> None:
        np, containers = self.np, self.outline.containers
        self.parent = np.array([c.parent for c in containers])
        self.depth = np.array([c.depth for c in containers])
        self.start = np.array([c.start for c in containers])
        self.end = np.array([c.end for c in containers])
        self.tag = np.array([TAG_NUMBER.get(c.tag, 0) for c in containers])
        given = [
            {name: value for name, value in c.element.items() if name in _NAMING}
            for c in containers
        ]
        signatures = [
            f"{c.tag} {names.get('class', '')}" for c, names in zip(containers, given, strict=True)
        ]
        self.named = np.array(
            [_name_bits(" ".join(names.values())) if names else 0 for names in given]
        )
        self.near = self.named | self.named[self.parent]
        pairs = [(signatures[c.parent], own) for c, own in zip(containers, signatures, strict=True)]
        numbers = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
        self.alike = np.array([numbers[pair] for pair in pairs])
        self.siblings = _times(
            [(c.parent, own) for c, own in zip(containers, signatures, strict=True)], np
        )

    def around(self, elements: Any) -> Any:
        """How many of the elements are around each block, given a truth value for each element."""
        np, count = self.np, len(self.words) + 1
        steps = np.bincount(self.start[elements], minlength=count) - np.bincount(
            self.end[elements], minlength=count
        )
        return np.cumsum(steps[:-1])

    def in_comments(self) -> Any:
        """For each block, whether an element around it other than the body has a name for comments."""
        return (
            self.around((self.named & _BITS["comment"] > 0) & (self.tag != TAG_NUMBER["body"])) > 0
        )

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
        is_prose = (self.link_share < 0.5) & (self.stops > 0) & (self.words >= SENTENCE)
        is_followed = np.append(is_prose[1:], False)
        return is_followed & (self.links == 0) & np.isin(self.tags, _HEADINGS)

    def in_consent(self) -> Any:
        """For each block, whether an element around it, with at most half of them, asks for consent to cookies."""
        asks = self.named & _BITS["consent"] > 0
        return self.around(asks & (2 * (self.end - self.start) <= len(self.words))) > 0

    @cached_property
    def columns(self) -> dict[str, Any]:
        """Each feature of a block by itself by name, with one value per block or one for all."""
        return {
            **_own(self),
            **_around(self),
            **_headings(self),
            **_core_and_end(self),
            **_candidate(self),
        }


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def _times(keys: Sequence[Any], np: Any) -> Any:
    """For each key, how often it occurs among the keys."""
    counts = Counter(keys)
    return np.array([counts[key] for key in keys], dtype=np.float64)


@lru_cache(maxsize=5_000)
def _name_bits(names: str) -> int:
    return reduce(or_, map(_bits_of, names.lower().split()), 0)


@lru_cache(maxsize=20_000)
def _bits_of(name: str) -> int:
    return (
        sum(bit for bit, pattern in _PATTERNS if pattern.search(name))
        if _ANY_NAME.search(name)
        else 0
    )


def _own(page: Measures) -> dict[str, Any]:
    """Each block, its tags and names, those like it and beside it, and the whole page."""
    np, tags = page.np, page.tags
    group = page.alike[page.place]
    total_words = max(1, page.running[-1, 0])
    columns = {name: getattr(page, name) for name in _MEASURED}
    columns |= {
        "tag": tags,
        "tag+1": np.append(tags[1:], -1),
        "words_before": page.running[:-1, 0] / total_words,
    }
    for tag in _WITHIN:
        columns[f"in_{tag}"] = page.around(page.tag == TAG_NUMBER[tag])
    columns |= {
        "alike_words": np.bincount(group, page.words)[group],
        "alike_count": np.bincount(group)[group],
    }
    return columns | _whole_page(page) | _names(page) | _windows(page)


def _whole_page(page: Measures) -> dict[str, Any]:
    """What is the same for all blocks of a page."""
    blocks = len(page.words)
    words, linked, _, stops, _ = page.running[-1]
    columns = {
        "declared": _KINDS.index(page.kind),
        "page_words": words,
        "page_blocks": blocks,
        "page_links": linked / max(1, words),
        "page_stops": stops / blocks,
    }
    for tag in ("p", "li"):
        within = page.words[page.tags == TAG_NUMBER[tag]].sum()
        columns[f"page_{tag}"] = within / max(1, words)
    for tag in ("article", "main"):
        columns[f"page_{tag}"] = (page.tag == TAG_NUMBER[tag]).sum()
    return columns


def _names(page: Measures) -> dict[str, Any]:
    """What the names say of the elements around each block: 1 far off, 2 near, 3 both."""
    columns = {}
    for name in _NAME_COLUMNS:
        bit = _BITS[name]
        is_near = page.near[page.place] & bit > 0
        is_around = page.around(page.named & bit > 0) > 0
        columns[f"name_{name}"] = 2 * is_near + is_around
    return columns


def _windows(page: Measures) -> dict[str, Any]:
    """The words around each block, and the share of them that is in links."""
    columns = {}
    for width in (3, 8):
        sums = _windowed(page.running, width)
        words, linked = sums[:, 0], sums[:, 1]
        columns[f"window{width}_words"] = words
        columns[f"window{width}_links"] = linked / page.np.maximum(1, words)
    return columns


def _windowed(running: Floats, width: int) -> Floats:
    """The sum of the blocks up to so many places before and after each block, given the sums before each block."""
    import numpy as np

    where = np.arange(len(running) - 1)
    sums: Floats = (
        running[np.minimum(len(where), where + width + 1)] - running[np.maximum(0, where - width)]
    )
    return sums


def _around(page: Measures) -> dict[str, Any]:
    """Each element around a block: the nearest, those of many words, the one like its siblings, and the list of it."""
    np = page.np
    words, links, paragraphs, stops, blocks = page.sums.T
    one, some = np.maximum(1, words), np.maximum(1, blocks)
    described = {
        "mean": words / some,
        "share": words / max(1, page.running[-1, 0]),
        "links": links / one,
        "paragraphs": paragraphs / one,
        "stops": stops / some,
        "words": words,
        "siblings": page.siblings,
    }
    table = np.array(list(described.values()))
    found: dict[str, Any] = {}
    for name, at in _ancestors(page):
        found |= dict(
            zip((f"{name}_{feature}" for feature in described), table[:, at], strict=True)
        )
    return found


def _ancestors(page: Measures) -> Iterator[tuple[str, Ints]]:
    """The elements around each block, by name, as an index for each block."""
    at = page.place
    for level in range(4):
        yield f"up{level}", at
        at = page.parent[at]
    for size in (300, 1000):
        yield f"size{size}", _climbed(page, page.sums[:, 0] < size)
    entry = _climbed(page, page.siblings < 3)
    yield "entry", entry
    yield "entries", page.parent[entry]


def _climbed(page: Measures, passed: Any) -> Ints:
    """For each block the nearest element around it that is not passed."""
    at: Ints = page.place
    for _ in range(_DEEPEST):
        going = passed[at] & (page.parent[at] != at)
        if not going.any():
            break
        at = page.np.where(going, page.parent[at], at)
    return at


def _headings(page: Measures) -> dict[str, Any]:
    """The last heading, the one that is the title, those of sections of related texts, and comments."""
    np, n, tags = page.np, len(page.tags), page.tags
    where, is_heading = np.arange(n), np.isin(tags, _HEADINGS)
    last = np.maximum.accumulate(np.where(is_heading, where, -1))
    h1 = np.flatnonzero(tags == _H1)
    titled = np.flatnonzero(is_heading & (page.titled >= _TITLED))
    related = is_heading & page.related
    opens = related[np.minimum(page.start, n - 1)] & (page.end > page.start + 1)
    comments = page.start[(page.near & _BITS["comment"] > 0) & (page.end > page.start)]
    return {
        "since_heading": where - last,
        "heading_level": np.where(last >= 0, tags[last], 0),
        "since_h1": where - h1[0] if len(h1) else -_NEVER,
        "since_title": where - titled[np.argmax(page.titled[titled])] if len(titled) else -_NEVER,
        "in_related": page.around(opens & (page.sums[:, 0] < 0.5 * page.running[-1, 0])),
        "since_related": where - np.maximum.accumulate(np.where(related, where, -_NEVER)),
        "since_comments": where - (comments.min() if len(comments) else n),
    }


def _core_and_end(page: Measures) -> dict[str, Any]:
    """The longest run of prose, the levels up and down from its middle to the block, and the boxes and lines after
    that, which look like the end of the text."""
    np, running = page.np, page.running[:, 0]
    where = np.arange(len(page.words))
    first, last = _longest_prose(page)
    half = (running[first] + running[last + 1]) / 2
    middle = int(np.searchsorted(running, half)) - 1
    middle = min(last, max(first, middle))

    above = np.zeros(len(page.parent), dtype=bool)
    place = int(page.place[middle])
    while not above[place]:
        above[place] = True
        place = int(page.parent[place])
    common = page.around(above)  # the depth of the innermost element around the middle and a block
    return {
        **_ends(page, middle),
        "core": (where >= first) & (where <= last),
        "core_share": (running[last + 1] - running[first]) / max(1.0, running[-1]),
        "levels_up": page.depth[page.place[middle]] - common,
        "levels_down": page.depth[page.place] - common,
    }


def _longest_prose(page: Measures) -> tuple[int, int]:
    """The first and the last block of the run with the most words of prose, less _BREAK for each block between."""
    np = page.np
    is_prose = (page.stops > 0) & (page.link_share < 0.5) & (page.words >= 8)
    total = np.cumsum(np.where(is_prose, page.words, -_BREAK))
    before = np.concatenate([[0.0], total[:-1]])
    last = int(np.argmax(total - np.minimum.accumulate(before)))
    first = last - int(np.argmin(before[: last + 1][::-1]))
    return first, last


def _ends(page: Measures, middle: int) -> dict[str, Any]:
    """How far each block is behind the first box and the first line after the text's middle that look like its end."""
    where = page.np.arange(len(page.words))
    is_small = page.sums[:, 0] < _SMALL * max(1.0, page.running[-1, 0])
    is_box = is_small & (page.end > page.start) & (page.start > middle)
    is_line = (page.words <= _LABEL_WORDS) & (where > middle)
    begins = {}
    for name in _END_NAMES:
        begins[f"end_{name}"] = page.start[is_box & (page.near & _BITS[name] > 0)]
    for name in ("share", "replies", "related"):
        begins[f"end_words_{name}"] = where[is_line & getattr(page, name)]
    return {name: where - begin[0] if len(begin) else -_NEVER for name, begin in begins.items()}


def _candidate(page: Measures) -> dict[str, Any]:
    """The element whose own paragraphs contain the most prose, and the position of each block relative to it."""
    np, where = page.np, page.np.arange(len(page.words))
    prose = (page.link_share < 0.5) & (page.words >= 8)
    holder = np.where(page.tags == _P, page.parent[page.place], page.place)
    gained = np.where(prose, page.words * (1 + page.stops), 0.0)
    score = np.bincount(holder, gained, minlength=len(page.parent))
    score += 0.5 * np.bincount(page.parent[holder], gained, minlength=len(page.parent))
    best = int(np.argmax(score))
    start, end = int(page.start[best]), int(page.end[best])
    outside = np.where(where < start, where - start, np.where(where >= end, where - end + 1, 0))
    return {
        "candidate": outside == 0,
        "candidate_distance": outside,
        "candidate_share": page.sums[best, 0] / max(1.0, page.running[-1, 0]),
    }


_LIKELY, _CHOSEN = 0.6, 0.5
"""The likelihood from which a block counts as text, and the share to count as the other extractor's choice."""

SENTENCE, LINE = 8, 5
"""The least number of words of a block that says where the text begins and ends, by its likelihood or that choice."""


def later_columns(page: Measures, alone: Floats, found: Floats) -> dict[str, Any]:
    """Each feature of a block, by itself and among the others, by name, with one value per block or one for all.

    Args:
        alone: how likely each block is by itself.
        found: the share of each block that another extractor chose.
    """
    np, words = page.np, page.words
    columns = dict(page.columns)
    padded = np.pad(alone, 2, constant_values=-1)
    for step in (-2, -1, 1, 2):
        columns[f"likely{step:+}"] = padded[2 + step : 2 + step + len(alone)]
    columns |= _since_and_until(page, alone, found)
    both = words * alone * found
    columns |= {
        "both_of_likely": both.sum() / max(1.0, (words * alone).sum()),
        "both_of_found": both.sum() / max(1.0, (words * found).sum()),
        "both_follow": 1 - np.cumsum(both) / max(1.0, both.sum()),
    }
    return columns | _shares(page, "likely", alone) | _shares(page, "found", found)


def _since_and_until(page: Measures, alone: Floats, found: Floats) -> dict[str, Any]:
    """How far it is to the blocks that are likely, and to those that another extractor chose."""
    np, where = page.np, page.np.arange(len(alone))
    is_likely = (alone > _LIKELY) & (page.words >= SENTENCE)
    since_likely, until_likely = _distances(is_likely, np)
    since_found, until_found = _distances(found >= _CHOSEN, np)
    likely = np.flatnonzero(is_likely)
    chosen = np.flatnonzero((found > _CHOSEN) & (page.words >= LINE))
    return {
        "since_last_likely": where - (likely[-1] if len(likely) else len(alone) - 1),
        "since_likely": since_likely,
        "until_likely": until_likely,
        "since_found": since_found,
        "until_found": until_found,
        "since_last_found": where - chosen[-1] if len(chosen) else -_NEVER,
    }


def _shares(page: Measures, name: str, values: Floats) -> dict[str, Any]:
    """The values of the blocks, and their means by words over blocks alike, the blocks beside, and the elements around."""
    np, words = page.np, page.words
    group = page.alike[page.place]
    alike = np.bincount(group, words * values) / np.maximum(1, np.bincount(group, words))
    running = np.zeros((len(words) + 1, 2))
    np.cumsum(np.column_stack([words, words * values]), axis=0, out=running[1:])
    window = _windowed(running, 3)
    columns = {
        name: values,
        f"{name}_alike": alike[group],
        f"{name}_window3": window[:, 1] / np.maximum(1, window[:, 0]),
    }
    sums = running[page.end] - running[page.start]
    shares = sums[:, 1] / np.maximum(1, sums[:, 0])
    at = page.place
    for level in range(3):
        columns[f"{name}_up{level}"] = shares[at]
        at = page.parent[at]
    return columns


def _distances(marked: Any, np: Any) -> tuple[Ints, Ints]:
    """How many blocks ago the last marked one was, and how far off the next one is; at most 99."""
    where = np.arange(len(marked))
    before = np.maximum.accumulate(np.where(marked, where, -99))
    after = np.minimum.accumulate(np.where(marked, where, len(where) + 99)[::-1])[::-1]
    return np.minimum(99, where - before), np.minimum(99, after - where)


def likelihoods(page: Measures) -> Floats:
    """How likely each block belongs to the main text, from 0 to 1."""
    return trees.load("block_filter_alone").probabilities(page.columns, len(page.words))


def reconsidered(page: Measures, alone: Floats, found: Floats) -> Floats:
    """The likelihoods in the light of those of other blocks, and of another extractor's choice, as `later_columns`."""
    return trees.load("block_filter").probabilities(
        later_columns(page, alone, found), len(page.words)
    )
