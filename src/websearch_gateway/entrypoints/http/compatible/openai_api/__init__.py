"""OpenAI's Responses, Chat Completions and Models, with `search_web` as the one model.

`common` says what they share, `events` and `streaming` how an answer is streamed.
"""
