"""The OpenAPI document is valid, and it is the truth about every tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import validate

from tests.entrypoints.http.calls import QUESTION
from tests.entrypoints.http.conftest import SECRET, Door
from websearch_gateway.docs.models import CrawlOptions
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.entrypoints.http.app import REQUESTS, USAGE, openapi, paths_of
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.settings.groups import APART, TOOLSETS

DOCUMENT = openapi(TOOLS, with_token=True)
BY_NAME = {tool.name: tool for tool in TOOLS}


def test_a_validator_accepts_the_document() -> None:
    validate(DOCUMENT)


def test_every_tool_has_its_paths() -> None:
    assert {path for tool in TOOLS for path in paths_of(tool)} | {USAGE} == set(DOCUMENT["paths"])
    assert {f"/v1/tools/{name}" for name in BY_NAME} <= set(DOCUMENT["paths"])


def schema_of(content: dict[str, Any]) -> dict[str, Any]:
    return {**content["application/json"]["schema"], "components": DOCUMENT["components"]}


@pytest.mark.parametrize("name", sorted(tool.name for tool in TOOLS if tool.arguments.model_fields))
def test_an_example_of_a_request_fits_its_schema_and_is_understood(name: str) -> None:
    content = DOCUMENT["paths"][f"/v1/tools/{name}"]["post"]["requestBody"]["content"]
    example = content["application/json"]["examples"]["typical"]["value"]
    jsonschema.Draft202012Validator(schema_of(content)).validate(example)
    BY_NAME[name].parse(example)


def test_each_example_is_of_a_tool() -> None:
    assert REQUESTS.keys() <= BY_NAME.keys()


async def test_what_is_served_fits_the_document(door: Door) -> None:
    async with door() as http:
        good = (await http.post("/v1/search", json={"query": QUESTION})).json()
        bad = (await http.post("/v1/search", json={"query": "x"})).json()
    responses = DOCUMENT["paths"]["/v1/search"]["post"]["responses"]
    for status, body in (("200", good), ("400", bad)):
        jsonschema.Draft202012Validator(schema_of(responses[status]["content"])).validate(body)


async def test_every_tool_answers_at_each_of_its_paths(door: Door) -> None:
    async with door(toolsets=(*TOOLSETS, *APART)) as http:
        for tool in TOOLS:
            for path in paths_of(tool):
                reply = await http.post(path, json={"no such argument": 1})
                assert reply.status_code == 400, path
                assert tool.name in reply.json()["error"]["message"]


async def test_only_the_tools_that_are_listed_are_described(door: Door) -> None:
    async with door(toolsets="read", auth_mode="secret", auth_secret=SECRET) as http:
        described = (await http.get("/openapi.json")).json()
    tools = (BY_NAME[name] for name in ("get_content", "read_from_page"))
    assert set(described["paths"]) == {USAGE, *(path for tool in tools for path in paths_of(tool))}
    assert described["paths"][USAGE]["get"]["security"] == [{"bearer": []}, {"key": []}]
    assert described["paths"]["/v1/read"]["post"]["security"] == [
        {"bearer": ["read"]},
        {"key": ["read"]},
    ]


async def test_documentation_is_described_as_soon_as_a_site_is_indexed_and_served_before(
    door: Door, tmp_path: Path
) -> None:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1")
    async with door(docs_url=f"sqlite:///{tmp_path}/docs.db") as http:
        before = (await http.get("/openapi.json")).json()
        empty = (await http.post("/v1/docs", json={"query": "zebra"})).json()
        site = await store.add_version("book", "1", "https://example.org/", CrawlOptions())
        await store.set_status(site.id, "completed")
        await store.close()
        after = (await http.get("/openapi.json")).json()
        hidden = await http.post("/v1/tools/delete_docs", json={"site": "book"})
    new = {
        path
        for name in ("search_docs", "read_docs", "list_sites")
        for path in paths_of(BY_NAME[name])
    }
    assert set(after["paths"]) - set(before["paths"]) == new
    assert "No site is indexed" in empty["warnings"][0]
    assert hidden.status_code == 404
