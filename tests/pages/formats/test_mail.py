"""Messages keep their headers and text; attachments are named."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from tests.growth import too_much
from websearch_gateway.pages.formats.mail import MOST_PARTS, mail


def message(plain: str = "", html: str = "") -> EmailMessage:
    written = EmailMessage()
    written["From"] = "Ann <ann@example.com>"
    written["To"] = "bob@example.com"
    written["Subject"] = "Übung at sea"
    written["Date"] = "Fri, 01 Mar 2024 12:00:00 +0000"
    written.set_content(plain)
    if html:
        written.add_alternative(html, subtype="html")
    return written


def test_headers_text_and_attachments() -> None:
    written = message("First line.\nSecond line.")
    written.add_attachment(b"PK", maintype="application", subtype="zip", filename="cargo.zip")
    page = mail(bytes(written), "https://example.com/a", "utf-8")
    assert (page.title, page.published) == ("Übung at sea", "2024-03-01")
    assert page.markdown == (
        "**Subject:** Übung at sea  \n"
        "**From:** Ann <ann@example.com>  \n**To:** bob@example.com  \n**Date:** Fri, 01 Mar 2024 12:00:00 +0000\n\n"
        "First line.\nSecond line.\n\n**Attachments:**\n\n* cargo.zip (application/zip)"
    )


def test_the_richer_of_two_forms_is_read() -> None:
    page = mail(
        bytes(message("See HTML.", "<p>A <b>long</b> tale of the sea</p>")),
        "https://example.com/a",
        "utf-8",
    )
    assert "A **long** tale of the sea" in page.markdown
    assert "See HTML." not in page.markdown


def parts(kind: str, *inside: str) -> bytes:
    texts = "--b".join(f"{part}\n" for part in inside)
    return f"Content-Type: multipart/{kind}; boundary=b\n\n--b\n{texts}--b--".encode()


PLAIN, HTML = "Content-Type: text/plain\n\n", "Content-Type: text/html\n\n"
PICTURE = "Content-Type: image/png; name=g.png\nContent-Disposition: inline\n\niVBO"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            parts("mixed", f"{PLAIN}One.", f"\n{PICTURE}", f"\n{PLAIN}Two."),
            "One.\n\nTwo.\n\n**Attachments:**\n\n* g.png (image/png)",
        ),
        (parts("mixed", f"{HTML}<p>One.", f"\n{HTML}<p>Two."), "One.\n\nTwo."),
        (parts("related", f"{HTML}<p>One.", f"\n{HTML}<p>A frame."), "One."),
        (
            parts("alternative", f"{PLAIN}One two three.", f"\n{HTML}<p><b>One</b> two three."),
            "One two three.",
        ),
        (
            parts(
                "alternative",
                f"{PLAIN}The times.",
                f"\n{HTML}<p>The times.<table><tr><th>Gate<th>Time<tr><td>Upper<td>14",
            ),
            "The times.\n\n| Gate | Time |\n| --- | --- |\n| Upper | 14 |",
        ),
        (
            parts(
                "mixed",
                f"{PLAIN}See below.",
                "\nContent-Type: message/rfc822\n\nFrom: a@b.example\nSubject: Level\n\nIt is 4 m.",
            ),
            "See below.\n\n**Forwarded message:**\n\n**Subject:** Level  \n**From:** a@b.example\n\nIt is 4 m.",
        ),
    ],
    ids=["around a picture", "two of HTML", "related", "same words", "a table more", "forwarded"],
)
def test_every_text_of_a_message_is_read_once(body: bytes, text: str) -> None:
    assert (
        mail(b"To: x@y.example\n" + body, "https://example.com/a", "utf-8").markdown
        == f"**To:** x@y.example\n\n{text}"
    )


def test_a_page_that_a_browser_saved_is_that_page() -> None:
    markup = "<html><head><title>Gulls</title></head><body><nav><a href='/'>Home</a></nav><main><h1>Gulls</h1>"
    saved = parts(
        "related",
        f"Content-Type: text/html; charset=utf-8\n\n{markup}<p>Words of <a href='b'>it</a>{' and more' * 20}.</main>",
        f"\n{PICTURE}",
    )
    head = b"From: <Saved by Blink>\nSnapshot-Content-Location: https://gull.example/a/\n"
    page = mail(head + saved, "https://example.com/a.mhtml", "utf-8")
    assert (page.title, page.markdown) == (
        "Gulls",
        f"# Gulls\n\nWords of [it](https://gull.example/a/b){' and more' * 20}.",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Type: text/plain; charset=punycode\n\nwords",
        b"Content-Type: text/plain; charset=\xff\xfe\n\nwords",
        b"Date: 99 Foo 2024\nFrom: \xff<<<@@\nSubject: =?x?q?=00?=\n\nwords",
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nwords",
    ],
)
def test_strange_messages_are_read(body: bytes) -> None:
    assert "words" in mail(body, "https://example.com/a", "utf-8").markdown


def test_very_many_parts_are_capped() -> None:
    part = b"--b\nContent-Disposition: attachment; filename=x\n\nx\n"
    body = b"Content-Type: multipart/mixed; boundary=b\n\n" + part * 5_000 + b"--b--\n"
    assert mail(body, "https://example.com/a", "utf-8").markdown.count("* x (") < 300


def test_a_header_of_brackets_is_cut() -> None:
    page = mail(
        b"Subject: Tides\nFrom: " + b"(" * 100_000 + b"\n\nwords", "https://example.com/a", "utf-8"
    )
    assert (page.title, page.markdown.split()[-1]) == ("Tides", "words")


def test_messages_in_each_other_are_read_to_a_bounded_depth() -> None:
    """A part that lies deeper is named. The parser would end in an error of the language."""
    outer = b"Subject: Tides\nContent-Type: multipart/mixed; boundary=outer\n\n--outer\n"
    inner = b"Content-Type: message/rfc822\n\n" * 2_000 + b"Subject: inner\n\ndeep\n"
    page = mail(outer + inner + b"--outer\n\nwords\n--outer--\n", "https://example.com/a", "utf-8")
    assert (page.title, page.markdown) == (
        "Tides",
        "**Subject:** Tides\n\nwords\n\n**Attachments:**\n\n* unnamed (application/octet-stream)",
    )


@pytest.mark.parametrize(
    "name", ["Content-Type", "Content-Disposition", "Content-Transfer-Encoding"]
)
def test_a_header_of_a_part_that_cannot_be_parsed_is_left_out(name: str) -> None:
    part = b"--b\n" + name.encode() + b": " + b"(" * 100_000 + b"\n\nwords\n"
    body = b"Content-Type: multipart/mixed; boundary=b\n\n" + part + b"--b--\n"
    assert mail(body, "https://example.com/a", "utf-8").markdown == "words"


def test_no_part_is_read_after_the_last_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message of a megabyte may have a hundred thousand."""
    read: list[object] = []
    monkeypatch.setattr(EmailMessage, "set_payload", lambda part, *_: read.append(part))
    body = b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 5_000 + b"--b--\n"
    mail(body, "https://example.com/a", "utf-8")
    assert len(read) <= MOST_PARTS


