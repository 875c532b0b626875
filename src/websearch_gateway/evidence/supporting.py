"""Whether quotes from a page support a sentence, as far as that can be seen without a reader.

First the facts of the sentence are looked for in its quotes, and what decides its meaning in both; then a sentence that
nearly copies a quote is laid beside it, word by word. `docs/engines.md` says what is checked and what is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Literal

from websearch_gateway.base import language_of, query_terms, stems, word_set
from websearch_gateway.evidence.chunks import chunk
from websearch_gateway.evidence.facts import (
    DENIED,
    LINKS,
    MOST_QUOTES,
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
    parts_of,
    read,
    same_number,
    unit_named,
    unmatched,
)
from websearch_gateway.evidence.passages import score_passages

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
        or _is_taken_from_elsewhere(said, quotes, passage)
        or (len(said) <= _LONGEST_BOUND and _is_bound_otherwise(said, names_of(said, passage), quotes))
        or any(_is_end_of_range(said, quote.words) or _turns_around(said, quote.words) for quote in quotes)
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
        places = [at for at, other in enumerate(there) if other.kind == "number" and other.text == word.text]
        same, behind = [there[at] for at in places], said[place + 1 : place + 2]
        is_counting = any(one.raw.endswith("s") and LINKS.isdisjoint(one.before) for one in behind)
        if word.unit in NO_UNITS and is_counting and behind[0].text not in known:
            things = [one for at in places for one in there[at + 1 : at + 3] if one.raw.endswith("s")]
            if things or any(other.unit not in NO_UNITS for other in same):
                return False
        return (
            (is_small_number(word) and counted.isdisjoint(one.text for one in behind))
            or any(same_number(word, other) or (not other.unit and word.unit in units) for other in same)
            or (word.text in passage.context and word.unit in NO_UNITS)
        )

    return [word for place, word in enumerate(said) if not is_held(place, word)]


SHARE, SHARE_OF_SHORT, SHARE_OF_ORDINARY, _SHORT = 0.5, 0.65, 0.25, 5
"""The share of the content words of a sentence, and of one of up to five, that must stand in its quotes, where facts
count double; and of its words that are no facts."""
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _is_thin(sentence: str, said: Sequence[Word], quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether too few of the words are known.

    A sentence in another language than its quote needs two facts instead. Not in German and in scripts without
    capitals, where names look like other words.
    """
    languages = {language_of(sentence), language_of(quotes[0].text)}
    if len(languages) == 2 and "de" not in languages and not _UNCASED.search(sentence):
        return sum(word.is_fact for word in said) < 2
    known = passage.context.union(word.text for quote in quotes for word in quote.words)
    ordinary = _ordinary(said, known, passage)
    share = SHARE_OF_SHORT if len(said) <= _SHORT else SHARE
    held = sum(1 + word.is_fact for word in said if word.text in known)
    return held < share * sum(1 + word.is_fact for word in said) or (
        len(ordinary) > 2 and sum(ordinary) < SHARE_OF_ORDINARY * len(ordinary)
    )


def _ordinary(said: Sequence[Word], known: Collection[str], passage: Quotable) -> list[bool]:
    """Whether each word that is no fact is known."""
    names = names_of(said, passage)
    return [word.text in known for place, word in enumerate(said) if word.kind == "word" and place not in names]


