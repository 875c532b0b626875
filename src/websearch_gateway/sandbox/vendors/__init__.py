"""Stand-ins for the vendors, one file each. `VENDORS` is all of them."""

from websearch_gateway.sandbox.vendor import Vendor
from websearch_gateway.sandbox.vendors.brave import BRAVE
from websearch_gateway.sandbox.vendors.duckduckgo import DUCKDUCKGO
from websearch_gateway.sandbox.vendors.google import GOOGLE
from websearch_gateway.sandbox.vendors.openai import OPENAI
from websearch_gateway.sandbox.vendors.searxng import SEARXNG
from websearch_gateway.sandbox.vendors.serper import SERPER
from websearch_gateway.sandbox.vendors.synthetic import SYNTHETIC
from websearch_gateway.sandbox.vendors.tavily import TAVILY

VENDORS: tuple[Vendor, ...] = (OPENAI, SERPER, TAVILY, BRAVE, GOOGLE, SYNTHETIC, SEARXNG, DUCKDUCKGO)
