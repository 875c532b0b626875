"""The language of a question, and the tokens of texts for search: words folded and stemmed; in scripts without spaces,
pairs of characters.

Language detection libraries need sentences: they are unreliable for a question of five words that contains a name. So
the script decides, else the letters and function words of each language.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence

import Stemmer

from websearch_gateway.base.markdown import word_set

CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""The characters of Japanese, Chinese and Korean, as ranges of a regular expression."""
UNSPACED = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff{CJK}"  # also Thai and Lao, Burmese, Khmer
"""The characters of scripts without spaces between words, as ranges of a regular expression."""
MARKS = "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff\u0f71-\u0fbc\u200c\u200d"
"""Vowel signs and other marks inside words, which `\\w` lacks, as ranges; with the letters and digits among them."""

_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]++(?:[{MARKS}]++[^\W_{UNSPACED}]*+)*+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
_MAY_BE_UNSPACED = re.compile("[\u0e00-\u17ff\u3000-\ufaff]")
"""The characters among which those of UNSPACED are. To look for two ranges takes a twentieth of the time of ten, and most
texts beyond ASCII have only dashes, quotes or accents there."""
_CJK_RUN = re.compile(f"[{CJK}]++")
_ACCENTS = re.compile("[\u0300-\u036f]+")
# Runs of marks and symbols are not words, and Unicode takes quadratic time to sort a long run of accents.
_WORDLESS = re.compile(r"[^\x00-\x7f\w\s]{30,}+")


STOP_WORDS = word_set(
    "a about after all also an and any are as at be been before being but by can could did do does doing during for "
    "from had has have he her him his how i if in into is it its me my no not of on or our s she should so some such t "
    "than that the their them then there these they this those to up us was we were what when where which while who "
    "whom whose why will with would you your "
    "el la los las un una unos unas de del y en que es por para con se su al como cual cuando donde quien "
    "le les des du une et est dans qui quand comment quel quelle "
    "der die das den dem ein eine und ist von zu mit wer wie wo wann warum welche welcher"
)
"""Stop words, which carry no topic: English, then Spanish, French and German."""


