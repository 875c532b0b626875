"""The spending of a task is known however the task ends, also to the task that started it."""

from __future__ import annotations

import asyncio
import contextvars

from websearch_gateway.net.cost_context import counted_tokens, note_tokens, pay_as, payer, spend, spent


async def test_the_spending_of_a_cancelled_task_can_be_read() -> None:
    context = contextvars.copy_context()
    before = spent(context)
    sent = asyncio.Event()

    async def ask() -> None:
        spend(0.5)
        sent.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(ask(), context=context)
    await sent.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert spent(context) - before == 0.5
    assert spent() == before, "this task has spent nothing"


async def test_a_task_has_the_payer_of_the_task_that_started_it() -> None:
    async def act(user: str) -> str:
        pay_as(user)
        await asyncio.sleep(0)
        return await asyncio.create_task(side_cost())

    async def side_cost() -> str:
        return payer()

    assert await asyncio.gather(act("ann"), act("bob")) == ["ann", "bob"]


async def test_token_counts_reach_only_the_block_around_them() -> None:
    note_tokens(1)
    with counted_tokens() as outer:
        note_tokens(2)
        with counted_tokens() as inner:
            await asyncio.create_task(asyncio.to_thread(note_tokens, None))
        note_tokens(3)
    assert (outer, inner) == ([2, 3], [None])
