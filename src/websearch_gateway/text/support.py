"""Whether quotes from a page support a sentence, as far as that can be seen without a reader.

First the facts of the sentence are looked for in its quotes; then a sentence that nearly copies a quote is compared
with it word by word. `docs/engines.md` says what is checked and what is not.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Literal

from websearch_gateway.text.chunk import chunk
from websearch_gateway.text.facts import (
    DENIED,
    DENIES,
    MOST_QUOTES,
    NO_UNITS,
    OPPOSITES,
    UNITS,
    Chain,
    Quotable,
    Quote,
    Word,
    any_of,
    best_quotes,
    chain_of,
    is_rounding,
    is_small_number,
    is_verbatim,
    kind_of,
    names_of,
    read,
    same_number,
    stem_set,
    unit_named,
    unmatched,
)
from websearch_gateway.text.markdown import word_set
from websearch_gateway.text.passages import score_passages
from websearch_gateway.text.tokens import language_of, query_terms, stems

_DOUBTS = "might could perhaps possibl* probabl*"
_CONDITIONS = "if unless except provided as_long_as"
_OPINIONS = (
    "alleg* testif* claims claimed argues argued insist* believe believes believed think thinks thought accus* "
    "suggests suggested speculat*"
)
_HOPES = "likely potential* if believ* think* suggest* expect* plan* hop*"

_ADDED = (
    (DENIED, DENIED),
    (re.compile(rf"\bmay\b|(?i:{any_of(_DOUBTS).pattern})"), any_of(f"{_DOUBTS} may can would {_HOPES} allow*")),
    (
        any_of("caus* because due_to"),
        any_of(
            "caus* because due since as so after from reason* make made by give gives for led lead leads result* thanks"
        ),
    ),
    (
        re.compile(r"\b(?!(?:for|inter|requ|harv|prot|cont|sugg|hon|mod|arr)est\b)[a-z]{3,}est\b"),
        re.compile(rf"\w{{3}}est\b|{any_of('most least best worst record first top only max* min*').pattern}", re.I),
    ),
    (
        any_of("must require* obliged obligatory mandatory compulsory forced has_to have_to had_to"),
        any_of(
            "must require* oblig* mandatory compulsory forc* ha*_to necess* bound need* only demand* shall should law"
        ),
    ),
    (any_of("exactly precisely"), any_of("exact* precis*")),
)
"""What a sentence may say only if one of its quotes says it: a denial, a doubt, a cause, a superlative, a duty."""

_LEFT_OUT = (
    (
        any_of(_OPINIONS),
        any_of(
            f"{_OPINIONS} blam* attribut* warn* predict* say says said told according_to denies denied hopes hoped "
            "fear* view opinion may might would could claim* argu*"
        ),
    ),
    (
        any_of(_CONDITIONS),
        any_of(
            f"{_CONDITIONS} only when must may might would could without should has_to have_to solely sole other_than "
            "alone where"
        ),
    ),
)
"""What a sentence may not leave out of its quote, unless it has one of the other words: whose opinion, a condition."""

_LOST = {
    "not": DENIED,
    "oneof": any_of("one_of among some several a an"),
    "may": any_of(f"{_DOUBTS} may can would {_HOPES} thought chance option"),
}
"""Signs of a word that a sentence may not lose, unless it has one of the other words: a denial, "one of", a doubt."""


_SPEAKERS = stem_set(
    "says said saying tells told claim heard blamed accused argued theory theorized rumour rumor legend myth "
    "dream dreamed imagined asserted suggested according think thought believe believed hope fear doubt suspect"
)
_TOLD = _SPEAKERS | stem_set("described called reported announced stated blamed warned denied cautioned admitted urged")
"""What shows that a sentence reports what somebody says."""

_SPEECH = re.compile(
    r"[\"“„«]\s*([^\"“”„«»]{20,})[\"”“»][,.]?\s*[^\"“”„«»]{0,60}?"
    r"\b(?:sa(?:id|ys)|told|tells|add(?:ed|s)|expla(?:ined|ins)|wr(?:ote|ites)|recall(?:ed|s)|tweeted|insist(?:ed|s))\b"
)
"""What somebody says, between quotation marks."""

_NAME = r"(?!(?:He|She|It|They|We|I|This|These|Who)\b)[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*"
# What also says other things ("Kubernetes adds a label", "Redis states are kept") is speech only where words follow it.
_SAYS = (
    r"(?:sa(?:ys?|id|ying)|t(?:old|ells?)|claim(?:s|ed)|argue[sd]?|insist(?:s|ed)|warn(?:s|ed)|believe[sd]|thinks?|"
    r"thought|wr(?:ites|ote)|admit(?:s|ted)|according to|"
    r"(?:add(?:s|ed)|state[sd]|suggest(?:s|ed)|expla(?:ins|ined))(?=,|:| that\b| [\"“„«]))"
)
_SAYING = re.compile(rf"\b(?:{_SAYS}|view|opinion)\b[^.;!?]*", re.IGNORECASE)
"""A verb of saying, with what follows it in its clause."""
_SPEAKER = re.compile(
    rf"\b(?:[Aa]ccording to (?:the )?({_NAME})|[Ii]n (?:the )?({_NAME})['’]s? (?:view|opinion)|"
    rf"({_NAME})(?: (?:has|had|have|also|later|then))* {_SAYS})"
)

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

_HEDGES = re.compile(
    r"\b(?:about|around|approximately|roughly|some|almost|nearly|up to|between|circa|ca|or (?:more|less))\b|~|≈|"
    r"\b(?:(?-i:may)|might|could|would|should|if|unless)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\W*(?:(?:later|then|also|today|however|in addition),?\s+)?"
    r"(?:he|she|it|they|this|these|his|her|its|their|many|both)\b",
    re.IGNORECASE,
)
"""A pronoun at the start."""
_ANAPHOR = any_of("he she it they them him his her hers its their this these that those such")
"""A word for what another sentence names."""


Support = Literal["verbatim", "paraphrase"]
Difference = Literal["number", "negation", "operator", "name", "order", "speaker", "cell"]

LONGEST_SENTENCE = 600
NEAR_COPY = 0.8
"""The share of its ordinary words (no names, no numbers) that a near copy has from a quote; one may always differ."""
SHARE, SHARE_OF_LONG, SHARE_OF_ORDINARY = 0.65, 0.5, 0.25
"""The share of the content words of a short and a long sentence that must stand in its quotes, where facts count
double; and of its words that are no facts."""
_SHORT, _OF_ONE_FACT, _FEW = 5, 8, 3
"""The content words of a short sentence and of one that hardly states two facts; the fewest words that are no facts and
of which a share must be known."""
_WINDOW = 3

_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_SAID = re.compile(r"[\"“„«][^\"“”„«»]*[\"”“»]")
_OWN = re.compile(r"\b(?:i|we|you|my|our|your|me)\b(?!\.)", re.IGNORECASE)
_LINK = re.compile(r"https?://|www\.|\]\(|<[a-z/!]", re.IGNORECASE)
_UNCASED = re.compile(r"[\u0590-\u0dff\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DEMONYM = re.compile(r"(?:ese|ish|ians?|ans?|ern|ns?|i)$")
_STRONG = word_set("all most only few half")
_WEAKER = word_set("some sometimes may plans believed would mainly")
_OMITTED = word_set("all only many some often mainly")
_PLACES = word_set("in of at on from")


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
    known = passage.context.union(word.text for word in there)
    names = names_of(said, passage)
    # Of two English sentences `differences` knows what is denied.
    is_english = language_of(sentence) == language_of(first.text) == "en"
    is_refused = (
        not said
        or any(_RESPECTIVELY.search(text) for text in (sentence, first.text))
        or (not is_english and bool(DENIES.search(sentence)) != any(DENIES.search(quote.text) for quote in quotes))
        or _speaks_otherwise(sentence, quotes, passage)
        or _missing_facts(said, there, passage)
        or _adds(sentence, said, quotes)
        or (_is_thin(said, known, names) and not _is_foreign(sentence, first, said))
        or _is_taken_from_elsewhere(said, known, quotes, passage)
        or _leaves_out(sentence, said, first)
        or _is_misplaced(said, names, first.words, names_of(first.words, passage))
        or any(
            _counts_otherwise(said, known, quote.words)
            or _has_other_agent(said, names, quote.words)
            or _turns_around(said, quote.words)
            or _is_number_of_another(said, names, quote.words)
            or _is_end_of_range(said, quote.words)
            for quote in quotes
        )
        or _is_of_another_subject(said, quotes, passage)
        or differences(sentence, first, passage)
    )
    return None if is_refused else "paraphrase"


def _is_statement(sentence: str, quotes: Sequence[Quote]) -> bool:
    texts = (sentence, *(quote.text for quote in quotes))
    asked = [text.rstrip(" \"'”’)").endswith(("?", "？", "؟")) for text in texts]
    if asked[0] or all(asked[1:]) or len(sentence) > LONGEST_SENTENCE or _LINK.search(sentence):
        return False
    return not _OWN.search(_SAID.sub("", sentence)) or any(_OWN.search(quote.text) for quote in quotes)


def _missing_facts(said: Sequence[Word], there: Sequence[Word], passage: Quotable) -> list[Word]:
    """The numbers and names that do not stand in the quotes, the headings or the question."""
    known = passage.context.union(word.text for word in there)
    units = {unit_named(word.raw.lower()) for word in there if word.kind == "word"}
    names = names_of(said, passage)

    def is_held(place: int, word: Word) -> bool:
        if word.kind == "number":
            same = [other for other in there if other.kind == "number" and other.text == word.text]
            return (
                (is_small_number(word) and (bool(same) or not _is_counted_otherwise(said, place, there)))
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
    return len(root) >= 3 and any(
        one.startswith(root)
        and len(one) <= len(root) + 4
        and (one == root or root != word.text or _DEMONYM.search(one))
        for one in known
    )


def _adds(sentence: str, said: Sequence[Word], quotes: Sequence[Quote]) -> bool:
    """Whether the sentence denies, doubts, explains, ranks or demands what no quote does, or says more than they.

    "Only four" says no more than "four".
    """
    signs = frozenset[str]().union(*(word.signs for quote in quotes for word in quote.words))
    strong = (word.signs & _STRONG - signs - ({"only"} if word.kind == "number" else set()) for word in said)
    return any(strong) or any(
        ours.search(sentence) and not any(theirs.search(quote.text) for quote in quotes) for ours, theirs in _ADDED
    )


def _ordinary(said: Sequence[Word], known: Collection[str], names: Collection[int]) -> list[bool]:
    """Whether each word that is no fact is known."""
    return [word.text in known for place, word in enumerate(said) if word.kind == "word" and place not in names]


def _is_thin(said: Sequence[Word], known: Collection[str], names: Collection[int]) -> bool:
    """Whether too few of the words are known: facts count double, and small numbers not at all."""
    weights = [(0 if is_small_number(word) else 1 + word.is_fact, word.text in known) for word in said]
    share = sum(weight for weight, held in weights if held) / max(1, sum(weight for weight, _ in weights))
    ordinary = _ordinary(said, known, names)
    return share < (SHARE if len(said) <= _SHORT else SHARE_OF_LONG) or (
        len(ordinary) >= _FEW and sum(ordinary) < SHARE_OF_ORDINARY * len(ordinary)
    )


def _is_foreign(sentence: str, quote: Quote, said: Sequence[Word]) -> bool:
    """Whether a sentence in another language than its quote has enough facts to be recognised.

    Not in German and in scripts without capitals, where names look like other words.
    """
    languages = {language_of(sentence), language_of(quote.text)}
    is_readable = len(languages) == 2 and "de" not in languages and not _UNCASED.search(sentence)
    return is_readable and sum(word.is_fact for word in said) >= 2


def _speaks_otherwise(sentence: str, quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether the sentence names a speaker who does not speak in the quotes, beside them or in the headings."""
    named = _SPEAKER.search(sentence)
    if named is None:
        return False
    speaker = re.sub(r"['’]s?$", "", next(filter(None, named.groups())).split()[-1].rstrip(".")).lower()
    places = [place for place, one in enumerate(passage.quotes) if one in quotes]
    texts = [one.text.lower() for place in places for one in passage.quotes[max(0, place - 1) : place + 2]]
    near = " | ".join(text[max(0, m.start() - 50) : m.end()] for text in texts for m in _SAYING.finditer(text))
    return not re.search(rf"(?<!\w){re.escape(speaker)}(?!\w)", near) and passage.context.isdisjoint(stems([speaker]))


