"""The outgoing route that the settings describe."""

from __future__ import annotations

from urllib.request import getproxies_environment

from websearch_gateway.net.outbound import Outbound
from websearch_gateway.settings import Settings


def outbound(settings: Settings) -> Outbound:
    """OUTBOUND_PROXY, the environment's proxies if TRUST_ENV is on, and CA_BUNDLE."""
    environment = getproxies_environment() if settings.trust_env else {}
    return Outbound(settings.outbound_proxy, environment, settings.ca_bundle)
