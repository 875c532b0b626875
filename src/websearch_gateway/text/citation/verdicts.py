"""Whether a page says what a sentence says: the best passages of the page, their best quotes, and the check."""

from __future__ import annotations

from collections.abc import Sequence

from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.citation.facts import read
from websearch_gateway.text.citation.quotes import Quotable, best_quotes
from websearch_gateway.text.citation.support import support
from websearch_gateway.text.rank import score_passages
from websearch_gateway.text.tokens import query_terms

MOST_CHARS = 200_000
"""The most characters of a page that are looked through."""

_PASSAGE_TOKENS = 256
_MOST_PASSAGES = 4


def verdicts(sentences: Sequence[str], markdown: str, title: str) -> list[tuple[str, str]]:
    """For each sentence `verbatim`, `paraphrase` or `not_found`, and the page's words for it; empty for the last."""
    passages = chunk(markdown[:MOST_CHARS], _PASSAGE_TOKENS)
    found = []
    for sentence in sentences:
        scores = score_passages(query_terms(sentence), passages)
        best = sorted(range(len(passages)), key=lambda place: -scores[place])[:_MOST_PASSAGES]
        headings = [" > ".join(passages[place].section_path) for place in best]
        page = Quotable.of("\n\n".join(passages[place].text for place in best), title, *headings)
        quotes = best_quotes(sentence, page.quotes)
        how = support(sentence, quotes, page)
        said = {word.text for word in read(sentence)} - page.context
        telling = sorted(quotes, key=lambda quote: -len(said.intersection(word.text for word in quote.words)))
        found.append((how, telling[0].shown) if how else ("not_found", ""))
    return found
