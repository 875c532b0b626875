"""The search vendors refuse what the real APIs refuse, in their words; test_client_searcher.py has what they find."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from websearch_gateway.sandbox import GOOGLE_ENGINE, Sandbox, key_of

PATHS = {
    "serper": "/serper/search",
    "tavily": "/tavily/search",
    "brave": "/brave/res/v1/web/search",
    "google": "/google/customsearch/v1",
    "synthetic": "/synthetic/v2/search",
    "exa": "/exa/search",
    "firecrawl": "/firecrawl/v2/search",
    "linkup": "/linkup/v1/search",
    "jina": "/jina/",
    "perplexity": "/perplexity/search",
    "searxng": "/searxng/search",
}
BY_GET = ("brave", "google", "jina", "searxng")
LINKUP = {"q": "sourdough bread", "depth": "standard", "outputType": "searchResults"}
QUERY = "water harbour coffee time"
HOSTS = [f"host{number}.example" for number in range(1_201)]


async def ask(
    http: httpx2.AsyncClient, vendor: str, key: str = "", **asked: Any
) -> httpx2.Response:
    key = key or key_of(vendor)
    headers = {"Authorization": f"Bearer {key}", "X-API-Key": key, "X-Subscription-Token": key}
    if vendor == "google":
        asked = {"key": key, "cx": GOOGLE_ENGINE, **asked}
    given = {"params": asked} if vendor in BY_GET else {"json": asked}
    return await http.request(
        "GET" if vendor in BY_GET else "POST", PATHS[vendor], headers=headers, **given
    )


@pytest.mark.parametrize(
    ("vendor", "status", "asked"),
    [
        *(
            ("serper", 400, {"q": "x"} | wrong)
            for wrong in ({"q": " "}, {"num": 0}, {"num": 101}, {"page": 0})
        ),
        ("tavily", 422, {}),
        *(
            ("tavily", 400, {"query": "x"} | wrong)
            for wrong in (
                {"query": " "},
                {"max_results": 21},
                {"search_depth": "abyss"},
                {"topic": "sports"},
                {"topic": "news", "country": "germany"},
                {"time_range": "hour"},
                {"start_date": "yesterday"},
                {"include_domains": HOSTS[:301]},
                {"exclude_domains": HOSTS[:151]},
            )
        ),
        *(
            ("brave", 422, {"q": "x"} | wrong)
            for wrong in (
                {"q": " "},
                {"q": "x" * 401},
                {"q": "x " * 51},
                {"count": "21"},
                {"count": "many"},
                {"offset": "10"},
                {"freshness": "ph"},
                {"freshness": "2025-13-01to2025-13-02"},
                {"safesearch": "on"},
                {"country": "KP"},
                {"search_lang": "ja"},
            )
        ),
        *(
            ("google", 400, {"q": "x"} | wrong)
            for wrong in (
                {"q": ""},
                {"num": "11"},
                {"num": "0"},
                {"start": "0"},
                {"start": "91"},
                {"num": "ten"},
                {"dateRestrict": "h1"},
                {"safe": "high"},
                {"cx": "other"},
            )
        ),
        ("synthetic", 400, {}),
        *(
            ("exa", 400, {"query": "x"} | wrong)
            for wrong in (
                {"query": " "},
                {"numResults": 101},
                {"includeDomains": ["a.example"], "excludeDomains": ["b.example"]},
                {"startPublishedDate": "soon"},
                {"type": "slow"},
                {"includeDomains": HOSTS},
                {"endPublishedDate": "soon"},
            )
        ),
        *(
            ("firecrawl", 400, {"query": "x"} | wrong)
            for wrong in (
                {"query": "x" * 501},
                {"limit": 0},
                {"includeDomains": ["a.example"], "excludeDomains": ["b.example"]},
                {"tbs": "qdr:decade"},
                {"sources": [{"type": "maps"}]},
                {"timeout": 300_001},
            )
        ),
        ("linkup", 400, {"q": "x", "depth": "standard"}),
        ("linkup", 400, LINKUP | {"fromDate": "last week"}),
        ("linkup", 400, LINKUP | {"q": "zzyzxqua"}),
        ("linkup", 400, LINKUP | {"maxResults": "all"}),
        ("jina", 400, {"q": "x", "num": 21}),
        ("jina", 400, {"q": "x", "type": "maps"}),
        ("jina", 422, {"q": "zzyzxqua"}),
        *(
            ("perplexity", 400, {"query": "x"} | wrong)
            for wrong in (
                {"max_results": 21},
                {"search_domain_filter": ["a.example", "-b.example"]},
                {"search_recency_filter": "decade"},
                {"query": ["x"] * 6},
                {"query": " "},
                {"search_domain_filter": HOSTS[:21]},
                {"search_language_filter": ["en"] * 21},
            )
        ),
        ("searxng", 403, {"q": "x", "format": "csv"}),
        *(
            ("searxng", 400, {"q": "x", "format": "json"} | wrong)
            for wrong in (
                {"q": " "},
                {"pageno": "0"},
                {"pageno": "x"},
                {"safesearch": "3"},
                {"time_range": "dog"},
            )
        ),
    ],
)
async def test_an_invalid_request_is_refused(
    http: httpx2.AsyncClient, vendor: str, status: int, asked: dict[str, Any]
) -> None:
    assert (await ask(http, vendor, **asked)).status_code == status


@pytest.mark.parametrize(
    ("vendor", "status", "body"),
    [
        ("serper", 403, {"message": "Unauthorized.", "statusCode": 403}),
        ("tavily", 401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}),
        ("brave", 422, {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}),
        ("google", 400, {"error": {"message": "API key not valid. Please pass a valid API key."}}),
        ("synthetic", 401, {"error": "Invalid API key"}),
        ("exa", 401, {"tag": "INVALID_API_KEY"}),
        ("firecrawl", 401, {"success": False}),
        ("linkup", 401, {"error": {"code": "UNAUTHORIZED"}}),
        ("jina", 401, {"data": None, "name": "AuthenticationRequiredError"}),
        ("perplexity", 401, {"error": {"code": 401}}),
    ],
)
async def test_a_wrong_key_is_refused_in_the_vendors_words(
    http: httpx2.AsyncClient, vendor: str, status: int, body: dict[str, Any]
) -> None:
    reply = await ask(http, vendor, key="wrong", q="x", query="x")
    assert reply.status_code == status
    for name, value in body.items():
        found = reply.json()[name]
        assert value.items() <= found.items() if isinstance(value, dict) else value == found


@pytest.mark.parametrize(
    ("vendor", "status", "reason", "words"),
    [
        ("serper", 400, None, "Not enough credits"),
        ("tavily", 429, None, "excessive requests"),
        ("tavily", 432, None, "set usage limit"),
        ("tavily", 433, None, "pay-as-you-go"),
        ("brave", 429, None, "RATE_LIMITED"),
        ("brave", 429, "QUOTA_LIMITED", "QUOTA_LIMITED"),
        ("google", 429, None, "rateLimitExceeded"),
        ("exa", 402, None, "NO_MORE_CREDITS"),
        ("firecrawl", 402, None, "Insufficient credits"),
        ("jina", 402, None, "InsufficientBalanceError"),
        ("searxng", 403, None, "<title>403"),
        ("duckduckgo", 403, None, "<title>403"),
    ],
)
async def test_a_spent_limit_has_the_status_and_the_words_of_the_vendor(
    sandbox: Sandbox,
    http: httpx2.AsyncClient,
    vendor: str,
    status: int,
    reason: str | None,
    words: str,
) -> None:
    sandbox.fault(vendor, "status", status=status, reason=reason)
    reply = await http.get(PATHS.get(vendor, "/duckduckgo/html/"))
    assert reply.status_code == status
    assert words in reply.text


async def test_a_result_has_its_date_and_its_text_as_the_vendor_writes_them(
    http: httpx2.AsyncClient,
) -> None:
    bread = {"q": "sourdough bread", "query": "sourdough bread"}
    serper = (await ask(http, "serper", **bread, num=20)).json()
    assert (serper["organic"][0]["date"], serper["credits"]) == ("Oct 14, 2023", 2)
    brave = (await ask(http, "brave", **bread, extra_snippets="true")).json()["web"]["results"][0]
    assert "<strong>bread</strong>" in brave["description"]
    assert (brave["page_age"], brave["age"]) == ("2023-10-14T00:00:00", "October 14, 2023")
    assert len(brave["extra_snippets"]) == 3
    tavily = (
        await ask(http, "tavily", **bread, include_answer=True, include_raw_content=True)
    ).json()
    assert "sourdough" in tavily["answer"]
    assert (tavily["results"][0]["score"], "500 grams" in tavily["results"][0]["raw_content"]) == (
        1,
        True,
    )
    google = (await ask(http, "google", **bread)).json()["items"][0]
    assert google["pagemap"]["metatags"][0]["article:published_time"].startswith("2023-10-14")
    exa = {"contents": {"text": {"maxCharacters": 40}}}
    assert len((await ask(http, "exa", **bread, **exa)).json()["results"][0]["text"]) == 40
    assert "text" not in (await ask(http, "exa", **bread)).json()["results"][0]
    read = {"limit": 2, "scrapeOptions": {"formats": ["markdown"]}}
    firecrawl = (await ask(http, "firecrawl", query="water time", **read)).json()
    assert (len(firecrawl["data"]["web"][0]["markdown"]) > 500, firecrawl["creditsUsed"]) == (
        True,
        4,
    )


async def test_firecrawl_counts_ten_results_at_a_time_and_takes_every_source(
    http: httpx2.AsyncClient,
) -> None:
    asked = {"query": QUERY, "limit": 15, "sources": [{"type": "web"}, {"type": "images"}]}
    reply = (await ask(http, "firecrawl", **asked)).json()
    assert (len(reply["data"]["web"]), reply["data"]["images"], reply["creditsUsed"]) == (15, [], 4)


async def test_perplexity_takes_several_queries(http: httpx2.AsyncClient) -> None:
    reply = await ask(http, "perplexity", query=["sourdough bread", "espresso"])
    assert len(reply.json()["results"]) > 1


async def test_firecrawl_takes_hours_and_ranges_of_days(http: httpx2.AsyncClient) -> None:
    ranges = {"qdr:h": 0, "cdr:1,cd_min:02/01/2025,cd_max:02/11/2025": 1}
    for tbs, count in ranges.items():
        assert (
            len((await ask(http, "firecrawl", query="espresso", tbs=tbs)).json()["data"]["web"])
            == count
        )


async def test_the_next_page_is_announced_and_another_one(http: httpx2.AsyncClient) -> None:
    pages = [
        (await ask(http, "brave", q=QUERY, count="5", offset=str(page))).json() for page in (0, 1)
    ]
    assert pages[0]["query"]["more_results_available"] is True
    first, second = ({hit["url"] for hit in page["web"]["results"]} for page in pages)
    assert (len(first), len(second), first & second) == (5, 5, set())
    start = (await ask(http, "google", q=QUERY, num="5")).json()["queries"]["nextPage"][0][
        "startIndex"
    ]
    assert start == 6
    last = (await ask(http, "google", q=QUERY, start="90")).json()
    assert ("items" in last, "nextPage" in last["queries"]) == (False, False)


async def test_a_period_and_domains_are_kept(http: httpx2.AsyncClient) -> None:
    spring = {"start_date": "2025-02-01", "end_date": "2025-03-01"}
    found = (await ask(http, "tavily", query="espresso", **spring)).json()["results"]
    assert [hit["title"] for hit in found] == ["How to pull a balanced espresso at home"]
    ranged = (await ask(http, "brave", q="espresso", freshness="2025-02-01to2025-02-11")).json()[
        "web"
    ]["results"]
    assert [hit["title"] for hit in ranged] == ["How to pull a balanced espresso at home"]
    for domain, some in (("127.0.0.1", True), ("example.com", False)):
        assert (
            bool(
                (await ask(http, "tavily", query="bread", include_domains=[domain])).json()[
                    "results"
                ]
            )
            is some
        )
        assert (
            bool(
                (await ask(http, "tavily", query="bread", exclude_domains=[domain])).json()[
                    "results"
                ]
            )
            is not some
        )
        sites = (await ask(http, "serper", q=f"bread site:{domain}")).json()["organic"]
        assert bool(sites) is some


async def test_duckduckgo_takes_only_what_a_person_would_send(http: httpx2.AsyncClient) -> None:
    for form in ({"q": "x" * 500}, {"q": "x", "s": "ten"}, {"q": QUERY, "s": "10", "vqd": ""}):
        blocked = await http.post("/duckduckgo/html/", data=form)
        assert (blocked.status_code, "challenge-form" in blocked.text) == (202, True)
    page = (await http.post("/duckduckgo/html/", data={"q": QUERY})).text
    assert "duckduckgo.com/y.js?ad_domain" in page
    assert 0 < page.count('class="result__a" href="//duckduckgo.com/l/?uddg=') < 10
    assert (
        "No results found." in (await http.get("/duckduckgo/html/", params={"q": "zyzzyva"})).text
    )


async def test_a_searxng_answers_with_a_page_unless_json_is_asked_for(
    http: httpx2.AsyncClient,
) -> None:
    page = await http.get("/searxng/search", params={"q": "bread"})
    assert page.headers["content-type"].startswith("text/html")
    assert "sourdough-bread" in page.text


async def test_linkup_answers_with_its_sources(http: httpx2.AsyncClient) -> None:
    reply = (await ask(http, "linkup", **LINKUP | {"outputType": "sourcedAnswer"})).json()
    assert reply["answer"]
    assert {"name", "url", "snippet"} == reply["sources"][0].keys()
