"""Write docs/prices.md from the code's own prices: `python tools/price_table.py > docs/prices.md`."""

from __future__ import annotations

import sys

from websearch_gateway.answers import openai_models
from websearch_gateway.providers import PROVIDERS
from websearch_gateway.settings import Settings

HEAD = """# Prices

What the gateway books for a call. `PRICES` overrides any of them: `PRICES=brave:0.004,openai:0.01` (for `openai` it is
the price of one search). A provider that is not here is free, or part of a subscription.

"""


def table() -> str:
    """The whole document."""
    keys = Settings(**{need: "https://example.org" for entry in PROVIDERS for need in entry.needs})
    capabilities = {entry.name: entry.build(keys).capabilities for entry in PROVIDERS}
    providers = [
        f"| {name} | {can.cost_per_call_usd:g} | {can.price_source} |"
        for name, can in capabilities.items()
        if can.cost_per_call_usd
    ]
    models = [
        f"| {model.name} | {model.prompt_usd:g} | {model.cached_usd:g} | {model.response_usd:g} | {model.ends or ''} |"
        for model in openai_models.MODELS
    ]
    return (
        f"{HEAD}| provider | USD per request | source |\n|---|---|---|\n"
        + "\n".join(providers)
        + f"\n\nOpenAI: ${openai_models.SEARCH_USD:g} per search, and tokens in USD per million "
        f"({openai_models.SOURCE}):\n\n| model | prompt | cached | response | switched off |\n|---|---|---|---|---|\n"
        + "\n".join(models)
        + "\n"
    )


if __name__ == "__main__":
    sys.stdout.write(table())
