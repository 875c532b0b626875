"""Reading sections with their neighbours."""

from __future__ import annotations

from pathlib import Path

from tests.opening import Open
from websearch_gateway.docs_index.models import CrawlOptions
from websearch_gateway.docs_index.reading import read_docs

SECTIONS = [f"## Zebra {number}\n\n" + f"The zebra number {number} eats grass at noon. " * 40 for number in range(12)]


async def test_a_section_has_priority_over_its_neighbours_and_the_next_id_always_advances(
    gateway: Open, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("\n\n".join(SECTIONS))
    async with gateway() as opened:
        docs = opened.docs
        site = await docs.add(str(tmp_path), "book", "1", CrawlOptions())
        await docs.crawl(site.id)
        page = f"{tmp_path.as_uri()}/a.md"
        sections = [entry.section_id for entry in (await read_docs(docs, url=page, outline=True)).outline]
        for place, section in enumerate(sections):
            own = await read_docs(docs, section_id=section)
            part = await read_docs(docs, section_id=section, around=3, max_tokens=1_500)
            assert own.content in part.content
            assert len(part.content) > len(own.content)
            assert part.next_section_id is None or sections.index(part.next_section_id) > place
