"""OpenAI's Responses, Chat Completions and Models, with `search_web` as the one model.

`common` holds what they share, `events` and `streaming` stream an answer.
"""
