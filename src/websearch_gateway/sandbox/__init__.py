"""The outside world on one loopback port: search vendors, an answer engine and a small web, with faults on request.

    async with Sandbox() as sandbox:
        sandbox.environment()                                # settings that point a gateway at it
        sandbox.fault("openai", "status", status=429, reason="insufficient_quota")
        sandbox.calls("serper")                              # how many requests arrived

It is deterministic, needs no network and no key, and refuses the same requests as the real vendors, in their words.
`create_app()` is the same as an ASGI app. Nothing here loads a web framework before it is used.
"""

from typing import TYPE_CHECKING

from websearch_gateway.faces import lazy

if TYPE_CHECKING:
    from websearch_gateway.sandbox.server import (
        AZURE_DEPLOYMENT,
        GOOGLE_ENGINE,
        LLM_MODEL,
        OPENAI_KEY,
        Fault,
        Sandbox,
        create_app,
        engines,
        environment,
        key_of,
        serving,
    )
else:
    __getattr__, __all__ = lazy(__spec__)
