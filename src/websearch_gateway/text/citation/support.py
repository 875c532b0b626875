"""Whether quotes from a page support a sentence, as far as that can be seen without a reader.

`docs/engines.md` says what is checked and what is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.citation.comparison import (
    NEAR_COPY,
    NO_UNITS,
    differences,
    is_opposed,
    is_other_number,
    names_of,
    same_number,
)
from websearch_gateway.text.citation.facts import DENIES, Word, read, stem_set, word_set
from websearch_gateway.text.citation.quotes import LEAST_WORDS, Quotable, Quote, best_quotes
from websearch_gateway.text.language import language_of
from websearch_gateway.text.numbers import unit_named
from websearch_gateway.text.passages import score_passages
from websearch_gateway.text.tokens import query_terms, words

Support = Literal["verbatim", "paraphrase"]

LONGEST_SENTENCE = 600
SHARE = 0.55
"""The share of the content words of a sentence that must stand in its quotes. Facts count double."""

_EDGES = frozenset(",;:.!?()，；：。！？（）")
_TOKENS = re.compile(r"(?:(?<!\w)[-\u2212](?=\d))?\w+(?:['’.,]\w+)*|[,;:.!?()，；：。！？（）]")
_CHANGES = re.compile(
    r"\b(?:if|unless|provided|except|as long as|but|not|although|though|when|until|according to|sa(?:y|ys|id)|told|"
    r"tells|claim(?:s|ed)?|argue[sd]?|believe[sd]?|suggest(?:s|ed)?|accuse[sd]?|rumou?rs?|dream\w*|imagin\w+)\b",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:about|around|approximately|roughly|some|almost|nearly|up to|between|circa|ca|or (?:more|less))\b|~|≈|"
    r"\b(?:(?-i:may)|might|could|would|should|if|unless)\b",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|we|you|my|our|your|me)\b(?!\.)", re.IGNORECASE)
_LINK = re.compile(r"https?://|www\.|\]\(|<[a-z/!]", re.IGNORECASE)
_QUESTION = re.compile(r"[?？؟][\s\"'”’)\]]{0,3}\Z")
_SOURCE = r"(?:the|this|provided|in this|in the)\s+(?:provided\s+)?(?:passage|text|article|summary|source|document)s?\b"
_TALK = re.compile(
    rf"\W*(?:[\w' ]{{0,40}},\s*|it['’]s important to note that\s+)?{_SOURCE}(?!,|(?:\s+\w+)?\s+\w+\s+that\b)",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    rf"(?:according to|based on|as (?:stated|mentioned|described) in)?\s*{_SOURCE}(?:\s+(?:also\s+)?\w+\s+that\b)?,?",
    re.IGNORECASE,
)
_SMALL = word_set(
    "two three four five six seven eight nine ten first third fourth fifth sixth seventh eighth ninth tenth"
)
_LEAST_FACTS = 2
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STRONG = frozenset(("all", "most", "only", "few", "half"))
_REFUSALS = stem_set(
    "refused declined prohibited banned forbade forbidden lacks failed denied rejected prevented stopped excluded "
    "avoided abstain ended banished unlike impossible unable unresponsive absent hardly"
)
"""What one writer says with these words another one says with "not"."""
_DEMONYM = re.compile(r"(?:ese|ish|ians?|ans?|ern|ns?|i)$")


def is_claim(sentence: str) -> bool:
    """Whether a sentence claims something: not "Yes!", "Here is a summary:" or "The passage describes two things."."""
    return len(read(sentence)) > 1 and not sentence.rstrip().endswith((":", "：")) and not _TALK.match(sentence)


def support(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> Support | None:
    """How the quotes, which are some of the passage's, support the sentence."""
    if not quotes or not _is_statement(sentence, quotes):
        return None
    if any(is_verbatim(sentence, quote.text) for quote in quotes):
        return "verbatim"
    if any(_RESPECTIVELY.search(text) for text in (sentence, quotes[0].text)):
        return None
    if _denies_otherwise(sentence, quotes):
        return None
    said = _without_source(sentence)
    there = [word for quote in quotes for word in quote.words]
    if not said or _missing_facts(said, there, passage):
        return None
    signs = frozenset[str]().union(*(word.signs for word in there))
    if any(word.signs & _STRONG - signs for word in said) or _is_denied_alone(said, there, signs):
        return None
    known = passage.context.union(word.text for word in there)
    if _share(said, known) < SHARE and not _is_foreign(sentence, quotes[0], said):
        return None
    return None if differences(sentence, quotes[0], passage) else "paraphrase"


