"""The gateway as LangChain's Tavily tool (pip install langchain-tavily).

Start the gateway first: websearch-gateway serve --http
"""

import os

from langchain_tavily import TavilySearch

tool = TavilySearch(
    api_base_url=os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080") + "/tavily",
    tavily_api_key=os.environ.get("GATEWAY_TOKEN", "any"),
    max_results=3,
)
for result in tool.invoke({"query": "How do I descale an espresso machine?"})["results"]:
    print(result["title"], result["url"])
