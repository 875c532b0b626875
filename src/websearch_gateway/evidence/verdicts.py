"""What a page shows of a claim: whether its quotes may stand beside the claim, and how the two compare.

No rule here reads: whether the page supports the claim is for a reader to judge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from websearch_gateway.base import language_of, query_terms, tokens_of_each
from websearch_gateway.evidence.chunks import chunk
from websearch_gateway.evidence.differences import Difference, claimed_words, differences
from websearch_gateway.evidence.facts import Word, is_same_name, read, same_number
from websearch_gateway.evidence.passages import bm25
from websearch_gateway.evidence.quotes import Quotable, Quote, is_verbatim, nearest, share

BESIDE = 0.5
"""The least share of a sentence's words, by weight, in the words of the page that stand beside it as its proof."""
ORDINARY = 0.25
"""The same share of its words that are no facts."""
FEW_ORDINARY = 2
"""So many words that are no facts are too few to ask for a share of them."""
FOREIGN_FACTS = 2
"""The fewest numbers and names of a sentence in another language than its page, which has no other word of it."""
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def support(
    sentence: str, quotes: Sequence[Quote], passage: Quotable
) -> Literal["verbatim", "quoted"] | None:
    """How quotes of a passage may stand beside a sentence of a model; None if they may not.

    `verbatim`: one of them is the sentence. `quoted`: they are about the same, they or the headings have each of its
    numbers and names, and no fact of theirs differs. What else the sentence means is not judged.
    """
    if any(is_verbatim(sentence, quote) for quote in quotes):
        return "verbatim"
    if not quotes or not _is_about(sentence, quotes, passage):
        return None
    if differences(sentence, quotes, passage):
        return None
    words_of_quotes = [word for quote in quotes for word in quote.words]
    for word in claimed_words(sentence, passage):
        if word.text not in passage.context and not _is_backed(word, words_of_quotes):
            return None
    return "quoted"


def _is_backed(word: Word, words_of_quotes: Sequence[Word]) -> bool:
    """Whether a number or name stands among the words of quotes; what is neither need not."""
    if word.kind == "number":
        return any(same_number(word, quoted) for quoted in words_of_quotes)
    if word.kind == "name":
        return any(is_same_name(word, quoted) for quoted in words_of_quotes)
    return True


def _is_about(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether quotes have enough words of a sentence.

    In another language two facts are enough. Not in German and in scripts without capitals, where names look like other
    words.
    """
    languages = {language_of(sentence), language_of(quotes[0].text)}
    if len(languages) == 2 and "de" not in languages and not _UNCASED.search(sentence):
        return sum(word.is_fact for word in read(sentence)) >= FOREIGN_FACTS
    on_page = passage.context.union(*(quote.texts for quote in quotes))
    ordinary = [word.text for word in read(sentence) if not word.is_fact]
    shared = [text for text in ordinary if text in on_page]
    has_ordinary = len(ordinary) <= FEW_ORDINARY or len(shared) >= ORDINARY * len(ordinary)
    return has_ordinary and share(sentence, quotes, passage) >= BESIDE


def relied_on(claim: str, sentences: Sequence[str], quote: str, *, is_support: bool) -> int | None:
    """The place of the sentence that holds the words on which a reader's judgement relies.

    None if no sentence does, or if the judgement is that they support the claim and a hard fact differs.
    """
    passage = Quotable.of_sentences(sentences)
    holding = passage.holding(quote)
    if len(holding) != 1:
        return None
    if is_support and differences(claim, passage.quotes, passage):
        return None
    return passage.quotes.index(holding[0])


MOST_CHARS = 200_000
"""The most characters of a page that are looked through."""
_PASSAGE_TOKENS, _MOST_PASSAGES = 256, 4
LEAST_SHARE = 0.2
"""The least share of a claim's words, by weight, that the nearest sentence has; with less it is about another thing."""

Verdict = Literal["verbatim", "differs", "found", "not_found"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a page shows of a claim: the sentences, the nearest first, and the hard facts that differ.

    `share` is the share of the claim's words, by weight, that the first sentence has. `contexts` are the sentences
    around each quote, itself included, for a reader who must know who "she" is; empty for one that stands alone.
    """

    verdict: Verdict
    quotes: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    share: float = 0.0
    contexts: tuple[str, ...] = ()


def findings(claims: Sequence[str], markdown: str, title: str) -> list[Finding]:
    """What the first MOST_CHARS of a page show of each claim."""
    passages = chunk(markdown[:MOST_CHARS], _PASSAGE_TOKENS)
    texts = [" ".join((*passage.section_path, passage.text)) for passage in passages]
    documents = tokens_of_each(texts)
    findings_of_claims: list[Finding] = []
    for claim in claims:
        scores = bm25(query_terms(claim), documents)
        best_first = sorted(range(len(passages)), key=lambda place: -scores[place])
        nearby = [passages[place] for place in best_first[:_MOST_PASSAGES]]
        headings = [" > ".join(passage.section_path) for passage in nearby]
        text = "\n\n".join(passage.text for passage in nearby)
        passage = Quotable.of(text, title, *headings)
        findings_of_claims.append(finding(claim, passage))
    return findings_of_claims


def finding(claim: str, passage: Quotable) -> Finding:
    """What a passage shows of a claim."""
    for quote in passage.quotes:
        if is_verbatim(claim, quote):
            return Finding("verbatim", (quote.shown,), share=1.0)
    near = nearest(claim, passage)
    shared = share(claim, near[:1], passage)
    if shared < LEAST_SHARE:
        return Finding("not_found")
    differing = tuple(differences(claim, near, passage))
    return Finding(
        "differs" if differing else "found",
        tuple(quote.shown for quote in near),
        differing,
        shared,
        tuple(quote.context for quote in near),
    )
