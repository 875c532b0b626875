"""Every post of a thread is kept, in the markup of the programs that write forums."""

from __future__ import annotations

import json
from html import escape

import pytest

from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.extraction.page import FROM_DATA

POSTS = (
    "My kettle stops before the water boils. Has anyone seen this?",
    "Same here.",
    "Clean the limescale from the sensor with vinegar, then it boils again.",
    "That worked, thanks!",
)


def _vanilla() -> str:
    bodies = [
        f'<div class="Item-Body"><div class="Message userContent">{text}</div></div>'
        for text in POSTS
    ]
    comments = "".join(
        f'<li class="Item ItemComment" id="Comment_{at}"><div class="Comment"><div class="Item-Header CommentHeader">'
        f'<a class="Username" href="/profile/u{at}">u{at}</a></div>{body}</div></li>'
        for at, body in enumerate(bodies[1:])
    )
    return (
        '<html><body><div id="Frame"><div class="Item ItemDiscussion"><div class="Discussion">'
        f'{bodies[0]}</div></div><div class="CommentsWrap"><ul class="MessageList DataList Comments">{comments}</ul>'
        "</div></div></body></html>"
    )


def _discourse(preloaded: object) -> str:
    return (
        "<html><head><title>Kettle - Kitchen</title><meta name='generator' content='Discourse 3.5.0'></head>"
        "<body><section id='d-splash'></section>"
        f'<div class="hidden" id="data-preloaded" data-preloaded="{escape(json.dumps(preloaded))}"></div>'
        "<section id='main'></section><script src='/app.js'></script></body></html>"
    )


def _topic(posts: object) -> dict[str, str]:
    return {"site": "{}", "topic_7": json.dumps({"post_stream": {"posts": posts}})}


def _markdown(html: str) -> str:
    return extract(html, "https://forum.example.com/t/kettle/7", None).markdown


@pytest.mark.parametrize("post", POSTS)
def test_each_comment_of_a_vanilla_thread_is_kept(post: str) -> None:
    assert post in _markdown(_vanilla())


@pytest.mark.parametrize("post", POSTS)
def test_each_post_of_a_discourse_topic_is_read_from_its_json(post: str) -> None:
    posts = [{"username": f"u{at}", "cooked": f"<p>{text}</p>"} for at, text in enumerate(POSTS)]
    assert post in _markdown(_discourse(_topic(posts)))


def test_the_author_stands_above_each_post_of_a_discourse_topic() -> None:
    markdown = _markdown(
        _discourse(_topic([{"username": "kettle_fan", "cooked": f"<p>{POSTS[0]}</p>"}]))
    )
    assert markdown.index("kettle_fan") < markdown.index(POSTS[0])


def test_hidden_text_and_scripts_in_the_json_of_discourse_are_left_out() -> None:
    cooked = f"<p>{POSTS[0]}</p><p style='display: none'>Hidden words.</p><script>steal()</script>"
    markdown = _markdown(_discourse(_topic([{"username": "u", "cooked": cooked}])))
    assert POSTS[0] in markdown
    assert "Hidden words" not in markdown
    assert "steal" not in markdown


@pytest.mark.parametrize(
    "preloaded",
    [
        *(
            [],
            {},
            {"topic_7": "no JSON"},
            {"topic_7": "[]"},
            {"topic_7": 7},
            {"topic_7": '{"post_stream": null}'},
        ),
        {
            "topic_7": json.dumps(
                {
                    "post_stream": {
                        "posts": [{"username": "\0\ud800", "cooked": "\0</div></body><p>"}]
                    }
                }
            )
        },
        *(_topic([{}]), _topic(None), _topic([{"username": "u", "cooked": ""}])),
    ],
)
def test_other_json_in_the_place_of_a_topic_is_ignored(preloaded: object) -> None:
    assert "Kettle" not in _markdown(_discourse(preloaded))


def test_the_reader_is_told_that_posts_come_from_data_for_scripts_and_how_many_are_left_out() -> (
    None
):
    posts = [
        {"username": f"u{at}", "cooked": f"<p>Post number {at} of the kettle.</p>"}
        for at in range(250)
    ]
    page = extract(_discourse(_topic(posts)), "https://forum.example.com/t/kettle/7/3", None)
    assert page.warnings == (FROM_DATA, "The first 200 of 250 posts are read.")
    assert "number 199 " in page.markdown
    assert "number 200 " not in page.markdown


def test_only_the_topic_of_the_address_of_a_page_by_discourse_is_read_from_its_data() -> None:
    html = _discourse(_topic([{"username": "u", "cooked": f"<p>{POSTS[0]}</p>"}]))
    for address in ("https://forum.example.com/kettle", "https://forum.example.com/t/kettle/8"):
        assert POSTS[0] not in extract(html, address, None).markdown
    assert POSTS[0] not in _markdown(html.replace("Discourse 3.5.0", "WordPress 6.9"))


def test_a_malformed_post_loses_itself_alone() -> None:
    posts = [
        7,
        {"username": "u"},
        {"username": None, "cooked": {"a": 1}},
        {"username": "v", "cooked": f"<p>{POSTS[2]}</p>"},
    ]
    markdown = _markdown(_discourse(_topic(posts)))
    assert POSTS[2] in markdown
    assert "None" not in markdown


def test_hidden_text_with_a_mark_of_its_own_does_not_stand_for_the_posts() -> None:
    html = _discourse(_topic([{"username": "u", "cooked": f"<p>{POSTS[0]}</p>"}]))
    hidden = "<div style='display: none' itemprop='text'>x</div><section id='main'>"
    assert POSTS[0] in _markdown(html.replace("<section id='main'>", hidden))


def test_a_class_of_vanilla_outside_a_thread_keeps_nothing() -> None:
    text = "".join(
        f"<p>Paragraph {at} says how kettles switch themselves off when the water boils.</p>"
        for at in range(20)
    )
    advert = (
        "<div class='sidebar'><div class='userContent'><a href='/buy'>Buy a kettle</a></div></div>"
    )
    assert "Buy a kettle" not in _markdown(
        f"<html><body>{advert}<article><h1>Kettles</h1>{text}</article></body></html>"
    )


def test_posts_that_the_page_shows_itself_are_not_read_twice() -> None:
    posts = [{"username": "u", "cooked": f"<p>{POSTS[0]}</p>"}]
    shown = _discourse(_topic(posts)).replace(
        "<section id='main'>",
        f"<section id='main'><div class='post' itemprop='text'><p>{POSTS[0]}</p></div>",
    )
    assert _markdown(shown).count(POSTS[0]) == 1
