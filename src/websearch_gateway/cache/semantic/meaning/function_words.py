"""The function words, sorted by meaning. Any word outside these lists is a term."""

from __future__ import annotations

from collections.abc import Mapping

from websearch_gateway.cache.semantic.meaning.words import word_set

NEUTRAL = frozenset({"of", "in", "for", "on", "at", "about"})
"""Prepositions that a compound noun omits: "weather in paris", "paris weather"."""

ROLES: Mapping[str, str] = {
    word: word
    for word in word_set(
        "of in for on at about to from by with than before after since until during between among against over under "
        "within per as through like inside outside behind if because while but except unless despite toward across "
        "around near when where that who whom which"
    )
} | {
    "into": "to", "onto": "to", "using": "with", "via": "with", "above": "over", "below": "under", "till": "until",
    "towards": "toward", "throughout": "in", "regarding": "about", "concerning": "about",
}  # fmt: skip
"""Prepositions that lead to a term and give its role."""

SIGNS: Mapping[str, str] = {
    "not": "not", "no": "not", "never": "not", "non": "not", "nor": "not", "neither": "not",
    "without": "without", "excluding": "without",
}  # fmt: skip

QUESTION_WORDS: Mapping[str, str] = {
    "who": "WHO", "whom": "WHOM", "whose": "WHOSE", "when": "WHEN", "where": "WHERE", "why": "WHY", "which": "WHICH",
    "what": "WHAT", "how": "HOW",
}  # fmt: skip
ALWAYS_ASK = frozenset({"what", "why", "how", "whose"})
"""Question words in any position. The others may also begin a clause."""

JOINTS = frozenset({"and", "or", "vs", "&"})
MODALS = word_set(
    "can could may might shall should must would ought must-need must-have can-able may-allowed should-supposed usedto"
)
TENSES: Mapping[str, str] = {
    "is": "present", "are": "present", "am": "present", "do": "present", "does": "present",
    "was": "past", "were": "past", "did": "past", "had": "past", "will": "future",
}  # fmt: skip
BE = frozenset({"is", "are", "am", "was", "were", "be", "been", "being"})
OPEN_A_QUESTION = frozenset(TENSES) | MODALS | {"has", "have"}
"""At the beginning of a question, these ask for yes or no."""

PRONOUNS = word_set(
    "i me my you your yours he him his she her hers it its we our ours they them their theirs myself yourself "
    "himself herself someone anyone everyone"
)
ANYBODY = frozenset({"i", "you", "we", "1"})
""""can i", "can you" and "can one" ask whether anybody can. "do i" and "will i" are about the asker."""

ASK_ANYBODY = frozenset({"can", "could", "should", "must", "may", "shall", "do need"})
NEEDS = frozenset({"need", "must-need", "must-have"})

POSSESSIVES = frozenset({"my", "your", "our"})

ARTICLES = frozenset({"a", "an", "the"})
IGNORED = ARTICLES | frozenset({"some", "any", "really", "actually", "exactly", "kindly", "located"})

LABELLED = word_set(
    "vitamin vitamins hepatitis type class group grade section part plan level influenza flu option schedule form "
    "category appendix strep title tier model team terminal gate zone block channel hemophilia size"
)
"""Words after which a single letter is a name, not an article."""
