"""Drives LiteLLM's router by the configuration on stdin: every search tool, and the model."""

import asyncio
import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise the import fetches a list of prices

import yaml
from litellm import Router

QUERY = "How do I descale an espresso machine?"
CHAT = [{"role": "user", "content": "How tall is the Eiffel Tower?"}]
config = yaml.safe_load(sys.stdin)
router = Router(model_list=config["model_list"], search_tools=config["search_tools"])


async def found(name):
    reply = await router.asearch(query=QUERY, search_tool_name=name, max_results=3)
    return [result.url for result in reply.results]


async def main():
    seen = {
        tool["search_tool_name"]: await found(tool["search_tool_name"])
        for tool in config["search_tools"]
    }
    answer = await router.acompletion(model="search_web", messages=CHAT)
    return {**seen, "answer": answer.choices[0].message.content}


print(json.dumps(asyncio.run(main())))
