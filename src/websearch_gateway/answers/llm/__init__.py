"""Your own model over our own evidence: any OpenAI-compatible chat completions server writes, and we check.

`passages` numbers what raw search found, `prompt` asks, `chat` streams the reply, `draft` takes it apart, `checked`
keeps the sentences that their passages hold, `engine` puts these together.
"""
