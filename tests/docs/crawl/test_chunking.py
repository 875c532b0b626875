from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.base.safety.test_linear import ALPHABETS
from tests.growth import too_much
from websearch_gateway.base.tokenization import estimate_tokens
from websearch_gateway.docs.crawl.chunking import cut, drafted, page_symbols
from websearch_gateway.docs.crawl.scope import Scope
from websearch_gateway.docs.models import ChunkDraft, PageDraft
from websearch_gateway.docs.store.pages import prepared
from websearch_gateway.pages.extraction.crawled import CrawledPage

WORDS = "Some words of a sentence that says little. "


def test_small_neighbouring_sections_share_a_chunk_under_their_common_path():
    markdown = "# Title\n\nIntro.\n\n## One\n\nFirst.\n\n## Two\n\nSecond."
    (chunk,) = cut(markdown, [(0, "title")])
    assert (chunk.heading_path, chunk.anchor) == (("Title",), "title")
    assert markdown[chunk.start : chunk.stop] == markdown


def test_a_large_section_ends_where_the_next_begins():
    markdown = f"# Title\n\n{WORDS * 40}\n\n## Two\n\nSecond."
    second = markdown.index("## Two")
    first, last = cut(markdown, [(0, "title"), (second, "two")])
    assert (last.start, last.anchor, last.heading_path) == (second, "two", ("Title", "Two"))
    assert 325 <= estimate_tokens(markdown[first.start : first.stop]) <= 650


@pytest.mark.parametrize(("tokens", "sections"), [(160, 3), (210, 2), (320, 2), (330, 1), (600, 1)])
def test_a_chunk_takes_in_sections_until_it_is_half_full(tokens: int, sections: int) -> None:
    section = f"## Section\n\n{'tide ' * (tokens * 4 // 5 - 3)}\n\n"
    first = cut(section * 8)[0]
    assert (section * 8)[first.start : first.stop].count("## Section") == sections


def test_a_chunk_that_begins_inside_a_section_ends_with_it():
    markdown = f"# Title\n\n{WORDS * 60}\n\n{WORDS * 10}\n\n## Two\n\nSecond."
    second = markdown.index("## Two")
    chunks = cut(markdown, [(0, "title"), (second, "two")])
    assert [chunk.anchor for chunk in chunks][-2:] == ["title", "two"]
    assert chunks[-1].start == second


def test_code_stays_whole():
    code = "```python\n" + "call(argument)\n" * 100 + "```"
    markdown = f"# Title\n\n{WORDS * 50}\n\n{code}\n\n{WORDS * 50}"
    assert sum(code in markdown[chunk.start : chunk.stop] for chunk in cut(markdown)) == 1


@given(
    st.lists(
        st.sampled_from(
            ["# H", "## I", "text " * 200, "- item", "```\ncode\n```", "**term**", "| a | b |"]
        )
    )
)
def test_chunks_contain_all_text_in_order(parts):
    markdown = "\n\n".join(parts)
    chunks = cut(markdown)
    assert all(a.stop <= b.start for a, b in pairwise(chunks))
    kept = "".join(markdown[chunk.start : chunk.stop] for chunk in chunks)
    assert "".join(kept.split()) == "".join(markdown.split())


def names(markdown: str, anchors=(), defined=()) -> set[tuple[str, str]]:
    return {
        (s.name, s.kind) for s in page_symbols(markdown, cut(markdown, anchors), anchors, defined)
    }


def test_terms_and_headings_define_symbols():
    assert ("--no-verify", "option") in names("**--[no-]verify**\n\nText.")
    assert ("-n", "option") in names("**-n**\n\nText.")
    assert ("shared_buffers", "api") in names(
        "**`shared_buffers` (`integer`)**\n\nText.", [(0, "GUC-SHARED-BUFFERS")]
    )
    assert ("asyncio.timeout", "api") in names(
        "**async timeout(when)**\n\nText.", [(0, "asyncio.timeout")]
    )
    assert ("lru_cache", "heading") in names("## `lru_cache`\n\nText.")
    assert names("Only prose about shared_buffers.") == set()


def test_a_symbol_lies_in_the_chunk_of_its_anchor():
    markdown = f"# Title\n\n{WORDS * 40}\n\n**asyncio.timeout(when)**\n\nText."
    term = markdown.index("**asyncio")
    anchors = [(term, "asyncio.timeout")]
    found = page_symbols(
        markdown, cut(markdown, anchors), anchors, [("asyncio.timeout", "asyncio.timeout")]
    )
    assert [(s.name, s.ordinal, s.anchor) for s in found if s.name == "asyncio.timeout"] == [
        ("asyncio.timeout", 1, "asyncio.timeout")
    ]


def test_a_draft_holds_the_links_in_scope_and_no_endless_address():
    base = "https://docs.example.org/3/"
    links = (
        f"{base}a.html#x",
        f"{base}a.html",
        f"{base}b/index.html",
        "https://elsewhere.example/",
    )
    endless = base + "x" * 5_000
    page = CrawledPage("T", "# m.run\n\nIt runs.", links=links, canonical=endless, refresh=endless)
    draft = drafted(Scope.of(base), [("m.run", "")], page)
    assert draft["links"] == [f"{base}a.html", f"{base}b/"]
    assert (draft["canonical"], draft["refresh"]) == ("", "")
    assert [symbol["name"] for symbol in draft["symbols"]] == ["m.run"]
    assert [(chunk["start"], chunk["stop"]) for chunk in draft["chunks"]] == [
        (0, len(page.markdown))
    ]


def test_the_rows_of_a_page_of_any_text_are_made_in_linear_time():
    def rows(text: str) -> object:
        return prepared(
            PageDraft("https://docs.example.org/3/", "T", text, (ChunkDraft(0, len(text)),)), None
        )

    slow = {kind: found for kind, text in ALPHABETS.items() if (found := too_much(rows, text))}
    assert slow == {}


def test_two_hundred_addresses_that_are_left_out_are_named() -> None:
    links = tuple(f"https://a.example/other/{number}" for number in range(300))
    document = drafted(Scope.of("https://a.example/docs/"), (), CrawledPage("", "", links=links))
    assert [len(urls) for urls in document["left_out"].values()] == [200]


def test_a_page_defines_at_most_five_thousand_names() -> None:
    defined = [(f"tide.at{number}", "a") for number in range(6_000)]
    document = drafted(
        Scope.of("https://a.example/"), defined, CrawledPage("", "Words.", anchors=((0, "a"),))
    )
    assert len(document["symbols"]) == 5_000
