"""Parses a query into phrases, names from code, and a version. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from websearch_gateway.text.tokens import STOP_WORDS, split_cjk

MOST_WORDS = 32
"""The most words of a query to search for; more only slow the search."""

WHOLE_WORDS = 5
"""A query with more words is not a name."""

_QUOTED = re.compile(r"[\"“”]([^\"“”]{1,200}+)[\"“”]|`([^`]{1,200}+)`")
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z0-9][\w-]*+)")
_QUALIFIED = re.compile(r"@?([A-Za-z_$][\w$]*+(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*+)++)")
_SPECIAL_NAME = re.compile(
    r"(?<![\w.])(?:[A-Za-z]\+\+|[A-Za-z]#|\.[A-Za-z]{2,10}|operator(?:\(\)|\[\]|[-+*/%^&|~!=<>]{1,3}))(?![\w])"
)
_CALL = re.compile(r"([A-Za-z_$][\w$]*+)\(")
_WORD = re.compile(r"[^\W_][\w'’-]*+|_\w++")
_COMPOUND = re.compile(r"_|[a-z\d][A-Z]|^[A-Z][A-Z\d]+$")
_BRAND = re.compile(r"[A-Z\d]+|[A-Z][a-z]+[A-Z][A-Za-z]*")
"""Acronyms, and names such as PostgreSQL: queries often contain them without asking for their definition."""
_LANGUAGE = re.compile(r"[A-Za-z](?:\+\+|#)|\.NET", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])[vV]?(\d+(?:\.\d+)*[\w.-]*+)")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    The text index looks up the `phrases`, which are distinct and in order: quoted phrases, names, and words other than
    stop words. `symbols` are the names that a page may define, `certain` those that are no acronym, brand or language.
    `whole` is the query itself if it is short enough to be a name. `version` is the label that the query names.
    `is_names`: the query has no other words than symbols.
    """

    text: str
    phrases: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    version: str | None = None
    is_names: bool = False


def parse(text: str, labels: Collection[str] = ()) -> Query:
    """Parse a query.

    Args:
        labels: the labels of the existing versions; only these are recognised as a version.
    """
    version, rest = _version(text, labels)
    quoted = [(one[0] or one[1]).strip() for one in _QUOTED.findall(rest)]
    symbols: dict[str, None] = {}
    bare = _QUOTED.sub(" ", rest)
    for pattern in (_SPECIAL_NAME, _OPTION, _QUALIFIED):
        bare = pattern.sub(lambda match: _collect_symbol(match, symbols), bare)
    symbols.update(dict.fromkeys(_CALL.findall(bare)))
    words = _WORD.findall(bare)[:MOST_WORDS]
    symbols.update(dict.fromkeys(word for word in words if _COMPOUND.search(word)))
    content = [word for word in words if word.lower() not in STOP_WORDS] or ([] if symbols else words)
    phrases = dict.fromkeys((*quoted, *symbols, *(part for word in content for part in split_cjk(word).split())))
    return Query(
        text=rest.strip(),
        phrases=tuple(phrases),
        symbols=tuple(symbols),
        certain=tuple(name for name in symbols if not (_BRAND.fullmatch(name) or _LANGUAGE.fullmatch(name))),
        whole=(name,) if len((name := rest.strip(' "`()')).split()) <= WHOLE_WORDS else (),
        version=version,
        is_names=bool(symbols) and not quoted and all(word in symbols for word in content),
    )


def _collect_symbol(match: re.Match[str], symbols: dict[str, None]) -> str:
    symbols[match[match.lastindex or 0]] = None
    return " "


def _version(text: str, labels: Collection[str]) -> tuple[str | None, str]:
    """The version that a query names, and the query without it."""
    for match in _VERSION.finditer(text):
        for label in (match[0], match[1]):
            if label in labels and ("." in label or match[0] != label):
                return label, f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}".strip()
    return None, text
