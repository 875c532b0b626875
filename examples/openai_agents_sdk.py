"""An agent of the OpenAI Agents SDK whose model is the gateway: it searches and cites (pip install openai-agents).

Start the gateway first: websearch-gateway serve --http
"""

import asyncio
import os

from agents import Agent, OpenAIResponsesModel, Runner, WebSearchTool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
base_url = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080") + "/v1"
client = AsyncOpenAI(base_url=base_url, api_key=os.environ.get("GATEWAY_TOKEN", "any"))
agent = Agent(
    name="searcher",
    model=OpenAIResponsesModel(model="search_web", openai_client=client),
    tools=[WebSearchTool()],
)
print(asyncio.run(Runner.run(agent, "How tall is the Eiffel Tower?")).final_output)
