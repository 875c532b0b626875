"""The gateway as a Firebase function (2nd generation): the HTTP server, in the place where Firebase looks for it.

Settings are environment variables, as everywhere: secrets from Secret Manager, the rest from the `.env` file beside
this one. docs/deploy.md tells how to deploy it, and what that costs.
"""

import os
import signal
import threading

import functions_framework.aio
from firebase_functions import https_fn, options, params
from starlette.requests import Request

from websearch_gateway.entrypoints.http.app import Resident, app_for

SECRETS = [params.SecretParam("OPENAI_API_KEY")]
"""The settings that are keys. Add those of the providers that you use; the deployment asks for their values."""

_app = Resident(lambda: app_for(params.PROJECT_ID.value))


@https_fn.on_request(
    region="us-central1",  # choose the one of your Firestore database
    secrets=SECRETS,
    invoker="public",  # whoever calls shows a token, and the gateway looks at it
    memory=options.MemoryOption.GB_1,
    cpu=1,
    concurrency=32,
    min_instances=params.IntParam("MIN_INSTANCES", default=0),
    max_instances=params.IntParam("MAX_INSTANCES", default=10),
    timeout_sec=60,
)
@functions_framework.aio.http
def gateway(_: Request) -> Resident:
    """Hand the request to the gateway of this instance, an ASGI app."""
    return _app


def _end_with_the_emulator() -> None:
    # It ends the shell that started us and knows of nobody else; but when it is gone, our input ends.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if os.environ.get("FUNCTIONS_EMULATOR") == "true":  # noqa: TID251 - the emulator's own, no setting of ours
    threading.Thread(target=_end_with_the_emulator, daemon=True).start()
