"""Whether one answer may serve two questions. Pure functions; `guard.refusal` is the way in.

No similarity of vectors can tell "with nuts" from "without nuts". So a question is read into what carries its meaning
(`reading`), and two questions mean the same only when each such thing has its partner in the other::

    spelling   text -> words: contractions, symbols, versions, abbreviations
    numbers    numerals, ordinals, units and currencies
    phrases    several words that are one, and the frames of questions
    forms      inflection and synonyms, from bounded lists: a word that is in none of them is only equal to itself
    reading    words -> Reading: question word, tense, modality, pronouns, and the terms with their sign and role
    roles      who does what to whom: prepositions and word order
    guard      two Readings -> why one answer must not serve both, or None

An antonym, another name, version or unit needs no rule of its own: it is a term without a partner.
"""
