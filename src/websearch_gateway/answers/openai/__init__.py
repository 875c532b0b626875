"""OpenAI, on its SDK: the Responses API with its hosted web search.

`engine` asks, `reply` reads what comes back, `errors` maps refusals, `models` holds prices and last days.
"""
