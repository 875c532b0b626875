"""The only place where the adapters meet: a Gateway is made from settings, and every entrypoint calls one.

Only wiring belongs here. `adapters.py` opens each upstream in its layers, page reading, and the documentation index.
"""
