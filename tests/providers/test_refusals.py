"""Each vendor's refusals become errors of the gateway. The bodies are those that the vendors send."""

from __future__ import annotations

import pytest

from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchNotConfiguredError,
    SearchProviderError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.ports import Provider
from websearch_gateway.providers.brave import Brave
from websearch_gateway.providers.duckduckgo import DuckDuckGo
from websearch_gateway.providers.google import Google
from websearch_gateway.providers.searxng import Searxng
from websearch_gateway.providers.serper import Serper
from websearch_gateway.providers.synthetic import Synthetic
from websearch_gateway.providers.tavily import Tavily
from websearch_gateway.providers.with_texts import Exa, Firecrawl, Jina, Linkup, PerplexitySearch

SERPER, TAVILY, BRAVE = Serper("k"), Tavily("k"), Brave("k")
GOOGLE, SEARXNG, DUCKDUCKGO = Google("k", "cx"), Searxng("http://searx"), DuckDuckGo()
EXA, FIRECRAWL, LINKUP, JINA, PERPLEXITY = (
    Exa("k"),
    Firecrawl("k"),
    Linkup("k"),
    Jina("k"),
    PerplexitySearch("k"),
)
NO_CREDIT = b'{"message":"Not enough credits","statusCode":400}'
BAD_TOKEN = b'{"type":"ErrorResponse","error":{"status":422,"code":"SUBSCRIPTION_TOKEN_INVALID"}}'
NO_PLAN = b'{"type":"ErrorResponse","error":{"status":404,"code":"SUBSCRIPTION_NOT_FOUND"}}'
QUOTA = b'{"type":"ErrorResponse","error":{"status":429,"code":"QUOTA_LIMITED"}}'
RATE = b'{"type":"ErrorResponse","error":{"status":429,"code":"RATE_LIMITED"}}'
PER_DAY = b'{"error":{"code":429,"message":"Quota exceeded for quota metric \'Queries\' and limit \'Queries per day\'"}}'
PER_MINUTE = b'{"error":{"code":429,"message":"Quota exceeded for quota metric \'Queries\' and limit \'per minute\'"}}'
BAD_KEY = b'{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}'
NO_RESULT = (
    b'{"statusCode":400,"error":{"code":"SEARCH_QUERY_NO_RESULT","message":"x","details":[]}}'
)
CHALLENGE = b'<html><body><form id="challenge-form"><div class="anomaly-modal__mask">x</div></form></body></html>'


@pytest.mark.parametrize(
    ("provider", "status", "body", "kind", "named"),
    [
        (
            SERPER,
            403,
            b'{"message":"Unauthorized.","statusCode":403}',
            SearchAuthError,
            "SERPER_API_KEY",
        ),
        (BRAVE, 422, BAD_TOKEN, SearchAuthError, "BRAVE_API_KEY"),
        (BRAVE, 404, NO_PLAN, SearchAuthError, "BRAVE_API_KEY"),
        (GOOGLE, 400, BAD_KEY, SearchAuthError, "GOOGLE_API_KEY"),
        (
            GOOGLE,
            403,
            b'{"error":{"status":"PERMISSION_DENIED"}}',
            SearchAuthError,
            "Custom Search",
        ),
        (
            SEARXNG,
            403,
            b"<h1>Forbidden</h1>",
            SearchNotConfiguredError,
            "`json` to `search.formats`",
        ),
        (SEARXNG, 401, b"", SearchAuthError, "SEARXNG_BASE_URL"),
    ],
)
def test_a_wrong_key_or_setting_is_shown_and_named(
    provider: Provider, status: int, body: bytes, kind: type[SearchError], named: str
) -> None:
    error = provider.refusal(status, {}, body)
    assert type(error) is kind
    assert named in error.message


