"""The same without awaiting, for scripts and notebooks."""

from websearch_gateway import SyncGateway

with SyncGateway() as gateway:
    print(gateway.search("How tall is the Eiffel Tower?").text)
