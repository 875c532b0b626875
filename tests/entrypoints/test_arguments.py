"""What clients and models send for an argument: all tools, all parameters of other APIs, all kinds of values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from websearch_gateway.entrypoints.arguments import (
    LONGEST_JSON,
    LONGEST_TEXT,
    MOST_FAULTS,
    Kind,
    kinds_of,
)
from websearch_gateway.entrypoints.http.compatible.endpoint import Lenient
from websearch_gateway.entrypoints.http.compatible.openai_answers import question
from websearch_gateway.entrypoints.mcp.messages import repaired
from websearch_gateway.entrypoints.mcp.schemas import input_schema
from websearch_gateway.entrypoints.tools.table import TOOLS, Tool
from websearch_gateway.errors import SearchValidationError

BY_NAME = {tool.name: tool for tool in TOOLS}

ABSENT: tuple[Any, ...] = (
    None,
    "",
    " ",
    "null",
    "none",
    "None",
    "NULL",
    "undefined",
    [],
    ["null"],
    [""],
    [None],
)

LENIENT = {model.__name__: model for model in Lenient.__subclasses__()}


def sample(kind: Kind) -> Any:
    """A usual value of an argument, with its own type."""
    if kind.model is not None:
        one: Any = {name: sample(inner) for name, inner in kinds_of(kind.model).items()}
    elif kind.choices:
        one = kind.choices[0]
    elif str in kind.types:
        one = "a.org"
    elif bool in kind.types:
        one = False
    else:
        one = 0.5 if float in kind.types else 5
    return [one, one] if kind.is_list else one


def required(tool: Tool) -> dict[str, Any]:
    """The fewest arguments with which the tool may be called."""
    return {
        name: sample(kind)
        for name, kind in kinds_of(tool.arguments).items()
        if not kind.is_optional
    }


EVERY_ARGUMENT = [(tool.name, name) for tool in TOOLS for name in kinds_of(tool.arguments)]


@pytest.mark.parametrize(("tool", "argument"), EVERY_ARGUMENT)
def test_an_optional_argument_that_says_nothing_is_absent(tool: str, argument: str) -> None:
    kind = kinds_of(BY_NAME[tool].arguments)[argument]
    if not kind.is_optional:
        return
    usual = required(BY_NAME[tool])
    without = BY_NAME[tool].parse(usual)
    for nothing in ABSENT if not BY_NAME[tool].changes_data else (None,):
        assert BY_NAME[tool].parse({**usual, argument: nothing}) == without, nothing
        if kind.is_list and isinstance(nothing, list):
            assert BY_NAME[tool].parse({**usual, argument: json.dumps(nothing)}) == without, nothing


@pytest.mark.parametrize(
    ("tool", "argument"),
    [(tool, name) for tool, name in EVERY_ARGUMENT if BY_NAME[tool].changes_data],
)
def test_a_call_that_removes_something_refuses_a_word_for_nothing(tool: str, argument: str) -> None:
    kind = kinds_of(BY_NAME[tool].arguments)[argument]
    if not kind.is_optional:
        return
    for nothing in ABSENT[1:]:
        with pytest.raises(
            SearchValidationError, match=f"{argument}: .*leave the argument out"
        ) as refusal:
            BY_NAME[tool].parse({**required(BY_NAME[tool]), argument: nothing})
        assert refusal.value.details["faults"][0]["field"] == argument, nothing


@pytest.mark.parametrize(("tool", "argument"), EVERY_ARGUMENT)
def test_half_of_a_character_is_refused_by_the_name_of_its_argument(
    tool: str, argument: str
) -> None:
    kind = kinds_of(BY_NAME[tool].arguments)[argument]
    for half in (
        "an emoji in halves \ud83d",
        "\udc80",
        repaired('"it ends in \\ud83d"').strip('"'),
    ):
        given: Any = [half] if kind.is_list else half
        if kind.model is not None:
            given = [
                {
                    name: half
                    for name, inner in kinds_of(kind.model).items()
                    if not inner.is_optional
                }
            ]
        with pytest.raises(SearchValidationError, match="half of a character") as refusal:
            BY_NAME[tool].parse({**required(BY_NAME[tool]), argument: given})
        assert refusal.value.details["faults"][0]["field"].split(".")[0] == argument


def other_forms(kind: Kind, typed: Any) -> Iterator[Any]:
    """The forms in which clients and models send a value that has its own type."""
    if kind.is_list:
        yield json.dumps(typed)
        yield f" {json.dumps(typed, indent=1)}\n"
        if kind.model is None:
            yield str(typed)
            yield tuple(typed)
        else:
            yield [json.dumps(item) for item in typed]
        return
    yield [typed]
    if kind.choices:
        yield from (typed.upper(), f" {typed} ", [typed.title()])
    elif bool in kind.types:
        yield from ("false", "False", "FALSE ", "0", 0, "no", ["false"])
    elif float in kind.types:
        yield from ("0.5", " 0.5 ", "5e-1", ["0.5"])
    elif int in kind.types:
        yield from ("5", " 5", 5.0, "5.0", ["5"])


@pytest.mark.parametrize(("tool", "argument"), EVERY_ARGUMENT)
def test_a_value_in_another_form_is_the_value(tool: str, argument: str) -> None:
    kind = kinds_of(BY_NAME[tool].arguments)[argument]
    typed = sample(kind)
    usual = required(BY_NAME[tool])
    expected = BY_NAME[tool].parse({**usual, argument: typed})
    for form in other_forms(kind, typed):
        assert BY_NAME[tool].parse({**usual, argument: form}) == expected, form


@pytest.mark.parametrize(("tool", "argument"), EVERY_ARGUMENT)
def test_a_single_value_is_a_list_of_one(tool: str, argument: str) -> None:
    kind = kinds_of(BY_NAME[tool].arguments)[argument]
    if not kind.is_list:
        return
    one = sample(kind)[0]
    usual = required(BY_NAME[tool])
    expected = BY_NAME[tool].parse({**usual, argument: [one]})
    assert BY_NAME[tool].parse({**usual, argument: one}) == expected
    if kind.model is not None:
        assert BY_NAME[tool].parse({**usual, argument: json.dumps(one)}) == expected


def unclear(kind: Kind) -> Iterator[Any]:
    """Values that are not of this kind, or may be several."""
    if kind.is_list:
        yield from ([{"a": 1}], [[1], [2]], {"a": "b"})
        return
    yield from ({"a": 1}, ["a", "b"])
    if kind.choices:
        yield from ("fortnight", 5, True)
    elif bool in kind.types:
        yield from ("maybe", 2, 0.5, "null?")
    elif kind.types & {int, float}:
        yield from ("five", "5 results", True, "true", "NaN", "[5, 6]", "--5")
        if int in kind.types:
            yield from (5.5, "5.5", float("inf"))
    else:
        yield from (True, 5.5)


@pytest.mark.parametrize(("tool", "argument"), EVERY_ARGUMENT)
def test_what_can_mean_nothing_or_several_things_is_refused_by_name(
    tool: str, argument: str
) -> None:
    kind = kinds_of(BY_NAME[tool].arguments)[argument]
    for value in unclear(kind):
        with pytest.raises(SearchValidationError) as refusal:
            BY_NAME[tool].parse({**required(BY_NAME[tool]), argument: value})
        assert refusal.value.details["faults"][0]["field"].split(".")[0] == argument, value


@pytest.mark.parametrize(
    "query", ["null", "none", "", "5", "true", '["a","b"]', "['a']", '{"claim": "a"}', "[1] who?"]
)
@pytest.mark.parametrize(
    "tool", ["search_web", "web_search", "search_news", "search_docs", "search_similar"]
)
def test_a_query_stays_the_text_that_it_is(tool: str, query: str) -> None:
    assert BY_NAME[tool].parse({"query": query}).query == query


@pytest.mark.parametrize(
    ("given", "queries"),
    [
        ("null", ("null",)),
        ("5", ("5",)),
        (["null"], ("null",)),
        ('["a", "b"]', ("a", "b")),
        ("['a', \"it's\"]", ("a", "it's")),
        ("[1] what is a footnote?", ("[1] what is a footnote?",)),
        ("[unclosed", ("[unclosed",)),
        ('{"a": 1}', ('{"a": 1}',)),
        ("a, b", ("a, b",)),
        ("", ()),
        ([""], ()),
        (["a", ""], ("a", "")),
    ],
)
@pytest.mark.parametrize("tool", ["web_search_raw", "read_from_page"])
def test_one_query_or_several_come_as_a_text_or_a_list(
    tool: str, given: Any, queries: tuple[str, ...]
) -> None:
    address = {"url": "https://a.org/"} if tool == "read_from_page" else {}
    assert BY_NAME[tool].parse({**address, "query": given}).queries == queries


def test_claims_come_as_sentences_objects_and_json_of_either() -> None:
    forms: tuple[Any, ...] = (
        ["It is tall."],
        "It is tall.",
        '["It is tall."]',
        [{"claim": "It is tall."}],
        {"claim": "It is tall."},
        '{"claim": "It is tall."}',
        '[{"claim": "It is tall.", "urls": null}]',
        [{"claim": "It is tall.", "urls": "null"}],
        [{"Claim": "It is tall.", "links": [""]}],
    )
    for claims in forms:
        (claim,) = BY_NAME["check_claims"].parse({"claims": claims})
        assert (claim.claim, claim.urls) == ("It is tall.", ()), claims


def test_an_unknown_argument_is_told_with_those_that_exist() -> None:
    with pytest.raises(SearchValidationError, match="colour: Unknown argument") as refusal:
        BY_NAME["check_claims"].parse({"claims": [{"claim": "It is tall.", "colour": "red"}]})
    assert refusal.value.message.endswith("claims.0 takes: claim, urls.")
    for tool in TOOLS:
        with pytest.raises(SearchValidationError) as refusal:
            tool.parse({**required(tool), "colour": "red"})
        known = list(kinds_of(tool.arguments))
        assert refusal.value.details["known"] == known
        assert all(name in refusal.value.message for name in known)


def test_a_fault_within_an_object_is_told_by_the_name_that_was_given() -> None:
    with pytest.raises(
        SearchValidationError, match=r"claims\.0\.urls\.0 \(given as claims\.0\.links\)"
    ):
        BY_NAME["check_claims"].parse({"claims": [{"claim": "It is tall.", "links": [5.5]}]})


def test_lists_within_objects_are_not_longer_than_those_of_the_call() -> None:
    with pytest.raises(SearchValidationError, match="At most 5 items are allowed, not 300000"):
        BY_NAME["check_claims"].parse({"claims": [{"claim": "It is tall.", "urls": [1] * 300_000}]})
    with pytest.raises(SearchValidationError) as refusal:
        BY_NAME["check_claims"].parse({"claims": [{str(number): 1 for number in range(90_000)}]})
    assert len(refusal.value.details["faults"]) == MOST_FAULTS


def test_a_list_as_text_is_read_up_to_a_length_that_no_true_one_has() -> None:
    claims = [{"claim": "It is tall.", "urls": ["https://a.org/"]}] * 20
    padding = " " * (LONGEST_JSON - len(json.dumps(claims)) - 2)
    assert (
        len(BY_NAME["check_claims"].parse({"claims": f"[{padding}{json.dumps(claims)[1:]}"})) == 20
    )
    for text in (
        "[" * LONGEST_TEXT,
        "[" * LONGEST_JSON,
        f"[{padding}{json.dumps(claims)[1:]}{' ' * 9}",
    ):
        with pytest.raises(
            SearchValidationError, match=f"At most {LONGEST_TEXT} characters|claims"
        ):
            BY_NAME["check_claims"].parse({"claims": text + "x"})


@pytest.mark.parametrize("model", LENIENT)
def test_parameters_of_other_apis_that_say_nothing_are_absent(model: str) -> None:
    parameters = LENIENT[model]
    for name, kind in kinds_of(parameters).items():
        for nothing in ABSENT if kind.is_optional and Any not in kind.types else (None,):
            assert parameters.of({name: nothing}) == parameters.of({}), (name, nothing)


@pytest.mark.parametrize("model", LENIENT)
def test_parameters_of_other_apis_are_understood_in_other_forms(model: str) -> None:
    parameters = LENIENT[model]
    for name, kind in kinds_of(parameters).items():
        if Any in kind.types or len(kind.types) > 1:
            continue
        typed = sample(kind)
        for form in other_forms(kind, typed):
            assert parameters.of({name: form}) == parameters.of({name: typed}), (name, form)


@pytest.mark.parametrize("name", ["query", "q"])
def test_a_query_in_another_api_may_be_any_word(name: str) -> None:
    asked = [model for model in LENIENT.values() if name in model.model_fields]
    assert asked
    for model in asked:
        assert getattr(model.of({name: "null"}), name) == "null"


def test_the_tools_of_a_model_have_domains_and_a_country_in_the_same_forms() -> None:
    def asked(domains: Any, country: Any) -> Any:
        tool = {"filters": {"allowed_domains": domains}, "user_location": {"country": country}}
        return question("How tall is it?", [tool])

    for nothing in ABSENT:
        assert asked(nothing, nothing) == question("How tall is it?", [])
    assert asked('["a.org"]', ["de"]) == asked(["a.org"], "de") == asked("a.org", "Germany")


@pytest.mark.parametrize("tool", BY_NAME)
def test_a_listed_schema_has_one_type_for_each_value(tool: str) -> None:
    """The dialects of some models know neither alternatives nor lists of types."""

    def check(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                check(item)
        elif isinstance(node, dict):
            assert not {"anyOf", "oneOf", "$ref", "$defs"} & node.keys()
            assert isinstance(node.get("type", ""), str | dict)
            for value in node.values():
                check(value)

    check(input_schema(BY_NAME[tool].arguments))
