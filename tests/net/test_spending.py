from __future__ import annotations

import asyncio
import contextvars

from websearch_gateway.net.spending import (
    counted_tokens,
    counting_requests,
    note_request,
    note_tokens,
    pay_as,
    payer,
    spend,
    spent,
)


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


async def test_the_tasks_of_a_call_share_its_count_and_other_calls_have_their_own() -> None:
    async def send(requests: int) -> None:
        for _ in range(requests):
            await asyncio.sleep(0)
            note_request()

    async def call(requests: int) -> int:
        with counting_requests() as sent:
            await asyncio.gather(send(requests), send(1))
        return sent.count

    assert await asyncio.gather(call(1), call(4)) == [2, 5]


def test_requests_outside_a_call_are_not_counted() -> None:
    with counting_requests() as sent:
        pass
    note_request()
    assert sent.count == 0
