"""Runs the example for the OpenAI Agents SDK with the server of the argument, then its agent once more, streamed."""

import asyncio
import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path

from agents import OpenAIResponsesModel, Runner
from openai import AsyncOpenAI

EXAMPLE = Path(__file__).parents[2] / "examples" / "openai_agents_sdk.py"

QUESTION = "How tall is the Eiffel Tower?"


async def stream(agent):
    # The example's belongs to another event loop.
    client = AsyncOpenAI(base_url=f"{sys.argv[1]}/v1", api_key="sk-any")
    agent = agent.clone(model=OpenAIResponsesModel(model="search_web", openai_client=client))
    streamed = Runner.run_streamed(agent, QUESTION)
    kinds = [event.type async for event in streamed.stream_events()]
    return {"streamed": streamed.final_output, "kinds": sorted(set(kinds))}


os.environ["GATEWAY_URL"] = sys.argv[1]
with contextlib.redirect_stdout(io.StringIO()) as printed:
    example = runpy.run_path(str(EXAMPLE))
print(
    json.dumps({"plain": printed.getvalue().rstrip("\n"), **asyncio.run(stream(example["agent"]))})
)
