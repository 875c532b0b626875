"""The prompts are listed with their argument and filled in as text."""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError

from tests.entrypoints.conftest import Connect


async def test_prompts_and_the_icon_reach_a_client(connect: Connect) -> None:
    async with connect() as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        filled = await client.get_prompt("fact_check", {"claim": "The {tower} is 330 m tall."})
        for wrong in (("nope", {}), ("research", {}), ("research", {"topic": " "})):
            with pytest.raises(MCPError):
                await client.get_prompt(*wrong)
    assert set(prompts) == {"research", "fact_check"}
    assert prompts["research"].arguments is not None
    assert prompts["research"].arguments[0].required
    assert "The {tower} is 330 m tall." in filled.messages[0].content.text  # type: ignore[union-attr]
