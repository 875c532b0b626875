"""Which definitions of the index a query means by its names. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from websearch_gateway.docs.search.query import COMPOUND

if TYPE_CHECKING:
    from websearch_gateway.docs.models import SymbolMatch
    from websearch_gateway.docs.search.query import Query

_PARTS = re.compile(r"\w(?:\.|::)\w")
_JOINTS = re.compile(r"::|[.:#]")
_SEPARATORS = ".:>#/"
"""The characters that may stand before the last part of a name."""


def is_asked_for(query: Query, match: SymbolMatch) -> bool:
    """Whether the query contains the defined name, or its last parts: `Popen.wait` for `subprocess.Popen.wait`."""
    folded = match.name.casefold()
    return any(
        match.name == name
        or (len(name) > 1 and not name.startswith("-") and _ends_with(folded, name.casefold()))
        for name in (*query.symbols, *query.whole)
    )


def is_certain(query: Query, match: SymbolMatch) -> bool:
    """Whether the name in the query is more than a plain word, such as the module `csv` for "read a CSV file"."""
    return (
        query.is_names
        or match.exact
        or any(_is_in(name, (match.name,)) for name in query.certain_names)
    )


def best_definition(query: Query, defined: Sequence[SymbolMatch]) -> SymbolMatch | None:
    """The first of the definitions on a page that is surely the one of a name in the query."""
    surely = (
        match
        for match in defined
        if any(_is_in(name, (match.name,)) for name in query.certain_names)
    )
    exact = (match for match in defined if match.exact)
    return next(surely, None) or next(exact, None)


def count_defined(query: Query, defined: Collection[SymbolMatch]) -> int:
    """How many unambiguous names of the query a page defines, in the same spelling; a heading counts half, and so does
    the class of a member."""
    names = {match.name for match in defined}
    beyond_headings = {match.name for match in defined if match.kind != "heading"}
    owners = {part for name in names for part in _JOINTS.split(name)[:-1]}
    by_name = (_is_in(name, names) + _is_in(name, beyond_headings) for name in query.certain_names)
    return sum(by_name) + len(owners.intersection(query.symbols))


def _ends_with(name: str, ending: str) -> bool:
    return name == ending or (name.endswith(ending) and name[-len(ending) - 1] in _SEPARATORS)


def _is_in(name: str, defined: Collection[str]) -> bool:
    """Whether a name is defined: in the same spelling, or with more before a name of several parts or words
    (`Vec::drain`, `or_insert`)."""
    if name in defined:
        return True
    is_special = _PARTS.search(name) or COMPOUND.search(name.strip("_"))
    return bool(is_special) and any(_ends_with(longer, name) for longer in defined)
