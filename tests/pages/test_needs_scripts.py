"""Pages that are empty until their scripts run."""

from __future__ import annotations

import pytest

from websearch_gateway.pages.needs_scripts import has_little_text, needs_scripts

APP = '<script src="/app.js"></script>'
WORDS = "The tide comes in twice a day. " * 6

MENU = "".join(f'<li><a href="/{number}">The tide of day {number}</a></li>' for number in range(40))


def judged(body: str, head: str = "") -> bool:
    html = (
        f"<!doctype html><html><head><title>{WORDS}</title>{head}</head><body>{body}</body></html>"
    )
    return needs_scripts(html.encode(), "https://example.com/", "utf-8")


@pytest.mark.parametrize(
    "body",
    [
        f'<div id="root"></div>{APP}',
        f'<div id="app">Loading …</div>{APP}',
        f'<div id="__next"></div><script>start()</script>{APP}',
        f"<app-root></app-root>{APP}",
        f"<header><h1>Tides</h1><p>{WORDS}</p></header><app-root></app-root>{APP}",
        f'<main><h1>Tides</h1></main><div id="app"></div>{APP}',
        f'<div id="app"><main><h1>Loading…</h1><p>Tides</p></main></div>{APP}',
        f'<main><h1>Tides</h1><div class="content"></div></main>{APP}',
        APP,
        f"<noscript>You need to enable JavaScript to run this app. {WORDS}</noscript><div id=root></div>{APP}",
        f'<nav>{WORDS}</nav><main id="root"></main>{APP}',
        f"<p>{WORDS}</p><noscript>Please switch on JavaScript.</noscript>{APP}",
        f'<template><p>{WORDS * 9}</p></template><div id="svelte"></div>{APP}',
        f'<nav>{WORDS * 9}</nav><div id="app"><p>Please wait …</p></div><footer>{WORDS * 9}</footer>{APP}',
        f'<ul>{MENU}</ul><div id="root"></div>{APP}',
        f"<ul>{MENU}</ul><h1>Tides</h1><p>Loading the documentation, please wait…</p>{APP}",
    ],
)
def test_a_page_without_text_in_its_markup_needs_its_scripts(body: str) -> None:
    assert judged(body)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<p>Short.</p>",
        '<div id="root"></div>',
        '<div id="root"></div><script type="application/ld+json">{"a": 1}</script><script></script>',
        f"<p>{WORDS}</p>{APP}",
        f'<div id="root"><p>{WORDS * 9}</p></div>{APP}',
        f'<main id="root"></main><article>{WORDS * 3}</article>{APP}',
        f'<div id="root"><p>{WORDS}</p></div>{APP}',
        f'<div id="app"><h1>All pages</h1><ul>{MENU}</ul></div>{APP}',
        f"<h1>All pages</h1><ul>{MENU}</ul><x-search></x-search>{APP}",
        f"<main><h1>Struct Table</h1><rustdoc-toolbar></rustdoc-toolbar><p>{WORDS}</p></main>{APP}",
        f"<ul>{MENU}</ul><p>{WORDS}</p><p>Loading …</p>{APP}",
        f"<main><h1>Tides</h1><p>Open the manual of tides.</p></main>{APP}",
        f'<div id="app"><main class="home"><header><h1>Tides</h1><p>A manual of tides</p></header></main></div>{APP}',
    ],
)
def test_a_page_with_text_or_without_scripts_does_not_need_scripts(body: str) -> None:
    assert not judged(body)


def test_a_page_without_text_needs_the_scripts_in_its_head() -> None:
    assert judged("<div id=app></div>", head='<script type="module" src="/a.js"></script>')


def test_bytes_that_are_not_a_page_need_no_scripts() -> None:
    assert not needs_scripts(b"", "https://example.com/", "utf-8")


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("<x-a></x-a>", True),
        ("<script>a</script>", True),
        ("<x-a>", False),
        ("<div id=root>", False),
    ],
)
def test_a_page_of_many_elements_is_judged_in_one_pass(element: str, expected: bool) -> None:
    """Ours: a quadratic look at 100,000 elements would take hours. Scripts deeper than libxml2 reads do not count."""
    assert judged(element * 100_000 + APP) is expected


def test_a_note_for_readers_without_scripts_that_never_ends_is_judged_in_one_pass() -> None:
    assert not judged("<noscript>a" * 100_000 + APP)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"<p>{'x' * 79}</p>", True),  # almost no text
        (f"<p>{'x' * 80}</p>", False),
        (f'<div id="root">{"y" * 79}</div><p>{"x" * 420}</p>', True),  # little text
        (f'<div id="root">{"y" * 79}</div><p>{"x" * 421}</p>', False),
        (f'<div id="root">{"y" * 80}</div><p>{"x" * 400}</p>', False),
        ("<x-a></x-a>" * 49 + f'<div id="root"></div><h1>x</h1><p>{"x" * 100}</p>', True),
        (f"<main><h1>T</h1><p>{'x' * 100}</p></main>" + '<div id="root"></div>', True),
        (
            f"<main><h1>T</h1><p>{'x' * 100}</p></main>"
            + "<x-a></x-a>" * 50
            + '<div id="root"></div>',
            False,
        ),
    ],
)
def test_little_text_beside_an_empty_place_for_it_is_a_limit(body: str, expected: bool) -> None:
    assert judged(f"{body}{APP}") is expected


@pytest.mark.parametrize(
    ("markdown", "has_little"),
    [
        ("x" * 499, True),
        ("x" * 500, False),
        ("[x](/y)" * 100 + "x" * 499, True),
        ("[x](/y)" * 7_142 + "x" * 5, True),
        ("[x](/y)" * 7_142 + "x" * 6, False),
    ],
    ids=["little", "enough", "menus", "many menus", "too many menus"],
)
def test_a_page_has_little_text_if_500_letters_outside_of_links_are_missing(
    markdown: str, *, has_little: bool
) -> None:
    assert has_little_text(markdown) == has_little


@pytest.mark.parametrize(("letters", "needs"), [(79, True), (80, False)])
def test_almost_no_text_has_less_than_80_letters(letters: int, *, needs: bool) -> None:
    assert judged(f"<p>{'x' * letters}</p>{APP}") == needs


@pytest.mark.parametrize(("letters", "needs"), [(499, True), (500, False)])
def test_a_page_with_an_empty_mount_has_less_than_500_letters(letters: int, *, needs: bool) -> None:
    assert judged(f"<p>{'x' * letters}</p><div id=root></div>{APP}") == needs


@pytest.mark.parametrize(("before", "needs"), [(49, True), (50, False)])
def test_fifty_elements_that_scripts_fill_are_looked_at(before: int, *, needs: bool) -> None:
    full = f"<x-box>{'x' * 80}</x-box>" * before
    menu = f"<nav>{full}</nav>"
    assert judged(f"{menu}<div id=root></div>{APP}") == needs
