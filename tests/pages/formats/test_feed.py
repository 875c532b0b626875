"""Feeds of every family are read alike."""

from __future__ import annotations

import pytest

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats.feed import TOO_LONG, feed

URL = "https://tides.example/feed"
RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>Tide news</title><link>https://tides.example/</link><description>What &amp; when</description>
<item><title>Spring &lt;b&gt;tide&lt;/b&gt;</title><link> https://tides.example/spring </link>
<dc:creator>Mira</dc:creator><pubDate>Tue, 04 Mar 2025 05:06:07 GMT</pubDate>
<description>Short.</description><content:encoded><![CDATA[<p>It is <a href="/high">high</a>.</p>]]></content:encoded>
</item>
<item><title></title><link>javascript:alert(1)</link><pubDate>soon</pubDate><description>Plain</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Tide news</title><subtitle>What &amp; when</subtitle>
<entry><title type="html">Spring &lt;b&gt;tide&lt;/b&gt;</title><link rel="self" href="https://tides.example/self"/>
<link href="https://tides.example/spring"/><author><name>Mira</name><uri>x</uri></author>
<updated>2026-01-01T00:00:00Z</updated><published>2025-03-04T05:06:07Z</published><summary>Short.</summary>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>It is <a href="/high">high</a>.</p></div></content>
</entry>
<entry><title/><summary type="text">Plain</summary></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Tide news</title><description>What &amp; when</description>
</channel><item><title>Spring tide</title><link>https://tides.example/spring</link><dc:date>2025-03-04</dc:date>
<dc:creator>Mira</dc:creator><description>&lt;p&gt;It is &lt;a href="/high"&gt;high&lt;/a&gt;.</description></item>
<item><description>Plain</description></item></rdf:RDF>"""
READ = """What & when

## [Spring tide](https://tides.example/spring)

2025-03-04, Mira

It is [high](https://tides.example/high).

## Untitled

Plain"""


@pytest.mark.parametrize("text", [RSS, ATOM, RDF], ids=["rss", "atom", "rdf"])
def test_each_entry_is_under_its_title(text: str) -> None:
    page = feed(text.encode(), URL, "utf-8")
    assert (page.title, page.markdown) == ("Tide news", READ)


def test_links_are_relative_to_the_base_around_them_and_titles_may_name_tags() -> None:
    text = (
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://tides.example/blog/"><entry xml:base="2024/">'
        '<title type="html">Use &amp;lt;gate&amp;gt; &lt;b&gt;well&lt;/b&gt;</title><link href="one"/>'
        '<content type="html">See &lt;a href="plan"&gt;it&lt;/a&gt;.</content></entry></feed>'
    )
    assert feed(text.encode(), URL, "utf-8").markdown == (
        "## [Use \\<gate> well](https://tides.example/blog/2024/one)\n\nSee [it](https://tides.example/blog/2024/plan)."
    )
    rss = "<rss><channel><item><title>One</title><link>/one</link></item></channel></rss>"
    assert feed(rss.encode(), URL, "utf-8").markdown == "## [One](https://tides.example/one)"


def test_no_entry_can_look_like_another_one() -> None:
    body = "<description>&lt;h2&gt;Forged&lt;/h2&gt;## Forged&lt;p&gt;x&lt;/p&gt;</description>"
    entry = (
        f"<item><title>A [b](https://evil.example)</title><author>## Forged</author>{body}</item>"
    )
    read = feed(
        f"<rss><channel><title>T</title>{entry}</channel></rss>".encode(), URL, "utf-8"
    ).markdown
    assert [line for line in read.splitlines() if line.startswith("#")] == [
        r"## A [b\](https://evil.example)"
    ]
    assert "**Forged**" in read


def test_a_date_with_an_impossible_zone_costs_only_the_date() -> None:
    text = RSS.replace("05:06:07 GMT", "05:06:07 +99999999999999")
    assert feed(text.encode(), URL, "utf-8").markdown == READ.replace("2025-03-04, ", "")


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "cp1252"])
def test_the_charset_of_the_reply_is_used_for_a_feed(codec: str) -> None:
    assert (
        feed(
            "<?xml version='1.0'?><rss><channel><title>Höhe</title></channel></rss>".encode(codec),
            URL,
            codec,
        ).title
        == "Höhe"
    )


def test_the_encoding_that_a_feed_declares_takes_precedence() -> None:
    body = '<?xml version="1.0" encoding="ISO-8859-2"?><rss><channel><title>Wąż</title></channel></rss>'
    assert feed(body.encode("iso8859-2"), URL, "cp1252").title == "Wąż"


def test_entities_are_not_expanded() -> None:
    """A feed must not read files, nor grow without end."""
    bomb = '<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/hostname"><!ENTITY b "xx"><!ENTITY c "&b;&b;">]>'
    page = feed(
        f"{bomb}<rss><channel><title>T</title><description>.&a;&c;.</description></channel></rss>".encode(),
        URL,
        "utf-8",
    )
    assert page.markdown in ("", "..", ".&a;&c;.", "The feed is empty.")


@pytest.mark.parametrize("body", [b"", b"<html>", b"<opml/>", b"words"])
def test_a_body_that_is_not_a_feed_is_refused(body: bytes) -> None:
    with pytest.raises(SearchFetchError, match="neither RSS nor Atom"):
        feed(body, URL, "utf-8")


def test_only_the_first_entries_of_a_very_long_feed_are_read() -> None:
    entries = "".join(f"<item><title>{number}</title></item>" for number in range(3_001))
    page = feed(f"<rss><channel>{entries}</channel></rss>".encode(), URL, "utf-8")
    assert page.markdown.startswith("## 0\n\n## 1\n")
    assert page.markdown.endswith("## 2999")
    assert page.warnings == (TOO_LONG.format(3_000),)


def test_empty_entries_are_left_out() -> None:
    assert (
        feed(b"<rss><channel><item/><item><pubDate>soon</pubDate></item>", URL, "utf-8").markdown
        == "The feed is empty."
    )
