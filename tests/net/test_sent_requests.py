"""A call learns how many requests it has sent, whichever of its tasks sent them."""

from __future__ import annotations

import asyncio

from websearch_gateway.net.sent_requests import counting_requests, note_request


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
