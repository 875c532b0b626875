"""The first stage: may the gateway send this question to the web?

Nothing leaves the process before its query has passed the guard, which refuses malformed queries, queries and lists
of domains with credentials, and questions for a specialist server. Text that reads like orders to a model only gets a
warning. Addresses to read are checked where they are read, in `cache/pages.py`, but for those that nobody gave, which
`Provenance` knows: a page may order a model to read an address with what the model knows in it.

An address is known if exactly it stood in a result, was a link of a page that was read, in an earlier call of the same
caller, or is in the documentation index. Any other one that carries data (`base/secrets.py`) gets a warning, or is
refused before anything is sent. So only known addresses with data are kept in the shared state, as keyed hashes; few
links of pages are such (2%).
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import logging
import re
import time
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from websearch_gateway.base import (
    BUILT_IN_ROUTES,
    LEAST_CHARACTERS,
    LONGEST_RAW_QUERY,
    PUNCTUATION,
    Route,
    addresses_with_data,
    admitted,
    carried_characters,
    carries_data,
    checked_query,
    country_code,
    credential_error,
    credential_kind,
    credential_kind_in_address,
    domains,
    identity,
    is_web_address,
    language_code,
    matching_form,
    narrowed,
    normalise,
    repeats_a_repetition,
    strip_trackers,
    suspicious,
    tracker_pieces,
)
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchFetchError,
    SearchNotConfiguredError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import (
    LOCAL,
    SHORTEST_QUESTION,
    Bill,
    Call,
    Caller,
    Deadline,
    Parts,
    Progress,
    SafeSearch,
    SearchQuery,
    SearchRequest,
    Topic,
    arguments_in,
    no_progress,
)
from websearch_gateway.ports import State, Workers
from websearch_gateway.results import WireModel
from websearch_gateway.settings.groups import RouteSettings
from websearch_gateway.upstream.layers import BestEffort
from websearch_gateway.upstream.telemetry import stage

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


T = TypeVar("T")
D = TypeVar("D", bound=Deadline)

LONGEST_PATTERN = 500

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
    shared = {field.name: getattr(request, field.name) for field in fields(request) if field.name in _OF_A_QUERY}
    return SearchQuery(**{**shared, **others, "text": text})


@functools.cache
def _bounds(request: type[DataclassInstance]) -> Mapping[str, tuple[tuple[str, ...], int]]:
    """The names and the maximum of each field that has one: the name of the tools first, then another one in Python."""
    found = {}
    for one, _, about in arguments_in(request):
        names = (about.name, one.name) if about.name else (to_camel(one.name),)
        if "maximum" in about.keywords:
            found[one.name] = names, about.keywords["maximum"]
    return found


def bounded(request: type[DataclassInstance], field: str, value: int) -> tuple[int, tuple[str, ...]]:
    """`up_to` for a value of this field of a request, with the names and the maximum of its `Argument`."""
    names, most = _bounds(request)[field]
    return up_to(names, value, most)


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
        self._routes = _merged(routes)
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
        results: str = "max_results",
        *,
        routed: bool = True,
        shortest: int = SHORTEST_QUESTION,
    ) -> CheckedQuery:
        """The query to send, for one as a caller gave it. Questions for a specialist server are refused if `routed`.

        Args:
            request: the kind of request, whose arguments say how much it may ask for.
            results: its field with the number of results.
            shortest: the least number of characters.

        Raises:
            SearchValidationError: the query is refused; `details` names the field at fault or the server to use.
        """
        wanted = self._domains("includeDomains", asked.include_domains)
        unwanted = self._domains("excludeDomains", asked.exclude_domains)
        lists = wanted, unwanted, self._allowed, self._blocked
        include, exclude = narrowed(*lists) if any(lists) else ((), ())
        most, warnings = bounded(request, results, asked.max_results)
        text = checked_query(asked.text, shortest)
        region, language, safe = asked.region, asked.language, asked.safe_search
        if asked.freshness_hours is not None and (of_hours := _bounds(request).get("freshness_hours")):
            whole_number(of_hours[0], asked.freshness_hours, of_hours[1])
        query = replace(
            asked,
            text=text,
            max_results=most,
            region=None if region is None else _code("region", region),
            include_answers=_flag("includeAnswers", asked.include_answers),
            language=None if language is None else _code("language", language),
            safe_search=None if safe is None else _one_of("safeSearch", safe, get_args(SafeSearch)),
            topic=_one_of("topic", asked.topic, get_args(Topic)),
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
            raise invalid(field, f"at most {LONGEST_RAW_QUERY} characters", f"0-{LONGEST_RAW_QUERY} characters")
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
        as_given = unicodedata.normalize("NFKC", " ".join(one.strip()[:_LONGEST_HOST] for one in given))
        self.refuse_credentials(field, f"{as_given}\n{' '.join(names)}")
        return names

    def _judge(self, text: str, routed: bool) -> tuple[str, ...]:
        """The warnings for a normalised text. Raises as `check`."""
        self.refuse_credentials("query", text)
        reduced = matching_form(text) if routed else ""
        for name, route in self._routes.items() if routed else ():
            if route.asks(text, reduced):
                raise SearchValidationError(route.message, details={"route": name, "use": route.server})
        warning = suspicious(text)
        return (warning,) if warning else ()


def _merged(settings: Mapping[str, RouteSettings]) -> dict[str, Route]:
    """The built-in routes with the operator's changes, in the order of the table and then of the settings file."""
    merged = dict(BUILT_IN_ROUTES)
    for name, route in settings.items():
        if not route.enabled:
            merged.pop(name, None)
        elif name in merged and not route.patterns:
            usual = merged[name]
            server = route.server or usual.server
            message = route.message or usual.message.replace(f"`{usual.server}`", f"`{server}`")
            merged[name] = replace(usual, server=server, message=message)
        elif not route.patterns or not (route.message or route.server):
            raise SearchNotConfiguredError(f"The route {name} needs `patterns`, and a `message` or a `server`.")
        else:
            for number, pattern in enumerate(route.patterns, start=1):
                if fault := _fault(pattern):
                    raise SearchNotConfiguredError(f"Pattern {number} of the route {name} is unusable: {fault}.")
            server = route.server or name
            message = route.message or f"This is for the server `{server}`: use that instead of a web search."
            merged[name] = Route(message, server, patterns=route.patterns)
    return merged


