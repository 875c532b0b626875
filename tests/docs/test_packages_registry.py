"""What a registry is asked for, and what its replies mean."""

from __future__ import annotations

import json
from collections.abc import Coroutine
from typing import Any

import pytest

from websearch_gateway.base.net.fetch import Fetched
from websearch_gateway.docs.packages import Documentation, Registries, _chosen, package_named
from websearch_gateway.errors import SearchFetchError, SearchValidationError
from websearch_gateway.models import Deadline


def package(source: str) -> Any:
    found = package_named(source)
    assert found is not None
    return found


class Registry:
    """A registry that notes what it is asked for, and replies with a body or an error."""

    def __init__(self, reply: bytes | SearchFetchError) -> None:
        self.reply = reply
        self.asked: list[tuple[float, int]] = []

    async def fetch(self, url: str, deadline: Deadline, *, accept: str, max_bytes: int) -> Fetched:
        self.asked.append((deadline.remaining(), max_bytes))
        if isinstance(self.reply, SearchFetchError):
            raise self.reply
        return Fetched(url, url, 200, {}, self.reply, "application/json", "utf-8")

    async def run(self, function: Any, *arguments: Any, deadline: Deadline) -> Any:
        return function(*arguments)


def found_in(registry: Registry) -> Coroutine[Any, Any, Documentation]:
    registries = Registries(registry, registry, "https://pypi.example", "https://npm.example")  # type: ignore[arg-type]
    return registries.find(package("pypi:heron@1.0"))


async def test_a_registry_replies_within_fifteen_seconds_and_twenty_million_bytes() -> None:
    registry = Registry(b'{"info": {"docs_url": "https://docs.example/"}}')
    assert (await found_in(registry)).url == "https://docs.example/"
    ((seconds, most),) = registry.asked
    assert 10 < seconds <= 15
    assert most == 20_000_000


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, SearchValidationError),
        (405, SearchValidationError),
        (410, SearchValidationError),
        (403, SearchFetchError),
        (500, SearchFetchError),
    ],
)
async def test_only_some_statuses_say_that_a_package_does_not_exist(
    status: int, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await found_in(Registry(SearchFetchError("no", details={"status": status})))


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"yanked": True, "yanked_reason": "broken"}, "withdrawn from PyPI.*broken"),
        ({"yanked": True}, "withdrawn from PyPI"),
        ({"yanked": False}, "names no documentation"),
        ({}, "names no documentation"),
    ],
)
async def test_a_package_that_was_withdrawn_or_has_no_documentation_says_so(
    info: dict[str, object], message: str
) -> None:
    with pytest.raises(SearchValidationError, match=message):
        await found_in(Registry(json.dumps({"info": info}).encode()))


@pytest.mark.parametrize(
    ("source", "version"),
    [("npm:@vue/core", ""), ("npm:@vue/core@3", "3"), ("npm:vue@3", "3"), ("npm:vue", "")],
)
def test_the_last_at_sign_is_before_the_version_unless_it_begins_the_name(
    source: str, version: str
) -> None:
    assert package(source).version == version


@pytest.mark.parametrize(
    ("docs", "home", "code", "url", "is_repository"),
    [
        ("https://docs.example/", "", "", "https://docs.example/", False),
        ("https://github.com/a/b", "", "", "https://github.com/a/b", True),
        ("https://github.com/a/b/wiki", "", "", "https://github.com/a/b/wiki", False),
        ("", "https://www.github.com/a/b", "", "https://www.github.com/a/b", True),
        ("", "https://a.example/", "https://a.example/git", "https://a.example/git", True),
        ("", "https://a.example/", "https://b.example/git", "https://a.example/", False),
        ("https://pypi.org/project/a", "", "", "", False),
    ],
)
def test_a_home_page_on_a_host_of_code_is_a_repository(
    docs: str, home: str, code: str, url: str, is_repository: bool
) -> None:
    assert _chosen([docs], [home], [code]) == (url, is_repository)
