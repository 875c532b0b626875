# ruff: noqa: E501 (markup as forums write it)
"""Every reply of a thread is kept with its author, in order, whatever program wrote it and however short it is."""

from __future__ import annotations

import numpy as np
import pytest

from websearch_gateway.pages.extraction import blocks
from websearch_gateway.pages.extraction.blocks import Measures
from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.extraction.page import parse
from websearch_gateway.pages.extraction.threads import keep_posts

POSTS = [
    (
        "mara",
        "Has anyone kept the old ropes of the ferry? I would like to copy the splice before they rot away.",
    ),
    ("oskar", "Two of them are in my shed. Bring a cart."),
    ("mara", "Thanks! Saturday?"),
    ("ilse", "Me too."),
    ("oskar", "Fine, 12 mm."),
    ("mara", "Thanks! Saturday?"),
]

PROGRAMS = {
    "articles with data": "<article class='message' data-author={name}><section class='message-user'><h4 class='message-name'><a "
    "class='username'>{name}</a></h4><span>Member</span></section><div class='message-body'><div>{text}</div></div>"
    "<footer class='message-footer'><a>Like</a></footer></article>",
    "items of a list": "<li class='postbit' id=p{n}><div class='userinfo'><a class='username'><b>{name}</b></a></div><div "
    "class='content'><blockquote>{text}</blockquote></div><div class='postfoot'><a>Reply With Quote</a></div></li>",
    "divisions": "<div id=p{n} class='post bg{n}'><dl class='postprofile'><dt><a class='username'>{name}</a></dt><dd "
    "class='profile-posts'>Posts: {n}3</dd></dl><div class='postbody'><h3><a href=#p{n}>Re: Ropes</a></h3><p class='author'>by "
    "<b><a class='username'>{name}</a></b></p><div class='content'>{text}</div></div></div>",
    "rows of a table": "<tr class='athing'><td><table><tr><td class='ind'></td><td><span class='comhead'><a class='hnuser'>{name}"
    "</a> <span>{n} hours ago</span></span><div class='comment'><span>{text}</span></div><div class='reply'><a>reply</a>"
    "</div></td></tr></table></td></tr>",
    "comments of a weblog": "<li class='comment'><article><footer class='comment-meta'><div class='comment-author'><b class='fn'>"
    "{name}</b> <span class='says'>says:</span></div></footer><div class='comment-content'><p>{text}</p></div></article></li>",
    "answers": "<div class='answer'><div class='votecell'>{n}</div><div class='answercell'><div class='prose'><p>{text}</p></div>"
    "<div class='user-details'><a>{name}</a></div></div></div>",
    "schema.org": "<div itemscope itemtype='https://schema.org/Comment'><span itemprop='author'>{name}</span><p itemprop='text'>"
    "{text}</p></div>",
}


def page(posts: str) -> str:
    return (
        "<html><head><title>Ropes - Ferry Forum</title></head><body><header><a href='/'>Ferry Forum</a></header>"
        f"<div id='all'><h1>Ropes</h1>{posts}</div><footer>Powered by software, privacy and terms</footer></body></html>"
    )


def order_of(markdown: str, texts: list[str]) -> list[int]:
    places, at = [], -1
    for text in texts:
        at = markdown.find(text, at + 1)
        places.append(at)
    return places


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_reply_is_kept_with_its_author(program: str) -> None:
    posts = "".join(
        PROGRAMS[program].format(n=n, name=name, text=text) for n, (name, text) in enumerate(POSTS)
    )
    if program == "rows of a table":
        posts = f"<table>{posts}</table>"
    markdown = extract(page(posts), "https://ferry.example/t/1", None).markdown
    parts = [
        part
        for name, text in POSTS
        for part in ((text, name) if program == "answers" else (name, text))
    ]
    assert -1 not in order_of(markdown, parts)
    assert "Like" not in markdown
    assert "Reply" not in markdown
    assert "Powered" not in markdown


