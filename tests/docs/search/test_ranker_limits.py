"""How many chunks near to a query a search looks at."""

import pytest

from websearch_gateway.docs.models import SiteVersion
from websearch_gateway.docs.search.ranker import Ranker


class Looking:
    """An index that notes how many chunks near to a query are asked for."""

    def __init__(self):
        self.limits = []

    async def search_vectors(self, vector, ids, limit):
        self.limits.append(limit)
        return []


@pytest.mark.parametrize(("versions", "limit"), [(1, 40), (3, 120), (4, 160), (6, 160)])
async def test_forty_chunks_of_each_of_up_to_four_versions_of_a_site_are_looked_at(versions, limit):
    index = Looking()
    sites = [SiteVersion(at, "heron", str(at), "") for at in range(versions)]
    await Ranker(index)._near([1.0], [*sites, SiteVersion(9, "gull", "1", "")])
    assert index.limits == [limit]
