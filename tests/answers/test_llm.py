"""The whole path of `llm` over real sockets: raw search, pages, a small model with the faults of small models."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from websearch_gateway.app.gateway import Gateway
from websearch_gateway.errors import SearchAuthError
from websearch_gateway.models import SearchRequest
from websearch_gateway.results import SearchResponse
from websearch_gateway.sandbox import LLM_MODEL, Sandbox

Open = Callable[..., AbstractAsyncContextManager[Gateway]]
TOWER = SearchRequest("How tall is the Eiffel Tower?")
WINDMILL = SearchRequest("How many sails does the Pellworth windmill have?", max_results=1)
NO_FORM = "'response_format.type' must be 'text'"


async def ask(gateway: Open, request: SearchRequest = TOWER, **settings: object) -> SearchResponse:
    async with gateway(
        **{"answer_engines": "llm", "llm_model": LLM_MODEL, "search_providers": "serper"} | settings
    ) as opened:
        return await opened.search(request)


async def test_the_model_writes_and_every_sentence_has_its_page(
    gateway: Open, sandbox: Sandbox
) -> None:
    response = await ask(gateway)
    assert (response.provider, response.model) == ("sandbox-model-over-serper", "sandbox-model")
    assert response.text.startswith("The Eiffel Tower in Paris is 330 metres tall"), (
        "what is asked comes first"
    )
    assert response.fallback is None
    for citation in response.citations:
        for span in citation.spans:
            assert response.text[span.start_index : span.end_index] == f"[{citation.rank}]"
    assert response.cost_usd == pytest.approx(0.001)
    assert sandbox.calls("llm") == 1


def is_proven(response: SearchResponse) -> bool:
    """Whether each place of a citation shows words of its page, with an address that leads to them."""
    spans = [span for citation in response.citations for span in citation.spans]
    return bool(spans) and all(
        span.quote and "#:~:text=" in (span.quote_url or "") and span.support for span in spans
    )


@pytest.mark.parametrize("in_json", [True, False], ids=["in JSON", "in plain text"])
@pytest.mark.parametrize(
    "fault",
    [
        None,
        "own_words",
        "old_marks",
        "no_marks",
        "made_up_sources",
        "made_up_quotes",
        "thinks_aloud",
        "breaks_off",
    ],
)
async def test_a_weak_model_still_answers_and_each_sentence_shows_its_quote(
    gateway: Open, sandbox: Sandbox, fault: str | None, in_json: bool
) -> None:
    if not in_json:
        sandbox.fault("llm", "status", status=400, reason=NO_FORM, times=1)
    if fault:
        sandbox.fault("llm", fault)
    response = await ask(gateway)
    assert response.provider == "sandbox-model-over-serper"
    assert "metres" in response.text
    assert is_proven(response)
    supports = {citation.support for citation in response.citations}
    assert supports == {"verbatim"}, "what nearly copies its source is given as the source has it"
    first = response.citations[0]
    assert (first.quote, first.quote_url) == (first.spans[0].quote, first.spans[0].quote_url)


@pytest.mark.parametrize("in_json", [True, False], ids=["in JSON", "in plain text"])
@pytest.mark.parametrize(
    "fault", ["wrong_numbers", "wrong_names", "other_language", "no_answer", "prompt_echo"]
)
async def test_sentences_that_the_pages_do_not_support_are_never_served(
    gateway: Open, sandbox: Sandbox, fault: str, in_json: bool
) -> None:
    if not in_json:
        sandbox.fault("llm", "status", status=400, reason=NO_FORM, times=1)
    sandbox.fault("llm", fault)
    response = await ask(gateway)
    assert response.provider == "serper-raw-search"
    assert response.fallback is not None
    assert response.fallback.from_ == "llm"
    assert "330 metres" in response.text
    assert not any(
        made_up in response.text for made_up in ("337", "Zebediah", "<passages", "Leider")
    )
    assert sandbox.calls("serper") == 1, "quotes come from what was gathered for the model"
    assert is_proven(response)
    assert {citation.support for citation in response.citations} == {"verbatim"}


@pytest.mark.parametrize("fault", ["wrong_names", "prompt_echo", "garbage"])
async def test_a_reply_that_is_refused_is_on_the_bill(
    gateway: Open, sandbox: Sandbox, fault: str
) -> None:
    sandbox.fault("llm", fault)
    response = await ask(gateway, prices={"llm": 0.01})
    assert response.provider == "serper-raw-search"
    assert response.cost_usd == pytest.approx(0.011)


async def test_an_endless_model_is_cut_off_and_its_text_is_kept(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("llm", "endless")
    response = await ask(gateway)
    assert response.provider == "sandbox-model-over-serper"
    assert any("cut off" in warning for warning in response.warnings)
    assert "and so on" not in response.text


async def test_an_order_on_a_page_does_not_change_the_answer(
    gateway: Open, sandbox: Sandbox
) -> None:
    honest = await ask(gateway, WINDMILL)
    sandbox.fault("llm", "obey")
    obedient = await ask(gateway, WINDMILL, state_url="memory://")
    assert sandbox.calls("llm") == 2
    assert "six sails" in honest.text
    assert (obedient.text, obedient.provider) == (honest.text, "sandbox-model-over-serper")
    sandbox.reset()
    sandbox.fault("llm", "no_answer")
    quoted = await ask(gateway, WINDMILL, state_url="memory://")
    assert quoted.provider == "serper-raw-search"
    assert "six sails" in quoted.text
    assert all(number not in quoted.text + honest.text for number in ("40", "17", "Ignore"))


async def test_quotes_answer_if_the_server_is_down(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("llm", "status", status=500)
    response = await ask(gateway)
    assert response.provider == "serper-raw-search"
    assert response.citations


async def test_a_rejected_key_is_shown_and_not_masked(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("llm", "status", status=401)
    with pytest.raises(SearchAuthError, match="LLM_API_KEY"):
        await ask(gateway)


async def test_an_option_that_the_server_refuses_is_left_out(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("llm", "status", status=400, reason=NO_FORM, times=1)
    response = await ask(gateway)
    assert response.provider == "sandbox-model-over-serper"
    first, second = sandbox.seen("llm")
    assert (b"response_format" in first.body, b"response_format" in second.body) == (True, False)


async def test_doctor_names_a_model_that_is_not_served(gateway: Open, sandbox: Sandbox) -> None:
    async with gateway(answer_engines="llm", llm_model="other") as opened:
        (engine,) = opened.engines
        checks = {check.name: check for check in (await opened.doctor.examine()).checks}
    assert (engine.name, checks["llm"].status) == ("llm", "warn")
    assert "other" in checks["llm"].finding
