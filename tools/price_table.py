"""Write docs/prices.md from the code's own prices: `python tools/price_table.py > docs/prices.md`."""

from __future__ import annotations

import sys

from websearch_gateway.answers.common import Model
from websearch_gateway.answers.http_engine import HttpEngine
from websearch_gateway.answers.table import ENGINES, Outside
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.models import Deadline, Gathered, Progress, SearchQuery
from websearch_gateway.providers.table import PROVIDERS
from websearch_gateway.settings.loading import Settings

HEAD = """# Prices

The gateway books these prices. `PRICES` overrides them: `PRICES=brave:0.004,openai:0.01`. For an answer engine it
sets the price of one search, for `llm` (your own model, otherwise free) that of one answer, for `embedding` that of a
million tokens of `EMBEDDING_SERVER_URL` (built in: OpenAI's text-embedding-3-small 0.02, 3-large 0.13, ada-002 0.1),
for `reranker` that of a request to `RERANKER_URL`, otherwise free. A provider that this page does not list is free, or
part of a subscription.

If a reply counts more tokens than its model can take, the gateway books the most that a call may cost. If it has no
usable count (missing, negative, no whole number), the gateway books the usual bill, with at least one search.

"""


async def _nothing(query: SearchQuery, deadline: Deadline, progress: Progress) -> Gathered:
    """A placeholder: these engines are never asked."""
    raise NotImplementedError


def table() -> str:
    """The whole document."""
    needs = [need for entry in (*PROVIDERS, *ENGINES) for need in entry.needs]
    settings = Settings(**dict.fromkeys(needs, "https://example.org"))
    capabilities = {entry.name: entry.build(settings).capabilities for entry in PROVIDERS}
    providers = [
        f"| {name} | {can.cost_per_call_usd:g} | {can.price_source} |"
        for name, can in capabilities.items()
        if can.cost_per_call_usd
    ]
    outside = Outside(create_client(), Retry(), _nothing, Workers(), Fetcher(AddressPolicy()))
    engines = [entry.build(settings, outside) for entry in ENGINES]
    apis = [engine.api for engine in engines if isinstance(engine, HttpEngine)]
    searches = [f"| {api.name} | {api.search_usd:g} | {api.price_source} |" for api in apis]
    models = [_row(model) for api in apis for model in api.known_models]
    return (
        f"{HEAD}| provider | USD per request | source |\n|---|---|---|\n"
        + "\n".join(providers)
        + "\n\n| engine | USD per search | source |\n|---|---|---|\n"
        + "\n".join(searches)
        + "\n\nTokens in USD per million:\n\n"
        + "| model | prompt | cached | response | switched off |\n|---|---|---|---|---|\n"
        + "\n".join(models)
        + "\n"
    )


def _row(model: Model) -> str:
    cached = f"{model.cached_usd:g}" if model.cached_usd is not None else ""
    prompt, response = f"{model.prompt_usd:g}", f"{model.response_usd:g}"
    if earlier := model.earlier:
        prompt += f" ({earlier.prompt_usd:g} until {earlier.last_day})"
        response += f" ({earlier.response_usd:g})"
    if long := model.long_prompt:
        prompt += f" ({long.prompt_usd:g} for all of a prompt above {long.tokens:,} tokens)"
        response += f" ({long.response_usd:g})"
    return f"| {model.name} | {prompt} | {cached} | {response} | {model.ends or ''} |"


if __name__ == "__main__":
    sys.stdout.write(table())
