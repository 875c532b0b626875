"""The pages of the small web, and a deterministic full-text search over them.

Pages are data files in `pages/`, each a few `name: value` lines, `---`, and a piece of HTML. Front matter: `title`,
`site` (the name in the banner), `topics`; and either `date` (ISO 8601), or `age` (`6h`, `3d`: always that old, so that
freshness filters find the page on any day), or neither. `language` defaults to `en`; `region` is an ISO 3166-1 alpha-2
code. A page with the topic `news` is found by news search. The search is Okapi BM25 with light stemming; Chinese and
Japanese text, which has no spaces, is indexed by pairs of characters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

from lxml.html import fragment_fromstring

from websearch_gateway.base import STOP_WORDS, stems

_BLOCKS = frozenset(
    {"p", "li", "h2", "h3", "h4", "tr", "pre", "blockquote", "figcaption", "dt", "dd", "caption"}
)
_PROSE = frozenset({"p", "li", "blockquote", "dd"})
_UNITS = {"h": "hours", "d": "days"}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"“„«¿¡(]?[A-Z0-9ÄÖÜÁÉÍÓÚÑ])|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Page:
    """One written page. `blocks` are its paragraphs, list items, rows as plain text, `sentences` its prose."""

    slug: str
    title: str
    site: str
    language: str
    region: str | None
    topics: tuple[str, ...]
    date: datetime | None
    age: timedelta | None
    html: str
    blocks: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path of the page at the sandbox."""
        return f"/pages/{self.slug}"

    @property
    def text(self) -> str:
        """The whole page as plain text, a block per paragraph."""
        return "\n\n".join(self.blocks)

    def published(self, now: datetime) -> datetime | None:
        """The publication date of the page, in UTC; None for an undated page."""
        return now - self.age if self.age is not None else self.date


def _blocks(html: str) -> list[tuple[str, str]]:
    """The tag and the text of each innermost block element; table cells are joined by a bar."""
    blocks = []
    for element in fragment_fromstring(html, create_parent=True).iter(*_BLOCKS):
        holds_blocks = next(element.iterdescendants(*_BLOCKS), None) is not None
        if element.tag == "tr":
            cells = [_on_one_line(cell.text_content()) for cell in element]
            text = " | ".join(filter(None, cells))
        elif holds_blocks:
            text = _on_one_line(element.text or "")
        elif element.tag == "pre":
            text = element.text_content().strip()
        else:
            text = _on_one_line(element.text_content())
        if text:
            blocks.append((element.tag, text))
    return blocks


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; recognises Latin and Japanese full stops."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def _parse(slug: str, source: str) -> Page:
    head, _, html = source.partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    blocks = _blocks(html)
    sentences: list[str] = []
    for tag, text in blocks:
        if tag in _PROSE:
            sentences += split_sentences(text)
    day, age = fields.get("date"), fields.get("age")
    return Page(
        slug=slug,
        title=fields["title"],
        site=fields["site"],
        language=fields.get("language", "en"),
        region=fields.get("region"),
        topics=tuple(topic.strip() for topic in fields["topics"].split(",")),
        date=datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None,
        age=timedelta(**{_UNITS[age[-1]]: int(age[:-1])}) if age else None,
        html=html.strip(),
        blocks=tuple(text for _, text in blocks),
        sentences=tuple(sentences),
    )


@cache
def library() -> dict[str, Page]:
    """Every page by its slug, in alphabetical order. Read once per process."""
    pages = {}
    for entry in sorted(files(__package__).joinpath("pages").iterdir(), key=lambda file: file.name):
        slug, _, ending = entry.name.rpartition(".")
        if ending == "html":
            pages[slug] = _parse(slug, entry.read_text("utf-8"))
    return pages


@cache
def _template() -> Template:
    return Template(files(__package__).joinpath("template.txt").read_text("utf-8"))


MOST_RELATED = 3
"""Links to pages about the same below a page, as many sites have them."""


def render(page: Page, now: datetime) -> str:
    """The page as a whole HTML document, with the banner, menu and footer that real pages have."""
    published = page.published(now)
    meta = byline = ""
    if published:
        moment = published.isoformat(timespec="seconds")
        meta = f'<meta property="article:published_time" content="{moment}">'
        byline = f'<p class="byline">Published <time datetime="{moment}">{moment[:10]}</time></p>'
    topics = set(page.topics)
    siblings = [
        sibling
        for sibling in library().values()
        if sibling is not page and not topics.isdisjoint(sibling.topics)
    ]
    related = [
        f'<li><a href="{sibling.path}">{escape(sibling.title)}</a></li>'
        for sibling in siblings[:MOST_RELATED]
    ]
    return _template().substitute(
        language=page.language,
        title=escape(page.title),
        site=escape(page.site),
        path=page.path,
        description=escape(page.sentences[0] if page.sentences else page.title),
        published=meta,
        byline=byline,
        body=page.html,
        related="".join(related),
    )


