"""A section keeps its id as long as its page's address, its headings and its text stay the same."""

from __future__ import annotations

from dataclasses import replace

from websearch_gateway.docs.models import ChunkDraft, PageDraft, content_of, section_ids

TEXT = "Tides come twice a day.\nThe moon pulls."
FIRST, SECOND = ChunkDraft(0, 23, ("Tides",)), ChunkDraft(24, 39, ("Tides", "Why"))
PAGE = PageDraft("https://d.example/tides", "Tides", TEXT, (FIRST, SECOND))


def test_an_id_stays_when_other_sections_come_before_it() -> None:
    longer = replace(
        PAGE, markdown=f"News.\n{TEXT}", chunks=(ChunkDraft(0, 5), ChunkDraft(6, 29, ("Tides",)))
    )
    assert section_ids(longer)[1] == section_ids(PAGE)[0]


def test_another_address_heading_or_text_is_another_section() -> None:
    others = (
        replace(PAGE, url="https://d.example/other"),
        replace(PAGE, chunks=(replace(FIRST, heading_path=("Ebb",)),)),
        replace(PAGE, markdown=TEXT.replace("twice", "once!")),
        replace(PAGE, chunks=(replace(FIRST, before="```\n"),)),
    )
    assert section_ids(PAGE)[0] not in {section_ids(other)[0] for other in others}


def test_equal_sections_of_a_page_have_different_ids() -> None:
    names = section_ids(replace(PAGE, chunks=(FIRST, FIRST, FIRST)))
    assert len(set(names)) == 3
    assert names[0] == section_ids(PAGE)[0]
    assert {len(name) for name in names} == {16}


def test_a_text_with_half_a_surrogate_pair_has_an_id() -> None:
    assert section_ids(replace(PAGE, markdown="\ud83d" * 40))


def test_the_text_includes_the_restored_fence_or_table_head() -> None:
    assert (
        content_of(replace(SECOND, before="| a |\n", after="\n```"), TEXT)
        == "| a |\nThe moon pulls.\n```"
    )
