"""Reads a query of `search_docs`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from websearch_gateway.base import (
    STOP_WORDS,
    split_cjk,
)

MOST_WORDS = 32
"""The most words of a query to search for; more only slow the search."""

WHOLE_WORDS = 5
"""A query with more words is not a name."""

_DEFINING = re.compile(
    r"(?:what(?:['’]s|\s+is|\s+are)|define|(?:meaning|definition)\s+of|what\s+does(?=.*\smeans?\W*$))\s+(?:(?:an?|the)\s+)?"
    r"(.{1,200}?)(?:\s+means?)?[\s?!.]*",
    re.IGNORECASE,
)
"""A question for what a name means."""
_LABEL = re.compile(
    r"^\s*(?:(?:fatal|error|warning|exception|panic)\w*:\s+)+(?=\S+\s+\S)", re.IGNORECASE
)
"""What comes before the text of a message: every page about errors has it."""
_QUOTED = re.compile(r"[\"“”]([^\"“”]{1,200}+)[\"“”]|`([^`]{1,200}+)`")
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z0-9][\w-]*+)")
_QUALIFIED = re.compile(r"@?([A-Za-z_$][\w$]*+(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*+)++)")
_SPECIAL_NAME = re.compile(
    r"(?<![\w.])(?:[A-Za-z]\+\+|[A-Za-z]#|\.[A-Za-z]{2,10}|operator(?:\(\)|\[\]|[-+*/%^&|~!=<>]{1,3}))(?![\w])"
)
_CALL = re.compile(r"([A-Za-z_$][\w$]*+)\(|(?<![\w.:/])([a-z]\w*+:[a-z]\w*+)(?![\w:]|/\D)")
"""A name before a bracket, or a function of a module in Erlang: `lists:foldl`."""
_WORD = re.compile(r"[^\W_][\w'’-]*+|_\w++")
COMPOUND = re.compile(r"_|[a-z\d][A-Z]|^[A-Z][A-Z\d]+$")
_BRAND = re.compile(r"[A-Z\d]+|[A-Z][a-z]+[A-Z][A-Za-z]*(?<!Error)(?<!Exception)")
"""Acronyms, and names such as PostgreSQL: queries often contain them without asking for their definition, unlike the
names of errors and exceptions."""
_LANGUAGE = re.compile(r"[A-Za-z](?:\+\+|#)|\.NET", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])[vV]?(\d+(?:\.\d+)*[\w.-]*+)")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    The text index looks up the `phrases`, which are distinct and in order: quoted phrases, names, and words other than
    stop words. `symbols` are the names that a page may define, `certain` those that are no acronym, brand or language.
    `whole` is the query itself if it is short enough to be a name. `version` is the label that the query names.
    `is_names`: the query has no other words than symbols. `weights` say how rare its words are, by their stems.
    """

    text: str
    phrases: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    version: str | None = None
    is_names: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def certain_names(self) -> tuple[str, ...]:
        """The names that a page defines if any does: those that are no plain words, and the whole query."""
        return (*self.certain, *self.whole)


def parse(
    text: str, labels: Collection[str] = (), weights: Mapping[str, float] | None = None
) -> Query:
    """Parse a query.

    Args:
        labels: the labels of the existing versions; only these are recognised as a version.
        weights: see `Query`.
    """
    version, rest = _version(_LABEL.sub("", text), labels)
    quoted = [(one[0] or one[1]).strip() for one in _QUOTED.findall(rest)]
    symbols: dict[str, None] = {}
    bare = _QUOTED.sub(" ", rest)
    for pattern in (_SPECIAL_NAME, _OPTION, _QUALIFIED):
        symbols.update((match[match.lastindex or 0], None) for match in pattern.finditer(bare))
        bare = pattern.sub(" ", bare)
    symbols.update(dict.fromkeys(match[match.lastindex or 0] for match in _CALL.finditer(bare)))
    bare = _CALL.sub(" ", bare)  # the module of `gen_server:call` is no name of its own
    words = _WORD.findall(bare)[:MOST_WORDS]
    symbols.update(dict.fromkeys(word for word in words if COMPOUND.search(word)))
    content = [word for word in words if word.lower() not in STOP_WORDS] or (
        [] if symbols else words
    )
    defined = _DEFINING.fullmatch(rest.strip())
    name = (defined[1] if defined else rest).strip(' "`()')
    phrases = dict.fromkeys(
        (*quoted, *symbols, *(part for word in content for part in split_cjk(word).split()))
    )
    return Query(
        text=rest.strip(),
        phrases=tuple(phrases),
        symbols=tuple(symbols),
        certain=tuple(
            name for name in symbols if not (_BRAND.fullmatch(name) or _LANGUAGE.fullmatch(name))
        ),
        whole=(name,) if len(name.split()) <= WHOLE_WORDS else (),
        version=version,
        is_names=bool(symbols) and not quoted and all(word in symbols for word in content),
        weights=weights or {},
    )


def _version(text: str, labels: Collection[str]) -> tuple[str | None, str]:
    """The version that a query names, and the query without it."""
    for match in _VERSION.finditer(text):
        for label in (match[0], match[1]):
            if label in labels and ("." in label or match[0] != label):
                return (
                    label,
                    f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}".strip(),
                )
    return None, text
