"""Orders the sentences for a question in a language other than English, and decides whether the best answers it."""

from __future__ import annotations

from collections.abc import Sequence

from websearch_gateway.text.retrieval.candidates import Candidate
from websearch_gateway.text.retrieval.multilingual.letters import likeness
from websearch_gateway.text.retrieval.multilingual.scores import answers, gate_values, score, signals, weights
from websearch_gateway.text.retrieval.question import Features, Question
from websearch_gateway.text.retrieval.reranking import Reranked

_ALWAYS_FOUND = frozenset(("number", "date"))
"""Kinds whose patterns miss hardly any answer."""


def ranked_by_letters(question: Question, found: Sequence[Candidate], features: Sequence[Features]) -> Reranked:
    """The sentences that share letters with the question, best first, and whether the best probably answers it."""
    alike = likeness(question.text, found)
    every = signals(question.kind.name if question.kind else None, features, alike)
    weighed = weights(question.language)
    scores = {at: score(one, weighed) for at, one in enumerate(every)}
    order = sorted((at for at in scores if alike[at].shared > 0), key=lambda at: -scores[at])
    if not order:
        return Reranked((), scores, False)
    if question.kind and question.kind.name in _ALWAYS_FOUND and not any(one.kind > 0 for one in features):
        return Reranked(order, scores, False)
    values = gate_values(every, every[order[0]], scores[order[0]])
    return Reranked(order, scores, answers(question.language, values))