def _is_taken_from_elsewhere(
    said: Sequence[Word], known: Collection[str], quotes: Sequence[Quote], passage: Quotable
) -> bool:
    """Whether a word of the sentence stands in the passage, but in none of its quotes.

    What a pronoun of a quote means may stand in the two sentences before it.
    """
    if len(quotes) >= MOST_QUOTES:
        return False
    before: set[str] = set()
    for place, quote in enumerate(passage.quotes):
        if quote in quotes and _ANAPHOR.search(quote.text):
            before |= {word.text for one in passage.quotes[max(0, place - 2) : place] for word in one.words}
    elsewhere = {word.text for quote in passage.quotes for word in quote.words}.difference(before, known)
    taken = [word for word in said if word.text in elsewhere and not is_small_number(word)]
    return len(taken) >= (1 if len(said) <= _OF_ONE_FACT else 2)


def _is_of_another_subject(said: Sequence[Word], quotes: Sequence[Quote], passage: Quotable) -> bool:
    """Whether the first word of a short sentence stands in a quote, but in none that has its number."""
    subject, texts = said[0].text, [({word.text for word in quote.words}, quote.text) for quote in quotes]
    if len(said) > _SHORT or subject in passage.context or not any(subject in there for there, _ in texts):
        return False
    numbers = [word.text for word in said[1:] if word.kind == "number" and not is_small_number(word)]
    holding = [[(there, text) for there, text in texts if number in there] for number in numbers]
    return any(
        some and all(subject not in there and not _ANAPHOR.search(text) for there, text in some) for some in holding
    )


