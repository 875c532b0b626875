"""From the HTML of a page to its title, date and main text. Pure, and made to run in a worker process."""

from __future__ import annotations

from dataclasses import dataclass

from websearch_gateway.net.charset import charset_of, decode


@dataclass(frozen=True, slots=True)
class Extracted:
    """`markdown` is empty when the page has no readable text. `published` is an ISO 8601 date."""

    title: str
    markdown: str
    published: str | None


def extract(html: bytes | str, url: str, charset: str | None) -> Extracted:
    """The readable part of a page, as Markdown with absolute links.

    Args:
        url: where the page is, to make its links absolute.
        charset: the Python codec of `html` where that is bytes; found out when None.
    """
    import trafilatura
    from trafilatura.metadata import extract_metadata

    text = html if isinstance(html, str) else decode(html, charset or charset_of(html, ""))
    tree = trafilatura.load_html(text)
    if tree is None:
        return Extracted("", "", None)
    markdown = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        include_comments=False,
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    # Not extensive: guessing a date from the prose costs 1.6 s once, for a locale library, and guesses wrong.
    about = extract_metadata(tree, default_url=url, extensive=False)
    return Extracted(about.title or "", (markdown or "").strip(), about.date)


def warm_up() -> None:
    """Import and prepare what `extract` needs, so that the first page does not wait for it."""
    extract("<html><body><article><p>A page.</p></article></body></html>", "https://example.com/", None)
