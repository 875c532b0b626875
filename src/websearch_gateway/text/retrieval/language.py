"""Detects the language of a question: by its script, else by the letters and function words of each language.

Language detection libraries need sentences: they are unreliable for a question of five words that contains a name.
"""

from __future__ import annotations

import re

from websearch_gateway.text.retrieval.tokens import fold

_LONGEST = 1_000
_SCRIPTS = (
    ("ja", "[\u3040-\u30ff]"),
    ("ko", "[\uac00-\ud7af]"),
    ("zh", "[\u3400-\u9fff]"),
    ("th", "[\u0e00-\u0e7f]"),
    ("hi", "[\u0900-\u097f]"),
    ("bn", "[\u0980-\u09ff]"),
    ("ta", "[\u0b80-\u0bff]"),
    ("ka", "[\u10a0-\u10ff]"),
    ("hy", "[\u0530-\u058f]"),
    ("he", "[\u0590-\u05ff]"),
    ("el", "[\u0370-\u03ff]"),
    ("fa", "[پچژگک]"),
    ("ar", "[\u0600-\u06ff]"),
    ("uk", "[іїєґІЇЄҐ]"),
    ("ru", "[\u0400-\u04ff]"),
    ("es", "[¿¡]"),
)
_LETTERS = (
    ("de", "[ßäöü]"),
    ("es", "[ñáéíóú]"),
    ("fr", "[çèêëîïôûùœà]"),
    ("it", "[àèìòù]"),
    ("pt", "[ãõâêçáéíóú]"),
    ("pl", "[ąćęłńśźż]"),
    ("cs", "[ěščřžůť]"),
    ("ro", "[ăâîșțşţ]"),
    ("tr", "[ğışçöü\u0307]"),
    ("hu", "[őűáéöü]"),
    ("sv", "[åäö]"),
    ("da", "[åæø]"),
)
# A match of one of these counts more than a function word.
_MARKS = (
    ("de", r"^was (?:war|hat|ist|sind|[^\W\d_]{3,}(?:en|et|te|ten|eibt|elt|ert))\b"),
    ("tr", r"(?<=\w)['’](?:n?[ıiuü]n|[dt][ae]n?|n?d[ae]n?|y?l[ae]\b|[sy]?[ıiuü]|y?[ae]|l[ae]r\w*)\b"),
    ("vi", r"[ơưđạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]|\bgì\b"),
)
_WORDS = {
    "en": "the of and is are was were what who when where which how why did does do in to a for many much it has have "
    "on at by from with as an i you no be can or se pe me art des sale van war hat die car plus men",
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
_WORD = re.compile(r"[^\W\d_]+")


def function_words(language: str) -> frozenset[str]:
    """The folded function words of a language; empty if it is recognised by its script."""
    return _KNOWN.get(language, frozenset())


def language_of(text: str) -> str:
    """The ISO 639-1 code of the language of a question; `en` if nothing indicates another one."""
    text = text[:_LONGEST].lower()
    for language, letters in _SCRIPTS:
        if re.search(letters, text):
            return language
    scores = dict.fromkeys(_KNOWN, 0.0)
    for word in _WORD.findall(text):
        folded = fold(word).replace("ı", "i").replace("ł", "l").replace("ø", "o")
        for language, known in _KNOWN.items():
            scores[language] += folded in known
    for weight, signs in ((0.5, _LETTERS), (1.5, _MARKS)):
        for language, pattern in signs:
            scores[language] += weight * len(re.findall(pattern, text))
    return max(scores, key=lambda language: scores[language])