def _counts_otherwise(said: Sequence[Word], known: Collection[str], theirs: Sequence[Word]) -> bool:
    """Whether a number counts other things than in the quote: "22,338 bits" for "22,338 digits"."""
    mentioned = {word.text for word in said}
    for number, thing in pairwise(said):
        is_counted = thing.kind == "word" and thing.raw.endswith("s") and thing.part == number.part and not thing.links
        if number.kind != "number" or number.unit not in ("", "%") or thing.text in known or not is_counted:
            continue
        for place, one in enumerate(theirs):
            if one.kind == "number" and one.text == number.text and one.raw[-1:].isdigit():
                behind = [other for other in theirs[place + 1 : place + 3] if other.part == one.part]
                others = [word for word in behind if word.raw.endswith("s") and word.text not in mentioned]
                return bool(others) or one.unit not in NO_UNITS
    return False


def _has_other_agent(said: Sequence[Word], names: Collection[int], theirs: Sequence[Word]) -> bool:
    """Whether a name of the sentence does what in the quote is done by another one: "built by John Miller"."""
    for place, (doer, verb) in enumerate(pairwise(said)):
        is_active = place in names and place + 1 not in names and verb.part == doer.part and not verb.links
        if not is_active or verb.joins or any("by" in word.links for word in said[place + 2 : place + 3]):
            continue
        for at, (one, agent) in enumerate(pairwise(theirs)):
            if one.text == verb.text and agent.kind == "name" and "by" in agent.links:
                agents = {word.text for word in theirs[at + 1 :] if word.kind == "name" and word.part == agent.part}
                if agents.isdisjoint(word.text for word in said[: place + 1]):
                    return True
    return False


