"""A deterministic full-text search over the small web: Okapi BM25 over stems.

Chinese and Japanese text, which has no spaces, is indexed by pairs of characters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from websearch_gateway.sandbox.pages import Page, library
from websearch_gateway.text.retrieval.tokens import STOP_WORDS, stems

_K1, _B = 1.2, 0.75
_TITLE_WEIGHT = 3
_HOME_FACTOR, _FOREIGN_FACTOR = 1.5, 0.5
_WORD = re.compile(r"[^\W_]+(?:['’.+#-][^\W_]+)*[+#]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_OTHER_STOP_WORDS = (
    "another between each every just lot many more most much only other over per same under very much often please tell"
)
_STOP = STOP_WORDS.union(_OTHER_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Match:
    """A page that matches a query. `score` is above zero and has no upper bound; `published` is in UTC."""

    page: Page
    score: float
    published: datetime | None
    query: str

    @property
    def snippet(self) -> str:
        """The two sentences that match best."""
        return " ".join(best_sentences(self.page, self.query, 2))


def terms(text: str) -> list[str]:
    """The stems of a text in order (`baking`, `baked` and `bakes` have one), without stop words."""
    words = (word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(_CJK.sub(" ", text)))
    latin = stems([word for word in words if word not in _STOP])
    pairs = [run[i : i + 2] for run in _CJK.findall(text) for i in range(max(1, len(run) - 1))]
    return latin + pairs


class _Index:
    def __init__(self, pages: Iterable[Page]) -> None:
        self.bags: dict[str, Counter[str]] = {}
        for page in pages:
            self.bags[page.slug] = Counter(terms(page.title) * _TITLE_WEIGHT + terms(page.text))
        self.lengths = {slug: bag.total() for slug, bag in self.bags.items()}
        self.mean_length = sum(self.lengths.values()) / len(self.lengths)
        self.frequency = Counter(term for bag in self.bags.values() for term in bag)

    def rarity(self, term: str) -> float:
        seen = self.frequency[term]
        return math.log(1 + (len(self.bags) - seen + 0.5) / (seen + 0.5))

    def score(self, slug: str, query: Iterable[str]) -> float:
        bag, norm = self.bags[slug], _K1 * (1 - _B + _B * self.lengths[slug] / self.mean_length)
        return sum(self.rarity(t) * bag[t] * (_K1 + 1) / (bag[t] + norm) for t in query if t in bag)


@cache
def _index() -> _Index:
    return _Index(library().values())


def best_sentences(page: Page, query: str, count: int) -> list[str]:
    """The `count` sentences of a page that share the most specific words with the query, in reading order. A word is
    more specific if fewer pages, and fewer sentences of this page, contain it.
    """
    wanted = set(terms(query))
    shared = [wanted & set(terms(sentence)) for sentence in page.sentences]
    common = Counter(term for found in shared for term in found)

    def worth(position: int) -> tuple[float, int]:
        score = sum(_index().rarity(term) / math.sqrt(common[term]) for term in shared[position])
        return score / (1 + len(page.sentences[position]) / 600), -position

    chosen = sorted(sorted(range(len(page.sentences)), key=worth, reverse=True)[:count])
    return [page.sentences[position] for position in chosen]


def search(
    query: str,
    now: datetime,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    region: str | None = None,
    language: str | None = None,
    news: bool = False,
    allow: Callable[[Page], bool] = lambda _: True,
) -> list[Match]:
    """Every page with at least one word of the query, best first.

    `since` and `until` (UTC, inclusive) leave out undated pages; `language` is strict; `region` only moves pages of
    that country up and those of another down, as search engines do; `news` keeps news pages only.
    """
    wanted = list(dict.fromkeys(terms(query)))
    matches = []
    for page in filter(allow, library().values()):
        published = page.published(now)
        undated_or_old = since is not None and (published is None or published < since)
        undated_or_new = until is not None and (published is None or published > until)
        if undated_or_old or undated_or_new or (language and page.language != language):
            continue
        if news and "news" not in page.topics:
            continue
        score = _index().score(page.slug, wanted)
        if region and page.region:
            score *= _HOME_FACTOR if page.region == region.upper() else _FOREIGN_FACTOR
        if score > 0:
            matches.append(Match(page, score, published, query))
    return sorted(matches, key=lambda match: (-match.score, match.page.slug))
