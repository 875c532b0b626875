"""Trackers are removed from a URL; everything that may identify the page stays unchanged."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.trackers import NAMES, PREFIXES, strip_trackers


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://a.example/x?utm_source=openai", "https://a.example/x"),
        ("https://a.example/x?utm_source=openai#part", "https://a.example/x#part"),
        ("https://a.example/x?id=1&utm_source=openai", "https://a.example/x?id=1"),
        ("https://a.example/x?utm_source=openai&id=1", "https://a.example/x?id=1"),
        ("https://a.example/x?fbclid=1&id=1&gclid=2&b&utm_medium=3", "https://a.example/x?id=1&b"),
        ("https://a.example/x?utm_source=a&gclid=b&id=1", "https://a.example/x?id=1"),
        ("https://a.example/x?id=1&amp;utm_source=openai", "https://a.example/x?id=1"),
        ("https://a.example/x?utm_source=openai&amp;id=1", "https://a.example/x?id=1"),
        ("https://a.example/x?&utm_source=openai&", "https://a.example/x"),
        ("https://a.example/x?UTM_Source=A&%75tm_id=7", "https://a.example/x"),
        ("https://a.example/x?ref=producthunt", "https://a.example/x"),
        ("https://a.example/x#?utm_source=openai", "https://a.example/x#?utm_source=openai"),
        ("https://a.example/x?next=/y?utm_source=openai", "https://a.example/x?next=/y?utm_source=openai"),
        ("https://a.example/x?", "https://a.example/x?"),
        ("https://a.example/x?q=utm_source&&b=%20+", "https://a.example/x?q=utm_source&&b=%20+"),
        ("https://a.example/x?reference=1&utmost=2&source=3", "https://a.example/x?reference=1&utmost=2&source=3"),
        ("no url", "no url"),
    ],
)
def test_only_trackers_are_removed(url: str, clean: str) -> None:
    assert strip_trackers(url) == clean


@pytest.mark.parametrize(
    "host", ["github.com", "api.github.com", "gitlab.com", "gitlab.gnome.org", "git.kernel.example", "codeberg.org"]
)
def test_on_code_hosts_ref_names_a_branch_and_stays(host: str) -> None:
    assert strip_trackers(f"https://{host}/a?ref=main&utm_source=openai") == f"https://{host}/a?ref=main"


@pytest.mark.parametrize("host", ["digit.example", "a.example/github.com/x", "legit.example"])
def test_other_hosts_do_not_count_as_code_hosts(host: str) -> None:
    assert strip_trackers(f"https://{host}/?ref=main") == f"https://{host}/"


def test_every_tracker_names_its_owner() -> None:
    assert all(reason and name == name.casefold() for name, reason in {**NAMES, **PREFIXES}.items())


names = st.sampled_from((*NAMES, "utm_x", "id", "q", "page", "", "référence"))


@given(
    st.lists(st.tuples(names, st.none() | st.text("aé/%2+:", max_size=4)), max_size=6),
    st.sampled_from(("", "#f", "#?ref=1")),
)
def test_stripping_keeps_the_order_and_values_of_the_rest(parameters: list[tuple[str, str | None]], end: str) -> None:
    query = "&".join(name if value is None else f"{name}={value}" for name, value in parameters)
    clean = strip_trackers(f"https://a.example/x?{query}{end}")
    kept = [(n, v or "") for n, v in parameters if n in ("id", "q", "page", "référence")]
    assert [(n, v) for n, v in parse_qsl(urlsplit(clean).query, keep_blank_values=True) if n] == [
        pair for n, v in kept for pair in parse_qsl(f"{n}={v}", keep_blank_values=True)
    ]
    assert urlsplit(clean).fragment == end[1:]
    assert strip_trackers(clean) == clean
