"""Finds the posts of a thread by their form: elements that repeat, each with the name of its author and a text.

No product is known by name: of each name of an author, the post is the largest element around it that holds no other
author. Replies inside of the post that they answer are posts of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from operator import is_not
from typing import TYPE_CHECKING, Any

from websearch_gateway.pages.extraction.blocks import Block, Container, Measures, words_of
from websearch_gateway.pages.rendering import with_class

if TYPE_CHECKING:
    from websearch_gateway.pages.extraction.blocks import Mask

_AUTHOR = re.compile(
    r"(?<![a-z])(?:author|user-?name|hn-?user|poster|nick-?name|nick|display-?name|user-?details|message-name|byline"
    r"|user-?link|user|fn|creator|comment-?by|posted-?by)(?:-?(?:name|link))?(?![a-z])",
    re.IGNORECASE,
)
_FURNITURE = re.compile(
    r"(?<![a-z])(?:profile|signature|badges?|stats?|buttons?|foot(?:er)?|postfoot|actions?|votes?|vote-?cell|tool-?bar|controls?"
    r"|share|reply|flat-list|rank|avatar)(?![a-z])",
    re.IGNORECASE,
)
_NAMED = ".//*[@itemprop = 'author' or @itemprop = 'name'] | .//*[@rel][contains(@rel, 'author')]"
_HOLDERS = frozenset(
    ("a", "span", "div", "b", "strong", "p", "h3", "h4", "h5", "cite", "address", "li", "dt")
)
_QUOTES = frozenset(("blockquote", "q", "nav", "header", "head"))
_LONGEST_NAME = 40
_MOST_NAMES = 2_000
_DEEPEST = 80
_LEAST_POSTS = 3
_ALIKE = 0.6
"""The least share of the posts that are the same kind of element."""
_LARGEST = 0.8
"""The most of the words of all posts that one of them holds: else the others are remarks on it."""
_DIGITS = re.compile(r"\d+")
_MOST_OF_PAGE = 0.5
"""The least share of the words of a page that are in the posts of a thread; else they are comments on a text."""
_REPEATED = 0.5
"""A text in so many of the posts belongs to their frame: `Like`, `Member`."""


@dataclass(slots=True)
class _Post:
    """A post, and the element with the name of its author."""

    element: Any
    author: Any


def keep_posts(measures: Measures, keep: Mask) -> None:
    """Keep every post of a page that is a thread, with the name of its author, without the frame around it."""
    outline = measures.outline
    root = outline.containers[0].element
    containers = {container.element: container for container in outline.containers}
    if measures.kind == "article":  # comments on a text
        return
    posts = _alike(_posts(root))
    placed = [(post, containers[post.element]) for post in posts if post.element in containers]
    if not _is_thread(measures, placed):
        return
    frame = _frame([container for _, container in placed], outline.blocks)
    for post, container in placed:
        for place in range(container.start, container.end):
            block = outline.blocks[place]
            if _has_author(block, post.author):
                keep[place] = True
            elif words_of(block.text) and not keep[place]:
                around = outline.containers[block.place].element
                keep[place] = block.text.strip() not in frame and not _is_furniture(
                    around, post.element
                )


def _posts(root: Any) -> list[_Post]:
    names = _authors(root)
    around: dict[
        Any, set[str]
    ] = {}  # for each element around names, these names; at most two count
    for name in names:
        text = _flat(name)
        element = name
        for _ in range(_DEEPEST):
            held = around.setdefault(element, set())
            if len(held) < 2:
                held.add(text)
            element = element.getparent()
            if element is None:
                break
    posts: dict[Any, _Post] = {}
    for name in names:
        element = name
        parent = element.getparent()
        while (
            parent is not None
            and len(around.get(parent, ())) < 2
            and parent.tag not in ("body", "html")
        ):
            element, parent = parent, parent.getparent()
        if element is not name and parent is not None:
            posts.setdefault(element, _Post(element, name))
    return list(posts.values())


def _authors(root: Any) -> list[Any]:
    """The innermost elements with the name of an author, outside of quotations."""
    named = set(root.xpath(_NAMED)).union(with_class(root, _AUTHOR))
    found: list[Any] = []
    for element in root.iter() if len(named) >= _LEAST_POSTS else ():
        if element not in named or element.tag not in _HOLDERS:
            continue
        text = _flat(element)
        if not text or len(text) > _LONGEST_NAME or text.startswith("@"):
            continue
        if any(outer.tag in _QUOTES for outer in element.iterancestors()):
            continue
        if found and found[-1] in element.iterancestors():
            found.pop()
        found.append(element)
        if len(found) == _MOST_NAMES:
            break
    return found


def _flat(element: Any) -> str:
    text = ""
    for piece in element.itertext():
        text += piece
        if len(text) > 4 * _LONGEST_NAME:
            break
    return " ".join(text.split())


def _alike(posts: list[_Post]) -> list[_Post]:
    """The posts of the most frequent kind of element; none if many are of other kinds.

    Around the last of several replies in each other may be more than its post: then that is an element inside.
    """
    kinds = Counter(_kind(post.element) for post in posts)
    kind, count = kinds.most_common(1)[0] if kinds else ("", 0)
    if len(posts) < _LEAST_POSTS or count < _ALIKE * len(posts):
        return []
    found = []
    for post in posts:
        within = set(takewhile(partial(is_not, post.element), post.author.iterancestors()))
        inner = [one for one in post.author.iterancestors() if one in within and _kind(one) == kind]
        element = post.element if _kind(post.element) == kind else (inner or [None])[-1]
        if element is not None:
            found.append(_Post(element, post.author))
    return found


def _kind(element: Any) -> str:
    """The tag and the first class of an element, without numbers."""
    names = str(element.get("class", "")).split()
    return f"{element.tag} {_DIGITS.sub('', names[0]) if names else ''}"


def _is_thread(measures: Measures, placed: list[tuple[_Post, Container]]) -> bool:
    """Whether posts hold most of the words of a page, and no one of them nearly all."""
    sizes = [measures.words[container.start : container.end].sum() for _, container in placed]
    total = float(sum(sizes))
    return (
        bool(sizes)
        and total >= _MOST_OF_PAGE * measures.words.sum()
        and max(sizes) <= _LARGEST * total
    )


def _frame(containers: list[Container], blocks: list[Block]) -> set[str]:
    """The texts that many posts have."""
    times: Counter[str] = Counter()
    for container in containers:
        times.update({block.text.strip() for block in blocks[container.start : container.end]})
    return {
        text for text, count in times.items() if count > 1 and count >= _REPEATED * len(containers)
    }


def _has_author(block: Block, author: Any) -> bool:
    return any(
        element is author or author in element.iterancestors()
        for element, where in block.slots
        if where == "text"
    )


def _is_furniture(element: Any, post: Any) -> bool:
    """Whether an element of a post, or one around it, has a class that marks something other than the text of the post."""
    while element is not None and element is not post:
        if _FURNITURE.search(f"{element.get('class', '')} {element.get('id', '')}"):
            return True
        element = element.getparent()
    return False