def fold(text: str) -> str:
    """`text` without differences in compatibility forms, letter case, and Latin, Greek and Cyrillic accents."""
    if text.isascii():
        return text.lower()
    text = _WORDLESS.sub(" ", text)
    compatible = unicodedata.normalize("NFKC", text)
    # One character may become eighteen; ordinary text never grows so much.
    if len(compatible) > 2 * len(text) + 32:
        compatible = text
    decomposed = unicodedata.normalize("NFD", compatible.casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def words(text: str) -> list[str]:
    """The folded words of `text` in order, unstemmed; scripts without spaces give pairs (CJK) or triples (Thai ...)."""
    folded = fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    runs: list[str] = _WORD.findall(folded)
    if not has_unspaced(folded):
        return runs
    return [part for run in runs for part in _pieces(run)]


def _pieces(run: str) -> list[str]:
    """Overlapping pieces of a run of a script without spaces: pairs of CJK characters, else triples."""
    if len(run) == 1 or not _UNSPACED_RUN.match(run):
        return [run]
    size = 2 if _CJK_RUN.match(run) else 3
    return [run[index : index + size] for index in range(max(1, len(run) - size + 1))]


def split_cjk(text: str) -> str:
    """`text` with spaces around each run of Chinese, Japanese or Korean characters and between its bigrams."""
    if not has_unspaced(text):
        return text
    return _CJK_RUN.sub(lambda run: f" {' '.join(_pieces(run[0]))} ", text)


def has_unspaced(text: str) -> bool:
    """Whether a text has characters of a script without spaces."""
    may_have = not text.isascii() and _MAY_BE_UNSPACED.search(text)
    return bool(may_have and _UNSPACED_RUN.search(text, may_have.start()))


def is_character(token: str) -> bool:
    """Whether a token is a single character of a script without spaces; longer runs give bigrams."""
    return len(token) == 1 and bool(_UNSPACED_RUN.match(token))


def tokens(text: str) -> list[str]:
    """The stems of the words of `text`, in order, for both indexing and queries."""
    return tokens_of_each([text])[0]


def tokens_of_each(texts: Iterable[str], language: str = "en") -> list[list[str]]:
    """The `tokens` of each text in a language. Much cheaper than separate calls: it stems each distinct word once."""
    split = [(words if language in _WITHOUT_RULES else _letters)(text) for text in texts]
    vocabulary = list(set().union(*split))
    stem = dict(zip(vocabulary, stems(vocabulary, language), strict=True))
    return [list(map(stem.__getitem__, words_of_text)) for words_of_text in split]


def query_terms(query: str, language: str = "en") -> list[str]:
    """The distinct tokens of a query without stop words, in order; all tokens if it has only stop words."""
    if language in _WITHOUT_RULES:
        asked = (words(_ASKING[language].sub(" ", query)) if language in _ASKING else []) or words(
            query
        )
        content = [word for word in asked if word not in STOP_WORDS]
    else:
        asked, stop_words = _letters(query), _stop_words(language)
        content = [
            word for word in asked if word not in stop_words and fold(word) not in stop_words
        ]
    return list(dict.fromkeys(stems(content or asked, language)))


def estimate_tokens(text: str) -> int:
    """The approximate number of tokens for a language model: one per four characters, one per CJK character."""
    unspaced = sum(map(len, _UNSPACED_RUN.findall(text))) if has_unspaced(text) else 0
    return unspaced + (len(text) - unspaced + 3) // 4


_LONGEST_QUESTION = 1_000
"""Characters from which a language is told."""


def _table(rows: str) -> dict[str, str]:
    """A value for each language, such as "de german; fr french"."""
    return dict(row.split() for row in rows.split("; "))


_SCRIPTS = _table(
    "ja \u3040-\u30ff; ko \uac00-\ud7af; zh \u3400-\u9fff; th \u0e00-\u0e7f; hi \u0900-\u097f; bn \u0980-\u09ff; "
    "ta \u0b80-\u0bff; ka \u10a0-\u10ff; hy \u0530-\u058f; he \u0590-\u05ff; el \u0370-\u03ff; fa پچژگک; ar "
    "\u0600-\u06ff; uk іїєґІЇЄҐ; ru \u0400-\u04ff; es ¿¡"
)
"""The letters by which a language is recognised, in this order."""
_LETTERS = _table(
    "de ßäöü; es ñáéíóú; fr çèêëîïôûùœà; it àèìòù; pt ãõâêçáéíóú; pl ąćęłńśźż; cs ěščřžůť; ro ăâîșțşţ; tr "
    "ğışçöü\u0307; hu őűáéöü; sv åäö; da åæø"
)
# A match of one of these counts more than a function word. What is English here could be one of another language:
# Italian "per" leads to no measure, Romanian "care" (which) to no kind of care, and a verb follows "cât" (how much).
_MARKS = (
    (
        "en",
        r"\bper (?:second|minute|hour|day|night|week|month|year|annum|diem|capita|person|head|household|child|adult|"
        r"student|employee|user|unit|serving|slice|cup|pound|ounce|gallon|ton|tonne|acre|mile|share|page|game|tree|"
        r"square|cubic|100)s?\b",
    ),
    (
        "en",
        r"\b(?:health|child|day|foster|home|hospice|patient|medical|primary|urgent|intensive|critical|acute|dental|"
        r"skin|hair|pet|eye|after|long term|end of life|nursing|prenatal|veteran)[ -]?care\b|"
        r"\bcare (?:cent(?:er|re)s?|facilit(?:y|ies)|plans?|providers?|homes?|workers?|costs?|quality|act)\b",
    ),
    (
        "en",
        r"\bcats?\b(?! (?:a|au|are|cantareste|castiga|costa|de|dureaza|e|este|face|la|mai|masoara|sunt|timp|"
        r"valoreaza)\b)",
    ),
    ("en", r"\b(?:los angeles|las vegas|el paso|el salvador)\b"),
    ("de", r"^was (?:war|hat|ist|sind|[^\W\d_]{3,}(?:en|et|te|ten|eibt|elt|ert))\b"),
    (
        "tr",
        r"(?<=\w)['’](?:n?[ıiuü]n|[dt][ae]n?|n?d[ae]n?|y?l[ae]\b|[sy]?[ıiuü]|y?[ae]|l[ae]r\w*)\b",
    ),
    ("vi", r"[ơưđạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]|\bgì\b"),
)
_WORDS = {
    "en": "the of and is are was were what who when where which how why did does do in to a for many much it has have "
    "on at by from with as an i you no be can or "
    # words, short forms and names of American states that are function words elsewhere
    "se pe me art des sale van war hat die car plus men volt az pa",
    "de": "der die das den dem ein eine ist sind war wer wie was wo wann warum welche welcher welches und von im "
    "in zu mit nicht wurde hat viele auf fur wird werden worden unter bei nach aus welchen welchem wem wen wessen man "
    "des weshalb wieso womit wofur worauf woraus worin wodurch woran wohin woher wieviel gab haben konnen sich als "
    "einen einer einem wogegen wozu wovon nachdem zur zum vor oft",
    "fr": "le la les des du un une est sont etait qui que quel quelle quels quelles quand comment pourquoi combien ou "
    "et dans de en par pour sur au aux a",
    "es": "el la los las un una es son fue era que quien cuando donde como cual cuales cuanto cuantos por para con en "
    "y de del al se su",
    "it": "il lo la gli le un una e sono era chi che cosa quando dove come quale quali quanto quanti perche di del "
    "della nel nella per con in",
    "pt": "o a os as um uma e sao foi era quem que quando onde como qual quais quanto quantos por para com em no na "
    "do da dos das de",
    "nl": "de het een is zijn was wie wat waar wanneer hoe waarom welke en van in op met voor niet veel",
    "pl": "jest sa byl byla kto co gdzie kiedy jak dlaczego ktory ktora ile w na z do i nie sie przez",
    "cs": "je jsou byl byla kdo co kde kdy jak proc ktery ktera kolik v na z do a se pro",
    "sv": "ar var vem vad nar hur varfor vilken vilket vilka och i pa av till en ett det som med for manga",
    "da": "er var hvem hvad hvor hvornar hvordan hvorfor hvilken hvilket og i pa af til en et det som med for mange",
    "no": "er var hvem hva hvor nar hvordan hvorfor hvilken hvilket og i pa av til en et det som med for mange",
    "fi": "on ovat oli kuka mika missa milloin miten miksi kuinka ja ei se joka mita",
    "tr": "ve bir bu ne kim nerede nasil neden nicin hangi hangisi kac mi midir ile icin kadar zaman nedir kimdir olan "
    "olarak gore sonra nereye kimi kimdi kimin neydi neyi ilk nelerdir degil daha ise adi",
    "ro": "este sunt era cine ce unde cand cum care cat cate cati si in de la pe cu din a al ale un o pentru nu avut "
    "au fost ai lui cui se ii prin catre spre cele dintre",
    "hu": "a az es ki mi hol mikor hogyan miert melyik hany van volt egy nem mennyi",
    "vi": "cua bao nhieu nao nam cac nguoi duoc trong mot gi ai nhung thi",
    "id": "yang di ke dari apa siapa kapan dimana bagaimana mengapa berapa adalah dan ini itu dengan untuk pada",
}
_KNOWN = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_SPOKEN = re.compile(r"(?<!\w)(?:[^\W\d_]{2,}|(?<![.'’&-])[^\W\d_](?![.'’&-]))(?!\w)")
"""A word; a letter only if it stands alone, for that of "e-mail", "O'Hara" or "Roe v. Wade" is of no language."""


def function_words(language: str) -> frozenset[str]:
    """The folded function words of a language; empty if it is recognised by its script."""
    return _KNOWN.get(language, frozenset())


def language_of(text: str) -> str:
    """The ISO 639-1 code of the language of a question; `en` if nothing indicates another one."""
    text = text[:_LONGEST_QUESTION].lower()
    if text.isascii():
        return _by_words(text)
    for language, letters in _SCRIPTS.items():
        if re.search(f"[{letters}]", text):
            return language
    return _by_words(text)


def _by_words(text: str) -> str:
    """The language with most function words, letters and marks in a text in lower case; English if there are none."""
    scores = dict.fromkeys(_KNOWN, 0.0)
    for word in _SPOKEN.findall(text):
        folded = fold(word).replace("ı", "i").replace("ł", "l").replace("ø", "o")
        for language, function_words_of in _KNOWN.items():
            scores[language] += folded in function_words_of
    if not text.isascii():
        for language, letters in _LETTERS.items():
            scores[language] += 0.5 * len(re.findall(f"[{letters}]", text))
    for language, pattern in _MARKS:
        scores[language] += 1.5 * len(re.findall(pattern, text))
    return max(scores, key=lambda language: scores[language])


_STEMMERS = _table(
    "ar arabic; cs czech; da danish; de german; el greek; es spanish; fa persian; fi finnish; fr french; hi "
    "hindi; hu hungarian; id indonesian; it italian; nl dutch; no norwegian; pl polish; pt portuguese; ro "
    "romanian; ru russian; sv swedish; tr turkish; uk russian"
)
_STOP = {
    "de": "oder waren wurden vom am an über um auch es er sie hatte wieviele viel dass durch",
    "es": "unos unas o eran fueron sin sus quiénes cuánta cuántas ha había lo",
    "fr": "l d avec sans quoi ce se sa son ses pas ne il elle",
    "it": "i uno dei delle o quanta quante da al alla si ha",
    "nl": "of waren te door aan bij hoeveel",
    "pt": "ou nos nas quantas se ao",
    "ro": "sau sa",
    "tr": "şu o de da mı mu mü nasıl kaçtır",
    "vi": "là của và các những một có được trong cho với ở vào đã bị gì ai nào đâu khi bao nhiêu tại sao như thế từ",
    "ru": "и в во на с со к ко по о об от из за для что это как кто где когда почему какой какая какое какие какую "
    "каким каком сколько чем чего кого кому был была было были есть не у ли его её их который которая которые",
    "ar": "من في على إلى عن ما ماذا متى أين كيف كم هل هو هي هذا هذه التي الذي كان كانت أن إن و أي مع لماذا هناك تم عدد",
    "hi": "का की के को में से पर है हैं था थी थे और एक यह वह क्या कौन कब कहाँ कैसे किस किसने किसके कितने कितनी "
    "कितना ने लिए हो गया गई किया कि जो भी द्वारा तक कौनसा सा सी",
    "el": "ο η το οι τα του της των τον την και ή σε στο στη στην στον στα με για από που πώς πού πότε ποιος ποια "
    "ποιο ποιοι ποιες πόσα πόσο πόσοι τι είναι ήταν να θα δεν ένα μια ένας",
}
"""Stop words besides those of `function_words`, unfolded; in tonal languages all of them."""

_ASKING = {
    language: re.compile("|".join(spoken.split()))
    for language, spoken in {
        "zh": "什么时候 为什么 什么 怎么样 怎么 怎样 如何 哪里 哪 谁 多少 多久 几 何时 何 "
        "吗 呢 的 了 是 在 被 和 与 有 些 个",
        "th": "อะไร ใครคือ ใคร ที่ไหน ไหน ใด เมื่อไหร่ เมื่อไร เมื่อ เท่าไหร่ เท่าไร เท่า (?<!เ)กี่ อย่างไร ทำไม "
        "ของ และ ใน ที่ เป็น คือ มี ได้ จาก ให้ กับ ว่า โดย ถูก การ ความ นี้ นั้น หรือ ซึ่ง แล้ว ต่อ",
    }.items()
}
"""Function words of scripts without spaces, which end a run of a question."""

_WITHOUT_RULES = frozenset(("en", "ja", "ko", "th", "zh"))
"""English, and languages whose scripts have no spaces."""

_TONAL = frozenset(("vi",))
"""Languages in which an accent makes another word."""

# Letters with their vowel signs, which are marks in Indic scripts, and vowel points, which Arabic may leave out.
_ENDING_LETTERS = re.compile(r"(?:[^\W_]|[\u0900-\u0963\u064b-\u0652])+")
_POINTS = re.compile(r"[\u064b-\u0652\u0640]+")
# Arabic joins "and", "with", "as" and "the" to the next word. The rules follow the light stemmer of Larkey and others.
_CLITICS = re.compile(r"^(?:[وف]?[بك]?ال|[وف]?لل|و(?=\w{4}))(?=\w{3})")
_DIGITS = {zero + digit: str(digit) for zero in (0x660, 0x6F0, 0x966) for digit in range(10)}


@functools.cache
def _stop_words(code: str) -> frozenset[str]:
    further = frozenset(_STOP.get(code, "").split())
    return further if code in _TONAL else further | function_words(code)


def _letters(text: str) -> list[str]:
    return _ENDING_LETTERS.findall(
        _POINTS.sub("", unicodedata.normalize("NFC", text.lower())).translate(_DIGITS)
    )


def stems(words: Sequence[str], language: str = "en") -> list[str]:
    """The words without their endings in a language."""
    if language == "ar":
        words = [_CLITICS.sub("", word) for word in words]
    name = "english" if language in _WITHOUT_RULES else _STEMMERS.get(language)
    # A stemmer holds scratch memory, so threads must not share one; making one takes microseconds.
    stemmed = Stemmer.Stemmer(name).stemWords(words) if name else list(words)
    return (
        list(stemmed) if language in _TONAL | _WITHOUT_RULES else [fold(stem) for stem in stemmed]
    )
