"""The limits of documents and pages that a reader may run into: what is at one is read, one more is not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.documents import book, shape, slides, word
from tests.pages.formats.test_sheets import cell, sheets
from tests.pages.test_limits import linked, output, page, read, styled
from websearch_gateway.pages.extraction.crawled import crawled_html
from websearch_gateway.pages.formats.kinds import most_bytes
from websearch_gateway.pages.formats.rendering import to_markdown
from websearch_gateway.pages.sites.threads import HackerNews

URL = "https://a.example/"


def authors(count: int) -> str:
    named = "".join(f"<dc:creator>Author {number}.</dc:creator>" for number in range(1, count + 1))
    return read("zip", book(["<p>x</p>"], named))()


def entries(count: int) -> str:
    items = "".join(
        f"<item><title>Entry {number}.</title></item>" for number in range(1, count + 1)
    )
    return read("feed", f"<rss><channel>{items}</channel></rss>")()


def options(count: int) -> str:
    chosen = "".join(f"<option>Size {number}. ${number}" for number in range(1, count + 1))
    return page(f"<p>Sizes</p><select>{chosen}</select>")()


def header(length: int) -> str:
    subject = "Subject: " + "x" * (length - 6) + " last."
    return read("mail", f"From: a@example.com\n{subject}\n\nText")()


def parts_of_mail(count: int) -> str:
    part = "--b\nContent-Type: text/plain\n\nPart {}.\n"
    parts = "".join(part.format(number) for number in range(1, count))
    head = "From: a@example.com\nContent-Type: multipart/mixed; boundary=b\n\n"
    return read("mail", f"{head}{parts}--b--\n")()


def printed(length: int) -> str:
    return read("notebook", output(plain="x" * (length - 5) + " end."))()


def marked(length: int) -> str:
    return read("notebook", output(html="<p>Words</p>".ljust(length)))()


def grouped(depth: int) -> str:
    inner = "<p:grpSp>" * depth + shape("Inner.") + "</p:grpSp>" * depth
    return read("zip", slides(shape("Outer") + inner))()


def columns(count: int) -> str:
    letters = [
        (chr(64 + first) if first else "") + chr(65 + second)
        for first in range(27)
        for second in range(26)
    ]
    letters += [f"A{name}" for name in letters if len(name) == 2]
    row = "".join(cell(f"{name}1", f"c{at}.") for at, name in enumerate(letters[:count], 1))
    return read("zip", sheets(f'<row r="1">{row}</row>'))()


def parents(count: int) -> str:
    return read("zip", styled(count - 1))()


def instruction(length: int) -> str:
    padding = " " * (length - len('HYPERLINK "https://b.example/"'))
    return read("zip", word(linked(f"HYPERLINK{padding} &quot;https://b.example/&quot;")))()


def comments(count: int) -> str:
    item = {
        "title": "T", "author": "a", "points": 1, "created_at": "2026-01-01T00:00:00Z", "text": "x",
        "children": [{"author": "b", "text": f"comment {number}.", "children": []} for number in range(1, count + 1)],
    }  # fmt: skip
    found = HackerNews.parse("https://news.ycombinator.com/item?id=1", [json.dumps(item).encode()])
    return found.markdown


def links(count: int) -> str:
    body = "<title>t</title>" + "".join(f'<a href="/p{at}.">p</a>' for at in range(1, count + 1))
    return " ".join(crawled_html(body.encode(), URL, "utf-8").links)


def frames(count: int) -> str:
    sources = "".join(f"<frame src=/f{number}.>" for number in range(1, count + 1))
    return read("html", f"<frameset>{sources}</frameset>")()


def title(length: int) -> str:
    return read("html", f"<title>{'x' * (length - 5)} end.</title><p>Words</p>")()


def texts_of_link(count: int) -> str:
    inner = "".join(f"<p>{number}.</p>" for number in range(1, count + 1))
    return to_markdown(f"<a href='https://b.example/'>{inner}</a>")


def nested_list(depth: int) -> str:
    return to_markdown("<ul><li>x" * (depth - 1) + "<ul><li>Inner." + "</ul>" * depth)


def unseen(length: int) -> str:
    return page(f'<p><script type="math/tex">{"x" * (length - 3)}+yz</script></p>')()


@pytest.mark.parametrize(
    ("most", "made", "last", "past"),
    [
        (50, authors, "Author 50.", "Author 51."),
        (3_000, entries, "Entry 3000.", "Entry 3001."),
        (50, options, "Size 50.", "Size 51."),
        (2_000, header, "last.", "last."),
        (200, parts_of_mail, "Part 199.", "Part 200."),
        (20_000, printed, "end.", "end."),
        (200_000, marked, "Words", "Words"),
        (50, grouped, "Inner.", "Inner."),
        (1_000, columns, "c1000.", "c1001."),
        (30, parents, "Words.", "Words."),
        (4_000, instruction, "b.example", "b.example"),
        (300, comments, "comment 300.", "comment 301."),
        (5_000, links, "p5000.", "p5001."),
        (20, frames, "f20.", "f21."),
        (1_000, title, "end.", "end."),
        (50, texts_of_link, "b.example", "b.example"),
        (20, nested_list, "- Inner.", "- Inner."),
        (1_000, unseen, "yz", "yz"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_what_is_at_a_limit_is_read_and_one_more_is_not(
    most: int, made: Callable[[int], str], last: str, past: str
) -> None:
    assert last in made(most)
    assert past not in made(most + 1)


def test_a_page_has_five_million_bytes_and_a_document_twenty() -> None:
    assert most_bytes(URL) == 5_000_000
    assert most_bytes(f"{URL}a.pdf") == 20_000_000
