"""Copies the state into another one, page by page."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError, StateUnavailable
from websearch_gateway.models import LOCAL, Caller, StateEntry
from websearch_gateway.ports import State
from websearch_gateway.results import MigrateResult

_NOTES = "migration/"
_NOTE_SECONDS = 7 * 86_400.0
"""How long an interrupted migration can be resumed (seconds): a week, over a holiday."""
_ENTRIES_AT_ONCE = 32
"""Entries of one batch: calls get a turn between two."""
_FILE = re.compile(r"sqlite:///([A-Za-z0-9_][A-Za-z0-9_.-]*)")


@dataclass(frozen=True, slots=True)
class Migration:
    """Copies `source` to the target that a caller names, if the caller may name it. It only reads its source.

    After each page of entries the target gets a note of the last key, where an interrupted run resumes. A target that
    was emptied meanwhile has lost the note too, so it gets everything again.

    Args:
        source_url: its `STATE_URL`, to recognise a target that is the source.
        open_state: makes the State of another such URL.
        data_dir: the folder of local files.
    """

    source: State
    source_url: str
    open_state: Callable[[str], State]
    data_dir: Path

    async def migrate(
        self, target_url: str, caller: Caller = LOCAL, *, counters: bool = False
    ) -> MigrateResult:
        """Copy every entry that has not expired, with its remaining lifetime.

        A local caller may name any target. A remote caller may only name a new file in the data folder: otherwise the
        gateway would send all its users' queries to a database of the caller's choice.

        Args:
            counters: copy the counts of limits and costs too. A counter that the target already has stays.

        Raises:
            ForbiddenUrlError: the caller may not name that target.
            SearchValidationError: the target is the source.
            SearchNotConfiguredError: the target is not a `STATE_URL`.
            StateUnavailable: one of the two failed; the next run resumes here.
        """
        target_url = self._allowed(target_url.strip(), caller)
        if target_url == self.source_url:
            raise SearchValidationError("The target is the state that is in use already.")
        target = self.open_state(target_url)
        note = (
            _NOTES
            + hashlib.blake2b(
                repr((self.source_url, counters)).encode(), digest_size=16
            ).hexdigest()
        )
        tally: Counter[str] = Counter()
        try:
            after = (await target.get(note) or b"").decode()
            async with aclosing(self._pages(after, counters)) as pages:
                async for page in pages:
                    tally.update(await asyncio.gather(*(_copy(entry, target) for entry in page)))
                    await target.put(note, page[-1].key.encode(), _NOTE_SECONDS)
            await target.delete(note)
        finally:
            await target.close()
        return MigrateResult(target=target_url.partition("://")[0], resumed=bool(after), **tally)

    def _allowed(self, target_url: str, caller: Caller) -> str:
        if caller == LOCAL:
            return target_url
        if (file := _FILE.fullmatch(target_url)) is None:
            raise ForbiddenUrlError(
                "With a token the target must be a file in the data folder, sqlite:///NAME. For any other "
                "target, run `websearch-gateway cache migrate` on the gateway's machine."
            )
        return f"sqlite:///{self.data_dir / file[1]}"

    async def _pages(
        self, after: str, counters: bool
    ) -> AsyncGenerator[Sequence[StateEntry], None]:
        page: list[StateEntry] = []
        async for entry in self.source.entries("", after):
            if not entry.key.startswith(_NOTES) and (counters or not entry.counts):
                page.append(entry)
            if len(page) == _ENTRIES_AT_ONCE:
                yield page
                page = []
        if page:
            yield page


async def _copy(
    entry: StateEntry, target: State
) -> Literal["copied", "counters", "already_there", "expired", "left_out"]:
    """Copy an entry and read it back."""
    started = time.monotonic()
    if entry.counts:
        if await target.get(entry.key) is not None:
            return "already_there"
        await target.add(entry.key, int(entry.value), entry.ttl)
        return "counters"
    await target.put(entry.key, entry.value, entry.ttl)
    arrived = await target.get(entry.key)
    if arrived not in (None, entry.value):
        raise StateUnavailable(
            "An entry differs in the target. The source is untouched; run the migration again."
        )
    if arrived is not None:
        return "copied"
    return (
        "expired"
        if entry.ttl is not None and entry.ttl <= time.monotonic() - started
        else "left_out"
    )