def is_verbatim(sentence: str, quote: str) -> bool:
    """Whether the words of the sentence are a run of the quote's, and nothing beside them changes their meaning.

    The run begins where the quote begins, and ends where a part of the quote ends that no condition, denial or speaker
    follows. A question makes no statement.
    """
    said, theirs = _tokens(sentence), _tokens(quote)
    if len(words(sentence)) < LEAST_WORDS or theirs[-1:] == ["?"]:
        return False
    said = said[:-1] if said[-1] in _EDGES else said
    behind = theirs[len(said) :]
    return theirs[: len(said)] == said and (not behind or behind[0] in _EDGES) and not _CHANGES.search(" ".join(behind))


def _is_statement(sentence: str, quotes: Sequence[Quote]) -> bool:
    if (
        len(sentence) > LONGEST_SENTENCE
        or sentence.rstrip(" \"'”’)").endswith(("?", "？", "؟"))
        or _LINK.search(sentence)
    ):
        return False
    asked = all(quote.text.rstrip().endswith(("?", "？", "؟")) for quote in quotes)
    return not asked and (not _OWN.search(sentence) or any(_OWN.search(quote.text) for quote in quotes))


def _without_source(sentence: str) -> tuple[Word, ...]:
    """The words of a sentence without "the passage states that"."""
    return read(_REPORTS.sub("", sentence))


def _share(said: Sequence[Word], known: Collection[str]) -> float:
    """The share of the words that are known; facts count double, and small numbers not at all."""
    weights = [(0 if _is_small_number(word) else 1 + word.is_fact, word.text in known) for word in said]
    return sum(weight for weight, held in weights if held) / max(1, sum(weight for weight, _ in weights))


def _denies_otherwise(sentence: str, quotes: Sequence[Quote]) -> bool:
    """Whether only one side denies something; of two English sentences, `differences` knows what is denied."""
    if language_of(sentence) == language_of(quotes[0].text) == "en":
        return False
    return bool(DENIES.search(sentence)) != any(DENIES.search(quote.text) for quote in quotes)


def _is_denied_alone(said: Sequence[Word], there: Sequence[Word], signs: Collection[str]) -> bool:
    """Whether only the sentence denies something, and no word of the quotes refuses or lacks it."""
    if "not" in signs or not any("not" in word.signs for word in said):
        return False
    return _REFUSALS.isdisjoint(word.text for word in (*said, *there))


def _is_foreign(sentence: str, quote: Quote, said: Sequence[Word]) -> bool:
    """Whether a sentence in another language than its quote has enough facts to be recognised.

    Not in German and in scripts without capitals, where names look like other words.
    """
    language, theirs = language_of(sentence), language_of(quote.text)
    if theirs in ("de", language) or language == "de" or _UNCASED.search(sentence):
        return False
    return sum(word.is_fact for word in said) >= _LEAST_FACTS


def _is_small_number(word: Word) -> bool:
    return word.kind == "number" and word.raw.lower() in _SMALL


def _missing_facts(said: Sequence[Word], there: Sequence[Word], passage: Quotable) -> list[Word]:
    """The numbers and names that do not stand in the quotes, the headings or the question."""
    known = passage.context.union(word.text for word in there)
    numbers = [word for word in there if word.kind == "number"]
    units = {unit_named(word.raw.lower()) for word in there if word.kind == "word"}
    names = names_of(said, passage)

    def is_held(place: int, word: Word) -> bool:
        if word.kind == "number":
            same = [other for other in numbers if other.text == word.text]
            return (
                (_is_small_number(word) and (bool(same) or not _is_counted_otherwise(said, place, there)))
                or any(same_number(word, other) or (not other.unit and word.unit in units) for other in same)
                or (word.text in passage.context and word.unit in NO_UNITS)
            )
        is_measure = "per" in word.links
        return word.text in known or not (is_measure or place in names) or (not is_measure and _has_form(word, known))

    return [word for place, word in enumerate(said) if not is_held(place, word)]


