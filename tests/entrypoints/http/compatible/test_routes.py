"""What the real clients do not show: keys in odd places, colliding paths, sloppy values."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.entrypoints.http.compatible.conftest import KEY
from tests.patience import PATIENCE
from websearch_gateway.entrypoints.http.compatible.table import COMPATIBLE
from websearch_gateway.entrypoints.http.middleware import MAX_STRANGER_BYTES
from websearch_gateway.sandbox import Sandbox

QUERY = "How do I descale an espresso machine?"
QUESTION = "How tall is the Eiffel Tower?"


@pytest.fixture(scope="module")
def http(base: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=base, timeout=PATIENCE, trust_env=False) as client:
        yield client


@pytest.fixture(scope="module")
def closed(closed_base: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=closed_base, timeout=PATIENCE, trust_env=False) as client:
        yield client


def test_a_path_that_two_apis_share_is_told_apart_by_method_and_body(http: httpx2.Client) -> None:
    tavily = http.post("/search", json={"query": QUERY}).json()
    searxng = [
        http.get("/search", params={"q": QUERY, "format": "json"}),
        http.post("/search", data={"q": QUERY, "format": "json"}),
        http.get("/", params={"q": QUERY, "format": "json"}, headers={"Accept": "text/html"}),
    ]
    assert "response_time" in tavily
    assert all("unresponsive_engines" in reply.json() for reply in searxng)


def test_an_app_is_not_sent_to_a_server_that_it_does_not_have(http: httpx2.Client) -> None:
    asked = "polymarket odds on the height of the eiffel tower"
    message = {"messages": [{"role": "user", "content": asked}]}
    replies = [
        http.post("/search", json={"query": asked}),
        http.get("/search", params={"q": asked, "format": "json"}),
        http.post("/openwebui/search", json={"query": asked}),
        http.post("/v1/chat/completions", json=message),
        http.post("/v1/responses", json={"input": asked}),
    ]
    assert [reply.status_code for reply in replies] == [200] * 5
    assert (
        http.post("/v1/search", json={"query": asked}).json()["error"]["details"]["use"]
        == "polymarket"
    )


def test_the_root_without_a_search_is_the_status_page(http: httpx2.Client) -> None:
    for query in ("", "?q=x", "?format=json", "?q=x&format=html"):
        assert http.get(f"/{query}").headers["content-type"].startswith("text/html")


def test_nothing_that_clients_divide_by_or_sort_by_is_null(http: httpx2.Client) -> None:
    found = http.get("/search", params={"q": QUERY, "format": "json"}).json()
    assert found["number_of_results"] == len(found["results"]) > 0
    for result in found["results"]:
        assert isinstance(result["score"], float)
        assert all(isinstance(result[name], str) for name in ("url", "title", "content", "engine"))
        assert result["engines"]
        assert result["category"] == "general"


@pytest.mark.parametrize(
    "sloppy",
    [
        {
            "time_range": "",
            "categories": "",
            "language": "all",
            "engines": "google,bing",
            "theme": "simple",
        },
        {"safesearch": "False", "language": "auto"},
        {"language": "en-US", "safesearch": "2", "time_range": "year"},
    ],
)
def test_values_that_sloppy_clients_send_are_understood(
    http: httpx2.Client, sloppy: dict[str, str]
) -> None:
    assert http.get("/search", params={"q": QUERY, "format": "json", **sloppy}).status_code == 200


@pytest.mark.parametrize(
    "wrong", [{"pageno": "0"}, {"time_range": "decade"}, {"safesearch": "9"}, {"format": "rss"}]
)
def test_a_value_that_searxng_refuses_is_refused_in_its_shape(
    http: httpx2.Client, wrong: dict[str, str]
) -> None:
    reply = http.get("/search", params={"q": QUERY, "format": "json", **wrong})
    assert reply.status_code == 400
    assert isinstance(reply.json()["error"], str)
    assert http.get("/search", params={"q": "", "format": "json"}).json() == {"error": "No query"}


def in_a_place(name: str, value: object) -> tuple[str, dict[str, object]]:
    """The path and the body of a request that has this country or language."""
    question = {"role": "user", "content": QUESTION}
    location = {"user_location": {"type": "approximate", "country": value}}
    bodies: dict[str, tuple[str, dict[str, object]]] = {
        "country": ("/tavily/search", {"query": QUERY, "country": value}),
        "language": ("/tavily/search", {"query": QUERY, "language": value}),
        "responses": (
            "/v1/responses",
            {"input": QUESTION, "tools": [{"type": "web_search", **location}]},
        ),
        "chat": (
            "/v1/chat/completions",
            {
                "messages": [question],
                "web_search_options": {"user_location": {"approximate": {"country": value}}},
            },
        ),
        "filters.allowed_domains": (
            "/v1/responses",
            {
                "input": QUESTION,
                "tools": [{"type": "web_search", "filters": {"allowed_domains": value}}],
            },
        ),
    }
    return bodies[name]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("country", "Atlantis", "`country` must be an ISO 3166-1 alpha-2 code"),
        ("country", "XX", "`country` must be"),
        ("language", "klingon", "`language` must be an ISO 639-1 code"),
        ("language", "xx", "`language` must be"),
        ("responses", "Atlantis", "`user_location.country` must be an ISO 3166-1"),
        ("responses", 49, "`user_location.country` must be"),
        ("responses", {"code": "DE"}, "`user_location.country` must be"),
        ("chat", "XX", "`user_location.country` must be"),
        ("filters.allowed_domains", [5], "`filters.allowed_domains` must be a list of domains"),
        (
            "filters.allowed_domains",
            ["a.org", {"domain": "b.org"}],
            "`filters.allowed_domains` must be",
        ),
    ],
)
def test_a_place_or_a_language_that_is_none_is_refused_by_name(
    http: httpx2.Client, sandbox: Sandbox, name: str, value: object, told: str
) -> None:
    path, body = in_a_place(name, value)
    before = sandbox.calls("")
    reply = http.post(path, json=body)
    assert (reply.status_code, told in reply.text) == (400, True), reply.text
    assert sandbox.calls("") == before


@pytest.mark.parametrize(
    "language", ["xx-YY", "de-XX", "tlh", "english please", "es-419", "de-AT-CH", "de-"]
)
def test_searxng_refuses_a_language_that_would_change_nothing(
    http: httpx2.Client, sandbox: Sandbox, language: str
) -> None:
    before = sandbox.calls("")
    reply = http.get("/search", params={"q": QUERY, "format": "json", "language": language})
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"].startswith("`language` must be all, auto, or an ISO 639-1 code")
    assert sandbox.calls("") == before


@pytest.mark.parametrize(
    "language", ["all", "AUTO", "de", "de_at", "zh-Hans-CN", "sr-Latn", "English", "en-UK"]
)
def test_searxng_takes_a_language_in_all_its_forms(http: httpx2.Client, language: str) -> None:
    reply = http.get("/search", params={"q": QUERY, "format": "json", "language": language})
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("country", "germany"),
        ("country", "the Netherlands"),
        ("language", "de-AT"),
        ("language", "German"),
        ("responses", "Germany"),
        ("chat", "null"),
        ("filters.allowed_domains", "toureiffel.paris"),
    ],
)
def test_a_place_or_a_language_has_several_forms(
    http: httpx2.Client, name: str, value: str
) -> None:
    path, body = in_a_place(name, value)
    assert http.post(path, json=body).status_code == 200


@pytest.mark.parametrize("query", ["AI", "C#"])
def test_two_characters_are_a_query_in_every_other_api(http: httpx2.Client, query: str) -> None:
    replies = {
        "searxng": http.get("/search", params={"q": query, "format": "json"}),
        "tavily": http.post(
            "/search", json={"query": query, "include_answer": "TRUE", "max_results": "2"}
        ),
        "openwebui": http.post("/openwebui/search", json={"query": query, "count": "2"}),
        "responses": http.post("/v1/responses", json={"input": query, "stream": "false"}),
        "chat": http.post(
            "/v1/chat/completions", json={"messages": [{"role": "user", "content": query}]}
        ),
    }
    assert {name: reply.status_code for name, reply in replies.items()} == dict.fromkeys(
        replies, 200
    )


def test_pages_follow_each_other_and_end(http: httpx2.Client) -> None:
    pages = [
        http.get("/search", params={"q": "water", "format": "json", "pageno": str(number)}).json()[
            "results"
        ]
        for number in (1, 2, 99)
    ]
    first, second = ({result["url"] for result in results} for results in pages[:2])
    assert len(first) == 10
    assert not first & second
    assert pages[2] == []


def test_images_are_not_searched(http: httpx2.Client, sandbox: Sandbox) -> None:
    found = http.get(
        "/search", params={"q": QUERY, "format": "json", "categories": "images"}
    ).json()
    assert found["results"] == []
    assert sandbox.calls("") == 0


def test_a_page_of_another_site_cannot_make_a_browser_search(http: httpx2.Client) -> None:
    reply = http.get(
        "/search", params={"q": QUERY, "format": "json"}, headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert reply.status_code == 403


def test_searxng_tells_its_engines_and_health(http: httpx2.Client) -> None:
    config = http.get("/config").json()
    assert "general" in config["categories"]
    assert "brave" in [engine["name"] for engine in config["engines"]]
    assert http.get("/searxng/healthz").text == "OK"


def test_open_webui_gets_bare_lists_and_finds_its_links_again(
    http: httpx2.Client, page: str
) -> None:
    found = http.post("/openwebui/search", json={"query": QUERY, "count": 2}).json()
    assert [sorted(one) for one in found] == [["link", "snippet", "title"]] * 2
    assert all(one["snippet"] for one in found)
    gone = "http://127.0.0.1:1/gone"
    (loaded,) = http.post("/openwebui/load", json={"urls": [page, gone]}).json()
    assert loaded["metadata"]["source"] == page
    assert "citric acid" in loaded["page_content"]


def test_a_key_is_found_where_each_client_puts_it(closed: httpx2.Client) -> None:
    basic = "Basic " + base64.b64encode(f"user:{KEY}".encode()).decode()
    tavily, searxng = {"query": QUERY}, {"q": QUERY, "format": "json"}
    assert closed.post("/search", json={**tavily, "api_key": KEY}).status_code == 200
    assert (
        closed.post("/search", json=tavily, headers={"Authorization": f"Bearer {KEY}"}).status_code
        == 200
    )
    assert (
        closed.get("/searxng/search", params=searxng, headers={"Authorization": basic}).status_code
        == 200
    )
    assert closed.get("/search", params=searxng, headers={"X-API-Key": KEY}).status_code == 200


def test_a_key_in_a_long_body_is_not_looked_for(closed: httpx2.Client) -> None:
    def searched(size: int, **headers: str) -> httpx2.Response:
        body = json.dumps({"query": QUERY, "api_key": KEY}).encode()
        return closed.post(
            "/search",
            content=body.ljust(size),
            headers={"Content-Type": "application/json", **headers},
        )

    assert searched(MAX_STRANGER_BYTES).status_code == 200
    refused = searched(MAX_STRANGER_BYTES + 1)
    assert refused.status_code == 413
    assert "token in its header" in refused.json()["detail"]["error"]
    assert searched(MAX_STRANGER_BYTES + 1, Authorization=f"Bearer {KEY}").status_code == 200


def test_a_wrong_key_is_refused_wherever_it_stands(closed: httpx2.Client) -> None:
    basic = "Basic " + base64.b64encode(b"user:wrong").decode()
    for reply in (
        closed.post("/search", json={"query": QUERY}),
        closed.post("/search", json={"query": QUERY, "api_key": "wrong"}),
        closed.post(
            "/search",
            json={"query": QUERY, "api_key": KEY},
            headers={"Authorization": "Bearer wrong"},
        ),
        closed.post("/openwebui/search", json={"query": QUERY, "api_key": KEY}),
        closed.get(
            "/search", params={"q": QUERY, "format": "json"}, headers={"Authorization": basic}
        ),
        closed.get("/search", params={"q": QUERY, "format": "json", "api_key": KEY}),
        closed.post("/tavily/search", params={"api_key": KEY}, json={"query": QUERY}),
        closed.post(
            "/tavily/search", params={"api_key": KEY}, json={"query": QUERY, "api_key": KEY}
        ),
        closed.get(
            "/v1/models",
            headers={"Authorization": "Basic " + base64.b64encode(f"u:{KEY}".encode()).decode()},
        ),
    ):
        assert reply.status_code == 401


@pytest.mark.parametrize("row", COMPATIBLE, ids=lambda row: row.paths[-1])
def test_every_endpoint_is_closed_and_says_so_in_the_shape_of_its_api(
    closed: httpx2.Client, row: object
) -> None:
    method, path = row.methods[0], row.paths[-1]  # type: ignore[attr-defined]
    reply = closed.request(method, path, json={"query": QUERY} if method == "POST" else None)
    assert reply.status_code == 401
    told = reply.json()
    if path.startswith("/tavily"):
        assert set(told) == {"detail"}
        assert isinstance(told["detail"]["error"], str)
    elif path.startswith("/v1"):
        assert set(told["error"]) == {"message", "type", "param", "code"}
    else:
        assert isinstance(told["error"], str)


def test_a_key_without_the_scope_is_told_so(closed: httpx2.Client) -> None:
    assert closed.get("/", headers={"Authorization": f"Bearer {KEY}"}).status_code == 403


def test_the_last_message_of_the_user_is_the_question(http: httpx2.Client) -> None:
    content = [{"type": "input_text", "text": QUESTION}, {"type": "input_image", "image_url": "x"}]
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    body = {
        "model": "any",
        "input": [*history, {"role": "user", "content": content}],
        "tools": None,
        "include": [],
    }
    reply = http.post("/v1/responses", json=body).json()
    assert reply["model"] == "any"
    assert "330 metres" in reply["output"][1]["content"][0]["text"]
    for empty in ({"input": []}, {"input": [{"role": "system", "content": "x"}]}, {}):
        assert (
            http.post("/v1/responses", json=empty).json()["error"]["type"]
            == "invalid_request_error"
        )


@pytest.mark.parametrize(
    "path", ["/search", "/extract", "/openwebui/search", "/openwebui/load", "/v1/responses"]
)
def test_a_hostile_body_gets_a_typed_error(http: httpx2.Client, path: str) -> None:
    for body in (
        b"[]",
        b"{",
        b"[" * 50_000,
        b'{"query":{},"urls":7,"input":7}',
        b'{"query":"\\ud800"}',
    ):
        reply = http.post(path, content=body, headers={"Content-Type": "application/json"})
        assert reply.status_code == 400, (path, body[:40])
