"""Runs any answer engine that is an HTTP API: request, reply, status, answer, price.

An engine is one small file: the data and functions of an `EngineApi`. docs/adding-an-engine.md describes each step.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal

import httpx2

from websearch_gateway.answers.common import (
    IMPOSSIBLE_BILL,
    UNREPORTED_BILL,
    Billed,
    EngineApi,
    Finish,
    Listing,
    Model,
    ModelGone,
    OptionRefused,
    applying,
    citing_links,
    find_model,
    findings,
    without_options,
)
from websearch_gateway.base import (
    MAX_REPLY_BYTES,
    Reply,
    ReplyParser,
    Retry,
    billed,
    in_own_thread_if_large,
    note_host,
    note_reply,
    note_status,
    note_tokens,
    noting_model,
    refusal_of,
    send,
    unavailable,
    utc_now,
    without_key,
)
from websearch_gateway.errors import (
    NotAsked,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
)
from websearch_gateway.models import (
    Answer,
    AppliedFilters,
    Call,
    Deadline,
    HttpRequest,
    SearchQuery,
    TokenUsage,
)

if TYPE_CHECKING:
    from websearch_gateway.answers.openai import OpenAISdk

MAX_TURNS = 3
"""The most requests for one answer, for vendors that pause a reply until a further request."""

GONE_SECONDS = 600.0
"""How long a missing model is skipped before it is tried again (seconds)."""


@dataclass(slots=True)
class HttpEngine:
    """A HostedEngine built from an EngineApi. One per process: it remembers which models are gone or refuse an option.

    `models` are tried in order when one does not exist; those past their shutdown date are skipped. `timeout_seconds`
    bounds each request within its deadline. `search_usd` replaces the API's price of a search. `finish` completes an
    answer and never raises. `sdk` sends the requests instead of `client`. `clock` is monotonic (seconds), `now` the
    current time in UTC.
    """

    api: EngineApi
    models: Sequence[str]
    client: httpx2.AsyncClient = field(repr=False)
    retry: Retry = field(repr=False)
    timeout_seconds: float = 20.0
    search_usd: float | None = None
    parser: ReplyParser = field(default=ReplyParser(), repr=False)
    finish: Finish | None = field(default=None, repr=False)
    sdk: OpenAISdk | None = field(default=None, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    now: Callable[[], datetime] = field(default=utc_now, repr=False)
    _gone_until: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    _refused: defaultdict[str, set[str]] = field(
        default_factory=lambda: defaultdict(set), init=False, repr=False
    )

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.api.name

    @property
    def most_usd(self) -> float:
        """The most that an answer of any model may cost."""
        return max(
            (self._usd(name, self.api.limits.most) for name in self._available_models), default=0.0
        )

    @property
    def likely_usd(self) -> float:
        """The typical cost of an answer by the first model."""
        return next(
            (self._usd(name, self.api.limits.usual) for name in self._available_models), 0.0
        )

    async def ask(self, call: Call) -> Answer:
        """Search and answer.

        Raises:
            SearchAuthError: the vendor rejected the key.
            SearchValidationError: the vendor rejected the request as invalid, or its model declined to answer.
            SearchProviderError: the vendor failed, is over its limits, or none of the models exists.
            SearchProviderParseError: the reply is unreadable, empty, or made without searching.
            SearchTimeoutError: no reply in time.
            NotAsked: the vendor cannot apply the lists of domains.
        """
        self._refuse_long_lists(call.query)
        for model in self._available_models:
            if self._is_gone(model):
                continue
            await call.progress(f"Searching the web with {model}")
            try:
                answer = await self._ask(model, call)
                return await self.finish(answer, call) if self.finish else answer
            except ModelGone:
                self._gone_until[model] = self.clock() + GONE_SECONDS
        names = ", ".join(self.models) or "none is named"
        raise SearchProviderError(f"None of the models in {self._models_setting} serves ({names}).")

    def _refuse_long_lists(self, query: SearchQuery) -> None:
        """Refuse lists of domains that the vendor cannot apply: an answer could rest on unwanted pages."""
        include, exclude, most = query.include_domains, query.exclude_domains, self.api.most_domains
        has_both = bool(include and exclude)
        cannot_exclude = bool(exclude) and not most
        if has_both or cannot_exclude or len(include) > most:
            raise NotAsked(f"{self.api.vendor} cannot apply these lists of domains.")

    async def warm_up(self) -> None:
        """Load the vendor's library, if it has one."""
        if self.sdk:
            await self.sdk.load()

    async def check(self, deadline: Deadline) -> Sequence[str]:
        """Findings for the operator: models that are missing, and the shutdown of the last one.

        Raises:
            SearchAuthError, SearchProviderError, SearchTimeoutError: as for `answer`; also when no model is left.
        """
        request = HttpRequest("GET", self.api.base_url + self.api.models_path)
        listed = self.api.listed(await self._body(request, await self._send(request, deadline)))
        models = []
        for name in self.models:
            known = self._known(name)
            ends = listed.get(name) or (known.ends if known else None)
            # A vendor that lists nothing, such as a relay, may still serve the model.
            models.append(Listing(name, ends, is_listed=not listed or name in listed))
        return findings(models, self.api.vendor, self._models_setting, self.now())

    @property
    def _available_models(self) -> list[str]:
        """The models that are not past their shutdown date, in order."""
        now = self.now()
        available = []
        for name in self.models:
            known = self._known(name)
            if known is None or not known.has_ended(now):
                available.append(name)
        return available

    def _is_gone(self, model: str) -> bool:
        return self._gone_until.get(model, 0.0) > self.clock()

    @property
    def _models_setting(self) -> str:
        return f"{self.name.upper()}_MODELS"

    def _known(self, name: str) -> Model | None:
        return find_model(name, self.api.known_models)

    async def _ask(self, model: str, call: Call) -> Answer:
        """The answer of one model. After a refusal of an option, not of the question, asks again without it."""
        replies: list[bytes] = []
        while True:
            request = self.api.request(call.query, model, self.now())
            request = replace(
                request, json=without_options(request.json or {}, self._refused[model])
            )
            most = self.api.limits.most.response
            try:
                with noting_model(self.api.traced_as or self.name, model, most_tokens=most):
                    return await self.retry(
                        partial(self._attempt, model, request, call, replies), call
                    )
            except OptionRefused as error:
                if error.option in self._refused[model]:
                    raise
                self._refused[model].add(error.option)

    async def _attempt(
        self, model: str, request: HttpRequest, call: Call, replies: list[bytes]
    ) -> Answer:
        """The answer. `replies` holds those of failed attempts, which are billed too, and gets the new ones.

        The bill first gets the usual price of each request; at the end the counts in the replies take its place.
        """
        earlier = len(replies)
        booked_usd = 0.0
        if replies:
            counted, _ = await self._counted(replies)
            booked_usd = self._usd(model, counted)
        usual_usd = self._usd(model, self.api.limits.usual)
        asked: HttpRequest | None = request
        try:
            while asked is not None and len(replies) - earlier < MAX_TURNS:
                with billed(call.bill, usual_usd):
                    reply = await self._send(asked, call)
                # `billed` takes back the price of other statuses.
                if 200 <= reply.status < 300:
                    booked_usd += usual_usd
                body = await self._body(asked, reply)
                replies.append(body)
                asked = await in_own_thread_if_large(len(body), self.api.next_turn, asked, body)
            answer = await self.parser.read(
                Answer,
                without_key(self.api).parse,
                *replies[earlier:],
                vendor=self.api.vendor,
                deadline=call,
            )
        except SearchError:  # a request that was sent is billed, usable or not
            counted, _ = await self._counted(replies)
            call.bill.book(self._usd(model, counted) - booked_usd)
            raise
        counted, notes = await self._counted(replies)
        call.bill.book(self._usd(model, counted) - booked_usd)
        if counted.is_reported:
            note_tokens(
                self.api.traced_as or self.name,
                model,
                counted.prompt,
                counted.response,
                counted.cached,
            )
        await in_own_thread_if_large(len(replies[-1]), note_reply, replies[-1])
        answer = replace(answer, warnings=(*notes, *answer.warnings))
        answer = await in_own_thread_if_large(len(answer.text), citing_links, answer)
        return self._complete(answer, model, call.query, counted)

    async def _counted(self, replies: Sequence[bytes]) -> tuple[Billed, tuple[str, ...]]:
        """The usage to bill for the replies, and the warnings about counts that cannot be billed as they are."""
        size = sum(map(len, replies))
        return await in_own_thread_if_large(size, self._billed, replies)

    def _billed(self, replies: Sequence[bytes]) -> tuple[Billed, tuple[str, ...]]:
        limits = self.api.limits
        total = Billed()
        impossible = unreported = False
        for body in replies:
            reported = self.api.billed(body)
            total += limits.booked(reported)
            if not limits.allow(reported):
                impossible = True
            elif not reported.is_reported:
                unreported = True
        return total, applying({IMPOSSIBLE_BILL: impossible, UNREPORTED_BILL: unreported})

    def _usd(self, model: str, billed: Billed) -> float:
        """The price of what one model used, its searches included."""
        per_search = self.api.search_usd if self.search_usd is None else self.search_usd
        usd = billed.searches * per_search
        known = self._known(model)
        if known:
            usd += known.tokens_usd(billed, self.now())
        return usd

    def _complete(self, answer: Answer, model: str, query: SearchQuery, billed: Billed) -> Answer:
        """The answer with what it does not say of itself: its model, usage, filters and warnings."""
        usage = TokenUsage()
        if billed.is_reported:
            usage = TokenUsage(billed.prompt, billed.response)
        gone = ", ".join(name for name in self._available_models if self._is_gone(name))
        has_price = self._known(model) is not None
        notes = {
            f"{model} answered, since this key has no model {gone}. Change {self._models_setting}.": gone,
            f"The price of {model} is unknown: costUsd counts its searches only.": not has_price,
        }
        return replace(
            answer,
            provider=f"{model}-web-search",
            model=model,
            usage=usage,
            applied=AppliedFilters(
                freshness="prompt" if query.freshness_hours else None,
                language="prompt" if query.language else None,
                region=query.region if self.api.takes_region else None,
                domains=self._applied_domains(query),
            ),
            warnings=(*applying(notes), *answer.warnings),
        )

    def _applied_domains(self, query: SearchQuery) -> Literal["upstream", "local"] | None:
        """Who applies the query's lists of domains. The gateway applies a list that is too long for the vendor."""
        if not query.include_domains and not query.exclude_domains:
            return None
        return "upstream" if len(query.exclude_domains) <= self.api.most_domains else "local"

    async def _send(self, request: HttpRequest, deadline: Deadline) -> Reply:
        note_host(request.url)
        request = replace(request, headers=self.api.headers())
        until = deadline.within(self.timeout_seconds)
        if self.sdk:
            reply = await self.sdk(request, until)
        else:
            reply = await send(
                self.client, request, until, self.api.vendor, max_bytes=MAX_REPLY_BYTES
            )
        note_status(reply.status)
        return reply

    async def _body(self, request: HttpRequest, reply: Reply) -> bytes:
        """The body of a good reply. Raises the error of another one."""
        refusal = await in_own_thread_if_large(len(reply.body), self.api.refusal, request, reply)
        error = refusal or self._failure(reply)
        if error:
            raise error
        return reply.body

    def _failure(self, reply: Reply) -> SearchError | None:
        """The error for a status of any vendor. Omits the vendor's words, which may quote the question."""
        status, vendor = reply.status, self.api.vendor
        # Of a proxy or a bot check, so the status says nothing about the key or the request.
        is_page = reply.body.lstrip()[:1] == b"<"
        if is_page and 200 <= status < 300:
            return SearchProviderParseError(f"{vendor} answered with a page instead of JSON.")
        if is_page and status != 401:  # Perplexity rejects a key with a page
            return unavailable(status, reply.headers, vendor)
        if status == 404:
            return ModelGone(f"{vendor} does not know the model.")
        return refusal_of(status, reply.headers, vendor, f"{self.name.upper()}_API_KEY")
