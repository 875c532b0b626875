"""Books become their chapters in reading order, below their authors."""

from __future__ import annotations

import pytest

from tests.documents import book
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats import books
from websearch_gateway.pages.formats.containers import zipped

URL = "https://example.com/a"


def test_facts_come_before_the_chapters() -> None:
    facts = (
        "<dc:title>Sea  tales</dc:title><dc:creator>Jo Reef</dc:creator><dc:creator>Sam Kelp</dc:creator>"
        "<dc:description>Of &lt;b&gt;storms&lt;/b&gt;.</dc:description><dc:date>2024-03-01T00:00:00Z</dc:date>"
    )
    page = zipped(
        book(["<h1>One</h1><p>Wind.</p>", "<h1>Two</h1><ul><li>Calm</li></ul>"], facts), URL, ""
    )
    assert (page.title, page.published) == ("Sea tales", "2024-03-01")
    assert page.markdown == (
        "**Authors:** Jo Reef, Sam Kelp\n\nOf **storms**.\n\n# One\n\nWind.\n\n# Two\n\n* Calm"
    )


def test_pictures_are_named_and_scripts_left_out() -> None:
    chapter = '<p>See <img src="a/whale.png" alt="A whale"/><img src="b.png"/></p><script>alert(1)</script>'
    assert zipped(book([chapter]), URL, "").markdown == "See [Image: A whale][Image: b.png]"


def test_entities_of_a_chapter_are_not_followed() -> None:
    body = book(["<p>Safe &amp; sound&nbsp;here &x;</p>"])
    assert "Safe & sound" in zipped(body, URL, "").markdown


@pytest.mark.parametrize(
    ("algorithm", "is_locked"),
    [
        ("http://www.idpf.org/2008/embedding", False),
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", True),
    ],
)
def test_a_locked_book_says_so_but_scrambled_fonts_do_not_matter(
    algorithm: str, is_locked: bool
) -> None:
    lock = f'<EncryptedData><EncryptionMethod Algorithm="{algorithm}"/></EncryptedData>'
    body = book(
        ["<p>Words</p>"], parts={"META-INF/encryption.xml": f"<encryption>{lock}</encryption>"}
    )
    if not is_locked:
        assert zipped(body, URL, "").markdown == "Words"
        return
    with pytest.raises(SearchFetchError) as caught:
        zipped(body, URL, "")
    assert caught.value.details["reason"] == "encrypted"


SECRET = "a remark that nobody sees"
LINK = '<link rel="stylesheet" href="css/main.css"/>'
HIDING = {
    "its style sheet": (LINK, {"main": ".h { display: none }"}),
    "one of two style sheets": (
        f'<link rel="stylesheet" href="css/base.css"/>{LINK}',
        {"base": ".h { display: block }", "main": ".h { display: none }"},
    ),
    "an imported style sheet": (
        LINK,
        {"main": '@import "more.css";', "more": '@import url("../css/last.css") screen;'}
        | {"last": ".h { visibility: hidden }"},
    ),
    "a rule behind the import of its opposite": (
        LINK,
        {"main": "@import url(base.css); .h { display: none }", "base": ".h { display: block }"},
    ),
    "style sheets that import each other": (
        LINK,
        {"main": '@import "more.css";', "more": '@import "main.css"; .h { font-size: 0 }'},
    ),
    "a style sheet with signs that XML forbids": (LINK, {"main": "\0 .h { display: none }"}),
}
SHOWING = {
    "no style sheet": ("", {"main": ".h { display: none }"}),
    "a style sheet that is missing": (LINK, {}),
    "a style sheet for paper": (
        '<link rel="stylesheet" media="print" href="css/main.css"/>',
        {"main": ".h { display: none }"},
    ),
    "an imported style sheet for paper": (
        LINK,
        {"main": '@import "more.css" print;', "more": ".h { display: none }"},
    ),
    "a style sheet to choose": (
        '<link rel="alternate stylesheet" href="css/main.css"/>',
        {"main": ".h { display: none }"},
    ),
}


def styled_book(head: str, sheets: dict[str, str]) -> bytes:
    chapter = f"<html><head>{head}</head><body><p>Seen.</p><p class='h'>{SECRET}</p></body></html>"
    parts: dict[str, str | bytes] = {f"OEBPS/css/{name}.css": css for name, css in sheets.items()}
    return book([""], parts={"OEBPS/c0.xhtml": chapter, **parts})


@pytest.mark.parametrize(("head", "sheets"), HIDING.values(), ids=HIDING)
def test_text_that_a_style_sheet_of_the_book_hides_is_left_out(
    head: str, sheets: dict[str, str]
) -> None:
    assert zipped(styled_book(head, sheets), URL, "").markdown == "Seen."


@pytest.mark.parametrize(("head", "sheets"), SHOWING.values(), ids=SHOWING)
def test_text_that_no_style_sheet_for_the_screen_hides_is_kept(
    head: str, sheets: dict[str, str]
) -> None:
    assert zipped(styled_book(head, sheets), URL, "").markdown == f"Seen.\n\n{SECRET}"


def test_chapters_with_too_many_styles_to_check_are_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(books, "MOST_STYLES", 30)
    chapters = [f"<p>{number}</p>{LINK}" for number in range(4)]
    body = book(chapters, parts={"OEBPS/css/main.css": ".h { color: red }"})
    page = zipped(body, URL, "")
    assert (page.markdown, page.warnings) == ("0", (books.UNSTYLED,))
