"""What a text can show for a claim or a question: passages, ranking, quotes, facts, citations; embedders and rerankers.

Everything but `embedders` is pure and deterministic: the same text and question give the same passages and quotes, in
time linear in the text. Positions are offsets in code points into the text that was given.

- `chunks` and `passages` cut a text, `sentences` finds those that could answer a question, `ranking` orders them,
  `selection` chooses the ones to quote.
- `citations` repairs the spans that an engine cites, `marks` shows them, `cited_sentences` gives the sentence of each, and
  `offsets` keeps them in place when the text is rewritten.
- `facts` reads the numbers, dates, units and names of a sentence, `quotes` finds the sentences nearest to a claim,
  `differences` compares its facts with theirs, `verdicts` says what a page shows of it.
- `embedders` turns texts into unit vectors, built in or by a server, and orders texts by a reranker. Their servers are
  strangers: they may be slow, wrong or down, and callers go on without them.
"""

from typing import TYPE_CHECKING

from websearch_gateway.faces import lazy

if TYPE_CHECKING:
    from websearch_gateway.evidence.chunks import (
        MAX_TITLE,
        PDF,
        Piece,
        at_page,
        chunk,
        page_of,
        pieces,
        window,
    )
    from websearch_gateway.evidence.citations import (
        by_page,
        in_code_points,
        repair,
        strip_markers,
        without_trackers,
    )
    from websearch_gateway.evidence.cited_sentences import snippets
    from websearch_gateway.evidence.embedders.choice import (
        open_embedder,
        open_reranker,
        usd_per_million_tokens,
    )
    from websearch_gateway.evidence.embedders.local import StaticEmbedder, encode
    from websearch_gateway.evidence.facts import UNIT_NAMES, Word, is_year, numerals, read
    from websearch_gateway.evidence.link_places import links
    from websearch_gateway.evidence.marks import Cited, linked, numbered, with_marks
    from websearch_gateway.evidence.offsets import Edit, moved, rewritten, without_pieces
    from websearch_gateway.evidence.passages import (
        ANSWERS,
        MOST_PASSAGES,
        bm25,
        cut_passages,
        fuse,
        ranked,
        score_passages,
        shown,
    )
    from websearch_gateway.evidence.quotes import Quotable, Quote, is_verbatim, nearest
    from websearch_gateway.evidence.ranking import Encode, Question, Ranked, rank
    from websearch_gateway.evidence.selection import choose, joined
    from websearch_gateway.evidence.sentences import PRONOUN, Candidate, Document, candidates
    from websearch_gateway.evidence.verdicts import Finding, findings, relied_on, support
else:
    __getattr__, __all__ = lazy(__spec__)
