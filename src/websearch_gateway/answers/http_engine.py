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
        include, exclude, most = (
            call.query.include_domains,
            call.query.exclude_domains,
            self.api.most_domains,
        )
        if (exclude and (include or not most)) or len(include) > most:
            # An answer could rest on unwanted pages.
            raise NotAsked(f"{self.api.vendor} cannot apply these lists of domains.")
        for model in self._available_models:
            if self._is_gone(model):
                continue
            await call.progress(f"Searching the web with {model}")
            try:
                answer = await self._ask(model, call)
                return await self.finish(answer, call) if self.finish else answer
            except ModelGone:
                self._gone_until[model] = self.clock() + GONE_SECONDS
        raise SearchProviderError(
            f"None of the models in {self._models_setting} serves ({', '.join(self.models) or 'none is named'})."
        )

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
        ends = {name: model.ends for name in self.models if (model := self._known(name))}
        known = {
            name: (listed.get(name) or ends.get(name), not listed or name in listed)
            for name in self.models
        }
        return findings(known, self.api.vendor, self._models_setting, self.now())

    @property
    def _available_models(self) -> list[str]:
        return [
            name
            for name in self.models
            if not ((model := self._known(name)) and model.has_ended(self.now()))
        ]

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
        """The answer. `replies` holds those of failed attempts, which are billed too, and gets the new ones."""
        asked: HttpRequest | None = request
        earlier = len(replies)
        paid = (
            self._usd(
                model, (await in_own_thread_if_large(_size(replies), self._billed, replies))[0]
            )
            if replies
            else 0.0
        )
        usual, assumed = self._usd(model, self.api.limits.usual), 0.0
        try:
            while asked is not None and len(replies) - earlier < MAX_TURNS:
                with billed(call.bill, usual):
                    reply = await self._send(asked, call)
                # Its own count takes the place of the usual price, unless it is unread.
                if 200 <= reply.status < 300:
                    assumed += usual
                replies.append(await self._body(asked, reply))
                asked = await in_own_thread_if_large(
                    len(replies[-1]), self.api.next_turn, asked, replies[-1]
                )
            parse, vendor = without_key(self.api).parse, self.api.vendor
            answer = await self.parser.read(
                Answer, parse, *replies[earlier:], vendor=vendor, deadline=call
            )
        except SearchError:  # a request that was sent is billed, usable or not
            counted, _ = await in_own_thread_if_large(_size(replies), self._billed, replies)
            call.bill.book(self._usd(model, counted) - paid - assumed)
            raise
        counted, notes = await in_own_thread_if_large(_size(replies), self._billed, replies)
        call.bill.book(self._usd(model, counted) - paid - assumed)
        if counted.is_reported:
            note_tokens(
                self.api.traced_as or self.name,
                model,
                counted.prompt,
                counted.response,
                counted.cached,
            )
        await in_own_thread_if_large(len(replies[-1]), note_reply, replies[-1])
        answer = await in_own_thread_if_large(
            len(answer.text), citing_links, replace(answer, warnings=(*notes, *answer.warnings))
        )
        return self._complete(answer, model, call.query, counted)

    def _billed(self, bodies: Sequence[bytes]) -> tuple[Billed, tuple[str, ...]]:
        """The usage to bill for the replies, and the warnings about counts that cannot be billed as they are."""
        reported, limits = [self.api.billed(body) for body in bodies], self.api.limits
        billed = sum(map(limits.booked, reported), start=Billed())
        possible = list(map(limits.allow, reported))
        unreported = any(
            fits and not bill.is_reported for fits, bill in zip(possible, reported, strict=True)
        )
        notes = {IMPOSSIBLE_BILL: not all(possible), UNREPORTED_BILL: unreported}
        return billed, applying(notes)

    def _usd(self, model: str, billed: Billed) -> float:
        per_search = self.api.search_usd if self.search_usd is None else self.search_usd
        known = self._known(model)
        return billed.searches * per_search + (
            known.tokens_usd(billed, self.now()) if known else 0.0
        )

    def _complete(self, answer: Answer, model: str, query: SearchQuery, billed: Billed) -> Answer:
        # The gateway applies long lists too.
        domains: Literal["upstream", "local"] = (
            "upstream" if len(query.exclude_domains) <= self.api.most_domains else "local"
        )
        gone = ", ".join(name for name in self._available_models if self._is_gone(name))
        notes = {
            f"{model} answered, since this key has no model {gone}. Change {self._models_setting}.": gone,
            f"The price of {model} is unknown: costUsd counts its searches only.": not self._known(
                model
            ),
        }
        return replace(
            answer,
            provider=f"{model}-web-search",
            model=model,
            usage=TokenUsage(billed.prompt, billed.response)
            if billed.is_reported
            else TokenUsage(),
            applied=AppliedFilters(
                freshness="prompt" if query.freshness_hours else None,
                language="prompt" if query.language else None,
                region=query.region if self.api.takes_region else None,
                domains=domains if query.include_domains or query.exclude_domains else None,
            ),
            warnings=(*applying(notes), *answer.warnings),
        )

    async def _send(self, request: HttpRequest, deadline: Deadline) -> Reply:
        note_host(request.url)
        within, request = (
            deadline.within(self.timeout_seconds),
            replace(request, headers=self.api.headers()),
        )
        reply = await (
            self.sdk(request, within)
            if self.sdk
            else send(self.client, request, within, self.api.vendor, max_bytes=MAX_REPLY_BYTES)
        )
        note_status(reply.status)
        return reply

    async def _body(self, request: HttpRequest, reply: Reply) -> bytes:
        if error := await in_own_thread_if_large(
            len(reply.body), self.api.refusal, request, reply
        ) or self._failure(reply):
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


def _size(replies: Sequence[bytes]) -> int:
    return sum(map(len, replies))
