"""All addresses of a page have one key, and other pages have another one."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.same_page import is_advertisement, page_key, target_of

PAGE = "https://birds.example/list/(north)?id=7&lang=fr"


def bing(url: str) -> str:
    encoded = base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    return f"https://www.bing.com/ck/a?!&&p=0123&ptn=3&u=a1{encoded}&ntb=1"


WRAPPERS = [
    f"https://duckduckgo.com/l/?uddg={quote(PAGE, safe='')}&rut=0123",
    f"http://html.duckduckgo.com/l/?kh=-1&uddg={quote(PAGE, safe='')}",
    f"https://www.google.com/url?sa=t&url={quote(PAGE, safe='')}&ved=2ah",
    f"https://www.google.co.uk/url?q={quote(PAGE, safe='')}&sa=U",
    bing(PAGE),
    f"https://r.search.yahoo.com/_ylt=A2K/RV=2/RE=1700000000/RO=10/RU={quote(PAGE, safe='')}/RK=2/RS=x-",
    f"https://www.google.com/url?q={quote(bing(PAGE), safe='')}",
]


@pytest.mark.parametrize(
    "other",
    [
        "http://birds.example/list/(north)?id=7&lang=fr",
        "https://www.birds.example/list/(north)?id=7&lang=fr",
        "HTTPS://WWW.Birds.example:443/list/(north)?id=7&lang=fr",
        "https://birds.example/list/%28north%29?id=7&lang=fr",
        "https://birds.example/list/%28nor%74h)/?id=%37&lang=fr#top",
        f"{PAGE}&utm_source=openai",
        *WRAPPERS,
    ],
)
def test_spellings_of_one_page_share_a_key(other: str) -> None:
    assert page_key(other) == page_key(PAGE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/caf%C3%A9", "https://a.example/café"),
        ("https://a.example/caf%c3%a9", "https://a.example/caf%C3%A9"),
        ("https://a.example/x%2Cy", "https://a.example/x,y"),
        ("https://a.example/%21%7E", "https://a.example/!~"),
        ("https://a.example/x\x7fy", "https://a.example/x%7Fy"),
        ("https://a.example/x y", "https://a.example/x%20y"),
    ],
)
def test_escapes_are_compared_by_what_they_stand_for(one: str, other: str) -> None:
    assert page_key(one) == page_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/a%2Fb", "https://a.example/a/b"),
        ("https://a.example/?q=a%26b", "https://a.example/?q=a&b"),
        ("https://a.example/?q=a%2Bb", "https://a.example/?q=a+b"),
        ("https://a.example/100%25", "https://a.example/100%2525"),
        ("https://a.example/x", "https://a.example/X"),
        ("https://a.example:8443/x", "https://a.example/x"),
        ("https://www.a.example/x", "https://news.a.example/x"),
        ("https://a.example/?id=1", "https://a.example/?id=2"),
        ("ftp://a.example/x", "https://a.example/x"),
    ],
)
def test_different_pages_have_different_keys(one: str, other: str) -> None:
    assert page_key(one) != page_key(other)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_the_page_behind_a_redirect_of_an_engine_is_found(wrapper: str) -> None:
    assert target_of(wrapper) == PAGE


@pytest.mark.parametrize(
    "url",
    [
        PAGE,
        "https://www.google.com/search?q=birds&url=https://a.example",
        "https://google.evil.example/url?q=https://a.example",
        "https://notgoogle.com/url?q=https://a.example",
        "https://www.google.com/url?q=javascript:alert(1)",
        "https://www.bing.com/ck/a?u=a1%%%",
        "https://duckduckgo.com/l/?uddg=//a.example",
        "https://r.search.yahoo.com/RU=file%3A%2F%2F%2Fetc/RK=2",
        "not an address",
    ],
)
def test_another_address_stays_as_it_is(url: str) -> None:
    assert target_of(url) == url


@pytest.mark.parametrize(
    ("url", "is_ad"),
    [
        (
            "https://duckduckgo.com/y.js?ad_domain=shop.example&ad_provider=bingv7aa&u3=https%3A%2F%2Fwww.bing.com",
            True,
        ),
        (
            f"https://duckduckgo.com/l/?uddg={quote('https://duckduckgo.com/y.js?ad_domain=s.example', safe='')}",
            True,
        ),
        ("https://www.bing.com/aclick?ld=e8&u=aHR0", True),
        ("https://www.google.com/aclk?sa=l&ai=D", True),
        ("https://www.googleadservices.com/pagead/aclk?sa=L", True),
        ("https://duckduckgo.com/about", False),
        ("https://a.example/y.js", False),
        (PAGE, False),
    ],
)
def test_an_advertisement_is_known_by_its_address(url: str, is_ad: bool) -> None:
    assert is_advertisement(url) is is_ad


@given(st.text(max_size=60))
def test_any_text_has_a_key_that_is_its_own_key(text: str) -> None:
    url = f"https://a.example/{text}"
    assert page_key(url.replace("https://", "http://www.")) == page_key(url)
