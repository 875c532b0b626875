"""Recognises the addresses that a site makes without end: calendars, filters of lists, tokens that no page depends on.

A session or token in the path or under a well-known name never gets here: `scope.canonical` leaves it out. Pure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

MAX_LIKE = 200
"""The most addresses that may differ only in digits; more are a calendar or a similar trap."""
MAX_COMBINATIONS = 20
"""The most addresses of one path whose parameters all have values that other addresses of it had before: five filters
with three values each make a thousand. Past it they are taken only while they lead to new text."""
LAST_VIEWS = 8
"""A view is compared with so many views of the same path that were read before it: pages come in any order, since a
crawl fetches several at once, and the one that it resembles is seldom the very last."""
OLD_WORDS = 0.9
"""A view with so many of its words in the last views says nothing new: a list that is sorted or filtered otherwise."""
LEAST_PROOFS = 3
"""So many pages must be the same with and without a parameter, or with two values of it, before it is ignored."""
PROOFS_AGAINST_ONE = 4
"""So many such pages outweigh one that did change with the parameter."""
LEAST_WORDS = 5
"""A page of fewer words, such as a notice, proves nothing."""

LIKE_OTHERS = f"like {MAX_LIKE} others but for its digits"
COMBINATION = "one more combination of parameters that each were followed before"

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\w+")
Parameters = frozenset[tuple[str, str]]


@dataclass(slots=True)
class _Views:
    """What is known of the addresses of one path: they differ in their query alone."""

    values: set[tuple[str, str]] = field(default_factory=set)
    combinations: set[str] = field(default_factory=set)
    by_words: dict[bytes, str] = field(default_factory=dict)
    last_words: deque[frozenset[str]] = field(default_factory=lambda: deque(maxlen=LAST_VIEWS))
    last_parameters: Parameters = frozenset()
    read: int = 0
    alike: int = 0

    def has_said(self, words: frozenset[str]) -> bool:
        """Whether nearly all these words stand in the last views."""
        recent = frozenset().union(*self.last_words)
        return len(words & recent) >= OLD_WORDS * len(words)

    @property
    def repeats_itself(self) -> bool:
        """Whether most of the views that were read had nothing new to say, or none was read yet."""
        return self.alike * 2 >= self.read - 1


class EndlessAddresses:
    """Decides for one crawl which new addresses are taken, and which are only views of a page."""

    def __init__(self) -> None:
        self._like: defaultdict[str, set[str]] = defaultdict(set)
        self._views: defaultdict[str, _Views] = defaultdict(_Views)
        self._without_effect: Counter[str] = Counter()
        self._with_effect: Counter[str] = Counter()

    def refusal(self, url: str) -> str:
        """Why a new canonical address is not taken; "" if it is, or was before."""
        if self._is_like_too_many(url):
            return LIKE_OTHERS
        return COMBINATION if self._is_old_combination(url) else ""

    def plain(self, url: str) -> str:
        """The address without the parameters that turned out to change no page."""
        parts = urlsplit(url)
        parameters = parse_qsl(parts.query, keep_blank_values=True)
        kept = [(name, value) for name, value in parameters if not self._is_ignored(name)]
        return (
            url
            if len(kept) == len(parameters)
            else urlunsplit(parts._replace(query=urlencode(kept)))
        )

    def original(self, url: str, text: str) -> str:
        """Note the text of a page. Returns the address that was read before of the same path and with the same words,
        in whatever order; "" if there is none."""
        words = frozenset(_WORD.findall(text))
        if len(words) < LEAST_WORDS:
            return ""
        parameters = _parameters(url)
        views = self._views[_path(url)]
        original = views.by_words.setdefault(
            sha256("\n".join(sorted(words)).encode()).digest()[:16], url
        )
        if original == url:
            original = ""
        if original:
            self._without_effect.update(_names_of_differences(parameters, _parameters(original)))
        elif views.read:
            changed = _names_of_differences(parameters, views.last_parameters)
            self._with_effect.update(changed if len(changed) == 1 else ())
        if views.read:
            views.alike += views.has_said(words)
        if parameters or views.values:  # of most pages there is one address alone
            views.read += 1
            views.last_words.append(words)
            views.last_parameters = parameters
        return original

    def _is_ignored(self, name: str) -> bool:
        proofs = self._without_effect[name]
        return proofs >= LEAST_PROOFS and proofs >= PROOFS_AGAINST_ONE * self._with_effect[name]

    def _is_like_too_many(self, url: str) -> bool:
        pattern = _DIGITS.sub("0", url)
        if pattern == url and not any(map(str.isdigit, url)):
            return False
        like = self._like[pattern]
        if url not in like and len(like) >= MAX_LIKE:
            return True
        like.add(url)
        return False

    def _is_old_combination(self, url: str) -> bool:
        parameters = _parameters(url)
        if len(parameters) < 2:
            if parameters:
                self._views[_path(url)].values |= parameters
            return False
        views = self._views[_path(url)]
        if url in views.combinations:
            return False
        if (
            parameters <= views.values
            and len(views.combinations) >= MAX_COMBINATIONS
            and views.repeats_itself
        ):
            return True
        if parameters <= views.values:
            views.combinations.add(url)
        views.values |= parameters
        return False


def _path(url: str) -> str:
    return url.partition("?")[0]


def _parameters(url: str) -> Parameters:
    query = url.partition("?")[2]
    return frozenset(parse_qsl(query, keep_blank_values=True)) if query else frozenset()


def _names_of_differences(some: Parameters, others: Parameters) -> set[str]:
    return {name for name, _ in some ^ others}
