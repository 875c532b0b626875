"""Floors of the order of documentation, on labelled queries over the project's own documents."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.patience import PATIENT
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.models import DocsSearchRequest
from websearch_gateway.settings.loading import Settings

DOCUMENTS = Path(__file__).parents[3] / "docs"

ANSWERS = {
    # tasks
    "limit what one person may spend per day": "tokens",
    "deploy to cloud run": "deploy",
    "use it from claude code": "clients",
    "run without any network": "offline",
    "add a new search vendor": "adding-a-provider",
    "write a reader for a file type": "adding-a-reader",
    "share the cache between several servers": "state",
    "log in with google accounts": "auth",
    "upgrade from an older version": "upgrade",
    "scrape metrics with prometheus": "operations",
    "rolling restart behind nginx": "http",
    "index the documentation of a package": "documentation-index",
    "point a tavily client at the gateway": "compatible-apis",
    "allow only some domains": "domains",
    "search the documentation of a library": "documentation-index",
    "set up in cursor": "clients",
    "revoke a token": "tokens",
    "limit requests per minute": "tokens",
    "create a token for a user": "tokens",
    "verify citations of an answer": "engines",
    "embedding model": "passages",
    "traces with opentelemetry": "operations",
    "architecture layers": "architecture",
    "add a state backend": "adding-a-state-backend",
    # questions
    "which words of a question may differ for the cache": "semantic-cache",
    "what happens when openai is down": "resilience",
    "what does an answer cost": "prices",
    "how is the main text of a page found": "extraction",
    "why was my query refused": "guard",
    "which models can write answers": "engines",
    "how are passages cut and ranked": "passages",
    "which layers does the code have": "architecture",
    # names
    "MEMORY_CACHE_MB": "settings",
    "search_web": "tools",
    "--rate-limit": "tokens",
    "CLAIMS_READER": "settings",
    # errors
    "connection refused when the client starts": "troubleshooting",
    "429 too many requests": "resilience",
}
"""A query, and the document that answers it."""


@pytest.fixture(scope="module")
def ranks(tmp_path_factory) -> dict[str, int]:
    """The rank of the document that answers, by query; 0 if it is not among the results."""
    return asyncio.run(_ranks(tmp_path_factory.mktemp("floors")))


async def _ranks(folder: Path) -> dict[str, int]:
    settings = {name.lower(): value for name, value in PATIENT.items()}
    ranks = {}
    async with open_gateway(Settings(**settings, data_dir=folder)) as gateway:
        site = await gateway.docs.add(str(DOCUMENTS), "own", "1")
        await gateway.docs.runner.crawl(site.id)
        for query, document in ANSWERS.items():
            reply = await gateway.documentation.search(DocsSearchRequest(query))
            hits = (*reply.results, *reply.more)
            pages = list(dict.fromkeys(Path(urlsplit(hit.url).path).stem for hit in hits))
            ranks[query] = pages.index(document) + 1 if document in pages else 0
    return ranks


def test_most_queries_have_their_document_first(ranks):
    assert sum(rank == 1 for rank in ranks.values()) >= 31


def test_documents_that_answer_stand_near_the_top(ranks):
    reciprocal_ranks = [1 / rank if rank else 0 for rank in ranks.values()]
    assert sum(reciprocal_ranks) / len(ranks) >= 0.864
