"""The layers around a call to an upstream: circuit breaker, burst gate, rate limiter, hedge, health, fallback.

Each layer has the interface of the object inside it and knows nothing of the others; `app/upstreams.py` nests them.
"""
