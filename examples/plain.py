"""Ask, find and read from a Python program. Keys and other settings come from the environment."""

import asyncio

from websearch_gateway import Gateway, SearchError


async def main() -> None:
    async with Gateway() as gateway:
        answer = await gateway.search("How tall is the Eiffel Tower?")
        print(answer.text)
        for citation in answer.citations:
            print(f"  [{citation.rank}] {citation.title}: {citation.url}")

        found = await gateway.web_search("How do I descale an espresso machine?", max_results=2)
        page = await gateway.read(found.results[0].link, max_chars=500)
        print(page.title)

        try:
            await gateway.read("http://169.254.169.254/latest/meta-data/")
        except SearchError as error:
            print(f"{error.code}: {error.message}")


asyncio.run(main())