def test_the_work_on_boundaries_in_each_other_is_bounded() -> None:
    def nested(size: int) -> str:
        starts = "".join(
            f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(size // 200)
        )
        return starts + "\n" + "x\n" * (size // 4)

    def read(text: str) -> object:
        return mail(text.encode(), "https://example.com/a", "utf-8")

    assert not too_much(read, nested, (20_000,), ())


def test_lines_that_flow_become_one() -> None:
    head = b"From: a\nContent-Type: text/plain; format=flowed\n\n"
    text = b"The boats lie \nin the basin.\nTwo lines.\n-- \nThe office\n"
    assert mail(head + text, "", "").markdown.endswith(
        "The boats lie in the basin.\nTwo lines.\n-- \nThe office"
    )


def test_a_calendar_is_no_other_form_of_the_text() -> None:
    body = parts(
        "alternative",
        "\nContent-Type: text/plain\n\nCome aboard.",
        "\nContent-Type: text/calendar\n\nBEGIN:VCALENDAR\nSUMMARY:Sail with many other words\nEND:VCALENDAR",
    )
    assert mail(body, "", "").markdown.endswith("Come aboard.")


@pytest.mark.parametrize(
    ("shared", "more", "is_html"),
    [(1, 3, True), (1, 2, False), (37, 3, False), (44, 6, True)],
    ids=["three words", "two words", "less than a tenth", "more than a tenth"],
)
def test_html_is_read_if_a_tenth_of_its_words_and_more_than_two_are_only_there(
    shared: int, more: int, *, is_html: bool
) -> None:
    plain = " ".join(f"word{at}" for at in range(shared))
    html = plain + "".join(f" more{at}" for at in range(more))
    page = mail(bytes(message(plain, f"<p>{html}</p>")), "https://example.com/a", "utf-8")
    assert ("more0" in page.markdown) == is_html


def test_two_hundred_parts_of_a_message_are_read() -> None:
    """The message itself is the first."""
    part = "--b\r\nContent-Type: text/plain\r\n\r\ngull\r\n"
    body = f"Content-Type: multipart/mixed; boundary=b\r\n\r\n{part * 250}--b--\r\n"
    assert mail(body.encode(), "https://example.com/a", "utf-8").markdown.count("gull") == 199


@pytest.mark.parametrize(("levels", "is_read"), [(20, True), (21, False)])
def test_parts_are_read_twenty_levels_deep(levels: int, *, is_read: bool) -> None:
    body = "Content-Type: text/plain\r\n\r\ngull\r\n"
    for at in range(levels):
        body = f"Content-Type: multipart/mixed; boundary=b{at}x\r\n\r\n--b{at}x\r\n{body}--b{at}x--\r\n"
    page = mail(body.encode(), "https://example.com/a", "utf-8")
    assert ("gull" in page.markdown) == is_read


def test_a_header_has_at_most_2000_letters() -> None:
    body = f"Subject: {'a' * 2_001}\r\n\r\nWords."
    assert len(mail(body.encode(), "https://example.com/a", "utf-8").title) == 2_000