_K1, _B = 1.2, 0.75
"""The usual parameters of BM25: how soon a repeated word counts no more, and how much longer pages lose."""
_TITLE_WEIGHT = 3
"""A word of the title counts as often."""
_HOME_FACTOR, _FOREIGN_FACTOR = 1.5, 0.5
"""Enough to move the page of a country above an equal one of another, too little to bring a page about nothing."""
_WORD = re.compile(r"[^\W_]+(?:['’.+#-][^\W_]+)*[+#]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_OTHER_STOP_WORDS = (
    "another between each every just lot many more most much near "
    "only other over per same under very often please tell"
)
_STOP = STOP_WORDS.union(_OTHER_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Match:
    """A page that matches a query. `score` is above zero and has no upper bound; `published` is in UTC."""

    page: Page
    score: float
    published: datetime | None
    query: str
    url: str

    @property
    def snippet(self) -> str:
        """The two sentences that match best."""
        return " ".join(best_sentences(self.page, self.query, 2))


def terms(text: str) -> list[str]:
    """The stems of a text in order (`baking`, `baked` and `bakes` have one), without stop words."""
    words = []
    for word in _WORD.findall(_CJK.sub(" ", text)):
        bare = word.lower().replace("’", "'").removesuffix("'s")
        if bare not in _STOP:
            words.append(bare)
    pairs = []
    for run in _CJK.findall(text):
        starts = range(max(1, len(run) - 1))
        pairs += [run[start : start + 2] for start in starts]
    return stems(words) + pairs


class _Index:
    def __init__(self, pages: Iterable[Page]) -> None:
        self.bags: dict[str, Counter[str]] = {}
        for page in pages:
            self.bags[page.slug] = Counter(terms(page.title) * _TITLE_WEIGHT + terms(page.text))
        self.lengths = {slug: bag.total() for slug, bag in self.bags.items()}
        self.mean_length = sum(self.lengths.values()) / len(self.lengths)
        self.frequency = Counter(term for bag in self.bags.values() for term in bag)

    def rarity(self, term: str) -> float:
        pages = self.frequency[term]
        return math.log(1 + (len(self.bags) - pages + 0.5) / (pages + 0.5))

    def score(self, slug: str, query: Iterable[str]) -> float:
        bag = self.bags[slug]
        length = self.lengths[slug] / self.mean_length
        norm = _K1 * (1 - _B + _B * length)
        score = 0.0
        for term in query:
            count = bag[term]
            score += self.rarity(term) * count * (_K1 + 1) / (count + norm)
        return score


@cache
def _index() -> _Index:
    return _Index(library().values())


LONG_SENTENCE = 600
"""A sentence of so many characters is worth half: it says the same in more words."""


def best_sentences(page: Page, query: str, count: int) -> list[str]:
    """The `count` sentences of a page that share the most specific words with the query, in reading order. A word is
    more specific if fewer pages, and fewer sentences of this page, contain it.
    """
    query_terms = set(terms(query))
    shared = [query_terms & set(terms(sentence)) for sentence in page.sentences]
    common: Counter[str] = Counter()
    for terms_of_sentence in shared:
        common.update(terms_of_sentence)

    def worth(place: int) -> tuple[float, int]:
        score = sum(_index().rarity(term) / math.sqrt(common[term]) for term in shared[place])
        return score / (1 + len(page.sentences[place]) / LONG_SENTENCE), -place

    best = sorted(range(len(page.sentences)), key=worth, reverse=True)[:count]
    return [page.sentences[place] for place in sorted(best)]


def search(
    query: str,
    now: datetime,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    region: str | None = None,
    language: str | None = None,
    news: bool = False,
    origin: str = "",
) -> list[Match]:
    """Every page with at least one word of the query, best first.

    `since` and `until` (UTC, inclusive) leave out undated pages; `language` is strict; `region` only moves pages of
    that country up and those of another down, as search engines do; `news` keeps news pages only. Addresses begin with
    `origin`.
    """
    query_terms = list(dict.fromkeys(terms(query)))
    matches = []
    for page in library().values():
        published = page.published(now)
        undated_or_old = since is not None and (published is None or published < since)
        undated_or_new = until is not None and (published is None or published > until)
        is_foreign = bool(language) and page.language != language
        is_no_news = news and "news" not in page.topics
        if undated_or_old or undated_or_new or is_foreign or is_no_news:
            continue
        score = _index().score(page.slug, query_terms)
        if region and page.region:
            score *= _HOME_FACTOR if page.region == region.upper() else _FOREIGN_FACTOR
        if score > 0:
            matches.append(Match(page, score, published, query, origin + page.path))
    return sorted(matches, key=lambda match: (-match.score, match.page.slug))
