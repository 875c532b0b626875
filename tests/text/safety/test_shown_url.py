"""A URL is shown without characters that hide or reorder it, and otherwise unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.safety.shown_url import shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/%E2%80%AEgpj.exe", "https://a.example/gpj.exe"),
        ("https://a.example/%e2%80%8b%E2%80%8Bx", "https://a.example/x"),
        ("https://a.example/\u202ex", "https://a.example/x"),
        ("https://a.example/%00x%1B", "https://a.example/x"),
        ("https://a.example/?q=%F3%A0%81%81", "https://a.example/?q="),
        ("https://a.example/100%25%20%zz%E2%80", "https://a.example/100%25%20%zz%E2%80"),
        ("https://fa.wikipedia.org/wiki/%D9%85%DB%8C%E2%80%8C%D8%AE%D9%88", None),
        ("https://a.example/%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7", None),
        ("https://a.example/caf%C3%A9?a=%2F", None),
    ],
)
def test_invisible_characters_are_removed_except_those_of_spelling(url: str, shown: str | None) -> None:
    assert shown_url(url) == (shown if shown is not None else url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pass@a.example/x", "https://a.example/x"),
        ("https://bank.example@a.example", "https://a.example"),
        ("http://a@b@a.example:8080/?q=x@y#z@", "http://a.example:8080/?q=x@y#z@"),
        ("HTTPS:\\\\user@a.example", "HTTPS:\\\\a.example"),
        ("https:user@a.example", "https:a.example"),
        ("//user@a.example", "//a.example"),
        ("ftp://user:pass@a.example/x", "ftp://a.example/x"),
        ("https://us%E2%80%AEer@a.example/%E2%80%AEx", "https://a.example/x"),
        ("https:/\u200b/user@a.example/x", ""),
        ("https://medium.com/@writer/x", None),
        ("https://a.example?mail=b@c.example", None),
        ("mailto:b@c.example", None),
        ("https://a%40a.example/", None),
    ],
)
def test_a_login_is_removed(url: str, shown: str | None) -> None:
    assert shown_url(url) == (shown if shown is not None else url)


@given(
    st.lists(st.sampled_from([*(f"%{byte:02X}" for byte in (0, 0x80, 0xE2, 0xAE, 0x8B, 0xF3, 0xA0)), "a", "\u202e"]))
)
def test_removing_characters_creates_no_invisible_ones(parts: list[str]) -> None:
    shown = shown_url("https://a.example/" + "".join(parts))
    assert shown_url(shown) == shown


@given(st.text(alphabet=st.characters(codec="ascii", exclude_characters="%", exclude_categories=["Cc"])))
def test_a_plain_url_is_unchanged(path: str) -> None:
    assert shown_url(f"https://a.example/{path}") == f"https://a.example/{path}"
