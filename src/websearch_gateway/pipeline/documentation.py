"""Calls of the documentation index, with the limits, the deadline and the memory of addresses of all other calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from websearch_gateway.base import with_scheme
from websearch_gateway.errors import SearchError
from websearch_gateway.models import (
    LEAST_DOCS_TOKENS,
    LOCAL,
    LONGEST_DELAY,
    LONGEST_DOCS_QUERY,
    MOST_AROUND,
    MOST_READ_TOKENS,
    MOST_SEARCH_TOKENS,
    MOST_SECTIONS,
    MOST_SITE_PAGES,
    UNLIMITED,
    Call,
    Caller,
    Deadline,
    DocsAddRequest,
    DocsReadRequest,
    DocsSearchRequest,
    DocsSiteRequest,
    DocsStatusRequest,
    Progress,
    no_progress,
)
from websearch_gateway.pipeline.argument_values import invalid, up_to, whole_number
from websearch_gateway.pipeline.calls import one_deadline
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.provenance import Provenance
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.ports import DocsIndex, IndexedSite
from websearch_gateway.results import DocsReadResponse, DocsSearchResponse, DocsSites, DocsStatus


@dataclass(frozen=True, slots=True)
class Documentation:
    """Searches, reads and changes the documentation index. One per process; safe for concurrent calls.

    Attributes:
        index: the index, which the first use loads.
        rate_limits: of reading. They count every call, also one that fails.
    """

    index: Callable[[], DocsIndex]
    guard: Guard
    rate_limits: RateLimits
    provenance: Provenance
    deadline_seconds: float

    async def search(
        self, request: DocsSearchRequest, caller: Caller = LOCAL
    ) -> DocsSearchResponse:
        """The sections that answer a query, best first.

        Raises:
            SearchValidationError: the query or a parameter is unacceptable, or no indexed site is meant.
            SearchRateLimitError: the caller has read too often.
            SearchTimeoutError: the index did not answer in time.
        """
        async with self._call(caller) as call:
            most, fewer = up_to("maxResults", request.max_results, MOST_SECTIONS)
            tokens, shorter = _tokens(request.max_tokens, MOST_SEARCH_TOKENS)
            query = self._checked(request.query)
            allowed = replace(request, query=query, max_results=most, max_tokens=tokens)
            found = await self.index().search(allowed, call)
        await self.provenance.remember(found, caller)
        return found.model_copy(update={"warnings": (*found.warnings, *fewer, *shorter)})

    async def read(self, request: DocsReadRequest, caller: Caller = LOCAL) -> DocsReadResponse:
        """A section, a page from an address on, or the outline of a page.

        Raises what `search` raises.

        Raises:
            ForbiddenUrlError: the operator does not allow the page's domain.
        """
        async with self._call(caller):
            around, fewer = up_to("around", request.around, MOST_AROUND, 0)
            tokens, shorter = _tokens(request.max_tokens, MOST_READ_TOKENS)
            allowed = replace(request, around=around, max_tokens=tokens)
            found = await self.index().read(allowed)
        await self.provenance.remember(found, caller)
        return found.model_copy(update={"warnings": (*found.warnings, *fewer, *shorter)})

    async def sites(self, caller: Caller = LOCAL, *, every: bool = False) -> DocsSites:
        """The sites that were indexed whole; `every`: those too whose first crawl has not ended."""
        async with self._call(caller):
            return await self.index().sites(every=every)

    async def status(self, request: DocsStatusRequest, caller: Caller = LOCAL) -> DocsStatus:
        """How far crawls are, and what failed. Raises what `search` raises."""
        async with self._call(caller):
            return await self.index().status(request)

    async def add(
        self, request: DocsAddRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> DocsStatus:
        """Register a site of the web and crawl it; a crawl that outlasts the deadline goes on without the call.

        A client that leaves stops the crawl, and the next `update` resumes it. Nothing is left of a site that is
        refused before it has a page.

        Raises:
            SearchValidationError: the address or a parameter is unacceptable.
            SearchRateLimitError: the caller has read too often.
            ForbiddenUrlError: the address may not be read, or nobody gave it.
            SearchError: the crawl failed.
        """
        await self.rate_limits.admit(caller)
        index, check = self.index(), self.provenance.check
        registry = index.registry_address(request.url)
        if registry is None:
            request = replace(request, url=_web_address(request.url))
        warning = await check(registry or request.url, caller)
        if request.base_url is not None:
            warning = await check(request.base_url, caller) or warning
        call = self.provenance.checking_redirects(UNLIMITED, request.url, caller)
        # The guard holds when the crawl resumes without the caller, too.
        site, note = await self.register(request, is_guarded=call is not UNLIMITED)
        if registry is not None:
            call = self.provenance.checking_redirects(UNLIMITED, site.url, caller)
        try:
            status = await self._crawled(site, call, progress)
        except SearchError:
            await index.discard_refused(site)
            raise
        message = " ".join(filter(None, (warning, note, status.message)))
        return status.model_copy(update={"message": message})

    async def register(
        self, request: DocsAddRequest, *, is_guarded: bool = False
    ) -> tuple[IndexedSite, str]:
        """Note a site, or the documentation of a package, for a crawl. Returns it, and what people must know of it.

        Raises:
            SearchValidationError: the source or an option is unusable, or an address carries a credential.
            ForbiddenUrlError: the operator does not allow the domain.
        """
        self.guard.refuse_credentials_in_address("url", request.url)
        self.guard.refuse_credentials_in_address("baseUrl", request.base_url or "")
        if request.max_pages is not None:
            whole_number("maxPages", request.max_pages, MOST_SITE_PAGES)
        if request.delay is not None and not 0 <= request.delay <= LONGEST_DELAY:
            allowed = f"0-{LONGEST_DELAY:g}"
            raise invalid("delay", f"a number of seconds from 0 to {LONGEST_DELAY:g}", allowed)
        return await self.index().register(request, is_guarded=is_guarded)

    async def update(
        self, request: DocsSiteRequest, caller: Caller = LOCAL, progress: Progress = no_progress
    ) -> DocsStatus:
        """Refresh a site, or resume its crawl. Raises what `add` raises."""
        await self.rate_limits.admit(caller)
        site = await self.index().find_one(request.site, request.label)
        call = self.provenance.checking_redirects(UNLIMITED, site.url, caller)
        return await self._crawled(site, call, progress)

    async def delete(self, request: DocsSiteRequest, caller: Caller = LOCAL) -> DocsStatus:
        """Remove one version of a site. Raises what `search` raises."""
        await self.rate_limits.admit(caller)
        return await self.index().delete(request)

    async def _crawled(self, site: IndexedSite, call: Deadline, progress: Progress) -> DocsStatus:
        return await self.index().crawl(site, self.deadline_seconds, progress, call)

    @asynccontextmanager
    async def _call(self, caller: Caller) -> AsyncIterator[Call]:
        async with one_deadline(self.deadline_seconds, caller) as call:
            await self.rate_limits.admit(caller)
            yield call

    def _checked(self, query: str) -> str:
        """The normalised query."""
        text = self.guard.clean("query", query)
        if not 1 <= len(text) <= LONGEST_DOCS_QUERY:
            allowed = f"1-{LONGEST_DOCS_QUERY} characters"
            raise invalid("query", f"1 to {LONGEST_DOCS_QUERY} characters long", allowed)
        return text


def _tokens(wanted: int, most: int) -> tuple[int, tuple[str, ...]]:
    return up_to("maxTokens", wanted, most, LEAST_DOCS_TOKENS)


def _web_address(url: str) -> str:
    """An address of the web, for callers who may not read this machine's files.

    Raises:
        SearchValidationError: it is something else.
    """
    address = with_scheme(url) or ""
    if not address.startswith(("http://", "https://")):
        demand = "an address that begins with https:// or http://; the command line adds folders"
        raise invalid("url", demand, "http, https")
    return address
