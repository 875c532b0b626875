"""What surrounds a call to an upstream: circuit breaker, burst gate, rate limiter, hedge, health, fallback.

Each part has the interface of what it surrounds and knows nothing of the others; `app/upstreams.py` nests them.
"""
