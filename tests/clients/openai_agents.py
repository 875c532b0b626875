"""Runs an agent of the OpenAI Agents SDK whose model is the server of the argument, plainly and streamed."""

import asyncio
import json
import sys

from agents import Agent, OpenAIResponsesModel, Runner, WebSearchTool, set_tracing_disabled
from openai import AsyncOpenAI

QUESTION = "How tall is the Eiffel Tower?"
set_tracing_disabled(True)


async def main():
    client = AsyncOpenAI(base_url=f"{sys.argv[1]}/v1", api_key="sk-any")
    model = OpenAIResponsesModel(model="search_web", openai_client=client)
    agent = Agent(name="searcher", instructions="Search the web.", model=model, tools=[WebSearchTool()])
    plain = await Runner.run(agent, QUESTION)
    streamed = Runner.run_streamed(agent, QUESTION)
    kinds = [event.type async for event in streamed.stream_events()]
    return {"plain": plain.final_output, "streamed": streamed.final_output, "kinds": sorted(set(kinds))}


print(json.dumps(asyncio.run(main())))
