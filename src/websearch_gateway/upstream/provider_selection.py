"""Which providers a call asks, and in which order."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import Topic
from websearch_gateway.ports import Searcher
from websearch_gateway.upstream.hedging import Hedging
from websearch_gateway.upstream.search_fallback import FallbackSearcher, Order


@dataclass(frozen=True, slots=True)
class ProviderSelection:
    """The raw providers of this gateway.

    Attributes:
        pool: serves calls that name no provider.
        searchers: each provider that a call may name, by name, in the operator's order.
        news: the names of the providers with a news search.
        absent: every other known provider, by name, with what it lacks.
        hedging: starts the next provider beside a slow one, as in the pool.
    """

    pool: Searcher
    searchers: Mapping[str, Searcher]
    news: Collection[str]
    absent: Mapping[str, str]
    hedging: Hedging | None = None

    def choose(self, names: Sequence[str] = (), topic: Topic = "general") -> Searcher:
        """The providers of a call.

        With `names`, these in their order; without, the pool, or for news the providers with a news search first.

        Raises:
            SearchValidationError: a name is unknown; the message lists the known ones.
            SearchNotConfiguredError: a named provider cannot serve here; the message says what it lacks.
        """
        if names:
            wanted = dict.fromkeys(name.strip().lower() for name in names)
            return FallbackSearcher([self._named(name) for name in wanted], hedging=self.hedging)
        return self.preferring(self.news) if topic == "news" else self.pool

    def preferring(self, names: Collection[str]) -> Searcher:
        """The providers in `names` before the others.

        All others share one place in the chain, so that each of the preferred providers has time to finish.
        """
        first = [searcher for name, searcher in self.searchers.items() if name in names]
        others = [searcher for name, searcher in self.searchers.items() if name not in names]
        # The inner fallback does not hedge: a call must not earn two hedges.
        chain = [*first, FallbackSearcher(others)] if first and others else first or others
        return FallbackSearcher(chain, hedging=self.hedging)

    def _named(self, name: str) -> Searcher:
        if name in self.searchers:
            return self.searchers[name]
        if remedy := self.absent.get(name):
            raise SearchNotConfiguredError(
                f"`providers` names {name}, which cannot serve here: {remedy}."
            )
        known = ", ".join((*self.searchers, *self.absent))
        raise SearchValidationError(
            f"`providers` may hold these names: {known}.",
            details={"field": "providers", "allowed": known},
        )


def by_weight(
    weights: Mapping[str, float], choose: Callable[..., Sequence[Searcher]] = random.choices
) -> Order:
    """The Order that picks the first searcher at random, by weight, and keeps the order of the others.

    A searcher without a weight is never first; without any weights the order stays the same.
    """

    def order(searchers: Sequence[Searcher]) -> Sequence[Searcher]:
        shares = [weights.get(searcher.name, 0.0) for searcher in searchers]
        if not any(shares):
            return searchers
        [first] = choose(searchers, shares)
        return (first, *(searcher for searcher in searchers if searcher is not first))

    return order