@pytest.mark.parametrize(
    ("provider", "status", "body"),
    [
        (SERPER, 400, NO_CREDIT),
        (TAVILY, 432, b'{"detail":{"error":"This request exceeds your plan\'s set usage limit."}}'),
        (TAVILY, 433, b'{"detail":{"error":"This request exceeds the pay-as-you-go limit."}}'),
        (BRAVE, 429, QUOTA),
        (GOOGLE, 429, PER_DAY),
        (
            EXA,
            402,
            b'{"requestId":"1","error":"You have exceeded your credits.","tag":"NO_MORE_CREDITS"}',
        ),
        (FIRECRAWL, 402, b'{"success":false,"error":"Insufficient credits"}'),
        (
            LINKUP,
            429,
            b'{"statusCode":429,"error":{"code":"INSUFFICIENT_FUNDS_CREDITS","message":"x"}}',
        ),
        (LINKUP, 429, b'{"statusCode":429,"error":{"code":"EXCEED_BUDGET_LIMIT","message":"x"}}'),
        (JINA, 402, b'{"data":null,"code":402,"name":"InsufficientBalanceError"}'),
        (DUCKDUCKGO, 202, CHALLENGE),
        (DUCKDUCKGO, 403, b""),
    ],
)
def test_a_spent_quota_or_a_block_asks_for_a_pause(
    provider: Provider, status: int, body: bytes
) -> None:
    error = provider.refusal(status, {}, body)
    assert type(error) is SearchProviderError
    assert error.retry_after == (60 if provider is DUCKDUCKGO else 900)
    assert not error.retryable


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("1, 2558678", 1.0), ("2", 2.0), ("", 1.0), ("soon", 1.0), ("9" * 400, 1.0)],
)
def test_braves_rate_limit_is_over_when_its_first_counter_says(header: str, seconds: float) -> None:
    error = BRAVE.refusal(429, {"x-ratelimit-reset": header}, RATE)
    assert isinstance(error, Unavailable)
    assert error.retryable
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("provider", "status", "body"),
    [
        (SERPER, 400, b'{"message":"Missing query parameter","statusCode":400}'),
        (TAVILY, 401, b'{"detail":{"error":"Unauthorized: missing or invalid API key."}}'),
        (
            TAVILY,
            429,
            b'{"detail":{"error":"Your request has been blocked due to excessive requests."}}',
        ),
        (BRAVE, 422, b'{"type":"ErrorResponse","error":{"status":422,"code":"VALIDATION"}}'),
        (GOOGLE, 400, b'{"error":{"status":"INVALID_ARGUMENT"}}'),
        (GOOGLE, 429, PER_MINUTE),
        (
            EXA,
            400,
            b'{"requestId":"1","error":"Invalid request body","tag":"INVALID_REQUEST_BODY"}',
        ),
        (EXA, 429, b""),
        (FIRECRAWL, 401, b'{"success":false,"error":"Unauthorized"}'),
        (LINKUP, 429, b'{"statusCode":429,"error":{"code":"TOO_MANY_REQUESTS","message":"x"}}'),
        (LINKUP, 400, NO_RESULT),
        (JINA, 422, b'{"data":null,"code":422,"status":42206}'),
        (PERPLEXITY, 429, b""),
        (SEARXNG, 429, b""),
        (Synthetic("k"), 401, b'{"error":"Invalid API key"}'),
        (DUCKDUCKGO, 503, b""),
    ],
)
def test_the_common_rules_apply_to_all_other_replies(
    provider: Provider, status: int, body: bytes
) -> None:
    assert provider.refusal(status, {}, body) is None


def test_duckduckgos_bot_page_is_recognised_whatever_its_status() -> None:
    with pytest.raises(SearchProviderError, match="bot") as raised:
        DUCKDUCKGO.parse(CHALLENGE)
    assert raised.value.retry_after == 60


def test_searxng_without_hits_and_with_failed_engines_is_an_error() -> None:
    with pytest.raises(SearchProviderError, match="did not respond"):
        SEARXNG.parse(b'{"results": [], "unresponsive_engines": [["brave", "timeout"]]}')


def test_linkups_other_replies_with_status_400_say_that_the_request_is_invalid() -> None:
    error = LINKUP.refusal(
        400, {}, b'{"statusCode":400,"error":{"code":"VALIDATION_ERROR","message":"x"}}'
    )
    assert type(error) is SearchValidationError


def test_a_reply_that_says_that_nothing_was_found_is_an_answer() -> None:
    assert LINKUP.parse(NO_RESULT) == []
    assert (
        JINA.parse(b'{"data":null,"code":422,"status":42206,"name":"AssertionFailureError"}') == []
    )