def _fault(pattern: str) -> str | None:
    """Why an operator's pattern is unusable; None if it is usable. It must be fast, since every query is matched."""
    if len(pattern) > LONGEST_PATTERN:
        return f"it is longer than {LONGEST_PATTERN} characters"
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    if compiled.search(""):
        return "it matches every query"
    return "it repeats a repetition, as in `(a+)+`" if repeats_a_repetition(pattern) else None


def invalid(field: str, demand: str, allowed: str, *other_names: str) -> SearchValidationError:
    """The error of a parameter that must be something else."""
    names = " or ".join(f"`{name}`" for name in (field, *other_names))
    return SearchValidationError(f"{names} must be {demand}.", details={"field": field, "allowed": allowed})


def whole_number(names: Sequence[str], value: int, limit: int, least: int = 1) -> int:
    """`value`, a parameter with these names. Raises SearchValidationError unless it is in its range."""
    # A bool is an int to Python, and "5" is a mistake that a caller should see.
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= limit:
        raise invalid(names[0], f"a whole number from {least} to {limit}", f"{least}-{limit}", *names[1:])
    return value


def up_to(names: Sequence[str], value: int, limit: int) -> tuple[int, tuple[str, ...]]:
    """`value`, or `limit` with a warning if it is larger: to ask for more than there is has only one meaning.

    Raises:
        SearchValidationError: it is not a whole number from 1 on; `names` are those of the parameter.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > limit:
        return limit, (f"`{names[0]}` is at most {limit}: {limit} is used.",)
    return whole_number(names, value, limit), ()


def _flag(field: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise invalid(field, "true or false", "true, false")
    return value


def _one_of(field: str, value: T, allowed: tuple[T, ...]) -> T:
    if value not in allowed:
        listed = ", ".join(map(str, allowed))
        raise invalid(field, f"one of {listed}", listed)
    return value


_CODES = {
    "region": (country_code, "ISO 3166-1 alpha-2", " code such as GB, or a country's English name"),
    "language": (language_code, "ISO 639-1", " code such as en"),
}


def _code(field: str, value: str) -> str:
    code_of, standard, example = _CODES[field]
    if not isinstance(value, str) or (code := code_of(value)) is None:
        raise invalid(field, f"an {standard}{example}", standard)
    return code


@asynccontextmanager
async def one_deadline(
    seconds: float, caller: Caller = LOCAL, progress: Progress = no_progress, bill: Bill | None = None
) -> AsyncIterator[Call]:
    """Begins a call: sets the deadline of a block, and cancels the block when the deadline passes.

    Raises:
        SearchTimeoutError: the deadline has passed.
    """
    try:
        async with asyncio.timeout(seconds):
            yield Call(time.monotonic() + seconds, progress=progress, caller=caller, bill=bill or Bill())
    except TimeoutError:
        raise timeout_error(seconds) from None


def timeout_error(seconds: float) -> SearchTimeoutError:
    """The error of a call that has used up its time."""
    return SearchTimeoutError(f"No answer came within {seconds:g} s. Ask again, or raise SEARCH_DEADLINE_SECONDS.")


_log = logging.getLogger(__name__)

Mode = Literal["off", "warn", "enforce"]

KNOWN_ADDRESSES = "known/"
"""The beginning of the state keys."""

KEEP_SECONDS = 30 * 86_400.0
"""How long an address stays known (seconds)."""

MOST_HERE = 10_000
"""The addresses that this process remembers itself."""

MOST_EXAMINED, _EXAMINED_SECONDS = 2_000, 86_400.0
"""The pages and results of which this process knows that their addresses are remembered, and for how long it does."""

_MOST_SHOWN = 200
"""How many small results it holds, to recognise them at once."""
_MOST_LINKS, _LONGEST_LINK = 200, 8_000
_INLINE_CHARS = 8_000
"""So much text is examined on the event loop, in at most 20 ms."""

_REMEMBER_SECONDS = 10.0


class Provenance:
    """Knows which addresses callers were shown. One per process; safe for concurrent calls.

    Args:
        trusted: domains, with those below them, whose addresses are always known.
        is_indexed: whether exactly an address is a page of the documentation index.
    """

    def __init__(
        self,
        mode: Mode,
        trusted: Sequence[str],
        state: State,
        workers: Workers,
        is_indexed: Callable[[str], Awaitable[bool]],
    ) -> None:
        from cachetools import LRUCache, TTLCache

        self._mode = mode
        self._trusted = trusted
        self._state = state
        self._workers = workers
        self._is_indexed = is_indexed
        self._best_effort = BestEffort("Addresses that callers were shown are remembered in this process only")
        self._here: LRUCache[str, bool] = LRUCache(MOST_HERE)
        self._examined: TTLCache[tuple[str, bytes], bool] = TTLCache(MOST_EXAMINED, _EXAMINED_SECONDS)
        self._shown: TTLCache[tuple[str, Parts], bool] = TTLCache(_MOST_SHOWN, _EXAMINED_SECONDS)

    async def check(self, url: str, caller: Caller) -> str | None:
        """A warning if an address is unknown and carries data.

        Raises:
            ForbiddenUrlError: such an address, if the mode is `enforce`.
        """
        if self._mode == "off" or self._is_trusted(url):
            return None
        count = carried_characters(url)
        if count < LEAST_CHARACTERS or await self._knows(url, caller):
            return None
        told = f"Unknown address: no result and no page led to it, and {count} characters of it look like data."
        if self._mode == "warn":
            return f"{told} If the user did not give it, a page may have ordered it, to learn what you know."
        raise ForbiddenUrlError(
            f"{told} Nothing was sent. Search for the page or follow a link to it; the operator can admit its domain.",
            details={"reason": "provenance", "characters": count},
        )

    async def check_final(self, url: str, start: str, caller: Caller) -> str | None:
        """As `check`, for the address to which `start` redirected. A known address may redirect anywhere."""
        return None if self._may_redirect(start, caller) else await self.check(url, caller)

    def checking_redirects(self, call: D, start: str, caller: Caller) -> D:
        """`call`, in the mode `enforce` with a check of where `start` redirects to."""
        if self._mode != "enforce" or self._may_redirect(start, caller):
            return call

        async def check(target: str) -> None:
            await self.check(target, caller)

        return replace(call, check_redirect=check)

    async def remember(self, result: WireModel, caller: Caller) -> None:
        """Remember the addresses in a result, in seconds at most. An outage of the state is logged."""
        if self._mode == "off":
            return
        shown = caller.user, Parts(result)
        if shown in self._shown:
            return
        whole = repr(result.model_dump(exclude={"age_seconds"}))  # takes a fifth of the time of looking for its texts
        is_kept = await self._remember(whole, lambda: _texts(result, []), caller, Deadline.after(_REMEMBER_SECONDS))
        if is_kept and len(whole) <= _INLINE_CHARS:
            self._shown[shown] = True

    async def remember_page(self, markdown: str, caller: Caller, deadline: Deadline) -> None:
        """Remember the links of a page, as `remember`, within half of the time that is left."""
        if self._mode != "off":
            seconds = min(_REMEMBER_SECONDS, deadline.remaining() / 2)
            await self._remember(markdown, lambda: [markdown], caller, deadline.within(seconds))

    async def _remember(
        self, whole: str, texts_of: Callable[[], list[str]], caller: Caller, deadline: Deadline
    ) -> bool:
        """Whether all of them are remembered."""
        examined = caller.user, hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=16).digest()
        if examined in self._examined:
            return True
        texts = texts_of()
        # An address without data needs no permission, but it may redirect to one that does.
        links = [text for text in texts if len(text) <= _LONGEST_LINK and is_web_address(text)]
        self._here.update((_address_key(link, caller), True) for link in links[:_MOST_LINKS])
        try:
            found = (
                addresses_with_data(texts)
                if len(whole) <= _INLINE_CHARS
                else await self._workers.run(addresses_with_data, texts, deadline=deadline, size=len(whole))
            )
        except (SearchTimeoutError, SearchFetchError) as error:
            _log.warning("the addresses in a result or page are not remembered: %s", error.message)
            return False
        keys = [_address_key(url, caller) for url in found]
        self._here.update((key, True) for key in keys)

        async def put() -> bool:
            await asyncio.gather(*(self._state.put(key, b"1", KEEP_SECONDS) for key in keys))
            return True

        if is_stored := await self._best_effort(put, False):  # the reply is ready, and this process knows them
            self._examined[examined] = True
        return is_stored

    async def _knows(self, url: str, caller: Caller) -> bool:
        for one in _spellings(url):
            key = _address_key(one, caller)
            stored = None if key in self._here else await self._best_effort(partial(self._state.get, key), None)
            if key in self._here or stored:
                self._here[_address_key(url, caller)] = True
                return True
        return await self._is_indexed(url)

    def _may_redirect(self, start: str, caller: Caller) -> bool:
        """Whether the address is known although its domain may not be trusted: its caller has put nothing into it."""
        return not self._is_trusted(start) and _address_key(start, caller) in self._here

    def _is_trusted(self, url: str) -> bool:
        return bool(self._trusted) and admitted(url, self._trusted, ())


def _texts(value: Any, found: list[str]) -> list[str]:
    """`found` with every text in a result."""
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, BaseModel):
        _texts(value.__dict__, found)
    elif isinstance(value, dict):
        for one in value.values():
            _texts(one, found)
    elif isinstance(value, (list, tuple)):
        for one in value:
            _texts(one, found)
    return found


def _spellings(url: str) -> Sequence[str]:
    """An address, the same without the mark at its end, which a text has for a sentence's; and without its trackers if
    these carry no data."""
    pieces = [url[start:end] for start, end in tracker_pieces(url)]
    plain = () if carries_data(f"https://a/?{'&'.join(pieces)}") else (strip_trackers(url),)
    return (url, url[:-1], *plain) if url.endswith(PUNCTUATION) else (url, *plain)


def _address_key(url: str, caller: Caller) -> str:
    """The state key of an address: a hash, keyed with the caller."""
    user = hashlib.blake2b(caller.user.encode("utf-8", "replace"), digest_size=12)
    address = hashlib.blake2b(identity(url).encode("utf-8", "replace"), digest_size=12, key=user.digest())
    return f"{KNOWN_ADDRESSES}{user.hexdigest()}/{address.hexdigest()}"
