# ruff: noqa: E501 (markup as forums write it)
"""Every reply of a thread is kept with its author, in order, whatever program wrote it and however short it is."""

from __future__ import annotations

import numpy as np
import pytest

from websearch_gateway.pages.extraction import blocks
from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.extraction.measures import Measures
from websearch_gateway.pages.extraction.page import parse
from websearch_gateway.pages.extraction.threads import (
    _are_cards,
    _authors,
    _names_in,
    _Post,
    keep_posts,
)

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


@pytest.mark.parametrize("posts", [POSTS, POSTS[:3]])
def test_a_reply_in_the_post_that_it_answers_is_a_post_of_its_own(
    posts: list[tuple[str, str]],
) -> None:
    nested = ""
    for name, text in reversed(posts):
        nested = (
            f"<div class='comment'><div class='entry'><p class='tagline'><a class='author'>{name}</a> 4 points</p>"
            f"<div class='body'><p>{text}</p></div></div><div class='child'>{nested}</div></div>"
        )
    markdown = extract(page(nested), "https://ferry.example/t/1", None).markdown
    assert -1 not in order_of(markdown, [part for post in posts for part in post])


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


PANE = (
    "<article class='message'><section class='pane'><h4 class='username'>{name}</h4><h5>Full member</h5><p>{n}7 Quay Street</p>"
    "</section><div class='body'>{text}</div><aside class='signature'>{signature}</aside></article>"
)
SIGNATURES = ("Rope, tar and patience since the year that the old ferry ran aground", "None", "Oak")


def panes(posts: list[tuple[str, str]]) -> str:
    """Posts with a pane beside the text; every third signature is longer than a short reply."""
    return "".join(
        PANE.format(n=n, name=name, text=text, signature=f"{SIGNATURES[n % 3]} {n}")
        for n, (name, text) in enumerate(posts)
    )


@pytest.mark.parametrize("keep_all", [True, False])
def test_of_what_stands_beside_a_post_only_its_author_is_kept(*, keep_all: bool) -> None:
    texts = kept(panes(POSTS), keep_all=keep_all)
    start = texts.index("mara")
    end = start + 2 * len(POSTS)
    assert texts[start:end] == [part for post in POSTS for part in post]
    assert len(texts[end:]) == int(keep_all)  # the foot of the page


@pytest.mark.parametrize(
    ("beside", "is_kept"),
    [
        ("<h3>Worth every penny</h3>", True),
        ("<h5>Worth every penny</h5>", False),
        ("<p>Worth <time>every</time> penny</p>", True),
        ("<p>mara</p>", False),
    ],
)
def test_the_title_and_the_time_of_a_post_may_stand_beside_its_author(
    beside: str, *, is_kept: bool
) -> None:
    form = "<div class='post'><div class='pane'><b class='username'>{name}</b>{beside}</div><p>{text} {n}</p></div>"
    posts = "".join(
        form.format(name=name, text=text, n=n, beside=beside if n == 2 else "")
        for n, (name, text) in enumerate(POSTS)
    )
    texts = kept(posts, keep_all=False)
    assert (len(texts) > 2 * len(POSTS)) is is_kept


def test_names_in_the_boxes_beside_a_thread_are_no_posts() -> None:
    boxes = "".join(
        f"<li><a href='/t/{n}'>Topic number {n} of the ferry</a> <a class='username'>guest{n}</a></li>"
        for n in range(20)
    )
    texts = kept(panes(POSTS) + f"<ul>{boxes}</ul>", keep_all=False)
    assert texts == [part for post in POSTS for part in post]


QUOTED = "Has anyone kept the old ropes of the ferry? I would like to copy the splice before they rot away."


@pytest.mark.parametrize(
    ("author", "quotation", "is_kept"),
    [
        ("oskar", "one two three four five six seven eight nine", False),
        ("oskar", "one two three four five six seven eight", True),
        ("mara", "one two three four five six seven eight nine", True),
        ("oskar", "one two three four five six seven eight ten", True),
    ],
)
def test_a_long_quotation_of_an_earlier_post_is_left_out(
    author: str, quotation: str, *, is_kept: bool
) -> None:
    first = "one two three four five six seven eight" + " nine" * (quotation.count(" ") > 7)
    answer = f"<blockquote>{quotation}</blockquote><p>Yes, I did.</p>"
    posts = [("mara", f"<p>{first}</p><p>{QUOTED}</p>"), (author, answer), *POSTS[1:]]
    texts = kept(panes(posts), keep_all=False)
    assert texts.count(quotation) == int(is_kept) + (quotation == first)
    assert "Yes, I did." in texts


def thread_of(sizes: list[int], *, beside: int = 0, links: int = 0) -> str:
    """Posts of so many words, and so many words beside them: unlinked, and in links."""
    form = "<div class='post'><b class='username'>{name}</b><p>{text}</p></div>"
    posts = "".join(
        form.format(name=f"guest {n}", text=f"{'abc'[n]}word " * size)
        for n, size in enumerate(sizes)
    )
    return f"{posts}<p>{'beside ' * beside}</p><p><a href='/'>{'linked ' * links}</a></p>"


@pytest.mark.parametrize(
    ("posts", "is_thread"),
    [
        (thread_of([40] * 3), True),
        (thread_of([60] * 2), False),
        (thread_of([40] * 3, beside=100), True),
        (thread_of([40] * 3, beside=130), False),
        (thread_of([40] * 3, beside=100, links=900), True),
        (thread_of([300, 50, 50]), True),
        (thread_of([400, 40, 40]), False),
    ],
)
def test_posts_are_a_thread_if_they_hold_most_of_a_page(posts: str, *, is_thread: bool) -> None:
    assert any("bword" in text for text in kept(posts, keep_all=False)) is is_thread


@pytest.mark.parametrize(("times", "is_kept"), [(2, True), (3, False)])
def test_a_text_of_half_of_the_posts_is_not_added(times: int, *, is_kept: bool) -> None:
    form = (
        "<div class='post'><a class='username'>{name}</a><p>{text}</p><p>{more}</p><p>{n}</p></div>"
    )
    posts = "".join(
        form.format(
            name=name, text=text, n=n, more="Sent by the ferry" if n < times else f"Word {name}"
        )
        for n, (name, text) in enumerate(POSTS)
    )
    assert ("Sent by the ferry" in kept(posts, keep_all=False)) is is_kept


def test_the_post_of_a_name_is_sought_80_levels_up() -> None:
    root = parse("<body>" + "<div>" * 100 + "<a class=author>mara</a></body>")
    [author] = root.iter("a")
    assert len(_names_in([author])) == 80


@pytest.mark.parametrize(("letters", "count"), [(40, 3), (41, 2)])
def test_a_name_has_at_most_40_letters(letters: int, count: int) -> None:
    names = ["mara", "oskar", "i" * letters]
    root = parse("".join(f"<p><a class=author>{name}</a></p>" for name in names))
    assert len(_authors(root)) == count


def test_the_first_2000_names_of_a_page_are_looked_at() -> None:
    root = parse("<p><a class=author>mara</a></p>" * 2_001)
    assert len(_authors(root)) == 2_000


@pytest.mark.parametrize("level", range(1, 7))
def test_posts_whose_headings_of_a_lower_level_link_to_pages_are_cards(level: int) -> None:
    post = f"<div><a class=author>mara</a><h{level}><a href=/{{}}>Ropes</a></h{level}></div>"
    root = parse("".join(post.format(at) for at in range(3)))
    posts = [_Post(element, element[0]) for element in root.iter("div")]
    assert _are_cards(posts) == (level > 1)
