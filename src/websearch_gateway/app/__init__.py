"""The only place where the adapters meet: `build(settings)` makes a Gateway from adapters and the pipeline.

Only wiring belongs here. Each upstream's layers are in `upstreams.py`, those of page reading in `reading.py`.
"""

from websearch_gateway.app.build import build, open_gateway
from websearch_gateway.app.gateway import Gateway

__all__ = ["Gateway", "build", "open_gateway"]
