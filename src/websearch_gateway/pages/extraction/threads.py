"""Finds the posts of a thread by their form: elements that repeat, each with the name of its author and a text.

No product is known by name: of each name of an author, the post is the largest element around it that holds no other
author. Replies inside of the post that they answer are posts of their own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, takewhile
from operator import is_not
from typing import TYPE_CHECKING, Any

from websearch_gateway.pages.extraction.blocks import Block
from websearch_gateway.pages.extraction.measures import Measures, words_of
from websearch_gateway.pages.rendering import with_class

if TYPE_CHECKING:
    from websearch_gateway.pages.extraction.measures import Mask

_FURNITURE = re.compile(
    r"(?<![a-z])(?:profile|signature|badges?|stats?|buttons?|foot(?:er)?|postfoot|actions?|votes?|vote-?cell|tool-?bar|controls?"
    r"|share|reply|flat-list|rank|avatar)(?![a-z])",
    re.IGNORECASE,
)
"""What surrounds the text of a post: it is kept only if it reads like prose."""
_NEVER_TEXT = re.compile(r"(?<![a-z])(?:signature|expand-?link)(?![a-z])", re.IGNORECASE)
"""What no post says, even if it reads like prose: the signature, and the button below a long quotation."""
_REPEATED = 0.5
"""A text in so many of the posts belongs to their frame, but for its numbers: `Like`, `Member`, `#2`, `3. Re: Trains`."""
_FEW_WORDS = 8
"""A quotation of more words that an earlier post says is left out; a shorter one tells what is answered."""
_ALWAYS = 0.8
"""A text in so many of them is left out even if the filter kept it."""


@dataclass(slots=True)
class _Post:
    """A post, and the element with the name of its author."""

    element: Any
    author: Any

    def around_author(self) -> Iterator[Any]:
        """The elements of the post that are around the name, from the innermost outwards."""
        return takewhile(partial(is_not, self.element), self.author.iterancestors())


def keep_posts(measures: Measures, keep: Mask) -> None:
    """Keep every post of a page that is a thread, with the name of its author, without the frame around it."""
    outline = measures.outline
    if measures.kind == "article":  # comments on a text
        return
    thread = _Thread(measures, _posts(outline.containers[0].element))
    if not thread.is_most_of_page() or _are_cards(thread.posts):
        return
    frame = _Frame(thread.texts())
    first_authors: dict[str, str] = {}
    for post in thread.posts:
        name, pane = _flat(post.author), thread.pane(post)
        for place in thread.places(post):
            block = outline.blocks[place]
            around = outline.containers[block.place].element
            text = " ".join(words_of(block.text))
            first_author = first_authors.setdefault(text, name)
            is_beside = place in pane and not _is_title_or_time(around)
            is_name_again = block.text.strip() == name
            is_from_other = first_author != name and text.count(" ") >= _FEW_WORDS
            is_repeated = is_from_other and _is_quoted(around, post.element)
            if _has_author(block, post.author):
                keep[place] = True
            elif is_beside or is_name_again or is_repeated:
                keep[place] = False
            elif keep[place]:
                is_never_text = _is_named(_NEVER_TEXT, around, post.element)
                keep[place] = not is_never_text and not frame.has(block, _ALWAYS)
            elif text:
                is_furniture = _is_named(_FURNITURE, around, post.element)
                keep[place] = not is_furniture and not frame.has(block, _REPEATED)


def _posts(root: Any) -> list[_Post]:
    """The largest element around each name of an author that holds no name of another one."""
    authors = _authors(root)
    names_in = _names_in(authors)
    posts: dict[Any, _Post] = {}
    for author in authors:
        element, parent = author, author.getparent()
        while parent is not None and parent.tag not in ("body", "html"):
            if len(names_in.get(parent, ())) > 1:
                break
            element, parent = parent, parent.getparent()
        if element is not author and parent is not None:
            posts.setdefault(element, _Post(element, author))
    return list(posts.values())


_DEEPEST = 80
"""How far up from a name its post is sought: the elements of real pages are less deep."""


def _names_in(authors: Iterable[Any]) -> dict[Any, set[str]]:
    """For each element around authors, their names; at most two are counted."""
    names_in: dict[Any, set[str]] = {}
    for author in authors:
        name = _flat(author)
        for element in islice(chain((author,), author.iterancestors()), _DEEPEST):
            names = names_in.setdefault(element, set())
            if len(names) < 2:
                names.add(name)
    return names_in


_AUTHOR = re.compile(
    r"(?<![a-z])(?:author|user-?name|hn-?user|poster|nick-?name|nick|display-?name|user-?details|message-name|byline"
    r"|user-?link|user|fn|creator|comment-?by|posted-?by)(?:-?(?:name|link))?(?![a-z])",
    re.IGNORECASE,
)
_NAMED = ".//*[@itemprop = 'author' or @itemprop = 'name'] | .//*[@rel][contains(@rel, 'author')]"
_HOLDERS = frozenset(
    ("a", "span", "div", "b", "strong", "p", "h3", "h4", "h5", "cite", "address", "li", "dt")
)
_QUOTES = frozenset(("blockquote", "q", "nav", "header", "head"))
_LONGEST_NAME = 40
"""The most characters of a name; more is a text."""
_MOST_NAMES = 2_000
"""The most names that are looked at, of a page with thousands of remarks."""


def _authors(root: Any) -> list[Any]:
    """The innermost elements with the name of an author, outside of quotations."""
    candidates = set(root.xpath(_NAMED)).union(with_class(root, _AUTHOR))
    if len(candidates) < _LEAST_POSTS:
        return []
    authors: list[Any] = []
    for element in root.iter():
        if element not in candidates or not _has_name(element):
            continue
        if authors and authors[-1] in element.iterancestors():
            authors.pop()
        authors.append(element)
        if len(authors) == _MOST_NAMES:
            break
    return authors


def _has_name(element: Any) -> bool:
    """Whether an element is a short text outside of quotations; `@name` mentions somebody in a text."""
    if element.tag not in _HOLDERS:
        return False
    text = _flat(element)
    if not text or len(text) > _LONGEST_NAME or text.startswith("@"):
        return False
    return all(outer.tag not in _QUOTES for outer in element.iterancestors())


def _flat(element: Any) -> str:
    """The text of an element in one line, no more of it than tells a name from a longer text."""
    text = ""
    for piece in element.itertext():
        text += piece
        if len(text) > 4 * _LONGEST_NAME:
            break
    return " ".join(text.split())


_LEAST_POSTS = 3
"""The least posts of a thread."""
_LARGEST = 0.8
"""The most of the words of all posts that one of them holds: else the others are remarks on it."""
_MOST_OF_PAGE = 0.5
"""The least share of the words of a page that are in the posts of a thread; else they are comments on a text."""


class _Thread:
    """The posts of the kind of element that holds the most words of a page.

    Navigation and boxes beside a thread name authors too, and often more than it has posts.
    """

    def __init__(self, measures: Measures, posts: list[_Post]) -> None:
        self._measures = measures
        self._outline = measures.outline
        self._unlinked = measures.words * (1 - measures.link_share)
        self._containers = {container.element: container for container in self._outline.containers}
        self.posts = self._of_one_kind(posts)
        self._kind_of_panes = self._pane_kind()

    def _of_one_kind(self, posts: list[_Post]) -> list[_Post]:
        """The posts of the kind with the most words, and those of this kind in posts of other kinds."""
        kinds: defaultdict[str, list[_Post]] = defaultdict(list)
        for post in posts:
            if post.element in self._containers:
                kinds[_kind(post.element)].append(post)
        best_kind, most_words = "", -1.0
        for kind, alike in kinds.items():
            words = sum(map(self._words, alike))
            # One less: the last post may still be in an element of another kind around it.
            if len(alike) >= _LEAST_POSTS - 1 and words > most_words:
                best_kind, most_words = kind, words
        chosen = kinds.pop(best_kind, [])
        for posts_of_other_kind in kinds.values():
            chosen += _inside(posts_of_other_kind, best_kind)
        return chosen

    def is_most_of_page(self) -> bool:
        """Whether the posts are several and hold most of the words of the page, and no one of them nearly all."""
        sizes = [self._words(post) for post in self.posts]
        total = sum(sizes)
        return (
            len(sizes) >= _LEAST_POSTS
            and total >= _MOST_OF_PAGE * float(self._unlinked.sum())
            and max(sizes) <= _LARGEST * total
        )

    def places(self, post: _Post) -> range:
        """The places of the blocks of a post."""
        return self._range(post.element)

    def pane(self, post: _Post) -> range:
        """The places of what stands beside the name of the author, if it is in an element of its own."""
        for element in post.around_author():
            if _kind(element) == self._kind_of_panes and element in self._containers:
                return self._range(element)
        return range(0)

    def _pane_kind(self) -> str:
        """The kind that the largest elements around the names are without the largest text of their posts.

        One for all posts: of a short post the largest text may be its signature.
        """
        kinds: Counter[str] = Counter()
        for post in self.posts:
            text = max(self.places(post), key=self._measures.words.__getitem__)
            largest = None
            for element in post.around_author():
                if element in self._containers and text not in self._range(element):
                    largest = element
            if largest is not None:
                kinds[_kind(largest)] += 1
        return kinds.most_common(1)[0][0] if kinds else ""

    def texts(self) -> Iterator[list[str]]:
        """The texts of the blocks of each post."""
        for post in self.posts:
            yield [self._outline.blocks[place].text for place in self.places(post)]

    def _range(self, element: Any) -> range:
        container = self._containers[element]
        return range(container.start, container.end)

    def _words(self, post: _Post) -> float:
        container = self._containers[post.element]
        return float(self._unlinked[container.start : container.end].sum())


def _inside(posts: list[_Post], kind: str) -> Iterator[_Post]:
    """The elements of a kind in posts: around the last of several replies in each other may be more than its post."""
    for post in posts:
        outermost = None
        for element in post.around_author():
            if _kind(element) == kind:
                outermost = element
        if outermost is not None:
            yield _Post(outermost, post.author)


_DIGITS = re.compile(r"\d+")


def _kind(element: Any) -> str:
    """The tag and the first class of an element, without numbers."""
    names = str(element.get("class", "")).split()
    return f"{element.tag} {_DIGITS.sub('', names[0]) if names else ''}"


class _Frame:
    """What is the same in many posts, but for its numbers."""

    def __init__(self, posts: Iterable[list[str]]) -> None:
        self._posts = 0
        self._times: Counter[str] = Counter()
        for texts in posts:
            self._posts += 1
            self._times.update({_unnumbered(text) for text in texts})

    def has(self, block: Block, share: float) -> bool:
        """Whether at least two, and `share` of the posts, have the text of the block."""
        return self._times[_unnumbered(block.text)] >= max(2, share * self._posts)


def _unnumbered(text: str) -> str:
    return _DIGITS.sub("", text.strip())


_CARDS = 0.5
"""From this share of headings that each link to a page of its own, posts are cards of a listing."""
_TITLE_LINKS = " | ".join(f".//h{level}//a[@href] | .//a[@href][h{level}]" for level in range(2, 7))


def _are_cards(posts: Sequence[_Post]) -> bool:
    """Whether the posts are cards of articles with their authors: each links from its heading to a page of its own."""
    pages: set[str] = set()
    for post in posts:
        name = _flat(post.author)
        for link in post.element.xpath(_TITLE_LINKS):
            if _flat(link) != name:
                address, _, _ = link.get("href").partition("#")
                path, _, _ = address.partition("?")
                pages.add(path)
                break
    return len(pages) > _CARDS * len(posts)


_TITLES = frozenset(("h1", "h2", "h3", "h4"))


def _is_title_or_time(element: Any) -> bool:
    """Whether what stands beside the name of an author is the title or the time of the post."""
    return element.tag in _TITLES or next(element.iter("time"), None) is not None


def _has_author(block: Block, author: Any) -> bool:
    """Whether a block has the element with the name of the author, or a part of it."""
    for element, where in block.slots:
        if where == "text" and (element is author or author in element.iterancestors()):
            return True
    return False


def _is_quoted(element: Any, post: Any) -> bool:
    while element is not None and element is not post:
        if element.tag == "blockquote":
            return True
        element = element.getparent()
    return False


def _is_named(pattern: re.Pattern[str], element: Any, post: Any) -> bool:
    """Whether the classes or the id of an element of a post, or of one around it, match a pattern."""
    while element is not None and element is not post:
        if pattern.search(f"{element.get('class', '')} {element.get('id', '')}"):
            return True
        element = element.getparent()
    return False