def _turns_around(said: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether what stands before and behind "than" has changed places."""
    sides: list[set[str]] = []
    for some in (said, theirs):
        place = next((at for at, word in enumerate(some) if "than" in word.links), len(some))
        sides += [{word.text for word in part} for part in (some[:place], some[place : place + _WINDOW])]
    before, behind, earlier, later = sides
    return bool((behind - later) & earlier and (later - behind) & before)


def _is_end_of_range(said: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether one end of a range stands for the whole: "in 1887" for "from 1887 to 1889"."""
    numbers = {word.text: word for word in said if word.kind == "number"}
    ranges = [
        {one.text, other.text} & numbers.keys()
        for one, other in pairwise(theirs)
        if one.kind == other.kind == "number" and "to" in other.links and kind_of(one) == kind_of(other)
        if one.text != other.text
    ]
    held = [numbers[text] for ends in ranges if len(ends) == 1 for text in ends]
    return any(not (one.times or one.bounds) and one.links.isdisjoint(("from", "to", "between")) for one in held)


def _is_number_of_another(said: Sequence[Word], names: Collection[int], theirs: Sequence[Word]) -> bool:
    """Whether in a list a number stands with another name, and a name of the sentence with another number."""
    numbers = {word.text for word in said if word.kind == "number"}
    named_here = {said[place].text for place in names}
    parts: dict[int, list[Word]] = defaultdict(list)
    for word in theirs:
        parts[word.part].append(word)
    named = [part for part in parts.values() if any(word.text in named_here for word in part)]
    own = [word for part in named for word in part]
    strange = [part for part in parts.values() if part not in named and any(word.kind == "name" for word in part)]
    return any(
        one.kind == other.kind == "number"
        and one.text in numbers
        and other.text not in numbers
        and kind_of(one) == kind_of(other)
        and not any(word.text == one.text for word in own)
        for part in strange
        for one in part
        for other in own
    )


def _leaves_out(sentence: str, said: Sequence[Word], quote: Quote) -> bool:
    """Whether a sentence takes words from a quote, but not who says them, a condition, a doubt or a denial."""
    theirs, mentioned = quote.words, {word.text for word in said}
    coverage = _coverage(said, theirs)
    if coverage >= 0.5 and any(there.search(quote.text) and not ours.search(sentence) for there, ours in _LEFT_OUT):
        return True
    signs = frozenset[str]().union(*(word.signs for word in theirs if word.text in mentioned))
    if any(sign in signs and not ours.search(sentence) for sign, ours in _LOST.items()):
        return True
    denials, denied = ({match[0].lower() for match in DENIED.finditer(text)} for text in (sentence, quote.text))
    chain = chain_of(said, theirs)
    if len(chain) < 0.6 * len(said) or coverage < 0.7 or denials - denied:
        return False
    # A sentence that denies something itself leaves out a denial only where it has another word in its place.
    gaps = [
        theirs[one + 1 : other + 1]
        for (at, one), (after, other) in pairwise(chain)
        if other - one <= 2 and (not denials or (after - at == 2 == other - one and "not" not in said[at + 1].signs))
    ]
    return any("not" in word.signs or (not denials and DENIED.search(word.raw)) for gap in gaps for word in gap)


def _coverage(said: Sequence[Word], theirs: Sequence[Word]) -> float:
    there = {word.text for word in theirs}
    return sum(word.text in there for word in said) / max(1, len(said))


def _is_misplaced(
    said: Sequence[Word], names: Collection[int], theirs: Sequence[Word], others: Collection[int]
) -> bool:
    """Whether a number or name stands where the quote has another: there the words around it fit better."""
    coverage = _coverage(said, theirs)
    for place, word in enumerate(said):
        is_number = word.kind == "number"
        mates = [at for at, one in enumerate(theirs) if one.text == word.text]
        if not mates or not (is_number or place in names) or coverage < (0.6 if is_number else 0.9):
            continue
        if not is_number and any(_goes_on(said, place, theirs, at) for at in mates):
            continue
        best = max(_fit(said, place, theirs, at) for at in mates)
        for at, one in enumerate(theirs):
            if one.text == word.text or (one.kind == "number") != is_number:
                continue
            is_rival = (
                kind_of(one) == kind_of(word) or not one.unit or not word.unit
                if is_number
                else at in others and all(abs(at - mate) > 1 for mate in mates)
            )
            if is_rival and _fit(said, place, theirs, at) > best + (2.4 if is_number else 0.9):
                return True
    return False


def _goes_on(said: Sequence[Word], place: int, theirs: Sequence[Word], at: int) -> bool:
    """Whether the word before is the same in both: "New" before "York"."""
    return place > 0 < at and said[place - 1].text == theirs[at - 1].text and not said[place].links


def _next(some: Sequence[Word], at: int) -> str:
    """The word behind, in the same part; empty if there is none."""
    return next((word.text for word in some[at + 1 : at + 2] if word.part == some[at].part), "")


def _fit(said: Sequence[Word], place: int, theirs: Sequence[Word], at: int) -> float:
    """How many of the words around one place stand around the other; on the other side they count half."""
    (before, after), (earlier, later) = _window(said, place), _window(theirs, at)
    return len(before & earlier) + len(after & later) + 0.5 * (len(before & later) + len(after & earlier))


def _window(some: Sequence[Word], at: int) -> tuple[set[str], set[str]]:
    """The words before and behind, up to the next comma."""
    near = range(max(0, at - _WINDOW), min(len(some), at + _WINDOW + 1))
    own = [place for place in near if some[place].part == some[at].part]
    own = [place for place in own if some[at].kind == "number" or some[place].kind != "number"]
    return {some[place].text for place in own if place < at}, {some[place].text for place in own if place > at}


def differences(sentence: str, quote: Quote, passage: Quotable) -> frozenset[Difference]:
    """How a sentence differs from a quote that it nearly copies; empty if it does not copy."""
    said, theirs = read(sentence), quote.words
    there = {word.text for word in theirs}
    names = names_of(said, passage)
    ordinary = _ordinary(said, there, names)
    if ordinary.count(False) > max(1, (1 - NEAR_COPY) * len(ordinary)):
        return frozenset()
    chain = chain_of(said, theirs)
    extra, spare = unmatched(said, theirs), unmatched(theirs, said)
    units, their_units = ({word.text for word in one if word.raw.lower() in UNITS} for one in (said, theirs))
    is_told = not _TOLD.isdisjoint(word.text for word in said)
    found: dict[Difference, bool] = {
        "number": any(word.text == one.text or kind_of(word) == kind_of(one) for word in extra for one in spare)
        or bool(units - their_units and their_units - units),  # "each week", "each month"
        "order": _is_swapped(said, theirs, names),
        "name": _names_differ(sentence, quote, chain, passage),
        "cell": _is_of_another_cell(said, quote),
        "negation": any(word.text not in there and _is_opposed(word, there) for word in said),
        "speaker": not is_told
        and (_is_speech(sentence, said, quote) or not _SPEAKERS.isdisjoint(_around(theirs, chain))),
    }
    return frozenset((*_operators(said, theirs, chain), *(one for one, differs in found.items() if differs)))


def _is_opposed(word: Word, there: Collection[str]) -> bool:
    """Whether the opposite of this word is there."""
    return any(word.text == one and other in there for one, other in OPPOSITES)


def _around(theirs: Sequence[Word], chain: Chain) -> Iterator[str]:
    """The words of the quote before those that the sentence has, and those of a short part at the end."""
    first, last = (chain[0][1], chain[-1][1]) if chain else (0, -1)
    tail = [word.text for word in theirs[last + 1 :] if word.part == theirs[-1].part]
    yield from (word.text for word in theirs[:first])
    if len(tail) <= _WINDOW + 1 and theirs[last].part != theirs[-1].part:
        yield from set(tail) - {"said", "told"}  # "..., officials said" leaves the sentence as it is


def _is_speech(sentence: str, said: Sequence[Word], quote: Quote) -> bool:
    """Whether the sentence takes its words from between quotation marks, and leaves out who says them."""
    speech = _SPEECH.search(quote.text)
    if speech is None or any(mark in sentence for mark in '"“”„«»'):
        return False
    return _coverage(said, read(speech[1])) >= NEAR_COPY


def _operators(said: Sequence[Word], theirs: Sequence[Word], chain: Chain) -> Iterator[Difference]:
    for one, other in chain:
        word, match = said[one], theirs[other]
        more, less = word.signs - match.signs, match.signs - word.signs
        added, left_out = more - _WEAKER, less - _OMITTED
        if "not" in added | left_out:
            yield "negation"
        other_bounds = word.bounds != match.bounds and (match.bounds or word.bounds - {"nearly"})
        other_times = word.times and match.times and word.times != match.times
        if (more and less) or added or left_out or other_times or other_bounds:
            yield "operator"


def _is_swapped(said: Sequence[Word], theirs: Sequence[Word], names: Collection[int]) -> bool:
    """Whether two names, or two numbers of a kind, have changed places."""
    there = {word.text: place for place, word in enumerate(theirs)}
    often = Counter(word.text for word in theirs)
    facts = [
        (at, there[word.text])
        for at, word in enumerate(said)
        if (word.is_fact or at in names) and often[word.text] == 1
    ]
    passive = any("by" in word.links for word in said) != any("by" in word.links for word in theirs)
    for (at, place), (later, other) in combinations(facts, 2):
        word, after = said[at], said[later]
        if other >= place or (word.kind == "number") != (after.kind == "number"):
            continue
        if word.kind == "number":
            # "2 seasons and 34 episodes" may change places
            bound = any("" != _next(said, one) == _next(theirs, two) for one, two in ((at, place), (later, other)))
            if kind_of(word) == kind_of(after) and not bound:
                return True
        elif not passive and not any(
            # a name may move with its preposition
            name.links & _PLACES or name.links == match.links != frozenset()
            for name, match in ((word, theirs[place]), (after, theirs[other]))
        ):
            between = theirs[other + 1 : place]
            apart = any(one.links or one.joins or one.part != theirs[other].part for one in (*between, theirs[place]))
            if apart or {one.text for one in between} & {one.text for one in said[at + 1 : later]}:
                return True
    return False


def _names_differ(sentence: str, quote: Quote, chain: Chain, passage: Quotable) -> bool:
    """Whether a name stands where the quote has another name, or where its subject is.

    A name of the headings or the question may stand for the subject.
    """
    said, theirs = read(sentence), quote.words
    ours, there = names_of(said, passage), names_of(theirs, passage)
    is_pronoun = bool(_PRONOUN.match(quote.text))
    moved = {  # in the same phrase, or as the subject of an active sentence
        place
        for place, name in enumerate(said)
        for at, word in enumerate(theirs)
        if name.text == word.text
        and (name.links == word.links != frozenset() or "by" in name.links or _goes_on(said, place, theirs, at))
    }
    for (one, other), (after, later) in pairwise([(-1, -1), *chain, (len(said), len(theirs))]):
        new = {place for place in range(one + 1, after) if place in ours and place not in moved}
        old = {place for place in range(other + 1, later) if place in there}
        if one < 0 and (later <= _WINDOW or is_pronoun) and not _PRONOUN.match(sentence):
            new = {place for place in new if said[place].text not in passage.context}
            old |= set(range(later + is_pronoun))
        if new and old:
            return True
    return False


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


def contradicts(claim: str, quote: Quote, passage: Quotable) -> bool:
    """Whether the quote says the same of the same subject with one other number or date, or denies it.

    All names and nearly all words of the claim must stand in the quote, and no condition or speaker around them.
    A rounded number and "over 300" for 330 contradict nothing.
    """
    said, theirs = read(_REPORTS.sub("", claim)), quote.words
    there = {word.text for word in theirs}
    if there.isdisjoint(word.text for word in said) or not _is_statement(claim, [quote]):
        return False
    if any(_HEDGES.search(text) for text in (claim, quote.text)):
        return False
    if any(word.kind != "number" for word in _missing_facts(said, theirs, passage)):
        return False
    known = passage.context | there
    ordinary = [word.text in known for word in said if word.kind == "word" and not _is_opposed(word, there)]
    if ordinary.count(False) > (1 - NEAR_COPY) * len(ordinary) or sum(ordinary) + len(names_of(said, passage)) < 2:
        return False
    found, others = differences(claim, quote, passage), unmatched(said, theirs)
    if not others:
        return "negation" in found and found <= {"negation", "operator"}
    return len(others) == 1 and found <= {"number"} and _is_other_number(others[0], said, theirs)


def _is_other_number(word: Word, said: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether the quote has another number in the place of this one: of the same kind, and no rounding of it.

    One without a unit must have the same neighbour in both, unless it is a year.
    """
    at, kind = said.index(word), kind_of(word)
    return any(
        one.kind == "number"
        and kind_of(one) == kind
        and not any(ours.kind == "number" and same_number(ours, one) for ours in said)
        and not word.bounds | one.bounds
        and word.times == one.times
        and (kind == "year" or not is_rounding(word.text, one.text))
        and (
            kind != ""
            or "" != _next(said, at) == _next(theirs, place)
            or (at and place and said[at - 1].text == theirs[place - 1].text)
        )
        for place, one in enumerate(theirs)
    )