def _is_counted_otherwise(said: Sequence[Word], place: int, there: Sequence[Word]) -> bool:
    """Whether another number stands before the same word: "three lanes" for "four lanes"."""
    counted = {word.text for word in said[place + 1 : place + 2] if word.kind == "word"}
    return any(one.kind == "number" and after.text in counted for one, after in pairwise(there))


def _has_form(word: Word, known: Collection[str]) -> bool:
    """Whether another form of a name is known: "Canadian" for "Canada", "TV" for "television"."""
    root = _DEMONYM.sub("", word.text)
    if len(root) < 3:
        return False
    return any(
        one.startswith(root)
        and len(one) <= len(root) + 4
        and (one == root or root != word.text or _DEMONYM.search(one))
        for one in known
    )


def _tokens(text: str) -> list[str]:
    return [one.lower() for one in _TOKENS.findall(text.replace("’", "'"))]


MOST_CHARS = 200_000
"""The most characters of a page that are looked through."""

_PASSAGE_TOKENS = 256
_MOST_PASSAGES = 4


def verdicts(sentences: Sequence[str], markdown: str, title: str) -> list[tuple[str, str]]:
    """For each sentence `verbatim`, `paraphrase` or `not_found`, and the page's words for it; empty for the last."""
    found = []
    for sentence, page, quotes in _quoted(sentences, markdown, title):
        how = support(sentence, quotes, page)
        found.append((how, _telling(sentence, quotes, page).shown) if how else ("not_found", ""))
    return found


def judged(claims: Sequence[str], markdown: str, title: str) -> list[tuple[str, str]]:
    """For each claim `supported`, `contradicted` or `not_found`, and the page's words for it; empty for the last."""
    found = []
    for claim, page, quotes in _quoted(claims, markdown, title):
        if is_claim(claim) and support(claim, quotes, page):
            found.append(("supported", _telling(claim, quotes, page).shown))
        else:
            other = next((quote.shown for quote in page.quotes if contradicts(claim, quote, page)), "")
            found.append(("contradicted" if other else "not_found", other))
    return found


def contradicts(claim: str, quote: Quote, passage: Quotable) -> bool:
    """Whether the quote says the same of the same subject with one other number or date, or denies it.

    All names and nearly all words of the claim must stand in the quote, and no condition or speaker around them.
    A rounded number and "over 300" for 330 contradict nothing.
    """
    said, theirs = _without_source(claim), quote.words
    if {word.text for word in said}.isdisjoint(word.text for word in theirs) or not _is_statement(claim, [quote]):
        return False
    if any(_HEDGES.search(text) for text in (claim, quote.text)):
        return False
    numbers = [word for word in theirs if word.kind == "number"]
    others = [word for word in said if word.kind == "number" and not any(same_number(word, one) for one in numbers)]
    if any(word.kind != "number" for word in _missing_facts(said, theirs, passage)):
        return False
    known = passage.context.union(word.text for word in theirs)
    ordinary = [word.text in known for word in said if word.kind == "word" and not is_opposed(word, theirs)]
    if ordinary.count(False) > (1 - NEAR_COPY) * len(ordinary) or sum(ordinary) + len(names_of(said, passage)) < 2:
        return False
    found = differences(claim, quote, passage)
    if not others:
        return "negation" in found and found <= {"negation", "operator"}
    return len(others) == 1 and found <= {"number"} and is_other_number(others[0], said, theirs)


def _quoted(sentences: Sequence[str], markdown: str, title: str) -> Iterator[tuple[str, Quotable, list[Quote]]]:
    """Each sentence with the part of the page that is likely to say it, and its best quotes there."""
    passages = chunk(markdown[:MOST_CHARS], _PASSAGE_TOKENS)
    for sentence in sentences:
        scores = score_passages(query_terms(sentence), passages)
        best = sorted(range(len(passages)), key=lambda place: -scores[place])[:_MOST_PASSAGES]
        headings = [" > ".join(passages[place].section_path) for place in best]
        page = Quotable.of("\n\n".join(passages[place].text for place in best), title, *headings)
        yield sentence, page, best_quotes(sentence, page.quotes)


def _telling(sentence: str, quotes: Sequence[Quote], page: Quotable) -> Quote:
    """The quote with most words of the sentence that the headings lack."""
    said = {word.text for word in read(sentence)} - page.context
    return max(quotes, key=lambda quote: len(said.intersection(word.text for word in quote.words)))
