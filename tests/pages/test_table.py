"""The order of the table decides which reader reads a URL."""

from __future__ import annotations

import subprocess
import sys

from tests.patience import PATIENCE
from websearch_gateway.models import Deadline, Page
from websearch_gateway.pages.reader_table import ReaderTable


class Site:
    """A reader of one site."""

    def __init__(self, site: str) -> None:
        self.name = site

    def accepts(self, url: str) -> bool:
        return self.name in url

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        return Page(url=url, final_url=url, title=self.name, markdown="text")


async def test_the_first_reader_that_accepts_a_url_reads_it() -> None:
    table = ReaderTable([Site("one.example"), Site("two.example"), Site("example")])
    for url, name in [
        ("https://two.example/one", "two.example"),
        ("https://three.example/", "example"),
    ]:
        assert table.reader_for(url).name == name
        assert (await table.read(url, Deadline.after(60))).title == name


async def test_every_url_has_a_reader(reader: ReaderTable) -> None:
    assert reader.reader_for("https://example.com/anything").name == "html"


def test_importing_the_package_imports_no_reader() -> None:
    """Ours: a worker process starts from here, and its start is part of the first answer."""
    code = "import sys, websearch_gateway.base.workers.worker;print(*{'httpcore2', 'pydantic', 'lxml'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.strip() == ""
