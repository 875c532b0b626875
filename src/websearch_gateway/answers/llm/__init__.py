"""Answers by your own model: any OpenAI-compatible chat completions server writes from our evidence, and we check.

To read the code, begin with `engine`, which puts the others together: `passages` numbers the passages that raw search
found, `prompt` makes the messages, `chat` streams the reply, `draft` parses it, and `checked` keeps the sentences that
their passages support.
"""
