"""Holds the faults that a test requests, and the calls that the sandbox recorded.

A *target* is the beginning of a path without its first slash, cut at a slash: `openai` covers all of OpenAI,
`openai/v1/embeddings` only embeddings, `pages` every page, `pages/espresso-at-home` one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

TRANSPORT_KINDS = {
    "status": "answers with an HTTP error status, in the vendor's own words",
    "delay": "answers late",
    "hang": "never answers",
    "reset": "breaks the connection off",
    "garbage": "answers 200 with bytes that are not JSON",
    "bot": "answers with a page that asks whether you are human",
    "drip": "sends its reply one byte at a time",
    "unrelated": "answers another question than it was asked",
}
"""What any vendor or page can do, and what that means."""

PAGE_KINDS = {
    "huge": "sends a page without an end",
    "gzip_bomb": "sends 4 MiB that unpack to 4 GiB",
    "redirect_private": "redirects to a private address",
    "redirect_loop": "redirects to itself",
    "wrong_length": "promises more bytes than it sends",
    "odd_charset": "declares an encoding that takes seconds to decode",
}
"""What pages can do."""

OPENAI_KINDS = {
    "failed": "reports a response that failed",
    "incomplete": "stops in the middle of its answer",
    "refusal": "refuses to answer",
    "no_search": "answers without searching",
    "empty_annotations": "cites nothing",
    "raw_markers": "leaves its own marks of citations in the text",
    "shifted_spans": "cites places that are a few characters off",
    "utf16_spans": "counts places in UTF-16",
}
"""What `openai/v1/responses` can do: HTTP 200 with something wrong inside."""

ENGINE_KINDS = {
    "anthropic": {
        "no_search": "answers without searching",
        "refusal": "refuses to answer",
        "pause_turn": "pauses until it is asked to continue",
    },
    "gemini": {"no_search": "answers without searching", "refusal": "refuses to answer"},
    "perplexity": {"no_search": "answers without searching", "failed": "reports a response that failed"},
    "llm": {
        "own_words": "writes in its own words",
        "other_language": "writes in another language",
        "thinks_aloud": "begins with its thoughts",
        "breaks_off": "breaks off in the middle of a sentence",
        "old_marks": "cites by numbers, without quotes",
        "made_up_sources": "cites sources that it was not given",
        "made_up_quotes": "quotes words that its sources do not have",
        "wrong_numbers": "writes other numbers than its sources",
        "wrong_names": "writes other names than its sources",
        "no_marks": "cites nothing",
        "no_answer": "says that the sources do not answer",
        "endless": "never stops writing",
        "prompt_echo": "repeats its prompt",
        "obey": "obeys an instruction that stands in a page",
    },
}
"""What the other answer engines can do: HTTP 200 with something wrong inside."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A requested fault.

    Attributes:
        target: which paths (see the module).
        kind: one of the kinds above.
        times: how many requests it affects; None: until cleared.
        when: only requests whose path, query or body contains this text.
        status: `status`: the HTTP status.
        reason: `status`, `failed`: the vendor's own code or message (`insufficient_quota`); by default the usual one.
        retry_after: `status`: seconds for the Retry-After header.
        seconds: `delay`: before the answer; `drip`: between two bytes.
        location: `redirect_private`: where to.
    """

    target: str
    kind: str
    times: int | None = None
    when: str | None = None
    status: int = 503
    reason: str | None = None
    retry_after: float | None = None
    seconds: float = 0.1
    location: str = "http://169.254.169.254/latest/meta-data/"

    def __post_init__(self) -> None:
        allowed = TRANSPORT_KINDS | kinds_of(self.target.partition("/")[0])
        if self.kind not in allowed:
            raise ValueError(f"{self.target} has no fault {self.kind!r}; choose from {', '.join(sorted(allowed))}")


def kinds_of(target: str) -> dict[str, str]:
    """The faults of a target's own, beside TRANSPORT_KINDS, and what they mean."""
    return {"openai": OPENAI_KINDS, "pages": PAGE_KINDS, **ENGINE_KINDS}.get(target, {})


@dataclass(slots=True)
class Call:
    """One request that arrived. `cancelled`: the client disconnected before the end of the reply.

    Names of headers are in lower case.
    """

    method: str
    path: str
    query: str
    body: bytes = field(repr=False)
    header_names: frozenset[str] = field(default=frozenset(), repr=False)
    cancelled: bool = False


def covers(target: str, path: str) -> bool:
    """Whether `path` (without its first slash) lies at or below `target`."""
    return path == target or path.startswith(f"{target}/")


class Board:
    """The pending faults and the recorded calls, shared by the server's thread and the test's."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._faults: list[tuple[Fault, Iterator[int] | None]] = []
        self._calls: list[Call] = []

    def add(self, fault: Fault) -> None:
        """Add a fault. If several match a request, the oldest applies."""
        with self._changed:
            self._faults.append((fault, iter(range(fault.times)) if fault.times is not None else None))

    def clear_faults(self) -> None:
        """Remove all faults."""
        with self._changed:
            self._faults.clear()

    def clear_calls(self) -> None:
        """Forget the calls so far."""
        with self._changed:
            self._calls.clear()

    def record(self, call: Call) -> Fault | None:
        """Record a call. Returns its fault, if any."""
        with self._changed:
            self._calls.append(call)
            self._changed.notify_all()
            for fault, remaining in self._faults:
                fits = covers(fault.target, call.path) and (
                    fault.when is None or fault.when.encode() in f"{call.path}?{call.query} ".encode() + call.body
                )
                if fits and (remaining is None or next(remaining, None) is not None):
                    return fault
        return None

    def mark_cancelled(self, call: Call) -> None:
        """Record that the client of a call has disconnected."""
        with self._changed:
            call.cancelled = True
            self._changed.notify_all()

    def calls(self, target: str = "") -> tuple[Call, ...]:
        """The calls at or below a target, oldest first; all of them for the empty target."""
        with self._changed:
            return tuple(call for call in self._calls if not target or covers(target, call.path))

    def wait(self, target: str, *, calls: int, cancelled: int, within: float) -> bool:
        """Block until that many calls have arrived and that many were cancelled; False after `within` seconds."""

        def reached() -> bool:
            seen = [call for call in self._calls if covers(target, call.path)]
            return len(seen) >= calls and sum(call.cancelled for call in seen) >= cancelled

        with self._changed:
            return self._changed.wait_for(reached, within)
