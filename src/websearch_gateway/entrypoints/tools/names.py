"""Accepts earlier and obvious names of arguments: a refused guess costs an agent a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

SYNONYMS: tuple[frozenset[str], ...] = (
    frozenset({"maxresults", "numresults", "resultsperquery", "limit", "count", "num", "n", "topk", "k"}),
    frozenset({"query", "queries", "q", "question", "searchquery", "searchterm"}),
    frozenset({"url", "link", "uri", "href"}),
    frozenset({"urls", "links"}),
    frozenset({"maxchars", "maxcharacters", "maxlength", "length"}),
    frozenset({"region", "country", "countrycode"}),
    frozenset({"language", "lang", "locale"}),
    frozenset({"freshness", "timerange", "recency"}),
    frozenset({"includedomains", "alloweddomains", "domains", "sites", "site"}),
    frozenset({"excludedomains", "blockeddomains"}),
    frozenset({"offset", "start", "startindex"}),
    frozenset({"siteid", "site", "sitename", "library"}),
    frozenset({"sitesfilter", "sitefilter", "sites", "filter"}),
    frozenset({"sectionid", "section", "id"}),
    frozenset({"version", "siteversion", "label"}),
    frozenset({"maxtokens", "tokens", "tokenlimit"}),
)
"""Names that mean the same, in lower case and without underscores. A name in several groups means what the tool has."""

MOST_NAMES = 50
"""A call with more names is refused as it stands."""


def understood(model: type[BaseModel], given: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """`given` with every other spelling of an argument's name replaced by the one that the tool lists; and of each
    listed name that replaced another, that other.

    A name that the call gives already is never replaced, nor is one that could mean two arguments of the tool.
    """
    known = [str(field.validation_alias or field.alias or name) for name, field in model.model_fields.items()]
    if len(given) > MOST_NAMES or all(name in known for name in given):
        return given, {}
    named: dict[str, Any] = {}
    replaced: dict[str, str] = {}
    for name, value in given.items():
        meant = name if name in known else _meant(name, known)
        if meant in named or meant in given:
            meant = name
        elif meant != name:
            replaced[meant] = name
        named[meant] = value
    return named, replaced


def _meant(name: str, known: list[str]) -> str:
    plain = _plain(name)
    same = [one for one in known if _plain(one) == plain]
    if not same:
        alike = frozenset[str]().union(*(words for words in SYNONYMS if plain in words))
        same = [one for one in known if _plain(one) in alike]
    return same[0] if len(same) == 1 else name


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
