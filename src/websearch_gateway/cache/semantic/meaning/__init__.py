"""Decides whether one answer may serve two questions. Pure functions; the entry point is `difference.difference`.

Vector similarity cannot tell "with nuts" from "without nuts". So a question is parsed into the parts that carry its
meaning, and two questions mean the same only if each part has a partner in the other::

    spelling    text -> words: contractions, symbols, versions, abbreviations
    numbers     numerals, ordinals, units and currencies
    phrases     several words that act as one
    forms       inflection and synonyms from bounded lists; any other word equals only itself
    parse       words -> question word, tense, modality, pronouns, and the terms with their sign and role
    frames      the ways to phrase a question, brought to one form
    rewordings  courtesies, passive and active, synonyms that hold in some contexts only
    order       who does what to whom: prepositions and word order
    difference  two parsed questions -> why one answer must not serve both, or None

Antonyms and other names, versions or units need no rules of their own: they are terms without a partner. To add a
synonym, add one line to `lexicon.py` and a pair that it must not let through to bench/semantic_pairs.jsonl.
"""
