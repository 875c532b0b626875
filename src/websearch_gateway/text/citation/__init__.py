"""Citations: spans, snippets, sentences and the markers that models write.

`text[start:end]` is what a citation cites, always; a span that cannot be verified is dropped, never guessed.
"""
