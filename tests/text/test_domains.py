"""Lists of domains: spellings that people use, and which addresses they cover."""

from __future__ import annotations

import pytest

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.text.domains import MOST_DOMAINS, covered, domains


def test_every_usual_spelling_is_the_domain() -> None:
    given = ["Example.org", "https://www.example.org/path?x=1", "*.example.org", ".example.org", "example.org:443", " "]
    assert domains("include_domains", given) == ("example.org",)
    assert domains("include_domains", ["bücher.example"]) == ("xn--bcher-kva.example",)


@pytest.mark.parametrize("entry", ["a b", "exa$mple.org", "http://[", "..", "-", "x" * 300, "a..b"])
def test_what_is_no_domain_is_refused(entry: str) -> None:
    with pytest.raises(SearchValidationError, match="exclude_domains"):
        domains("exclude_domains", [entry])


def test_a_list_has_a_limit() -> None:
    with pytest.raises(SearchValidationError):
        domains("include_domains", [f"host{number}.example" for number in range(MOST_DOMAINS + 1)])


@pytest.mark.parametrize(
    ("url", "is_covered"),
    [
        ("https://example.org/a", True),
        ("https://docs.example.org:8443/a", True),
        ("https://EXAMPLE.org./", True),
        ("https://notexample.org/", False),
        ("https://example.org.evil.test/", False),
        ("https://example.org@evil.test/", False),
        ("http://[", False),
    ],
)
def test_a_domain_covers_itself_and_what_is_below(url: str, is_covered: bool) -> None:
    assert covered(url, ("example.org",)) is is_covered