def test_a_reply_in_the_post_that_it_answers_is_a_post_of_its_own() -> None:
    nested = ""
    for name, text in reversed(POSTS):
        nested = (
            f"<div class='comment'><div class='entry'><p class='tagline'><a class='author'>{name}</a> 4 points</p>"
            f"<div class='body'><p>{text}</p></div></div><div class='child'>{nested}</div></div>"
        )
    markdown = extract(page(nested), "https://ferry.example/t/1", None).markdown
    assert -1 not in order_of(markdown, [part for post in POSTS for part in post])


def test_comments_below_a_text_are_no_thread() -> None:
    prose = (
        "The ferry crosses the river every hour from March to October, and once a day while there is ice. "
        * 9
    )
    text = "".join(f"<p>{prose}{n}</p>" for n in range(4))
    posts = "".join(
        PROGRAMS["comments of a weblog"].format(n=n, name=name, text=text)
        for n, (name, text) in enumerate(POSTS)
    )
    body = f"<article>{text}</article><div id='comments'><ol>{posts}</ol></div>"
    assert "Two of them" not in extract(page(body), "https://ferry.example/ferry", None).markdown


def test_titles_and_numbers_of_replies_belong_to_the_frame_of_their_posts() -> None:
    form = "<div class='post'><p class='number'>#{n}</p><div>{n}. Re: Ropes of the ferry</div><a class='username'>{name}</a><p>{text}</p></div>"
    posts = "".join(
        form.format(n=number, name=name, text=text)
        for number, (name, text) in enumerate(POSTS, start=1)
    )
    markdown = extract(page(posts), "https://forum.example/t", None).markdown
    assert -1 not in order_of(markdown, [word for post in POSTS for word in post])
    assert "Re: Ropes of the ferry" not in markdown
    assert "#2" not in markdown


def test_cards_of_articles_with_their_authors_are_no_thread() -> None:
    """Each links to an article of its own: a thread's frame is not cut out of them, nor are their dates."""
    form = (
        "<div class='card'><h3><a href='/news/{n}-tides'>{title}</a></h3><span class='author'>{name}</span>"
        "<p>{text}</p></div>"
    )
    posts = "".join(
        form.format(n=n, title=f"Tide {n}", name=name, text=text)
        for n, (name, text) in enumerate(POSTS)
    )
    assert kept(posts, keep_all=False) == []


def kept(posts: str, *, keep_all: bool) -> list[str]:
    """The texts that are kept of a page whose blocks the filter kept all, or none."""
    outline = blocks.outline(parse(page(posts)))
    keep = np.full(len(outline.blocks), keep_all)
    keep_posts(Measures(outline, ""), keep)
    return [block.text for block, is_kept in zip(outline.blocks, keep, strict=True) if is_kept]


@pytest.mark.parametrize(("cards", "is_thread"), [(3, True), (4, False)])
def test_posts_are_cards_if_most_link_to_a_page_of_their_own(cards: int, is_thread: bool) -> None:
    form = "<div class='post'><h3>{title}</h3><a class='username'>{name}</a><p>{text}</p></div>"
    posts = ""
    for n, (name, text) in enumerate(POSTS):
        title = f"<a href='/news/{n}'>Tide {n}</a>" if n < cards else f"Tide {n}"
        posts += form.format(title=title, name=name, text=text)
    assert (POSTS[0][1] in kept(posts, keep_all=False)) is is_thread


@pytest.mark.parametrize(("times", "is_kept"), [(4, True), (5, False)])
def test_a_text_of_four_posts_in_five_is_left_out_even_if_the_filter_kept_it(
    times: int, is_kept: bool
) -> None:
    form = "<div class='post'><a class='username'>{name}</a><p>{text}</p><p>{more}</p></div>"
    posts = "".join(
        form.format(name=name, text=text, more="Sent by the ferry" if n < times else f"Word {name}")
        for n, (name, text) in enumerate(POSTS)
    )
    assert ("Sent by the ferry" in kept(posts, keep_all=True)) is is_kept
