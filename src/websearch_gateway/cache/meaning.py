"""Decides whether one answer may serve two questions. Pure.

Vector similarity cannot tell "with nuts" from "without nuts". Two questions are the same here only if they ask in the
same way (who, when, whether), with the same modality and tense, and have the same words in the same order. Only these
differences are allowed, as they hold for any subject:

- articles, courtesies, capitals, contractions, numerals, units, singular and plural;
- the frame of a question: "what is the height of x", "how tall is x", "x height";
- "y of x" for "x y", and another place of a single year or month;
- the order of the two sides of "x vs y" and "x or y";
- British and American spelling, and the few words that mean the same beside any others.

Any other word equals only itself, so antonyms, versions and names need no rules of their own. Only English is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from websearch_gateway.base import MONTHS, fold, language_of, word_set
from websearch_gateway.cache.spelling import american
from websearch_gateway.evidence import UNIT_NAMES, is_year, numerals

MOST_CHARS = 500


@dataclass(frozen=True, slots=True)
class Wording:
    """A question as it is compared. One without `words` equals no other.

    Attributes:
        asks: the way of asking, such as `when` or `howto`; empty for keywords and for "what is".
        marks: the modal verbs and the tense.
        words: the words that carry the subject; one that a preposition leads to begins with it and a tab.
        bases: the same in the singular; empty if a plural may be a name.
        free: the words that may stand anywhere: a year, a month, a day, a unit, "without x".
    """

    asks: str
    marks: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    free: tuple[str, ...] = ()

    @classmethod
    @lru_cache(maxsize=64)  # a new question is looked for, and a moment later stored
    def of(cls, text: str) -> Wording:
        """Read the first MOST_CHARS of a question. One in another language than English has no words."""
        text = text[:MOST_CHARS]
        if language_of(text) != "en":
            return cls("")
        spelled = _spelled(text)
        asks, words = _frame(spelled)
        marks, content = _sorted_out(asks, words)
        free = list(_free(content))
        content = _with_sorted_alternatives([word for word in content if word not in free])
        # Among keywords, which have no frame, a plural may be a name: "aliens cast", "alien cast".
        has_frame = words != spelled.split()
        return cls(
            asks,
            marks,
            words=tuple(content),
            bases=tuple(_bases(content)) if has_frame else (),
            free=tuple(sorted(_base(_bare(word)) for word in free)),
        )

    def is_same(self, other: Wording) -> bool:
        """Whether an answer to one question answers the other."""
        if not self.words or not other.words:
            return False
        if self.marks != other.marks or self.free != other.free:
            return False
        is_one_task = _is_task(self, other) or _is_task(other, self)
        if self.asks != other.asks and not is_one_task:
            return False
        if _match(self.words, other.words):
            return True
        return bool(self.bases) and _match(self.bases, other.bases)

    def key(self) -> str:
        """A text that is equal for any two questions that are the same.

        Others share it too ("rome to paris", "paris to rome"), so `is_same` still decides.
        """
        asks = "" if self.asks == "howto" else self.asks
        words = sorted(_base(_bare(word)) for word in self.words if word != "from")
        return repr((asks, self.marks, self.free, words))


_COURTESIES = re.compile(
    r"""^(?:(?:hi|hello|hey)(?:\ there)?\s*[,!.]\s*)?
    (?:(?:please\ )?(?:(?:can|could|would|will)\ (?:you|someone|any(?:one|body))\ (?:please\ )?
        (?:tell|show|explain\ to|give)\ me
      |i(?:'d|\ would)\ like\ to\ know|i\ (?:want|need)\ to\ know|does\ any(?:one|body)\ know|do\ you\ know|tell\ me
      |show\ me|i\ was\ wondering)\s+(?:about\s+)?
      |(?:(?:can|could|would|will)\ you\ )?(?:please\ )?explain\ (?=(?:what|why|how|when|where|who)\b))?
    (.*?)
    (?:[\s,.!?]*\b(?:please|thanks|thank\ you)(?:\ (?:in\ advance|so\ much|a\ lot))?)?[\s.!?]*$""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CAPITALS = (
    (re.compile(r"\bU\.?S\.?(?:A\b\.?|(?!\w))"), "usa"),
    (re.compile(r"\b([KMGT])b\b"), r"\1bit"),
)
_ACRONYM = re.compile(r"\b(?:[A-Z]{2,}|(?<!^)A(?=$|[?.,]| [a-z0-9]))\b")


_CONTRACTIONS = (
    (re.compile(r"\bcan(?:not|'t)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(what|who|where|when|why|how|that|it|there)'s\b"), r"\1 is"),
    (re.compile(r"'s\b|'"), ""),
    (re.compile(r"\b([a-z]+)-free\b"), r"without \1"),
    (re.compile(r"\b(wi|e)-(fi|mails?)\b"), r"\1\2"),
    (re.compile(r"\bunited states(?: of america)?\b"), "usa"),
    (re.compile(r"^us\b|\bthe us\b"), "usa"),
    (re.compile(r"\bunited kingdom\b"), "uk"),
    (re.compile(r"\beuropean union\b"), "eu"),
    (re.compile(r"\bnew york city\b"), "nyc"),
    (re.compile(r"\b(?:world war |ww)(?:2|ii|two)\b"), "ww2"),
    (re.compile(r"\b(?:world war |ww)(?:1|i|one)\b"), "ww1"),
    (re.compile(r"\b(?:per|each|every) day\b"), "daily"),
    (re.compile(r"\b(?:per|each|every) (week|month|year)\b"), r"\1ly"),
    (re.compile(r"\bopening times\b"), "opening hours"),
    (re.compile(r"\bcapital city(?= of\b|\W*$)"), "capital"),
    (re.compile(r"\bstock (prices?)\b"), r"share \1"),
    (re.compile(r"\bcell ?(phones?)\b"), r"mobile \1"),
    (re.compile(r"\bsigns and symptoms\b"), "symptoms"),
)
_TOKEN = re.compile(
    r"""[a-z]+(?:\+\+|\#)(?![a-z0-9])                   # c++, c#
    | \.net\b | °\ ?[cf]\b
    | \d{1,3}(?:,\d{3})+(?:\.\d+)?                      # 1,000.50
    | \d+(?:[:/]\d+)+ | \d{4}-\d\d-\d\d                 # 5:30, 1/2, 2024-05-01
    | (?<![\w)])-(?=\d)                                 # a minus, joined to its number below
    | (?:(?<=\s)|^)-(?=[a-z])                           # jaguar -car
    | [a-z0-9_]+(?:\.[a-z0-9]+)*                        # node.js, 22.04, v1.28
    | [=!<>]=+ | && | \|\|
    | [^\s.,;:?!"'()\-–—/…“”‘’«»·]                      # any other sign is a word
    """,
    re.VERBOSE,
)
_NAMED_NUMBER = re.compile(r"([a-z]{2,})(\d+(?:\.\d+)*)|v(\d+(?:\.\d+)*)")


def _spelled(text: str) -> str:
    """The words in order, one space between them: lower case, contractions written out, numbers in digits."""
    text = _COURTESIES.sub(r"\1", text.strip())
    if not text.isupper() and not text.islower():
        for pattern, replacement in _CAPITALS:
            text = pattern.sub(replacement, text)
        # "an ARE form" is not "are"
        text = _ACRONYM.sub(_marked, text)
    text = american(fold(text).replace("’", "'"))
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    return " ".join(numerals(_joined(_TOKEN.findall(text))))


def _marked(acronym: re.Match[str]) -> str:
    """An acronym, with a mark if it would read as a function word: "IT", "ARE"."""
    word = acronym[0]
    return f"acronym_{word}" if word.lower() in _FUNCTION_WORDS else word


def _joined(pieces: Sequence[str]) -> list[str]:
    """The pieces as words: a minus with its number or as "not", "python3" as two, "v1.28" without its v."""
    words: list[str] = []
    minus = False
    for piece in pieces:
        if piece == "-":
            minus = True
            continue
        parts = [piece.replace(" ", "")]
        name_and_number = _NAMED_NUMBER.fullmatch(piece)
        if name_and_number:
            parts = list(filter(None, name_and_number.groups()))
        if minus and parts[0][0].isdigit():
            parts[0] = f"-{parts[0]}"
        elif minus:
            words.append("not")
        words += parts
        minus = False
    return words


_ASKER = "(?:i|you|we|one|1|someone)"
_TOUGH = "safe|unsafe|dangerous|legal|illegal|ok|okay|easy|hard|difficult|possible|impossible"
"""What is said of an act, and so of its object: "able" and "ready" are said of who acts."""
_WAY = "(?:the |some |any )?(?:best )?ways?"
_MEASURES = {
    "tall|high": "height", "old": "age", "heavy": "weight", "deep": "depth", "wide": "width", "long": "length",
    "big|large": "size", "fast": "speed", "hot": "temperature", "expensive": "price",
}  # fmt: skip
_AGENTS = {
    "wrote": "author", "invented": "inventor", "founded": "founder", "directed": "director", "discovered": "discoverer",
    "composed": "composer", "painted": "painter", "designed": "designer", "owns": "owner",
}  # fmt: skip
_FRAMES: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern), asks, replacement)
    for pattern, asks, replacement in (
        # what is asked so, the way of asking ("" if another frame may follow), and what to write in place of the frame
        # an indirect question, behind "do you know"
        (r"^(what|who|where|when|how \w+) (.+) (is|are|was|were)$", "", r"\1 \3 \2"),
        # "is it safe to eat x" is "is x safe to eat"
        (rf"^is it ({_TOUGH}) to (\w+) (.+)$", "", r"is \3 \1 to \2"),
        (r"^who (?:was|were) (.+) (\w+ed|built|made|found|led) by$", "", r"who \2 \1"),
        (r"^where (is|are) (.+) (?:located|situated)$", "", r"where \1 \2"),
        (rf"^how long (?:do|should) {_ASKER} ", "", "how long to "),
        (r"^how much (?:do|does) (.+) cost$", "", r"price of \1"),
        (r"^when (?:was|were) (.+) released$", "", r"release date of \1"),
        (r"^(.+ to .+) translation$", "", r"translate \1"),
        (r"^(.+ to .+) conversion$", "", r"convert \1"),
        (r"^(?:the )?(?:top|best) (\d+) |^(\d+) (?:top|best) ", "", r"best \1\2 "),
        (rf"^(?:what (?:is|are) )?{_WAY} (?:to|for {_ASKER} to) ", "howto", ""),
        (rf"^how (?:to|(?:do|can) {_ASKER}(?: to)?) ", "howto", ""),
        (r"^(?:steps|instructions) (?:to|for) ", "howto", ""),
        *((rf"^how (?:{word}) (?:is|are) ", "", f"{noun} of ") for word, noun in _MEASURES.items()),
        (r"^how (\w+)able (?:is|are) ", "", r"\1ability of "),
        *((rf"^who {verb} ", "", f"{noun} of ") for verb, noun in _AGENTS.items()),
        (r"^(.+) (?:cost|price)$", "", r"price of \1"),
        (r"^(.+) (?:definition|meaning)$", "", r"meaning of \1"),
        (r"^how many people (?:live|are there) in ", "", "population of "),
        (r"^how far is it from ", "", "distance from "),
        (r"^(?:what (?:is|are) )?(?:the )?differences? between (.*) and ", "", r"\1 vs "),
        (r"^compare (.*) (?:and|with|to) ", "", r"\1 vs "),
        (r"^what do(?:es)? (.*) mean$", "", r"meaning of \1"),
        (r"^(?:what (?:is|are) )?(?:the )?definition of ", "", "meaning of "),
        (r"^what is meant by |^define ", "", "meaning of "),
        (r"^what causes ", "", "causes of "),
        (r"^when (?:was|is) (.*) born$", "", r"birthday of \1"),
        (r"^where (?:was|is) (.*) born$", "", r"birthplace of \1"),
        (r"^(.*) (?:date of birth|birth ?date)$", "", r"birthday of \1"),
        (r"^what time is it in ", "", "now time in "),
        (r"^current time (?:in )?", "", "now time in "),
        (r"^what (?:is|are) ", "", "the "),
        (r"^who is the ", "", "the "),
        (r"^what ", "what", ""),
        (
            r"^(how (?:many|much|long|often|far)|who|whom|whose|when|where|why|which|how) ",
            r"\1",
            "",
        ),
        (
            r"^(is|are|do|does|did|was|were|has|have|can|could|may|should|will|would|must) ",
            r"\1",
            "",
        ),
    )
)
"""Applied in this order, at most the first that asks and any number of the others."""


