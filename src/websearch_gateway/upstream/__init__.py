"""What stands around a call to an upstream: the layers, the race of several, health, money, and what is recorded.

Each layer has the interface of the object inside it and knows nothing of the others; `app/guards.py` nests them.
Logs, statistics and traces hold names, codes, numbers and hosts; never a query, an answer, a key, a user or a URL.
"""
