"""The order of the table decides who reads a URL."""

from __future__ import annotations

from websearch_gateway.models import Deadline, Page
from websearch_gateway.readers import READERS, ReaderTable
from websearch_gateway.readers.html import HtmlReader


class Site:
    """A reader of one site."""

    def __init__(self, site: str) -> None:
        self.name = site

    def accepts(self, url: str) -> bool:
        return self.name in url

    async def read(self, url: str, deadline: Deadline) -> Page:
        return Page(url=url, final_url=url, title=self.name, markdown="text")


async def test_the_first_reader_that_accepts_a_url_reads_it() -> None:
    table = ReaderTable([Site("one.example"), Site("two.example"), Site("example")])
    for url, name in [("https://two.example/one", "two.example"), ("https://three.example/", "example")]:
        assert table.reader_for(url).name == name
        assert (await table.read(url, Deadline.after(1))).title == name


def test_the_reader_of_any_page_is_the_last() -> None:
    assert READERS[-1] is HtmlReader
