"""Whether quotes from a page support a sentence, as far as that can be seen without a reader.

First the facts of the sentence are looked for in its quotes, and what decides its meaning in both; then a sentence that
nearly copies a quote is laid beside it, word by word. `docs/engines.md` says what is checked and what is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Literal

from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.facts import (
    DENIED,
    LINKS,
    NO_UNITS,
    OPPOSITES,
    UNITS,
    Quotable,
    Quote,
    Word,
    any_of,
    best_quotes,
    compared,
    is_rounding,
    is_small_number,
    is_verbatim,
    kind_of,
    names_of,
    read,
    same_number,
    unit_named,
)
from websearch_gateway.text.markdown import word_set
from websearch_gateway.text.passages import score_passages
from websearch_gateway.text.tokens import language_of, query_terms, stems

Support = Literal["verbatim", "paraphrase"]

LONGEST_SENTENCE = 600
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_SPEECH = re.compile(r"[\"“„«][^\"“”„«»]*[\"”“»]")
_OWN = re.compile(r"\b(?:i|we|you|my|our|your|me)\b(?!\.)", re.IGNORECASE)
_LINK = re.compile(r"https?://|www\.|\]\(|<[a-z/!]", re.IGNORECASE)

_SOURCE = r"(?:the|this|provided|in this|in the)\s+(?:provided\s+)?(?:passage|text|article|summary|source|document)s?\b"
_TALK = re.compile(
    rf"\W*(?:[\w' ]{{0,40}},\s*|it['’]s important to note that\s+)?{_SOURCE}(?!,|(?:\s+\w+)?\s+\w+\s+that\b)",
    re.IGNORECASE,
)
"""What only talks about the source."""
_REPORTS = re.compile(
    rf"(?:according to|based on|as (?:stated|mentioned|described) in)?\s*{_SOURCE}(?:\s+(?:also\s+)?\w+\s+that\b)?,?"
    r"|\A\W*it (?:also )?(?:mentions|notes|states|highlights|describes|adds)(?: that\b)?",
    re.IGNORECASE,
)
"""What a sentence may say before its claim: "the passage states that"."""


def is_claim(sentence: str) -> bool:
    """Whether a sentence claims something: not "Yes!", "Here is a summary:" or "The passage describes two things."."""
    return len(read(sentence)) > 1 and not sentence.rstrip().endswith((":", "：")) and not _TALK.match(sentence)


def support(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> Support | None:
    """How the quotes, which are some of the passage's, support the sentence."""
    if not quotes or not _is_statement(sentence, quotes):
        return None
    if any(is_verbatim(sentence, quote.text) for quote in quotes):
        return "verbatim"
    said, first = read(_REPORTS.sub("", sentence)), quotes[0]
    there = [word for quote in quotes for word in quote.words]
    is_refused = (
        not said
        or _missing_facts(said, there, passage)
        or _is_thin(sentence, said, quotes, passage)
        or _changes_meaning(sentence, said, quotes)
        or _speaks_otherwise(sentence, quotes, passage)
        or differences(sentence, first, passage)
    )
    return None if is_refused else "paraphrase"


def _is_statement(sentence: str, quotes: Sequence[Quote]) -> bool:
    texts = (sentence, *(quote.text for quote in quotes))
    asked = [text.rstrip(" \"'”’)").endswith(("?", "？", "؟")) for text in texts]
    if asked[0] or all(asked[1:]) or len(sentence) > LONGEST_SENTENCE or _LINK.search(sentence):
        return False
    if any(_RESPECTIVELY.search(text) for text in texts[:2]):
        return False
    return not _OWN.search(_SPEECH.sub("", sentence)) or any(_OWN.search(quote.text) for quote in quotes)


def _missing_facts(said: Sequence[Word], there: Sequence[Word], passage: Quotable) -> list[Word]:
    """The numbers and names that do not stand in the quotes, the headings or the question.

    A name may have another form there ("Canadian" for "Canada"). A small number in words may stand nowhere, unless the
    quotes count the same with another one. A number that counts what no quote has ("25 points") must count nothing else
    there.
    """
    known = passage.context.union(word.text for word in there)
    units = {unit_named(word.raw.lower()) for word in there if word.kind == "word"}
    counted = {after.text for one, after in pairwise(there) if one.kind == "number" and after.kind == "word"}
    names = names_of(said, passage)

    def is_held(place: int, word: Word) -> bool:
        if word.kind != "number":
            root = re.sub(r"(?:ese|ish|ians?|ans?|ern|ns?|i)$", "", word.text)
            is_form = len(root) >= 3 and any(one.startswith(root) and len(one) <= len(root) + 4 for one in known)
            return word.text in known or place not in names or is_form
        same = [other for other in there if other.kind == "number" and other.text == word.text]
        things = [one for one in said[place + 1 : place + 2] if one.raw.endswith("s") and not one.before]
        if any(one.text not in known for one in things) and any(
            other in same and any(one.raw.endswith("s") for one in there[at + 1 : at + 3])
            for at, other in enumerate(there)
        ):
            return False
        return (
            (is_small_number(word) and counted.isdisjoint(one.text for one in said[place + 1 :][:1]))
            or any(same_number(word, other) or (not other.unit and word.unit in units) for other in same)
            or (word.text in passage.context and word.unit in NO_UNITS)
        )

    return [word for place, word in enumerate(said) if not is_held(place, word)]


