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
"""A made-up key, to try the check for credentials on before the first query comes."""

_QUERY_FIELDS = frozenset(field.name for field in fields(SearchQuery))


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query that may be asked, and warnings for the caller."""

    query: SearchQuery
    warnings: tuple[str, ...] = ()


def question(request: DataclassInstance, text: str, **others: Any) -> SearchQuery:
    """The query of a request, unchecked: `text`, the fields that a query shares with the request, and `others`."""
    values = {}
    for field in fields(request):
        if field.name in _QUERY_FIELDS:
            values[field.name] = getattr(request, field.name)
    values.update(others, text=text)
    return SearchQuery(**values)


class Guard:
    """Normalises and checks every query. Stateless once built; safe for concurrent calls.

    Args:
        routes: the operator's `[routes.NAME]` tables: they switch off, rename, reword, replace or add routes.
        secrets: the gateway's own secrets, which no query may carry.
        allowed: the only domains to search, as from `base.domains`; empty for all.
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
        include, exclude = self._narrowed(wanted, unwanted)
        maxima = _maxima(request)
        max_results, warnings = up_to("maxResults", asked.max_results, maxima["max_results"])
        text = checked_query(asked.text, shortest)
        if asked.freshness_hours is not None and "freshness_hours" in maxima:
            whole_number("freshnessHours", asked.freshness_hours, maxima["freshness_hours"])
        region = _code_or_none("region", asked.region)
        flag("includeAnswers", asked.include_answers)
        language = _code_or_none("language", asked.language)
        if asked.safe_search is not None:
            one_of("safeSearch", asked.safe_search, get_args(SafeSearch))
        one_of("topic", asked.topic, get_args(Topic))
        query = replace(
            asked,
            text=text,
            max_results=max_results,
            region=region,
            language=language,
            include_domains=include,
            exclude_domains=exclude,
        )
        return CheckedQuery(query, (*warnings, *self._warnings_for(text, routed)))

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
        as_given = " ".join(domain.strip()[:_LONGEST_HOST] for domain in given)
        as_given = unicodedata.normalize("NFKC", as_given)
        self.refuse_credentials(field, f"{as_given}\n{' '.join(names)}")
        return names

    def _narrowed(
        self, wanted: tuple[str, ...], unwanted: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The domains to include and to exclude: what the caller wants, within what the operator allows."""
        if not (wanted or unwanted or self._allowed or self._blocked):
            return (), ()
        return narrowed(wanted, unwanted, self._allowed, self._blocked)

    def _judge(self, text: str, routed: bool) -> tuple[str, ...]:
        """The warnings for a normalised text. Raises as `check`."""
        self.refuse_credentials("query", text)
        if routed:
            self._refuse_routed(text)
        warning = suspicious(text)
        return (warning,) if warning else ()

    def _refuse_routed(self, text: str) -> None:
        """Refuse a question for a specialist server; `details` names the server to use."""
        reduced = matching_form(text)
        for name, route in self._routes.items():
            if route.asks(text, reduced):
                raise SearchValidationError(
                    route.message, details={"route": name, "use": route.server}
                )


@functools.cache
def _maxima(request: type[DataclassInstance]) -> Mapping[str, int]:
    """The maximum of each argument that has one, as its description in the request says."""
    maxima = {}
    for field, _, about in arguments_in(request):
        if "maximum" in about.keywords:
            maxima[field.name] = about.keywords["maximum"]
    return maxima


def _code_or_none(field: str, value: str | None) -> str | None:
    return None if value is None else code(field, value)
