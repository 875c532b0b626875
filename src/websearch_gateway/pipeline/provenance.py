"""Which addresses callers were shown: a page may order a model to read an address with what the model knows in it.

An address is known if exactly it stood in a result, was a link of a page that was read, in an earlier call of the same
caller, or is in the documentation index. Any other one that carries data (`base.secrets`) gets a warning, or is
refused before anything is sent. So only known addresses with data are kept in the shared state, as keyed hashes; few
links of pages are such (2%).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from websearch_gateway.base import (
    LEAST_CHARACTERS,
    PUNCTUATION,
    CacheMemory,
    SharedCache,
    addresses_with_data,
    admitted,
    carried_characters,
    carries_data,
    identity,
    is_web_address,
    strip_trackers,
    tracker_pieces,
)
from websearch_gateway.errors import ForbiddenUrlError, SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Caller, Deadline
from websearch_gateway.ports import State, Workers
from websearch_gateway.results import WireModel
from websearch_gateway.upstream.best_effort import BestEffort

D = TypeVar("D", bound=Deadline)

_log = logging.getLogger(__name__)

Mode = Literal["off", "warn", "enforce"]

KNOWN_ADDRESSES = "known/"
"""The beginning of the state keys."""

KEEP_SECONDS = 30 * 86_400.0
"""How long an address stays known (seconds)."""

_EXAMINED_SECONDS = 86_400.0
"""How long this process knows of a page or a result that its addresses are remembered."""

_MOST_LINKS, _LONGEST_LINK = 200, 8_000
_INLINE_CHARS = 8_000
"""So much text is examined on the event loop, in at most 20 ms."""

_REMEMBER_SECONDS = 10.0
"""For remembering what a reply named (seconds), after it was sent."""


class Provenance:
    """Knows which addresses callers were shown. One per process; safe for concurrent calls.

    Args:
        trusted: domains, with those below them, whose addresses are always known.
        is_indexed: whether exactly an address is a page of the documentation index.
        memory: shared with the other caches of the process.
    """

    def __init__(
        self,
        mode: Mode,
        trusted: Sequence[str],
        state: State,
        workers: Workers,
        is_indexed: Callable[[str], Awaitable[bool]],
        memory: CacheMemory | None = None,
    ) -> None:
        self._mode = mode
        self._trusted = trusted
        self._state = state
        self._workers = workers
        self._is_indexed = is_indexed
        self._best_effort = BestEffort(
            "Addresses that callers were shown are remembered in this process only"
        )
        self._here: SharedCache[str, bool] = SharedCache(memory)
        self._examined: SharedCache[tuple[str, bytes], bool] = SharedCache(self._here.memory)

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
        warning = f"Unknown address: no result and no page led to it, and {count} characters of it look like data."
        if self._mode == "warn":
            return f"{warning} If the user did not give it, a page may have ordered it, to learn what you know."
        raise ForbiddenUrlError(
            f"{warning} Nothing was sent. Search for the page or follow a link to it; the operator can admit its domain.",
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
        examined = caller.user, result.content_key
        if not self._examined.get(examined):
            deadline = Deadline.after(_REMEMBER_SECONDS)
            await self._remember(examined, _texts(result, []), caller, deadline)

    async def remember_page(self, markdown: str, caller: Caller, deadline: Deadline) -> None:
        """Remember the links of a page, as `remember`, within half of the time that is left."""
        if self._mode != "off":
            digest = hashlib.blake2b(markdown.encode("utf-8", "replace"), digest_size=16).digest()
            if not self._examined.get((caller.user, digest)):
                seconds = min(_REMEMBER_SECONDS, deadline.remaining() / 2)
                examined = caller.user, digest
                await self._remember(examined, [markdown], caller, deadline.within(seconds))

    async def _remember(
        self, examined: tuple[str, bytes], texts: list[str], caller: Caller, deadline: Deadline
    ) -> None:
        # An address without data needs no permission, but it may redirect to one that does.
        links = [text for text in texts if len(text) <= _LONGEST_LINK and is_web_address(text)]
        for link in dict.fromkeys(links[:_MOST_LINKS]):
            self._here.put(_address_key(link, caller), True)
        size = sum(map(len, texts))
        try:
            found = (
                addresses_with_data(texts)
                if size <= _INLINE_CHARS
                else await self._workers.run(
                    addresses_with_data, texts, deadline=deadline, size=size
                )
            )
        except (SearchTimeoutError, SearchFetchError) as error:
            _log.warning("the addresses in a result or page are not remembered: %s", error.message)
            return
        keys = [_address_key(url, caller) for url in found]
        for key in keys:
            self._here.put(key, True)

        async def put() -> bool:
            await asyncio.gather(*(self._state.put(key, b"1", KEEP_SECONDS) for key in keys))
            return True

        # Until the state has them, this process alone knows them.
        if await self._best_effort(put, False):
            until = time.monotonic() + _EXAMINED_SECONDS
            self._examined.put(examined, True, expires=until)

    async def _knows(self, url: str, caller: Caller) -> bool:
        for spelling in _spellings(url):
            key = _address_key(spelling, caller)
            is_known = self._here.get(key) or await self._best_effort(
                partial(self._is_stored, key), False
            )
            if is_known:
                self._here.put(_address_key(url, caller), True)
                return True
        return await self._is_indexed(url)

    async def _is_stored(self, key: str) -> bool:
        return await self._state.get(key) is not None

    def _may_redirect(self, start: str, caller: Caller) -> bool:
        """Whether the address is known although its domain may not be trusted: its caller has put nothing into it."""
        return not self._is_trusted(start) and bool(self._here.get(_address_key(start, caller)))

    def _is_trusted(self, url: str) -> bool:
        return bool(self._trusted) and admitted(url, self._trusted, ())


def _texts(value: Any, texts: list[str]) -> list[str]:
    """`found` with every text in a result."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, BaseModel):
        _texts(value.__dict__, texts)
    elif isinstance(value, dict):
        for part in value.values():
            _texts(part, texts)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _texts(part, texts)
    return texts


def _spellings(url: str) -> Sequence[str]:
    """An address, the same without the mark at its end, which a text has for a sentence's; and without its trackers if
    these carry no data."""
    pieces = [url[start:end] for start, end in tracker_pieces(url)]
    plain = () if carries_data(f"https://a/?{'&'.join(pieces)}") else (strip_trackers(url),)
    return (url, url[:-1], *plain) if url.endswith(PUNCTUATION) else (url, *plain)


def _address_key(url: str, caller: Caller) -> str:
    """The state key of an address: a hash, keyed with the caller."""
    user = hashlib.blake2b(caller.user.encode("utf-8", "replace"), digest_size=12)
    address = hashlib.blake2b(
        identity(url).encode("utf-8", "replace"), digest_size=12, key=user.digest()
    )
    return f"{KNOWN_ADDRESSES}{user.hexdigest()}/{address.hexdigest()}"
