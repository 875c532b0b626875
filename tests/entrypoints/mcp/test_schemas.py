"""The schemas that clients and models read."""

from __future__ import annotations

import json
from typing import Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel

from websearch_gateway.entrypoints.mcp.schemas import input_schema, output_schema
from websearch_gateway.entrypoints.reply.structured import lean
from websearch_gateway.entrypoints.tools.table import TOOLS, Tool
from websearch_gateway.results import ErrorInfo, FallbackInfo, SearchResponse

SEARCH_WEB = next(tool.arguments for tool in TOOLS if tool.name == "search_web")


def test_an_input_schema_names_required_fields_and_refuses_others() -> None:
    schema = input_schema(SEARCH_WEB)
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {
        *(
            "query",
            "maxResults",
            "freshnessHours",
            "region",
            "includeDomains",
            "excludeDomains",
            "includeAnswers",
        ),
        "verifyCitations",
    }


def test_an_optional_argument_has_a_plain_type() -> None:
    region = input_schema(SEARCH_WEB)["properties"]["region"]
    assert region["type"] == "string"
    assert "anyOf" not in region


def test_defaults_of_arguments_are_told() -> None:
    assert input_schema(SEARCH_WEB)["properties"]["maxResults"]["default"] == 5


def test_an_output_schema_has_no_references_and_keeps_the_field_called_title() -> None:
    schema = output_schema(SearchResponse)
    assert "$ref" not in str(schema)
    assert schema["properties"]["citations"]["items"]["properties"]["title"] == {"type": "string"}


@pytest.mark.parametrize(
    "response",
    [
        SearchResponse(),
        SearchResponse(fallback=FallbackInfo(from_="openai", reason="x")),
        SearchResponse(error=ErrorInfo(code="TIMEOUT", message="late", details={"any": ["thing"]})),
    ],
)
def test_what_is_sent_validates_against_the_declared_schema(response: SearchResponse) -> None:
    jsonschema.validate(lean(response), output_schema(SearchResponse))


def test_an_error_alone_validates_since_clients_check_failed_calls_too() -> None:
    sent: dict[str, Any] = {"error": {"code": "AUTH", "message": "wrong key"}}
    jsonschema.validate(sent, output_schema(SearchResponse))


def test_a_wrong_type_does_not_validate() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"text": 3}, output_schema(SearchResponse))


class Sample(BaseModel):
    """What can be one of several things."""

    amount: int | str | None = None
    inner: ErrorInfo | None = None
    choice: Literal["a", "b"] | None = None
    two: list[int] | list[str] | None = None


@pytest.mark.parametrize("field", ["amount", "inner", "choice", "two"])
@pytest.mark.parametrize("value", [1, "a", "c", {}, {"code": 1}, [1], ["a"], [1, "a"], True])
def test_the_compact_schema_accepts_what_pydantics_own_accepts(field: str, value: Any) -> None:
    def accepts(schema: dict[str, Any]) -> bool:
        return bool(jsonschema.Draft202012Validator(schema).is_valid({field: value}))

    whole = Sample.model_json_schema(by_alias=True)
    whole["$defs"]["ErrorInfo"].pop("required", None)  # a result of ours requires nothing
    assert accepts(output_schema(Sample)) == accepts(whole)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_schema_has_a_null_a_list_of_types_or_alternatives(tool: Tool) -> None:
    """Some models and clients refuse them."""
    for schema in (input_schema(tool.arguments), output_schema(tool.result)):
        text = json.dumps(schema)
        assert '"null"' not in text
        assert '"anyOf"' not in text
        assert '"type": [' not in text
