"""The text of a page that shows none is read where it is, with a warning, or an error says where it is."""

from __future__ import annotations

import json
from html import escape

import pytest

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.extraction.elsewhere import (
    FROM_FRAME,
    FROM_SCRIPTS,
    FROM_TEMPLATE,
    text_elsewhere,
)
from websearch_gateway.pages.extraction.extract import extract

URL = "https://ferry.example/news/1"
FIRST = "The ferry crosses the river every hour from March to October, and once a day while there is ice on the river."
SECOND = "Whoever misses the last crossing walks to the bridge, which takes about two hours at the pace of most people."
ARTICLE = {"@type": "NewsArticle", "headline": "The ferry", "articleBody": f"{FIRST}\n\n{SECOND}"}
PARTS = {
    "props": {
        "page": {
            "id": "b7c0",
            "url": "/a b.",
            "parts": [{"type": "p", "text": FIRST}, {"text": SECOND}],
        }
    }
}
MARKUP = f"<article><h1>The ferry</h1><p>{FIRST}</p><p>{SECOND}</p></article>"

PLACES = {
    "JSON-LD": (
        f'<script type="application/ld+json">{json.dumps({"@graph": [ARTICLE]})}</script>',
        FROM_SCRIPTS,
    ),
    "data of scripts": (
        f'<script type="application/json" id=__NEXT_DATA__>{json.dumps(PARTS)}</script>',
        FROM_SCRIPTS,
    ),
    "markup in data": (
        f'<script type="application/json">{json.dumps({"body": MARKUP})}</script>',
        FROM_SCRIPTS,
    ),
    "a frame": (f'<iframe srcdoc="{escape(MARKUP)}"></iframe>', FROM_FRAME),
    "a template": (f"<template>{MARKUP}</template>", FROM_TEMPLATE),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_text_that_nobody_sees_is_read_with_a_warning(place: str) -> None:
    markup, warning = PLACES[place]
    page = f"<html><head><title>The ferry</title></head><body><nav><a href=/>Home</a></nav>{markup}</body></html>"
    found = extract(page, URL, None)
    assert FIRST in found.markdown
    assert SECOND in found.markdown
    assert "Home" not in found.markdown
    assert warning in found.warnings


@pytest.mark.parametrize("place", PLACES)
def test_a_page_with_a_text_is_not_searched(place: str) -> None:
    markup, warning = PLACES[place]
    prose = "".join(
        f"<p>At pier {n} one waits for the ferry in a house of wood, whatever the weather is.</p>"
        for n in range(9)
    )
    found = extract(
        f"<html><body><article><h1>Piers</h1>{prose}</article>{markup}</body></html>", URL, None
    )
    assert FIRST not in found.markdown
    assert warning not in found.warnings


def test_data_that_is_no_prose_is_no_text() -> None:
    data = {
        "keys": [f"key-{n}" for n in range(200)],
        "css": "a{b:c} " * 99,
        "labels": ["Home", "Log in"] * 50,
    }
    assert (
        extract(
            f'<body><script type="application/json">{json.dumps(data)}</script></body>', URL, None
        ).markdown
        == ""
    )


def test_a_page_of_frames_names_them() -> None:
    page = '<html><frameset cols="20%,80%"><frame src="menu.html"><frame src="text.html"></frameset></html>'
    with pytest.raises(SearchFetchError) as caught:
        extract(page, URL, None)
    assert caught.value.details["frames"] == [
        "https://ferry.example/news/menu.html",
        "https://ferry.example/news/text.html",
    ]


SYNTAXES = {
    "HTML": "<!DOCTYPE html><html><head><title>Ferry</title></head><body>{}</body></html>",
    "XHTML": '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Ferry</title><script/>'
    "</head><body>{}</body></html>",
    "XHTML with a prefix": '<?xml version="1.0"?><h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:title>Ferry'
    "</h:title></h:head><h:body>{}</h:body></h:html>",
}


def test_a_page_is_read_the_same_in_each_syntax() -> None:
    body = f"<h1>Ferry</h1><p>{FIRST}&nbsp;x &lt; y</p><p>{SECOND}</p>"
    prefixed = body.replace("</", "\0").replace("<", "<h:").replace("\0", "</h:")
    texts = [
        extract(form.format(prefixed if "prefix" in name else body), URL, None).markdown
        for name, form in SYNTAXES.items()
    ]
    assert FIRST in texts[0]
    assert texts == [texts[0]] * 3


def test_a_choice_with_prices_is_a_list_and_another_one_a_form() -> None:
    sizes = "<select><option>Choose</option><option>1 m – 40 €</option><option>2 m – 75 €</option></select>"
    colours = "<select><option>red</option><option>green</option></select>"
    markdown = extract(
        f"<article><h1>Ropes</h1><p>{FIRST}</p>{sizes}{colours}<p>{SECOND}</p></article>", URL, None
    ).markdown
    assert "- 1 m – 40 €\n- 2 m – 75 €" in markdown
    assert "green" not in markdown


def data(*texts: str) -> str:
    return f'<body><script type="application/json">{json.dumps(texts)}</script>'


PROSE = "The ferry crosses the river every hour. " * 6


@pytest.mark.parametrize(
    ("markup", "is_read"),
    [
        (f"<template>{'x' * 200}</template>", True),
        (f"<template>{'x' * 199}</template>", False),
        (data(PROSE.strip(), "One two three four five six seven."), True),
        (data("x" * 3_000_001 + " a b c d e f g."), False),
        (data("One two three four five six." * 1), False),
    ],
)
def test_a_text_elsewhere_has_two_hundred_characters(markup: str, is_read: bool) -> None:
    assert (text_elsewhere(f"<body>{markup}", URL) is not None) is is_read


@pytest.mark.parametrize(("words", "is_prose"), [(6, False), (7, True)])
@pytest.mark.parametrize("form", ["{}.", "<p>{}</p>"])
def test_a_text_of_scripts_has_more_than_six_words(form: str, words: int, is_prose: bool) -> None:
    text = form.format(" ".join(["seal"] * words))
    found = text_elsewhere(data(PROSE.strip(), text), URL)
    assert found is not None
    assert ("seal" in found.html) is is_prose


@pytest.mark.parametrize(("first", "is_read"), [(199_000, True), (200_000, False)])
def test_two_hundred_thousand_characters_of_scripts_are_read(first: int, is_read: bool) -> None:
    long = PROSE.strip().rjust(first, "x")
    found = text_elsewhere(data(long, "A seal may follow the ferry of the river."), URL)
    assert found is not None
    assert ("seal" in found.html) is is_read


@pytest.mark.parametrize(("frames", "is_read"), [(20, True), (21, False)])
def test_twenty_frames_are_read(frames: int, is_read: bool) -> None:
    markup = (
        f'<iframe srcdoc="{"x" * 50}"></iframe>' * (frames - 1) + '<iframe srcdoc="seal"></iframe>'
    )
    found = text_elsewhere(f"<body>{markup}", URL)
    assert found is not None
    assert ("seal" in found.html) is is_read


@pytest.mark.parametrize(("letters", "is_read"), [(499, True), (500, False)])
def test_a_page_of_500_letters_has_its_text_where_everybody_sees_it(
    letters: int, *, is_read: bool
) -> None:
    page = f"<p>{'x' * letters}</p><template>{MARKUP * 3}</template>"
    assert (FIRST in extract(page, URL, None).markdown) == is_read


@pytest.mark.parametrize(("letters", "is_read"), [(3_000_000, True), (3_000_001, False)])
def test_three_million_letters_of_data_are_parsed(letters: int, *, is_read: bool) -> None:
    data = json.dumps(PARTS).ljust(letters)
    page = f'<script type="application/json">{data}</script>'
    assert (text_elsewhere(page, URL) is not None) == is_read
