"""Reports on sites."""

import platform

from websearch_gateway.docs_index.models import CrawlOptions, Owner
from websearch_gateway.docs_index.status import statuses
from websearch_gateway.docs_index.store.owners import this_process
from websearch_gateway.docs_index.store.sqlite.docs import SqliteDocs


async def test_a_crawl_whose_process_has_ended_has_no_owner_and_says_how_to_go_on(tmp_path):
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    version = await store.add_version("my docs", "3", "https://docs.example.org/", CrawlOptions())
    for owner, command in ((Owner(platform.node(), 2**22 + 1, 1.0), "update 'my docs' 3"), (this_process(), "")):
        assert await store.claim(version.id, owner, 60)
        (site,) = statuses(await store.versions()).sites
        assert (site.owner is None, command in site.reason) == (bool(command), True)
    await store.close()
