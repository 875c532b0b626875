"""The only place where the adapters meet: `build(settings)` makes a Gateway from adapters and the pipeline.

Only wiring belongs here. `adapters.py` opens each upstream in its layers, page reading, and the documentation index.
"""

from websearch_gateway.app.build import Gateway, build, open_gateway

__all__ = ["Gateway", "build", "open_gateway"]