_SINGULAR_VERBS = {"are": "is", "does": "do", "were": "was"}
"""The forms of a verb that ask in one way, by the other form."""


def _frame(text: str) -> tuple[str, list[str]]:
    """The way of asking, and the words without their frame."""
    for pattern, asks, replacement in _FRAMES:
        frame = pattern.match(text)
        if frame is None:
            continue
        text = pattern.sub(replacement, text, count=1)
        if asks:
            way = frame.expand(asks)
            return _SINGULAR_VERBS.get(way, way), text.split()
    return "", text.split()


_ARTICLES = word_set("a an the some any really actually exactly")
_PAST = word_set("was were did had")
_AUXILIARIES = word_set("is are am do does") | _PAST
_MODALS = word_set("can could may might shall should must would ought will")
_NEGATIONS = {
    "not": "not",
    "no": "not",
    "never": "not",
    "nor": "not",
    "without": "without",
    "excluding": "without",
}
_LINKS = word_set("of in for on at with")
"""Prepositions that lead to a part of the question."""
_TOOLS = ("in\t", "on\t", "with\t")
"""What names the tool of a command: "sort a list in python"."""
_DROPPED = ("in\t", "on\t", "at\t")
"""Those that keywords leave out at their place: "apartments in lisbon", "apartments lisbon"."""
_REVERSED = word_set("of in for")
"""Those of which the compound puts the second part first."""
_NAMED_BY_LETTER = word_set(
    "vitamin hepatitis type class group grade section part plan influenza option form category"
)
_MONTHS = frozenset(MONTHS) - {"may"}
_DAYS = word_set("today tomorrow yesterday tonight now")
_RATES = word_set("daily weekly monthly yearly")
_PLURAL_ONLY = word_set(
    "news glasses goods customs arms means contents savings earnings species series physics politics economics "
    "mathematics ethics athletics this us as his its yes plus bus gas lens virus always besides jeans pants shorts "
    "texas windows kubernetes ios macos aws dns https css js sms gps vs jobs gates stones"
)
_AMOUNTS = word_set("few little lot bit")
"""Words before which "a" matters."""
_NO_COMPOUND = word_set("i you he she it we they me him her them us my your our his their new")
"""Words that no compound holds: "new in biology" is not "new biology"."""
_SAME = {
    "max": "maximum", "min": "minimum", "versus": "vs", "k8s": "kubernetes",
    "postgresql": "postgres", "children": "child", "people": "person", "men": "man", "women": "woman", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "kid": "child", "kids": "child", "biggest": "largest", "maths": "math",
    "annual": "yearly", "annually": "yearly", "quickly": "fast", "occur": "happen", "wealthiest": "richest",
    "newest": "latest", "symptom": "sign", "symptoms": "signs", "attorney": "lawyer", "attorneys": "lawyers",
    "fridge": "refrigerator", "fridges": "refrigerators",
    "tv": "television", "tvs": "televisions", "js": "javascript", "drawbacks": "disadvantages",
    "advantages": "benefits", "°c": "celsius", "°f": "fahrenheit",
}  # fmt: skip
"""Words that mean the same beside any other words. "Difficult" is not "hard", for cheese and drives are hard; nor
"purchase" "buy", for a purchase order is no buy order."""


