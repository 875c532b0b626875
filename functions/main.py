"""The gateway as a Firebase function (2nd generation): the HTTP door, in the place where Firebase looks for it.

Settings are environment variables, as everywhere: secrets from Secret Manager, the rest from `.env` files beside this
one. docs/deploy-firebase.md tells how to deploy it, and what that costs.
"""

import functions_framework.aio
from firebase_functions import https_fn, options
from starlette.requests import Request

from websearch_gateway.doors.function import Resident, resident

SECRETS = ["OPENAI_API_KEY"]
"""Add the keys of the providers that you use; each must exist in Secret Manager before the deployment."""


@https_fn.on_request(
    secrets=SECRETS,
    invoker="public",  # whoever calls shows a token, and the gateway looks at it
    memory=options.MemoryOption.GB_1,
    cpu=1,
    concurrency=32,
    max_instances=10,
    timeout_sec=60,
)
@functions_framework.aio.http
def gateway(_: Request) -> Resident:
    """Hand the request to the gateway of this instance, an ASGI app."""
    return resident()
