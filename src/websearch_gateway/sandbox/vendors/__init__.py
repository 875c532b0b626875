"""Stand-ins for the vendors, one file each. `VENDORS` is all of them."""

from websearch_gateway.sandbox.vendor import Vendor
from websearch_gateway.sandbox.vendors.duckduckgo import DUCKDUCKGO
from websearch_gateway.sandbox.vendors.openai import OPENAI
from websearch_gateway.sandbox.vendors.serper import SERPER

VENDORS: tuple[Vendor, ...] = (OPENAI, SERPER, DUCKDUCKGO)
