"""Finds the posts of a thread by their form: elements that repeat, each with the name of its author and a text.

No product is known by name: of each name of an author, the post is the largest element around it that holds no other
author. Replies inside of the post that they answer are posts of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
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
"""A text in so many of the posts belongs to their frame, but for its numbers: `Like`, `Member`, `#2`, `3. Re: Trains`."""
_ALWAYS = 0.8
"""A text in so many of them is left out even if the filter kept it."""
_CARDS = 0.5
"""From this share of headings that each link to a page of its own, posts are cards of a listing."""
_TITLE_LINKS = " | ".join(f".//h{level}//a[@href] | .//a[@href][h{level}]" for level in range(2, 7))


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
    if not _is_thread(measures, placed) or _are_cards(post for post, _ in placed):
        return
    frame = _Frame([container for _, container in placed], outline.blocks)
    for post, container in placed:
        for place in range(container.start, container.end):
            block = outline.blocks[place]
            if _has_author(block, post.author):
                keep[place] = True
            elif keep[place]:
                keep[place] = not frame.has(block, _ALWAYS)
            elif words_of(block.text):
                around = outline.containers[block.place].element
                is_furniture = _is_furniture(around, post.element)
                keep[place] = not is_furniture and not frame.has(block, _REPEATED)


def _posts(root: Any) -> list[_Post]:
    names = _authors(root)
    # For each element around names, these names; at most two count.
    around: dict[Any, set[str]] = {}
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
    alike = []
    for post in posts:
        if _kind(post.element) == kind:
            alike.append(post)
            continue
        inside = takewhile(partial(is_not, post.element), post.author.iterancestors())
        inner = [element for element in inside if _kind(element) == kind]
        if inner:
            alike.append(_Post(inner[-1], post.author))
    return alike


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


class _Frame:
    """What is the same in many posts, but for its numbers."""

    def __init__(self, containers: list[Container], blocks: list[Block]) -> None:
        self._posts = len(containers)
        self._times: Counter[str] = Counter()
        for container in containers:
            inside = blocks[container.start : container.end]
            self._times.update({_unnumbered(block.text) for block in inside})

    def has(self, block: Block, share: float) -> bool:
        """Whether at least two, and `share` of the posts, have the text of the block."""
        return self._times[_unnumbered(block.text)] >= max(2, share * self._posts)


def _unnumbered(text: str) -> str:
    return _DIGITS.sub("", text.strip())


def _are_cards(posts: Iterable[_Post]) -> bool:
    """Whether the posts are cards of articles with their authors: each links from its heading to a page of its own."""
    count = 0
    paths: set[str] = set()
    for post in posts:
        count += 1
        name = _flat(post.author)
        links = [link for link in post.element.xpath(_TITLE_LINKS) if _flat(link) != name]
        addresses = [link.get("href").partition("#")[0].partition("?")[0] for link in links]
        paths.update(addresses[:1])
    return len(paths) > _CARDS * count


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
