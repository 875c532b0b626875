"""The first stage: may the gateway send this question to the web?

Nothing leaves the process before its query has passed the guard, which refuses malformed queries, queries and lists
of domains with credentials, and questions for a specialist server. Text that reads like orders to a model only gets a
warning. Addresses to read are checked where they are read, in `cache/pages.py`, and those that nobody gave in
`provenance.py`.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, get_args

from websearch_gateway.base import (
    LONGEST_RAW_QUERY,
    checked_query,
    credential_error,
    credential_kind,
    credential_kind_in_address,
    domains,
    matching_form,
    narrowed,
    normalise,
    suspicious,
)
from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import (
    SHORTEST_QUESTION,
    SafeSearch,
    SearchQuery,
    SearchRequest,
    Topic,
    arguments_in,
)
from websearch_gateway.pipeline.argument_values import (
    code,
    flag,
    invalid,
    one_of,
    up_to,
    whole_number,
)
from websearch_gateway.pipeline.routing import merged_routes
from websearch_gateway.settings.groups import RouteSettings
from websearch_gateway.upstream.tracing import stage

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_LONGEST_HOST = 300
"""The part of an address in a list of domains that may hold its host (characters). The rest is never sent."""

_LOOKS_LIKE_A_KEY = "sk-proj-0123456789abcdefghijKLMNOPQRST"


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query that may be asked, and warnings for the caller."""

    query: SearchQuery
    warnings: tuple[str, ...] = ()


_OF_A_QUERY = frozenset(field.name for field in fields(SearchQuery))


def question(request: DataclassInstance, text: str, **others: Any) -> SearchQuery:
    """The query of a request, as it was given: `others`, and the fields that both have."""
    shared = {
        field.name: getattr(request, field.name)
        for field in fields(request)
        if field.name in _OF_A_QUERY
    }
    return SearchQuery(**{**shared, **others, "text": text})


@functools.cache
def _maxima(request: type[DataclassInstance]) -> Mapping[str, int]:
    """The maximum of each field that has one."""
    return {
        field.name: about.keywords["maximum"]
        for field, _, about in arguments_in(request)
        if "maximum" in about.keywords
    }


class Guard:
    """Normalises and checks every query. Stateless once built; safe for concurrent calls.

    Args:
        routes: the operator's `[routes.NAME]` tables: they switch off, rename, reword, replace or add routes.
        secrets: the gateway's own secrets, which no query may carry.
        allowed: the only domains to search, as from `text.urls.domains`; empty for all.
        blocked: the domains never to search, in the same form.

    Raises:
        SearchNotConfiguredError: a route is unusable; the message names it.
    """

    def __init__(
        self,
        routes: Mapping[str, RouteSettings],
        secrets: tuple[str, ...],
        *,
        allowed: Sequence[str] = (),
        blocked: Sequence[str] = (),
    ) -> None:
        self._routes = merged_routes(routes)
        self._secrets = secrets
        self._allowed, self._blocked = allowed, blocked
        # Questions repeat, and this check takes longer than the rest of a call that the cache answers.
        self._warnings_for = functools.lru_cache(maxsize=1_024)(self._judge)

    def warm_up(self) -> None:
        """Compile the rules that the first query would wait for. Slow: do not run it on the event loop."""
        credential_kind(_LOOKS_LIKE_A_KEY, self._secrets)

    @stage("guard")
    def check(
        self,
        asked: SearchQuery,
        request: type[DataclassInstance] = SearchRequest,
        *,
        routed: bool = True,
        shortest: int = SHORTEST_QUESTION,
    ) -> CheckedQuery:
        """The query to send, for one as a caller gave it. Questions for a specialist server are refused if `routed`.

        Args:
            request: the kind of request, whose arguments say how much it may ask for.
            shortest: the least number of characters.

        Raises:
            SearchValidationError: the query is refused; `details` names the field at fault or the server to use.
        """
        wanted = self._domains("includeDomains", asked.include_domains)
        unwanted = self._domains("excludeDomains", asked.exclude_domains)
        lists = wanted, unwanted, self._allowed, self._blocked
        include, exclude = narrowed(*lists) if any(lists) else ((), ())
        maxima = _maxima(request)
        most, warnings = up_to("maxResults", asked.max_results, maxima["max_results"])
        text = checked_query(asked.text, shortest)
        region, language, safe = asked.region, asked.language, asked.safe_search
        if asked.freshness_hours is not None and "freshness_hours" in maxima:
            whole_number("freshnessHours", asked.freshness_hours, maxima["freshness_hours"])
        query = replace(
            asked,
            text=text,
            max_results=most,
            region=None if region is None else code("region", region),
            include_answers=flag("includeAnswers", asked.include_answers),
            language=None if language is None else code("language", language),
            safe_search=None if safe is None else one_of("safeSearch", safe, get_args(SafeSearch)),
            topic=one_of("topic", asked.topic, get_args(Topic)),
            include_domains=include,
            exclude_domains=exclude,
        )
        return CheckedQuery(query, (*warnings, *self._warnings_for(query.text, routed)))

    def clean(self, field: str, text: str) -> str:
        """The normalised text of a parameter that is no web query, to send to the embedder.

        Raises:
            SearchValidationError: it is no text, is too long to be checked, contains a control character or carries a
                credential.
        """
        if not isinstance(text, str):
            raise invalid(field, "text", "text")
        if len(text) > LONGEST_RAW_QUERY:
            raise invalid(
                field,
                f"at most {LONGEST_RAW_QUERY} characters",
                f"0-{LONGEST_RAW_QUERY} characters",
            )
        text = normalise(text, field)
        self.refuse_credentials(field, text)
        return text

    def refuse_credentials(self, field: str, text: str) -> None:
        """Refuse a normalised text, given as the parameter `field`, that would carry a credential to an upstream.

        Raises:
            SearchValidationError: `details` names the field and the kind of credential.
        """
        if kind := credential_kind(text, self._secrets):
            subject = "The query" if field == "query" else f"`{field}`"
            raise credential_error(field, subject, kind)

    def refuse_credentials_in_address(self, field: str, url: str) -> None:
        """As `refuse_credentials`, for an address to read, which may be a signed link."""
        if kind := credential_kind_in_address(url, self._secrets):
            raise credential_error(field, "The URL", kind)

    def _domains(self, field: str, given: Sequence[str]) -> tuple[str, ...]:
        """The normalised domains of a list. Checks them also as given, since a host loses the capitals of a key."""
        if not given:
            return ()
        names = domains(field, given)
        as_given = unicodedata.normalize(
            "NFKC", " ".join(one.strip()[:_LONGEST_HOST] for one in given)
        )
        self.refuse_credentials(field, f"{as_given}\n{' '.join(names)}")
        return names

    def _judge(self, text: str, routed: bool) -> tuple[str, ...]:
        """The warnings for a normalised text. Raises as `check`."""
        self.refuse_credentials("query", text)
        reduced = matching_form(text) if routed else ""
        for name, route in self._routes.items() if routed else ():
            if route.asks(text, reduced):
                raise SearchValidationError(
                    route.message, details={"route": name, "use": route.server}
                )
        warning = suspicious(text)
        return (warning,) if warning else ()
