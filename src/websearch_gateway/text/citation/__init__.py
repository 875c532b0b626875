"""Citations: spans, snippets, sentences and the markers that models write.

A citation always covers exactly `text[start:end]`; a span that cannot be verified is dropped, never guessed.
"""
