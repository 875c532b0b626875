"""A folder as a source of documents."""

from pathlib import Path

from websearch_gateway.docs_index.crawl.scope import Scope
from websearch_gateway.docs_index.crawl.sources import FolderSource


async def test_of_a_page_and_its_text_in_a_folder_only_the_page_is_a_document(tmp_path: Path) -> None:
    for name in ("git-add.html", "git-add.txt", "guide.html", "guide.md", "options.txt"):
        (tmp_path / name).write_text("Text.")
    base = f"{tmp_path.as_uri()}/"
    urls, _ = await FolderSource(tmp_path, base, Scope.of(base)).seeds()
    assert [url.removeprefix(base) for url in urls] == ["git-add.html", "guide.html", "options.txt"]
