"""The rules of a robots.txt for our crawler, by RFC 9309 unless a test says otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from websearch_gateway.base.urls import may_read, refused_by, rules_for

US = "websearch-gateway"
SITE = "https://example.com"


def allowed(rules: str, path: str = "/a") -> bool:
    return may_read(rules, SITE + path, US)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("", True),
        ("User-agent: *\nDisallow: /", False),
        ("User-agent: *\nDisallow:", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: websearch-gateway\nDisallow: /private", True),
        ("User-agent: WebSearch-Gateway/0.1 (us)\nDisallow: /a", False),
        ("User-agent: websearch-gateway-x\nDisallow: /a", True),
        ("User-agent: websearch\nDisallow: /a", True),
        ("User-agent: other\nUser-agent: websearch-gateway\nDisallow: /a", False),
        ("User-agent: other\nDisallow: /a", True),
        (
            "User-agent: websearch-gateway\nCrawl-delay: 5\nSitemap: /x\nNonsense: y\nDisallow: /a",
            False,
        ),
        ("User-agent: websearch-gateway\nNonsense: y\nUser-agent: *\nDisallow: /a", False),
        (
            "User-agent: websearch-gateway\nDisallow: /b\n\nUser-agent: websearch-gateway\nDisallow: /a",
            False,
        ),
        ("Disallow: /a", True),
        ("\ufeffUser-agent: * # all\r\nDisallow: /a # this", False),
        ("user agent: *\ndissallow: /a", False),
        ("User-agent: *\nAllow: /a\nDisallow: /", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a", True),
        ("User-agent: *\nDisallow: /*a$", False),
    ],
)
def test_the_rules_for_our_crawler_apply(rules: str, expected: bool) -> None:
    assert allowed(rules) is expected


@pytest.mark.parametrize("path", ["/caf%C3%A9/x", "/caf%c3%a9/x", "/café/x"])
def test_a_rule_applies_to_every_spelling_of_a_url(path: str) -> None:
    for written in ("/café/", "/caf%C3%A9/"):
        assert not allowed(f"User-agent: *\nDisallow: {written}", path)


@given(st.text().filter(lambda text: "allow" not in text.lower()), st.text())
def test_text_that_is_no_rule_forbids_nothing_and_hides_no_rule_after_it(
    text: str, path: str
) -> None:
    assert allowed(text, f"/{path}")
    assert not allowed(f"{text}\n\nUser-agent: {US}\nDisallow: /", f"/{path}")


@given(
    st.lists(
        st.builds(
            "{}: {}".format,
            st.sampled_from(["User-agent", "Disallow", "Allow", "Crawl-delay", "Sitemap"]),
            st.sampled_from([US, "*", "bot", "/a", "/a/b", "/*c$", "/", "", "7"]),
        ),
        max_size=20,
    ),
    st.sampled_from(["/", "/a", "/a/b", "/x/c", "/b"]),
)
def test_the_extracted_rules_allow_the_same_urls_as_the_whole_text(
    lines: list[str], path: str
) -> None:
    whole = "\n".join(lines)
    picked = rules_for(whole, US)
    assert allowed(picked, path) is Protego.parse(whole).can_fetch(SITE + path, US)
    assert rules_for(picked, US) == picked


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("User-agent: *\nDisallow: /", "user-agent: *\nDisallow: /"),
        (
            "User-agent: *\nDisallow: /\nUser-agent: websearch-gateway\nDisallow: /a",
            "user-agent: *\nDisallow: /a",
        ),
        ("User-agent: bot\nDisallow: /" * 1_000, ""),
        (
            "User-agent: websearch-gateway\nallowance: x\nUser-agent: *\nDisallow: /",
            "user-agent: *\nDisallow: /",
        ),
    ],
)
def test_only_the_rules_for_our_crawler_are_extracted(rules: str, expected: str) -> None:
    assert rules_for(rules, US) == expected


@given(
    st.lists(
        st.sampled_from(["User-agent: bot{}", "Disallow: /{}", "Allow: /{}", "{}"]), max_size=30
    )
)
def test_rules_for_other_crawlers_do_not_apply(lines: list[str]) -> None:
    text = "\n".join(line.format(number) for number, line in enumerate(lines))
    assert allowed(f"User-agent: elsewhere\n{text}")


def test_many_crawlers_with_many_rules_take_linear_space() -> None:
    """Ours: 14,000 names with 25,000 rules each would be gigabytes."""
    import tracemalloc

    names = "".join(f"User-agent: bot-{number}x\n" for number in range(1_000))
    tracemalloc.start()
    assert allowed(names + "Disallow: /b\n" * 2_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        (
            "User-agent: *\nContent-Signal: search=yes, ai-input=no\nAllow: /",
            "Content-Signal: ai-input=no",
        ),
        ("User-agent: *\nContent-Usage: search=n", "Content-Usage: search=n"),
        ("User-agent: *\nContent-Usage: / search=n", "Content-Usage: search=n"),
        ("User-agent: *\nContent-Usage: /private/ search=n", ""),
        ("User-agent: *\nContent-Signal: ai-train=no", ""),
        ("User-agent: other\nContent-Signal: ai-input=no\n\nUser-agent: *\nAllow: /", ""),
    ],
)
def test_a_robots_txt_may_forbid_to_use_its_pages(robots: str, expected: str) -> None:
    assert refused_by(robots, "websearch-gateway") == expected
