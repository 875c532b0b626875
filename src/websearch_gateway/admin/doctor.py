"""One probe of every upstream and part, with the remedy for what fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from websearch_gateway.errors import UNUSABLE, SearchError, StateUnavailable
from websearch_gateway.models import Call, Deadline, SearchQuery
from websearch_gateway.ports import Embedder, HostedEngine, Reranker, Searcher, State
from websearch_gateway.results import Check, Diagnosis
from websearch_gateway.upstream.ledger import LEVELS, Ledger

PROBE = SearchQuery("example domain", max_results=1)
PROBE_SECONDS = 10.0
"""For one check of `doctor` (seconds): what answers later would fail most calls too."""

REMEDIES = {
    "AUTH": "Put a valid key into that setting, or give this key the permission. Waiting does not help. Until then a "
    "call that asks it first fails; others skip it with a warning.",
    "NOT_CONFIGURED": "Set what the message names.",
    "VALIDATION": "Correct its settings, first its *_BASE_URL. Waiting does not help.",
    "PARSE": "Check that its *_BASE_URL is the address of the API and not of a login page. If it is, "
    "update this gateway.",
    "TIMEOUT": "Try again later. If it fails again, check firewall and proxy, or raise REQUEST_TIMEOUT_MS.",
    "PROVIDER": "Try again later, and check the vendor's status page.",
}
"""What the operator can do, by error code."""

REASONS = {
    "quota": "Top up the account or raise its limit.",
    "unreachable": "Check its *_BASE_URL, and that this machine's DNS and firewall allow the connection.",
}
"""The same, by `details["reason"]` where an error has one."""


NO_ENGINE = Check(
    name="openai",
    status="off",
    finding="OPENAI_API_KEY is not set.",
    remedy="Set it, or the key of another engine, to get written answers. Without one the gateway quotes pages.",
)


@dataclass(frozen=True, slots=True)
class Doctor:
    """Checks everything that the gateway depends on. Costs one search per paid provider.

    `ends` gives the day on which a provider's API shuts down. `browser_lacks` says why no browser can start,
    `advice` which keys to get where no provider has one, `unfinished` what is missing for a part whose settings are
    only partly set.
    """

    engines: Sequence[HostedEngine]
    searchers: Sequence[Searcher]
    state: State
    embedder: Embedder
    ends: Mapping[str, date | None]
    browser_lacks: Callable[[], str | None]
    ledger: Ledger
    today: Callable[[], date] = lambda: datetime.now(UTC).date()
    advice: Callable[[], str] = str
    unfinished: Mapping[str, str] = field(default_factory=dict)
    reranker: Reranker | None = None

    async def examine(self) -> Diagnosis:
        """One check per part, run concurrently."""
        engines, providers, own = await asyncio.gather(
            asyncio.gather(*map(_engine, self.engines)),
            asyncio.gather(*map(self._provider, self.searchers)),
            asyncio.gather(
                self.check_state(),
                self._embedder(),
                self._reranker(),
                self._browser(),
                self._budget(),
            ),
        )
        half = [
            Check(
                name=name,
                status="warn",
                finding=finding,
                remedy="Set it too, or remove the others.",
            )
            for name, finding in self.unfinished.items()
        ]
        upstreams = (*_with_stand_ins(engines or [NO_ENGINE]), *half, *_with_stand_ins(providers))
        checks = (*upstreams, *filter(None, own))
        return Diagnosis(checks=(*checks, *self._keys(providers)))

    def _keys(self, providers: Sequence[Check]) -> Iterator[Check]:
        """A hint while the providers without a key answer, else a warning."""
        if remedy := self.advice():
            finding = "no search provider has a key; DuckDuckGo often refuses, and Wikipedia is only an encyclopaedia"
            works = any(check.status == "ok" for check in providers)
            yield Check(
                name="keys", status="off" if works else "warn", finding=finding, remedy=remedy
            )

    async def _provider(self, searcher: Searcher) -> Check:
        try:
            results = await searcher.ask(Call.of(PROBE, Deadline.after(PROBE_SECONDS)))
        except SearchError as error:
            return _failed(searcher.name, error)
        if not results.hits:
            remedy = "Try another question with `search --json`. If it finds nothing again, remove it from SEARCH_PROVIDERS."
            return Check(
                name=searcher.name,
                status="warn",
                finding="answers, but finds nothing",
                remedy=remedy,
            )
        if (end := self.ends.get(searcher.name)) is not None:
            gone = self.today() >= end
            finding = f"answers, but its API {'has ended' if gone else 'ends'} on {end}"
            remedy = "Set the key of another provider before that day."
            return Check(name=searcher.name, status="warn", finding=finding, remedy=remedy)
        return Check(name=searcher.name, finding="answers")

    async def _embedder(self) -> Check:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                rows = await self.embedder.embed([PROBE.text], "query")
        except SearchError as error:
            return _as_warning(_failed("embedder", error))
        except TimeoutError:
            return _as_warning(
                Check(name="embedder", finding="does not answer", remedy=REMEDIES["TIMEOUT"])
            )
        return Check(
            name="embedder",
            finding=f"{self.embedder.name} makes vectors of {rows.shape[1]} numbers",
        )

    async def _reranker(self) -> Check | None:
        if self.reranker is None:
            return None
        order, fault = await self.reranker.order(
            PROBE.text, ["A bicycle.", PROBE.text], Call.after(PROBE_SECONDS)
        )
        if fault:
            remedy = "Correct RERANKER_URL, RERANKER_MODEL or RERANKER_API_KEY. Calls keep their own order until then."
            return Check(name="reranker", status="warn", finding=fault, remedy=remedy)
        if order[0] == 0:
            remedy = "Check that RERANKER_MODEL is a model for reranking."
            return Check(
                name="reranker", status="warn", finding="prefers an unrelated text", remedy=remedy
            )
        return Check(name="reranker", finding="orders texts")

    async def _browser(self) -> Check:
        if (lack := self.browser_lacks()) is None:
            return Check(name="browser", finding="reads pages that need scripts")
        return Check(
            name="browser",
            status="off",
            finding=lack,
            remedy="Do this if you need pages that scripts make; the gateway reads all others without it.",
        )

    async def _budget(self) -> Check:
        """How much of today's budget is left."""
        if (daily := self.ledger.daily_usd) is None:
            return Check(
                name="budget",
                status="off",
                finding="DAILY_BUDGET_USD is none, so nothing limits the costs",
            )
        try:
            spent = (await self.ledger.day()).usd
        except StateUnavailable as error:
            return Check(name="budget", status="warn", finding=f"cannot be read: {error.message}")
        finding = f"${spent:.2f} of ${daily:g} is spent today"
        if not daily or spent < LEVELS[0] * daily:
            return Check(name="budget", finding=finding)
        remedy = "Raise DAILY_BUDGET_USD, or wait until 00:00 UTC. Free upstreams still answer."
        return Check(name="budget", status="warn", finding=finding, remedy=remedy)

    async def check_state(self) -> Check:
        """Whether the state reads and writes."""
        try:
            await self.state.add("doctor/probe", ttl=60)
        except StateUnavailable as error:
            return Check(
                name="state",
                status="fail",
                finding=error.message,
                remedy="Fix STATE_URL or DATA_DIR. Searches work without the state.",
            )
        if problem := self.state.problem:
            return Check(
                name="state", status="warn", finding=problem.finding, remedy=problem.remedy
            )
        return Check(name="state", finding="can be read and written")