def _rules(table: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """For each line what a text says with its first words, and these and the words that say as much or more."""
    return [
        (any_of(says), any_of(f"{says} {more}"))
        for says, _, more in (line.partition(": ") for line in table.split("\n"))
    ]


_ADDED = _rules("""\
caus* because due_to: since as so after from reason* make made by give gives for led lead leads result* thanks
(?!(?:for|inter|requ|harv|prot|cont|sugg|hon|mod|arr)est\\b)\\w{3,}est: most least worst record first top max* min*
must require* obliged obligatory mandatory compulsory forced has_to have_to had_to: oblig* forc* ha*_to necess* bound \
need* only demand* shall should law
exactly precisely: exact* precis*""")
"""What a sentence may say only if one of its quotes says it: a cause, a superlative, a duty, exactness."""
_STRONG = word_set("all most only half may")
"""So with the signs of a word: an amount, a doubt."""


_OPINION = "alleg* testif* claims claimed argues argued insist* believe* think* thought accus* suggest* speculat*"
_SAID = f"{_OPINION} say says said saying tells told according claim view opinion blam* warn* hopes hoped fear* argu*"
_LEFT_OUT = _rules(f"""\
{_OPINION}: {_SAID} attribut* predict* denies denied may might would could
if unless except provided as_long_as: only when must may might would could without should has_to have_to solely sole \
other_than alone where""")
"""What a sentence may not leave out of its quote, unless it has one of the other words: whose opinion, a condition."""

_LOST = {
    "not": DENIED,
    "oneof": any_of("one_of among some several a an"),
    "may": any_of(
        "may might can could would perhaps possibl* probabl* potential* likely if believ* think* thought suggest* "
        "expect* plan* hop* chance option"
    ),
}
"""Signs of a word that a sentence may not lose, unless it has one of the other words: a denial, "one of", a doubt."""


def _changes_meaning(sentence: str, said: Sequence[Word], quotes: Sequence[Quote]) -> bool:
    """Whether the sentence adds a denial, a doubt, a cause, a rank, a duty or an amount to its quotes, or leaves a
    denial, a condition or the speaker out of the first one.

    In another language than English it must deny what a quote denies. "Only four" says no more than "four".
    """
    first, mentioned = quotes[0], {word.text for word in said}
    is_english = language_of(sentence) == language_of(first.text) == "en"
    denies, denied = bool(DENIED.search(sentence)), any(DENIED.search(quote.text) for quote in quotes)
    lost = frozenset[str]().union(*(word.signs for word in first.words if word.text in mentioned))
    signs = frozenset[str]().union(*(word.signs for quote in quotes for word in quote.words))
    return (
        (denies and not denied)
        or (denied and not is_english and not denies)
        or any(sign in lost and not ours.search(sentence) for sign, ours in _LOST.items())
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
    said = rf"(?<!\w){re.escape(speaker)}(?!\w)"
    speaks = re.compile(rf"{said}[^.;!?]{{0,50}}{_TELLS.pattern}|{_TELLS.pattern}[^.;!?]*?{said}", re.IGNORECASE)
    is_heard = any(speaks.search(quote.text) for quote in quotes)
    return not is_heard and passage.context.isdisjoint(stems([speaker]))


_ANAPHOR = any_of("he she it they them him his her hers its their this these that those such")
"""A word for what another sentence names."""
_ONE_FACT = 8
"""The content words of a sentence that hardly states two facts."""


def _is_taken_from_elsewhere(said: Sequence[Word], quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether a word of the sentence stands in the passage, but in none of its quotes.

    What a pronoun of a quote means may stand in the two sentences before it.
    """
    if len(quotes) >= MOST_QUOTES:
        return False
    near = set(quotes)
    for place, quote in enumerate(passage.quotes):
        if quote in quotes and _ANAPHOR.search(quote.text):
            near.update(passage.quotes[max(0, place - 2) : place])
    known = passage.context.union(word.text for quote in near for word in quote.words)
    elsewhere = {word.text for quote in passage.quotes for word in quote.words} - known
    taken = [word for word in said if word.text in elsewhere and not is_small_number(word)]
    return len(taken) >= (1 if len(said) <= _ONE_FACT else 2)


_LONGEST_BOUND = 7
"""The most content words of a sentence whose facts are looked for in one part of a quote; longer ones join parts."""


def _is_bound_otherwise(said: Sequence[Word], names: Collection[int], quotes: Sequence[Quote]) -> bool:
    """Whether another number or name, which the sentence lacks, stands among more of its words than one of its own.

    "Joel Pike urged visitors" where Lena Brandt urged them, and Joel Pike praised a museum.
    """
    mentioned = {word.text for word in said}
    parts = [part for quote in quotes for part in ([quote.words] if quote.cells else parts_of(quote.words))]
    for place, fact in enumerate(said):
        kind = "number" if fact.kind == "number" else "name"
        if is_small_number(fact) or (kind == "name" and place not in names):
            continue
        alike = names if kind == "name" else {at for at, word in enumerate(said) if word.kind == "number"}
        others = {word.text for at, word in enumerate(said) if at not in alike}
        own, rivals = [], [(0, False)]
        for part in parts:
            shared = others.intersection(word.text for word in part)
            fit = (len(shared), len(said) <= _SHORT and said[0].text in shared)
            if any(word.text == fact.text for word in part):
                own.append(fit)
            elif any(
                word.kind == kind and kind_of(word) == kind_of(fact) and word.text not in mentioned for word in part
            ):
                rivals.append(fit)
        if own and max(rivals) > max(own):
            return True
    return False


def _is_end_of_range(said: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether one end of a range stands for the whole: "in 1887" for "from 1887 to 1889"."""
    numbers = {word.text: word for word in said if word.kind == "number"}
    ranges = [
        numbers.keys() & {one.text, other.text}
        for one, other in pairwise(theirs)
        if kind_of(one) == kind_of(other) != "" and "to" in other.before and one.text != other.text
    ]
    ends = [numbers[text] for given in ranges if len(given) == 1 for text in given]
    return any(not end.signs and end.before.isdisjoint(("from", "to", "between")) for end in ends)


def _turns_around(said: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether what stands before and behind "than" has changed places."""
    sides: list[set[str]] = []
    for some in (said, theirs):
        place = next((at for at, word in enumerate(some) if "than" in word.before), len(some))
        sides += [{word.text for word in part} for part in (some[:place], some[place : place + 3])]
    before, behind, earlier, later = sides
    return bool((behind - later) & earlier and (later - behind) & before)


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
            # A name that the quote has elsewhere is new where it became the subject.
            new = {
                word.text for here, word in enumerate(ours, at) if here in names and not (here and word.text in there)
            }
            # At the start a name may stand for the subject only if a heading or the question has it.
            is_subject = at == 0 and (0 < len(other) <= _NEAR_START or _PRONOUN.match(quote.text))
            if (new and not others.isdisjoint(range(place, place + len(other)))) or (
                is_subject and new - passage.context and not _PRONOUN.match(sentence)
            ):
                found.add("name")
        at, place = at + len(ours), place + len(other)
    heads, where = _heads(said, names), _heads(theirs, others)
    order = [where[name] for name in heads if name in where]
    is_passive = [any("by" in word.before for word in some) for some in (said, theirs)]
    seen = {
        "number": any(
            word.text == one.text or kind_of(word) == kind_of(one)
            for word in unmatched(said, theirs)
            for one in unmatched(theirs, said)
        ),
        "order": is_passive[0] == is_passive[1] and order != sorted(order),
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
    """Whether a unit stands in the place of another, or something else in that of a denial."""
    denied = [any("not" in word.signs or DENIED.search(word.raw) for word in some) for some in (ours, other)]
    units = [any(word.raw.lower() in UNITS for word in some) for some in (ours, other)]
    found = {"number"} if all(units) else set[str]()
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
    before, behind = (
        " ".join(word.raw for word in some) for some in (quote.words[: places[0]], quote.words[places[-1] :])
    )
    return bool(_SAYS.search(before)) or "according" in behind.lower()


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


_HEDGES = any_of(
    "about around approximately roughly some almost nearly up_to between or_more or_less circa ca might could would "
    "should if unless"
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
    if any(_HEDGES.search(text) for text in (claim, quote.text)) or any("may" in word.signs for word in theirs):
        return False
    if any(word.kind != "number" for word in _missing_facts(said, theirs, passage)):
        return False
    opposed = {one for one, other in OPPOSITES if other in there}
    ordinary = _ordinary(said, passage.context | there | opposed, passage)
    if ordinary.count(False) > (1 - NEAR_COPY) * len(ordinary) or sum(ordinary) + len(names_of(said, passage)) < 2:
        return False
    found, others = differences(claim, quote, passage), unmatched(said, theirs)
    if not others:
        return {"negation"} <= found <= {"negation", "operator"}
    return (
        len(others) == 1
        and found == {"number"}
        and any(
            kind_of(one) == kind_of(others[0])
            and one.signs == others[0].signs
            and (kind_of(one) == "year" or not is_rounding(one.text, others[0].text))
            for one in unmatched(theirs, said)
        )
    )