SHARE, SHARE_OF_SHORT, _SHORT = 0.55, 0.65, 5
"""The share of the content words of a sentence, and of one of up to five, that must stand in its quotes; facts count
double."""
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _is_thin(sentence: str, said: Sequence[Word], quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether too few of the words are known; small numbers do not count.

    A sentence in another language than its quote needs two facts instead. Not in German and in scripts without
    capitals, where names look like other words.
    """
    languages = {language_of(sentence), language_of(quotes[0].text)}
    if len(languages) == 2 and "de" not in languages and not _UNCASED.search(sentence):
        return sum(word.is_fact for word in said) < 2
    known = passage.context.union(word.text for quote in quotes for word in quote.words)
    weights = [(0 if is_small_number(word) else 1 + word.is_fact, word.text in known) for word in said]
    share = SHARE_OF_SHORT if len(said) <= _SHORT else SHARE
    return sum(weight for weight, held in weights if held) < share * sum(weight for weight, _ in weights)


def _ordinary(said: Sequence[Word], known: Collection[str], passage: Quotable) -> list[bool]:
    """Whether each word that is no fact is known."""
    names = names_of(said, passage)
    return [word.text in known for place, word in enumerate(said) if word.kind == "word" and place not in names]


def _rules(table: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """For each line what a text says with its first words, and these and the words that say as much or more."""
    return [
        (any_of(says), any_of(f"{says} {more}"))
        for says, _, more in (line.partition(":") for line in table.split("\n"))
    ]


_ADDED = _rules("""\
caus* because due_to: since as so after from reason* make made by give gives for led lead leads result* thanks
largest biggest smallest tallest highest lowest longest oldest youngest: most least record first top only
must require* obliged obligatory mandatory compulsory forced has_to have_to had_to: oblig* forc* ha*_to necess* bound \
need* only demand* shall should law
exactly precisely: exact* precis*""")
"""What a sentence may say only if one of its quotes says it: a cause, a superlative, a duty, exactness."""
_STRONG = word_set("all most only few half may")
"""So with the signs of a word: an amount, a doubt."""


_OPINION = "alleg* testif* claims claimed argues argued insist* believe* think* thought accus* suggest* speculat*"
_SAID = f"{_OPINION} say says said saying tells told according claim view opinion blam* warn* hopes hoped fear* argu*"
_LEFT_OUT = _rules(f"""\
{_OPINION}: {_SAID} attribut* predict* denies denied may might would could
if unless except provided as_long_as: only when must may might would could without should has_to have_to solely sole \
other_than alone where""")
"""What a sentence may not leave out of its quote, unless it has one of the other words: whose opinion, a condition."""


def _changes_meaning(sentence: str, said: Sequence[Word], quotes: Sequence[Quote]) -> bool:
    """Whether the sentence adds a denial, a doubt, a cause, a rank, a duty or an amount to its quotes, or leaves a
    denial, a condition or the speaker out of the first one.

    In another language than English it must deny what a quote denies. "Only four" says no more than "four".
    """
    first, mentioned = quotes[0], {word.text for word in said}
    is_english = language_of(sentence) == language_of(first.text) == "en"
    denies, denied = bool(DENIED.search(sentence)), any(DENIED.search(quote.text) for quote in quotes)
    lost = any("not" in word.signs for word in first.words if word.text in mentioned) or (denied and not is_english)
    signs = frozenset[str]().union(*(word.signs for quote in quotes for word in quote.words))
    return (
        (denies and not denied)
        or (lost and not denies)
        or any(word.signs & _STRONG - signs - ({"only"} if word.kind == "number" else set()) for word in said)
        or any(ours.search(sentence) and not any(theirs.search(q.text) for q in quotes) for ours, theirs in _ADDED)
        or (
            _coverage(said, first.words) >= 0.5
            and any(theirs.search(first.text) and not ours.search(sentence) for theirs, ours in _LEFT_OUT)
        )
    )


def _coverage(said: Sequence[Word], theirs: Sequence[Word]) -> float:
    there = {word.text for word in theirs}
    return sum(word.text in there for word in said) / max(1, len(said))


_SPEAKS = f"{_SAID} heard theor* rumor* rumour* legend myth dream* imagin* assert* doubt* suspect* wrote writes admit*"
_SAYS, _TELLS = any_of(_SPEAKS), any_of(f"{_SPEAKS} described called report* announc* state* den* cautioned urged")
"""What shows that somebody says or thinks it."""
_NAME = r"((?!(?:He|She|It|They|We|I|This|These|Who)\b)[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*)"
_SPEAKER = re.compile(
    rf"\b(?:[Aa]ccording to (?:the )?{_NAME}|[Ii]n (?:the )?{_NAME}['’]s? (?:view|opinion)|"
    rf"{_NAME}(?: (?:ha[sd]|have|also|later|then))* {_SAYS.pattern})"
)


def _speaks_otherwise(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether the sentence names a speaker who does not speak in the quotes or stand in the headings."""
    named = _SPEAKER.search(sentence)
    if named is None:
        return False
    speaker = re.sub(r"['’]s?$", "", next(filter(None, named.groups())).split()[-1].rstrip(".")).lower()
    speaks = re.compile(rf"(?<!\w){re.escape(speaker)}(?!\w)", re.IGNORECASE)
    is_heard = any(speaks.search(quote.text) and _TELLS.search(quote.text) for quote in quotes)
    return not is_heard and passage.context.isdisjoint(stems([speaker]))


NEAR_COPY = 0.8
"""The share of its ordinary words (no names, no numbers) that a near copy has from a quote; one may always differ."""
_NEAR_START = 3
"""A word of the quote so near to its start may be its subject."""
_WEAKER = word_set("some sometimes may plans believed would mainly nearly before after until since over under least")
_OMITTED = word_set("all only many some often mainly before after until since")
_PRONOUN = any_of("he she it they this these his her its their many both")


def differences(sentence: str, quote: Quote, passage: Quotable) -> set[str]:
    """How a sentence differs from a quote that it nearly copies; empty if it does not copy.

    The names of differences are `number`, `negation`, `operator`, `name`, `order`, `speaker` and `cell`.
    """
    said, theirs = read(sentence), quote.words
    there = {word.text for word in theirs}
    ordinary = _ordinary(said, there, passage)
    if ordinary.count(False) > max(1, (1 - NEAR_COPY) * len(ordinary)):
        return set()
    names, others = (names_of(some, passage) for some in (said, theirs))
    found: set[str] = set()
    at = place = 0
    for ours, other in compared(said, theirs):
        if [word.text for word in ours] == [word.text for word in other]:
            found |= _operators(ours, other)
        else:
            found |= _replaced(ours, other)
            new = {word.text for here, word in enumerate(ours, at) if here in names} - there
            # At the start a name may stand for the subject only if a heading or the question has it.
            is_subject = at == 0 and (0 < len(other) <= _NEAR_START or _PRONOUN.match(quote.text))
            if (new and not others.isdisjoint(range(place, place + len(other)))) or (
                is_subject and new - passage.context and not _PRONOUN.match(sentence)
            ):
                found.add("name")
        at, place = at + len(ours), place + len(other)
    heads, where = _heads(said, names), _heads(theirs, others)
    order = [where[name] for name in heads if name in where]
    seen = {
        "order": order != sorted(order),
        "negation": any(one.text == a and a not in there and b in there for one in said for a, b in OPPOSITES),
        "cell": _is_of_another_cell(said, quote),
        "speaker": not _TELLS.search(sentence) and _says_else(said, quote),
    }
    return found.union(one for one, differs in seen.items() if differs)


def _operators(said: Sequence[Word], theirs: Sequence[Word]) -> set[str]:
    found: set[str] = set()
    for word, match in zip(said, theirs, strict=True):
        more, less = word.signs - match.signs, match.signs - word.signs
        added, left_out = more - _WEAKER, less - _OMITTED
        if added or left_out or (more and less):
            found |= {"operator", "negation"} if "not" in added | left_out else {"operator"}
    return found


def _replaced(ours: Sequence[Word], other: Sequence[Word]) -> set[str]:
    """Whether a number, a unit or a denial stands in the place of another.

    A rounding and a number with another bound are no other number.
    """
    denied = [any("not" in word.signs or DENIED.search(word.raw) for word in some) for some in (ours, other)]
    units = [[word for word in some if word.raw.lower() in UNITS] for some in (ours, other)]
    is_other = any(
        kind_of(word) == kind_of(one) != ""
        and word.signs == one.signs
        and (kind_of(word) == "year" or not is_rounding(word.text, one.text))
        for word in ours
        for one in other
    )
    found = {"number"} if is_other or all(units) else set[str]()
    return found | {"negation"} if ours and len(other) <= 2 and denied == [False, True] else found


def _heads(some: Sequence[Word], names: Collection[int]) -> dict[str, int]:
    """The places of the first words of names, in order; not of those to which a preposition leads ("by Anna Berg")."""
    heads = (at for at in sorted(names) if some[at].before or at - 1 not in names)
    return {some[at].text: at for at in heads if LINKS.isdisjoint(some[at].before)}


def _says_else(said: Sequence[Word], quote: Quote) -> bool:
    """Whether the quote tells, before the words that it shares with the sentence or outside of quotation marks, that
    somebody says them."""
    spoken = _SPEECH.search(quote.text)
    if spoken and len(spoken[0]) > 20 and _coverage(said, read(spoken[0])) >= NEAR_COPY:
        return bool(_TELLS.search(_SPEECH.sub("", quote.text)))
    mentioned = {word.text for word in said}
    places = [at for at, word in enumerate(quote.words) if word.text in mentioned] or [0]
    before, behind = quote.words[: places[0]], quote.words[places[-1] :]
    return bool(_SAYS.search(" ".join(word.raw for word in before))) or any(word.text == "accord" for word in behind)


def _is_of_another_cell(said: Sequence[Word], quote: Quote) -> bool:
    """Whether a row's column is named, but its cell is not given, and that of a column that is not named is."""
    given = {word.text for word in said}
    cells = [tuple({word.text for word in read(text)} for text in pair) for pair in quote.cells[1:]]
    is_left_out = any(given & head and not facts <= given for head, facts in cells)
    return is_left_out and any(not given & head and given & facts for head, facts in cells)


MOST_CHARS = 200_000
"""The most characters of a page that are looked through."""
_PASSAGE_TOKENS, _MOST_PASSAGES = 256, 4


def judged(sentences: Sequence[str], markdown: str, title: str) -> list[tuple[str, str]]:
    """For each sentence `verbatim`, `paraphrase`, `contradicted` or `not_found`, and the page's words for it.

    The words are empty where nothing was found.
    """
    passages = chunk(markdown[:MOST_CHARS], _PASSAGE_TOKENS)
    found: list[tuple[str, str]] = []
    for sentence in sentences:
        scores = score_passages(query_terms(sentence), passages)
        best = sorted(range(len(passages)), key=lambda place: -scores[place])[:_MOST_PASSAGES]
        headings = [" > ".join(passages[place].section_path) for place in best]
        page = Quotable.of("\n\n".join(passages[place].text for place in best), title, *headings)
        quotes = best_quotes(sentence, page.quotes)
        if how := support(sentence, quotes, page):
            said = {word.text for word in read(sentence)} - page.context
            # The quote with most words of the sentence that the headings lack.
            telling = max(quotes, key=lambda quote: len(said.intersection(word.text for word in quote.words)))
            found.append((how, telling.shown))
        else:
            other = next((quote.shown for quote in page.quotes if contradicts(sentence, quote, page)), "")
            found.append(("contradicted" if other else "not_found", other))
    return found


_HEDGES = word_set(
    "about around approximately roughly some almost nearly up between more less may might could would should if unless"
)


def contradicts(claim: str, quote: Quote, passage: Quotable) -> bool:
    """Whether the quote says the same of the same subject with one other number or date, or denies it.

    All names and nearly all words of the claim must stand in the quote, and no condition or speaker around them.
    A rounded number and "over 300" for 330 contradict nothing.
    """
    said, theirs = read(_REPORTS.sub("", claim)), quote.words
    there = {word.text for word in theirs}
    if there.isdisjoint(word.text for word in said) or not _is_statement(claim, [quote]):
        return False
    if any(
        not _HEDGES.isdisjoint((*word.before, "" if word.is_fact else word.raw.lower())) for word in (*said, *theirs)
    ):
        return False
    if any(word.kind != "number" for word in _missing_facts(said, theirs, passage)):
        return False
    opposed = {one for one, other in OPPOSITES if other in there}
    ordinary = _ordinary(said, passage.context | there | opposed, passage)
    if ordinary.count(False) > (1 - NEAR_COPY) * len(ordinary) or sum(ordinary) + len(names_of(said, passage)) < 2:
        return False
    found, numbers = differences(claim, quote, passage), [word for word in said if word.kind == "number"]
    others = sum(not any(same_number(word, one) for one in theirs) for word in numbers)
    return found == {"number"} if others == 1 else not others and {"negation"} <= found <= {"negation", "operator"}
