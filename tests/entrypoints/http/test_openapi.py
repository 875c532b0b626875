"""The OpenAPI document is valid, and it is the truth about every tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lxml import html
from openapi_spec_validator import validate

from tests.entrypoints.http.calls import QUESTION
from tests.entrypoints.http.conftest import SECRET, Door
from websearch_gateway.docs_index.models import CrawlOptions
from websearch_gateway.docs_index.store.sqlite import SqliteDocs
from websearch_gateway.entrypoints.http.compatible import BY_PATH
from websearch_gateway.entrypoints.http.rest import (
    REPLIES,
    REQUESTS,
    SHORT_PATHS,
    compatible_paths,
    openapi,
    paths_of,
    rendered,
)
from websearch_gateway.entrypoints.tools import TOOLS
from websearch_gateway.sandbox import Sandbox

DOCUMENT = openapi(TOOLS, with_token=True)
COMPATIBLE_PATHS = set(compatible_paths())
BY_NAME = {tool.name: tool for tool in TOOLS}


@pytest.mark.parametrize("with_token", [True, False])
def test_a_validator_accepts_the_document(with_token: bool) -> None:
    validate(openapi(TOOLS, with_token=with_token))


def test_every_tool_has_its_paths() -> None:
    assert {path for tool in TOOLS for path in paths_of(tool)} == set(DOCUMENT["paths"]) - COMPATIBLE_PATHS
    assert {f"/v1/tools/{name}" for name in BY_NAME} <= set(DOCUMENT["paths"])


def schema_of(content: dict[str, Any]) -> dict[str, Any]:
    return {**content["application/json"]["schema"], "components": DOCUMENT["components"]}


@pytest.mark.parametrize("name", sorted(REQUESTS.keys() & BY_NAME.keys()))
def test_an_example_of_a_request_fits_its_schema_and_is_understood(name: str) -> None:
    operation = DOCUMENT["paths"][f"/v1/tools/{name}"]["post"]
    jsonschema.Draft202012Validator(schema_of(operation["requestBody"]["content"])).validate(REQUESTS[name])
    BY_NAME[name].parse(REQUESTS[name])


@pytest.mark.parametrize("name", sorted(REPLIES.keys() & BY_NAME.keys()))
def test_an_example_of_a_reply_fits_its_schema_and_has_known_fields_only(name: str) -> None:
    operation = DOCUMENT["paths"][f"/v1/tools/{name}"]["post"]
    schema = schema_of(operation["responses"]["200"]["content"])
    jsonschema.Draft202012Validator(schema).validate(REPLIES[name])
    model = BY_NAME[name].result
    assert set(REPLIES[name]) <= set(model.model_json_schema(by_alias=True)["properties"])


def test_a_tool_that_takes_arguments_has_an_example() -> None:
    taking = {tool.name for tool in TOOLS if tool.arguments.model_fields}
    assert taking <= set(REQUESTS)


async def test_what_is_served_fits_the_document(door: Door) -> None:
    async with door() as http:
        good = (await http.post("/v1/search", json={"query": QUESTION})).json()
        bad = (await http.post("/v1/search", json={"query": "x"})).json()
    responses = DOCUMENT["paths"]["/v1/search"]["post"]["responses"]
    for status, body in (("200", good), ("400", bad)):
        jsonschema.Draft202012Validator(schema_of(responses[status]["content"])).validate(body)


async def test_every_tool_answers_at_each_of_its_paths(door: Door) -> None:
    async with door(toolsets="all") as http:
        for tool in TOOLS:
            for path in paths_of(tool):
                reply = await http.post(path, json={"no such argument": 1})
                assert reply.status_code == 400, path
                assert tool.name in reply.json()["error"]["message"]


async def test_only_the_tools_that_are_listed_are_described(door: Door) -> None:
    async with door(toolsets="read", auth_mode="secret", auth_secret=SECRET) as http:
        described = (await http.get("/openapi.json")).json()
    assert set(described["paths"]) - COMPATIBLE_PATHS == {
        path for name in ("get_content", "read_from_page") for path in paths_of(BY_NAME[name])
    }
    assert described["paths"]["/v1/read"]["post"]["security"] == [{"bearer": ["read"]}, {"key": ["read"]}]


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
        page = (await http.get("/docs")).text
        hidden = await http.post("/v1/tools/delete_docs", json={"site": "book"})
    new = {path for name in ("search_docs", "read_docs", "list_sites") for path in paths_of(BY_NAME[name])}
    assert set(after["paths"]) - set(before["paths"]) == new
    assert "POST /v1/docs" in page
    assert "No site is indexed" in empty["warnings"][0]
    assert hidden.status_code == 404


def test_every_compatible_endpoint_is_described_with_its_methods() -> None:
    refused = {f"{prefix}/{name}" for prefix in ("", "/tavily") for name in ("crawl", "map", "research")}
    assert set(BY_PATH) - COMPATIBLE_PATHS == {"/", *refused}
    for path in COMPATIBLE_PATHS:
        methods = {method.lower() for row in BY_PATH[path] for method in row.methods}
        assert set(DOCUMENT["paths"][path]) == methods, path
    assert DOCUMENT["paths"]["/extract"]["post"]["security"] == [{"bearer": ["read"]}, {"key": ["read"]}]
    both = DOCUMENT["paths"]["/search"]["post"]["requestBody"]["content"]
    assert set(both) == {"application/json", "application/x-www-form-urlencoded"}


async def test_the_example_of_a_compatible_endpoint_is_answered(door: Door, sandbox: Sandbox) -> None:
    async with door() as http:
        for path in sorted(COMPATIBLE_PATHS):
            for method, operation in DOCUMENT["paths"][path].items():
                asked = {one["name"]: one["example"] for one in operation.get("parameters", ())}
                for kind, content in operation.get("requestBody", {"content": {"": {}}})["content"].items():
                    value = content["examples"]["typical"]["value"] if kind else None
                    if value and "urls" in value:
                        value = {"urls": [f"{sandbox.url}/pages/eiffel-tower"]}
                    sent = {"json": value} if kind == "application/json" else {"data": value}
                    reply = await http.request(method, path, params=asked, **sent)
                    assert reply.status_code == 200, (method, path, kind, reply.text)


def test_the_example_of_an_answer_cites_the_place_of_its_link() -> None:
    reply = REPLIES["search_web"]
    (citation,) = reply["citations"]
    assert reply["text"][citation["startIndex"] : citation["endIndex"]] == f"([Eiffel Tower]({citation['url']}))"
    (span,) = citation["spans"]
    assert {*span} == {"startIndex", "endIndex", "quote", "quoteUrl", "support"}
    assert span.items() <= citation.items()


async def test_the_page_shows_each_tool_once_with_its_other_path(door: Door) -> None:
    async with door(toolsets="all") as http:
        page = html.fromstring((await http.get("/docs")).text)
    shown = [code.text for code in page.iterfind(".//summary/code")]
    assert [path for path in shown if path.startswith("POST /v1/")] == [
        f"POST {paths_of(tool)[0]}" for tool in TOOLS
    ] + ["POST /v1/responses", "POST /v1/chat/completions"]
    also = [code.text for code in page.iterfind(".//p/code")]
    assert also == [f"POST {path}" for tool in TOOLS for path in paths_of(tool)[1:]]


async def test_the_page_shows_every_operation_and_loads_nothing(door: Door) -> None:
    async with door() as http:
        reply = await http.get("/docs")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "script" not in reply.headers["content-security-policy"]
    page = html.fromstring(reply.text)
    assert page.findall(".//script") == page.findall(".//img") == page.findall(".//link") == []
    shown = [code.text for code in page.iterfind(".//summary/code")]
    assert f"POST {SHORT_PATHS['search_web']}" in shown
    assert "POST /v1/tools/web_search" not in shown
    assert "GET /searxng/search" in shown
    commands = [pre.text for pre in page.iterfind(".//pre")]
    assert any("--data-urlencode 'q=How tall" in command for command in commands)
    assert any("/searxng/search?q=How+tall" in command for command in commands)


def test_a_quote_in_an_example_does_not_end_the_command() -> None:
    operation = DOCUMENT["paths"]["/v1/search"]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    told = {"application/json": {**content, "examples": {"typical": {"value": {"query": "it's <b>"}}}}}
    changed = {**operation, "requestBody": {"content": told}}
    page = html.fromstring(rendered({**DOCUMENT, "paths": {"/v1/search": {"post": changed}}}))
    assert "it'\\''s <b>" in page.findtext(".//pre")
