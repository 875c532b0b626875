"""The only place where the wings meet: `build(settings)` makes a Gateway out of adapters and the pipeline."""

from websearch_gateway.app.build import build, open_gateway
from websearch_gateway.app.gateway import Gateway

__all__ = ["Gateway", "build", "open_gateway"]