def _with_stand_ins(row: Sequence[Check]) -> Iterator[Check]:
    """The checks of upstreams, in the order of use. One that failed says which of the later ones serves meanwhile."""
    for place, check in enumerate(row):
        stand_in = next(
            (later.name for later in row[place + 1 :] if later.status in ("ok", "warn")), None
        )
        gives_way = check.status == "fail" and not check.finding.startswith(
            (*UNUSABLE, "VALIDATION")
        )
        if stand_in and gives_way:
            check = check.model_copy(
                update={"remedy": f"{check.remedy} {stand_in} answers instead."}
            )
        yield check


async def _engine(engine: HostedEngine) -> Check:
    try:
        findings = await engine.check(Deadline.after(PROBE_SECONDS))
    except SearchError as error:
        return _failed(engine.name, error)
    if findings:
        remedy = (
            f"Put a model that exists and has no end date first in {engine.name.upper()}_MODELS."
        )
        return Check(name=engine.name, status="warn", finding=" ".join(findings), remedy=remedy)
    return Check(name=engine.name, finding="answers")


def _failed(name: str, error: SearchError) -> Check:
    by_code = REMEDIES.get(error.code, REMEDIES["PROVIDER"])
    remedy = REASONS.get(str(error.details.get("reason")), by_code)
    return Check(name=name, status="fail", finding=f"{error.code}: {error.message}", remedy=remedy)


def _as_warning(check: Check) -> Check:
    """Without an embedder passages are ranked by words, so its failure does not make the gateway fail."""
    return check.model_copy(
        update={"status": "warn", "remedy": f"{check.remedy} Until then words alone rank passages."}
    )
