"""Answers by your own model: any OpenAI-compatible chat completions server writes from our evidence, and we check.

`passages` numbers what raw search found, `prompt` asks, `chat` streams the reply, `draft` parses it, `checked` keeps
the sentences that their passages support, `engine` puts these together.
"""
