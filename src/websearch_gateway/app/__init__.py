"""The only place where the adapters meet: a Gateway is made from settings, and every entrypoint calls one.

Only wiring belongs here. `upstreams`, `engines`, `reading` and `documentation` open the parts.
"""
