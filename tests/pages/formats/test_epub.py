"""Books become their chapters in reading order, below their authors."""

from __future__ import annotations

import pytest

from tests.documents import book
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats.package import zipped

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
