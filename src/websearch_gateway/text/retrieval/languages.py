"""Reduces the words of a language for comparison: without endings, clitics and accents."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain

import Stemmer

from websearch_gateway.text.retrieval.language import function_words
from websearch_gateway.text.retrieval.tokens import fold, tokens_of_each
from websearch_gateway.text.retrieval.tokens import query_terms as without_language

_STEMMERS = {
    "ar": "arabic",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
    "uk": "russian",
}
_STOP = {
    "de": "der die das den dem des ein eine einen einem einer und oder ist sind war waren wird werden wurde wurden "
    "von vom zu zum zur mit für im in am an auf aus bei nach über um als auch nicht es er sie sich hat hatte "
    "haben wer wie wo wann warum was wen wem welche welcher welches welchen welchem wieviel wieviele viele "
    "viel dass durch",
    "es": "el la los las un una unos unas de del y o en que qué es son era eran fue fueron por para con sin se su "
    "sus al como cómo cual cuál cuáles cuando cuándo donde dónde quien quién quiénes cuánto cuánta cuántos "
    "cuántas ha había lo",
    "fr": "le la les l un une des du de d et ou est sont était dans en au aux par pour avec sans que qui quoi quand "
    "où comment combien quel quelle quels quelles ce se sa son ses pas ne a il elle",
    "it": "il lo la i gli le un uno una di del della dei delle e o è sono era in nel nella per con che chi cosa "
    "come dove quando quanto quanti quanta quante quale quali da al alla si ha",
    "nl": "de het een en of is zijn was waren van in op te met voor door aan bij wat wie waar wanneer hoe welke "
    "hoeveel",
    "pt": "o a os as um uma de do da dos das e ou é são foi em no na nos nas por para com que quem qual quais "
    "quando onde como quanto quantos quantas se ao",
    "ro": "un o al a ai ale de la în din pe cu și sau este sunt era au fost care ce cine când unde cum cât câți "
    "câte cât pentru prin se lui sa",
    "tr": "bir ve ile bu şu o için de da mi mı mu mü ne kim nerede nasıl neden niçin kaç hangi zaman olan olarak "
    "kaçtır nedir kimdir hangisi nereye",
    "vi": "là của và các những một có được trong cho với ở vào đã bị gì ai nào đâu khi bao nhiêu tại sao như thế từ",
    "ru": "и в во на с со к ко по о об от из за для что это как кто где когда почему какой какая какое какие какую "
    "каким каком сколько чем чего кого кому был была было были есть не у ли его её их который которая которые",
    "ar": "من في على إلى عن ما ماذا متى أين كيف كم هل هو هي هذا هذه التي الذي كان كانت أن إن و أي مع لماذا هناك تم عدد",
    "hi": "का की के को में से पर है हैं था थी थे और एक यह वह क्या कौन कब कहाँ कैसे किस किसने किसके कितने कितनी "
    "कितना ने लिए हो गया गई किया कि जो भी द्वारा तक कौनसा सा सी",
    "el": "ο η το οι τα του της των τον την και ή σε στο στη στην στον στα με για από που πώς πού πότε ποιος ποια "
    "ποιο ποιοι ποιες πόσα πόσο πόσοι τι είναι ήταν να θα δεν ένα μια ένας",
}
"""Stop words, unfolded. For other languages, the function words of `language` are used."""

_WITHOUT_RULES = frozenset(("en", "ja", "ko", "th", "zh"))
"""English, and languages whose scripts have no spaces: `tokens` has their rules."""

_TONAL = frozenset(("vi",))
"""Languages in which an accent makes another word."""

# Letters with their vowel signs, which are marks in Indic scripts, and vowel points, which Arabic may leave out.
_LETTERS = re.compile(r"(?:[^\W_]|[\u0900-\u0963\u064b-\u0652])+")
_POINTS = re.compile(r"[\u064b-\u0652\u0640]+")
# Arabic joins "and", "with", "as" and "the" to the next word. The rules follow the light stemmer of Larkey and others.
_CLITICS = re.compile(r"^(?:[وف]?[بك]?ال|[وف]?لل|و(?=\w{4}))(?=\w{3})")
_DIGITS = {zero + digit: str(digit) for zero in (0x660, 0x6F0, 0x966) for digit in range(10)}


@functools.cache
def _stop_words(code: str) -> frozenset[str]:
    return frozenset(_STOP[code].split()) if code in _STOP else function_words(code)


def query_terms(query: str, code: str) -> list[str]:
    """The distinct tokens of a query without stop words, in order; all tokens if it has only stop words."""
    if code in _WITHOUT_RULES:
        return without_language(query)
    words, stop_words = _words(query), _stop_words(code)
    content = [word for word in words if word not in stop_words and fold(word) not in stop_words]
    return list(dict.fromkeys(_stemmed(content or words, code)))


def language_tokens(texts: Iterable[str], code: str) -> list[list[str]]:
    """The tokens of each text, stemmed for that language: see `tokens.tokens_of_each`."""
    if code in _WITHOUT_RULES:
        return tokens_of_each(texts)
    split = [_words(text) for text in texts]
    vocabulary = list(set(chain.from_iterable(split)))
    stem = dict(zip(vocabulary, _stemmed(vocabulary, code), strict=True))
    return [list(map(stem.__getitem__, words)) for words in split]


def _words(text: str) -> list[str]:
    return _LETTERS.findall(_POINTS.sub("", unicodedata.normalize("NFC", text.lower())).translate(_DIGITS))


def _stemmed(words: Sequence[str], code: str) -> list[str]:
    # A stemmer holds scratch memory, so threads must not share one; making one takes microseconds.
    if code == "ar":
        words = [_CLITICS.sub("", word) for word in words]
    stems = Stemmer.Stemmer(_STEMMERS[code]).stemWords(words) if code in _STEMMERS else words
    return list(stems) if code in _TONAL else [fold(stem) for stem in stems]