def _sorted_out(asks: str, words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The marks, sorted, and the words that carry the subject.

    A word begins with the preposition that leads to it and a tab, and then with the negations before it: "of\\tnot x".
    """
    is_past = asks in ("was", "did")
    modals: list[str] = []
    content: list[str] = []
    link = sign = ""
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        is_named_a = word == "a" and (before in _NAMED_BY_LETTER or after in _AMOUNTS)
        if word in _ARTICLES and not is_named_a:
            continue
        if word in _AUXILIARIES:
            is_past = is_past or word in _PAST
        elif word in _MODALS:
            modals.append(word)
        elif word in _NEGATIONS:
            sign += f"{_NEGATIONS[word]} "
        elif word in _LINKS and after:
            link = word
        else:
            word = _SAME.get(word, word)
            content.append(f"{link}\t{sign}{word}" if link else f"{sign}{word}")
            link = sign = ""
    if sign:
        content.append(sign)
    marks = [*modals, "past"] if is_past else modals
    return tuple(sorted(marks)), content


_CHOICES = word_set("better worse best first healthier cheaper safer faster easier")
"""What is asked of one of two: "rice or pasta better", but not "tea or coffee maker"."""


def _with_sorted_alternatives(words: Sequence[str]) -> list[str]:
    """The words with two alternatives in alphabetical order, if each is one word: "use java or rust for x"."""
    sorted_words = list(words)
    if sorted_words.count("or") != 1:
        return sorted_words
    place = sorted_words.index("or")
    first = 2 if sorted_words[0] in _NO_COMPOUND else 0  # "i use java or rust"
    behind = sorted_words[place + 2 : place + 3]
    is_last = not behind or "\t" in behind[0] or behind[0] in _CHOICES
    if place == first + 1 and place + 1 < len(sorted_words) and is_last:
        sorted_words[first : place + 2] = sorted((sorted_words[first], sorted_words[place + 1]))
        sorted_words.insert(place, "or")
    return sorted_words


def _free(words: Sequence[str]) -> Iterator[str]:
    """The year, month, day, rate and unit, if there is only one of the kind, and what is to be left out."""
    kinds = (
        is_year,
        _MONTHS.__contains__,
        _DAYS.__contains__,
        _RATES.__contains__,
        UNIT_NAMES.__contains__,
        lambda bare: bare.startswith("without "),
    )
    for is_kind in kinds:
        candidates = [word for word in words if is_kind(_bare(word))]
        if len(candidates) == 1 < len(words):
            yield candidates[0]


def _bases(content: Sequence[str]) -> Iterator[str]:
    """The words in the singular, but not a noun before "of" or "in": "king of spain" is not "kings of spain"."""
    for word, after in zip(content, [*content[1:], ""], strict=False):
        yield word if after.startswith(("of\t", "in\t")) else _base(word)


def _base(word: str) -> str:
    """The word in the singular."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "ics")):
        return word
    if word in _PLURAL_ONLY:
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses", "oes")):
        return word[:-2]
    return word[:-1]


def _bare(word: str) -> str:
    return word.rpartition("\t")[2]


_FUNCTION_WORDS = (
    _ARTICLES | _AUXILIARIES | _MODALS | _LINKS | _NO_COMPOUND | frozenset(_NEGATIONS)
    | word_set("who what when where why how which be as or and if so to by from with than")
)  # fmt: skip
# Verbs that are hardly ever nouns at the start of a question.
_COMMANDS = word_set(
    "install delete remove reset change convert create make fix get build configure enable disable update upgrade add "
    "uninstall download find read write sort reverse replace connect renew register apply cook bake clean translate "
    "calculate reduce increase save send open close learn stop start become lose exit list kill merge undo center fry "
    "upload share migrate run check"
)


def _is_task(a: Wording, b: Wording) -> bool:
    """Whether "how to install x" and "install x" are asked: a command says what to do, a noun does not."""
    return a.asks == "howto" and not b.asks and a.words[0] in _COMMANDS


def _match(a: Sequence[str], b: Sequence[str]) -> bool:
    return a == b or bool(a and b and (_joins(a, b) or _joins(b, a)))


def _joins(linked: Sequence[str], plain: Sequence[str]) -> bool:
    """Whether `plain` is the compound of `linked`: "capital of peru", "peru capital"; or "x vs y" is "y vs x"."""
    if "vs" in linked:
        middle = linked.index("vs")
        exchanged = (*linked[middle + 1 :], "vs", *linked[:middle])
        return linked.count("vs") == 1 and exchanged == tuple(plain)
    if "from" in linked[1:]:  # "train from paris to nice", "paris to nice train"
        start = linked.index("from", 1)
        route_first = (*linked[start + 1 :], *linked[:start])
        return "to" in linked[start:] and route_first == tuple(plain)
    has_links = any("\t" in word for word in linked)
    if "\t" in linked[0] or not has_links or not _NO_COMPOUND.isdisjoint(linked):
        return False
    if tuple(plain) in _compounds(linked):
        return True
    if linked[0] in _COMMANDS and linked[-1].startswith(_TOOLS):
        moved = (_bare(linked[-1]), *linked[:-1])  # "sort a list in python", "python sort list"
        if tuple(plain) in (moved, _bared(moved)):
            return True
    if any("\t" in word for word in plain):
        return False
    # Keywords may leave the prepositions out: those of a command, or the only one of several words.
    links = [word for word in linked if "\t" in word]
    is_short = linked[0] in _COMMANDS or (len(linked) > 3 and len(links) == 1)
    drops = is_short and any(word.startswith(_DROPPED) for word in links)
    return tuple(plain) == tuple(_reversed(linked)) or (drops and tuple(plain) == _bared(linked))


_DEGREES = word_set("maximum minimum average normal typical total")


def _compounds(linked: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The words with a part before what it is a part of: "cost of living in oslo", "oslo cost of living"; "average
    salary of nurses in texas", "average nurses salary in texas"."""
    for place, word in enumerate(linked):
        link, _, bare = word.rpartition("\t")
        if link not in _REVERSED:
            continue
        yield (bare, *linked[place + 1 :], *linked[:place])
        if linked[0] in _DEGREES and link == "of":
            ends = [at for at in range(place + 1, len(linked)) if "\t" in linked[at]]
            end = min(ends, default=len(linked))
            whole = (bare, *linked[place + 1 : end])
            yield (linked[0], *whole, *linked[1:place], *linked[end:])


def _bared(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_bare, words))


def _reversed(linked: Sequence[str]) -> Iterator[str]:
    """The parts in reverse order, if each preposition allows it."""
    parts: list[list[str]] = [[]]
    for word in linked:
        link, _, bare = word.rpartition("\t")
        if link:
            if link not in _REVERSED:
                return
            parts.append([])
        parts[-1].append(bare)
    for part in reversed(parts):
        yield from part
