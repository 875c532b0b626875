"""The newest stable version comes first."""

from websearch_gateway.docs_index.models import SiteVersion
from websearch_gateway.docs_index.rank.versions import newest_first


def test_version_numbers_sort_numerically_and_pre_releases_come_last():
    labels = ["3.9", "3.12", "3.13rc1", "main", "3.11.2", "v3.11.10", "latest", "4.0-beta", "2024-05"]
    versions = [SiteVersion(place, "site", label, "") for place, label in enumerate(labels)]
    assert [version.label for version in newest_first(versions)] == [
        "latest",
        "2024-05",
        "3.12",
        "v3.11.10",
        "3.11.2",
        "3.9",
        "4.0-beta",
        "3.13rc1",
        "main",
    ]
