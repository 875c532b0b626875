"""What a task has spent is known however the task ends, and to whoever started it."""

from __future__ import annotations

import asyncio
import contextvars

from websearch_gateway.net.cost_context import counted_tokens, note_tokens, pay_as, payer, spend, spent


async def test_a_task_that_was_cancelled_still_shows_what_it_spent() -> None:
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


async def test_tasks_pay_for_whom_they_were_started() -> None:
    async def act(user: str) -> str:
        pay_as(user)
        await asyncio.sleep(0)
        return await asyncio.create_task(side_cost())

    async def side_cost() -> str:
        return payer()

    assert await asyncio.gather(act("ann"), act("bob")) == ["ann", "bob"]


async def test_tokens_are_noted_for_the_block_around_them_only() -> None:
    note_tokens(1)
    with counted_tokens() as outer:
        note_tokens(2)
        with counted_tokens() as inner:
            await asyncio.create_task(asyncio.to_thread(note_tokens, None))
        note_tokens(3)
    assert (outer, inner) == ([2, 3], [None])
