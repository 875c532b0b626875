"""The benchmark's promise, held: hedging cuts the tail for a tenth of the calls at most."""

from __future__ import annotations

from bench import pool


def test_hedging_cuts_the_tail_of_stalls_for_less_than_a_tenth_more_calls() -> None:
    plain, hedged = pool.simulate(False, pool.STALLS, 1.0), pool.simulate(True, pool.STALLS, 1.0)
    assert hedged.quantile(0.99) < 0.6 * plain.quantile(0.99)
    assert hedged.quantile(0.5) <= 1.05 * plain.quantile(0.5)
    assert 0 < hedged.hedges <= 0.1 * pool.CALLS
    assert hedged.unanswered <= plain.unanswered
