"""The page `/play` in a real Chromium, with a pointer, a keyboard, a phone and hostile texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.entrypoints.http.browsing import (
    IN_BROWSER,
    LEAST_CONTRAST,
    PHONE,
    SCHEMES,
    TABLET,
    WIDE,
    Open,
    resize,
)
from tests.entrypoints.http.calls import QUESTION, bearer
from tests.entrypoints.http.conftest import SECRET, Door, address
from websearch_gateway.results import (
    Citation,
    CitedSpan,
    DocsHit,
    DocsSearchResponse,
    FallbackInfo,
    PagePassage,
    PagePassages,
    QueryPassages,
    SearchResponse,
    SourceInfo,
    WebResult,
    WebSearchResponse,
    WireModel,
)
from websearch_gateway.sandbox import Sandbox, key_of

if TYPE_CHECKING:
    from playwright.async_api import Page, Route

pytestmark = IN_BROWSER

EVIL = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>'
SCRIPT = "javascript:window.owned=1"
HOSTILE: dict[str, WireModel] = {
    "search_web": SearchResponse(
        text=f'\N{GRINNING FACE} So {EVIL} says [here]({SCRIPT}) and [there](https://example.org/"onclick="x).',
        citations=(
            Citation(
                url=SCRIPT,
                title=EVIL,
                quote=EVIL,
                quote_url=SCRIPT,
                support="verbatim",
                spans=(
                    CitedSpan(start_index=2, end_index=8, quote=EVIL, support="verbatim"),
                    CitedSpan(end_index=1),
                ),
            ),
        ),
        sources=(SourceInfo(url="data:text/html,<script>1</script>", title=EVIL),),
        provider=EVIL,
        fallback=FallbackInfo(from_=EVIL, reason=EVIL),
        warnings=(EVIL,),
    ),
    "web_search": WebSearchResponse(
        results=(
            WebResult(title=EVIL, link=SCRIPT, snippet=EVIL, page_content=EVIL, provider=EVIL),
        )
    ),
    "read_from_page": PagePassages(
        url=SCRIPT,
        title=EVIL,
        queries=(QueryPassages(results=(PagePassage(text=EVIL, section_path=(EVIL,)),)),),
    ),
    "search_docs": DocsSearchResponse(
        results=(DocsHit(content=EVIL, url=SCRIPT, heading_path=(EVIL,)),)
    ),
}
UPSTREAM = {"name": EVIL, "calls": 1, "seconds": 0.1, "outcome": "ok", "usd": 0.002}
AXE = Path(__file__).parents[4] / "tests" / "node" / "node_modules" / "axe-core" / "axe.min.js"
FIELDS = {
    "search_news": {"query": "eiffel tower"},
    "check_claims": {"claim": "The Eiffel Tower is 330 metres tall."},
    "search_web": {"query": QUESTION},
    "web_search": {"query": "eiffel tower"},
    "read_from_page": {"url": "https://example.org/", "query": "height"},
    "search_docs": {"query": "timeout"},
}

# Names that a screen reader has no words for, references to nothing, and ids that are there twice.
FAULTS = """() => {
  const name = node => (node.getAttribute("aria-label") || (node.labels && node.labels[0] || node).textContent).trim();
  const found = [...document.querySelectorAll("input, button, a, [role=tab]")].filter(node => !name(node));
  const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
  const named = [...document.querySelectorAll("*")].flatMap(node =>
    ["for", "aria-controls", "aria-labelledby", "aria-describedby"].map(key => node.getAttribute(key)).filter(Boolean));
  return [...found.map(node => node.outerHTML), ...ids.filter((id, at) => ids.indexOf(id) < at),
    ...named.filter(id => !ids.includes(id)), ...(document.querySelectorAll("h1").length === 1 ? [] : ["h1"])];
}"""


async def ask(page: Page, tool: str = "search_web", **fields: str) -> str:
    """Fill the form of a tab, press its button and wait for the end. Returns all text of the tab."""
    await page.click(f"#tab-{tool}")
    for name, value in {**FIELDS[tool], **fields}.items():
        await page.fill(f"#{tool}-{name}", value)
    await page.click(f"#panel-{tool} [type=submit]")
    panel = f"#panel-{tool}:not([aria-busy])"
    await page.wait_for_selector(f"{panel} .outcome:not(:empty), {panel} .alert:not(:empty)")
    return await page.inner_text(f"#panel-{tool}")


async def test_an_answer_with_its_quotes_upstreams_time_and_cost(browse: Open, door: Door) -> None:
    loaded, complaints = set(), []
    async with door() as http, browse() as page:
        page.on(
            "request",
            lambda request: loaded.add((request.method, request.url.removeprefix(address(http)))),
        )
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{address(http)}/play")
        text = await ask(page)
        assert "Searching the web with gpt-5-nano" in text
        assert "330 metres" in await page.inner_text(".answer")
        assert re.search(r"openai\s+answered\s+[\d.]+ m?s\s+\$0\.01", text)
        assert "no: asked now" in text
        box = page.locator(".cited .quotes").first
        assert not await box.is_visible()
        await page.hover(".cited")
        assert "330 metres tall" in await box.inner_text()
        assert "the page says this word for word" in await box.inner_text()
        await page.keyboard.press("Escape")
        assert not await box.is_visible()
        await page.hover("h1")
        await page.focus(".cited sup a")
        assert await box.is_visible()
        assert "exact" in await ask(page)
    assert loaded == {("GET", "/play"), ("GET", "/play.js"), ("POST", "/play/ask")}
    assert complaints == []


async def test_search_suggestions_appear_beside_the_answer_as_they_came(
    browse: Open, door: Door
) -> None:
    """Google's terms for answers of Gemini: unchanged, and a click goes to Google."""
    async with (
        door(answer_engines="gemini", gemini_api_key=key_of("gemini")) as http,
        browse() as page,
    ):
        await page.goto(f"{address(http)}/play")
        await ask(page)
        frame = page.frame_locator(".suggestions")
        chip = frame.locator(".container a.chip")
        assert await chip.inner_text() == "sandbox"
        assert await chip.evaluate("node => getComputedStyle(node).borderTopStyle") == "solid"
        assert (await page.locator(".suggestions").bounding_box() or {})["height"] > 40


async def test_hostile_suggestions_reach_nothing(browse: Open, door: Door) -> None:
    hostile = f"""{EVIL}<p id=shown>shown</p><img src="http://127.0.0.1:9/i"><style>@import "http://127.0.0.1:9/s";</style>
        <form action="http://127.0.0.1:9/f"><button>
        <a href="{SCRIPT}" target=_top>a</a><a id=out href="https://www.google.com/search?q=tower">b</a>"""
    leaving = '<meta http-equiv=refresh content="0; url=http://127.0.0.1:9/r">'
    loaded, refused, opened = [], [], []
    async with door() as http, browse() as page:
        page.on(
            "requestfinished",
            lambda request: loaded.append(request.url.removeprefix(address(http))),
        )
        page.on("requestfailed", lambda request: refused.append(request.failure))
        page.context.on("page", lambda tab: opened.append(tab))
        await page.context.route(
            "https://www.google.com/**", lambda route: route.fulfill(body="Google")
        )
        await answered(page, {"search_web": SearchResponse(text="So.", search_suggestions=hostile)})
        await page.goto(f"{address(http)}/play")
        await ask(page)
        frame = page.frame_locator(".suggestions")
        assert await frame.locator("#shown").inner_text() == "shown"
        inside = frame.locator("body")
        assert await inside.evaluate("window.owned") is None
        assert await inside.evaluate("self.origin") == "null"
        for one in ("a >> nth=0", "button"):
            await frame.locator(one).dispatch_event("click")
        async with page.context.expect_page() as tab:
            await frame.locator("#out").click()
        assert (await tab.value).url == "https://www.google.com/search?q=tower"
        assert await (await tab.value).evaluate("window.opener") is None
        await (await tab.value).close()
        assert await frame.locator("#shown").inner_text() == "shown"
        await page.unroute("**/play/ask")
        await answered(page, {"search_web": SearchResponse(text="So.", search_suggestions=leaving)})
        async with page.expect_event(
            "framenavigated", lambda moved: moved.url.startswith("chrome-error:")
        ):
            await ask(page)
        assert await page.evaluate("window.owned") is None
        assert page.url == f"{address(http)}/play"
    assert set(loaded) == {"/play", "/play.js", "/play/ask", "/play/suggestions"}
    assert set(refused) == {"csp"}
    assert len(opened) == 1


async def test_results_of_the_web_and_passages_of_a_page(
    browse: Open, door: Door, sandbox: Sandbox
) -> None:
    async with door() as http, browse() as page:
        await page.goto(f"{address(http)}/play")
        found = await ask(page, "web_search")
        assert "Height, history and figures" in found
        assert re.search(r"serper\s+answered", found)
        assert "Searching the web" in await ask(page, "search_news")
        passages = await ask(page, "read_from_page", url=f"{sandbox.url}/pages/eiffel-tower")
        assert "330 metres" in passages
        assert "score" in passages
        checked = await ask(page, "check_claims", urls=f"{sandbox.url}/pages/eiffel-tower")
        assert "330 metres" in checked
        wrong = "The Eiffel Tower is 350 metres tall."
        checked = await ask(
            page, "check_claims", claim=wrong, urls=f"{sandbox.url}/pages/eiffel-tower"
        )
        assert "the sentence has 350 metres, the page 330 metres" in checked


async def test_it_says_why_there_is_nothing_and_what_failed(
    browse: Open, door: Door, sandbox: Sandbox
) -> None:
    async with door() as http, browse() as page:
        await page.goto(f"{address(http)}/play")
        text = await ask(page, "web_search", query="zzqx plugh xyzzy")
        assert "serper answered, but found no page for these words." in text
        sandbox.fault("openai", "status", status=503)
        text = await ask(page, query="How do I descale an espresso machine?")
        assert re.search(r"openai\s+PROVIDER", text)
        assert "Falling back from openai" in text
        refused = await ask(page, query="polymarket odds on a fed rate cut")
        assert "VALIDATION" in await page.inner_text("#panel-search_web [role=alert]")
        assert "Failed after" in refused


async def test_stop_ends_the_call_upstream_too(browse: Open, door: Door, sandbox: Sandbox) -> None:
    sandbox.fault("openai", "hang")
    async with door() as http, browse() as page:
        await page.goto(f"{address(http)}/play")
        await page.fill("#search_web-query", QUESTION)
        await page.keyboard.press("Enter")
        await sandbox.wait_for("openai", calls=1)
        await page.click("#panel-search_web .stop")
        await page.wait_for_selector("text=You stopped it.")
        await sandbox.wait_for("openai", cancelled=1)
        assert await page.evaluate("document.activeElement.textContent") == "Ask"


async def test_the_token_stays_in_the_memory_of_the_page(browse: Open, door: Door) -> None:
    token = bearer()["Authorization"].removeprefix("Bearer ")
    async with door(auth_mode="secret", auth_secret=SECRET) as http, browse() as page:
        await page.goto(f"{address(http)}/play")
        assert "HOW TALL" not in await page.content()
        assert "AUTH" in await ask(page)
        assert await page.evaluate("document.activeElement.id") == "token"
        await page.fill("#token", "nonsense")
        await page.keyboard.press("Enter")
        assert "AUTH" in await ask(page)
        await page.fill("#token", token)
        await page.keyboard.press("Enter")
        assert "330 metres" in await ask(page)
        kept = "[location.href, document.cookie, localStorage.length, sessionStorage.length, history.length]"
        url, cookie, *stored, visits = await page.evaluate(kept)
        assert (url, cookie, stored) == (f"{address(http)}/play", "", [0, 0])
        assert visits <= 2
        assert await page.input_value("#token") == ""
        assert token not in await page.content()
        await page.click("#forget")
        assert "AUTH" in await ask(page)
        await page.reload()
        assert "AUTH" in await ask(page)


async def test_the_keyboard_reaches_everything(browse: Open, door: Door) -> None:
    active = "document.activeElement.id || document.activeElement.textContent"
    async with door() as http, browse() as page:
        await page.goto(f"{address(http)}/play")
        order = []
        for _ in range(9):
            await page.keyboard.press("Tab")
            order.append(await page.evaluate(active))
        names = ["query", "includeDomains", "region", "freshnessHours", "verifyCitations"]
        assert order == [
            "Status",
            "HTTP API",
            "tab-search_web",
            *(f"search_web-{name}" for name in names),
            "Ask",
        ]
        await page.focus("#tab-search_web")
        for key, tool in (
            ("ArrowRight", "web_search"),
            ("End", "search_docs"),
            ("ArrowRight", "search_web"),
        ):
            await page.keyboard.press(key)
            assert await page.evaluate(active) == f"tab-{tool}"
            assert (
                await page.locator("[role=tabpanel]:visible").get_attribute("id") == f"panel-{tool}"
            )
            assert await page.locator("[aria-selected=true]").get_attribute("id") == f"tab-{tool}"


async def answered(page: Page, results: dict[str, WireModel]) -> None:
    """Let these results answer in place of the server."""

    async def answer(route: Route) -> None:
        result = results[json.loads(route.request.post_data or "")["tool"]].model_dump(
            mode="json", by_alias=True
        )
        told: list[dict[str, Any]] = [
            {"stage": EVIL, "seconds": 0},
            {"upstream": UPSTREAM, "seconds": 0},
            {"result": result, "why": EVIL, "upstreams": [UPSTREAM], "seconds": 0.1},
        ]
        await route.fulfill(
            body="\n".join(map(json.dumps, told)) + "\n", content_type="application/x-ndjson"
        )

    await page.route("**/play/ask", answer)


async def test_texts_from_the_web_stay_texts(browse: Open, door: Door) -> None:
    async with door() as http, browse() as page:
        await answered(page, HOSTILE)
        await page.goto(f"{address(http)}/play")
        for tool in HOSTILE:
            assert EVIL in await ask(page, tool)
        assert await page.locator("img, main script, iframe").count() == 0
        links = await page.eval_on_selector_all(
            "main a", "all => all.map(one => one.getAttribute('href'))"
        )
        assert [link for link in links if not link.startswith(("#panel-", "https://"))] == []
        handlers = "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames()).filter(n => /^on/.test(n))"
        assert await page.evaluate(handlers) == []
        for one in await page.locator(
            "a[href^='#panel']:visible, summary:visible, .result span:visible"
        ).all():
            await one.dispatch_event("click")
        assert await page.evaluate("window.owned") is None
        await page.click("#tab-search_web")
        cited = await page.eval_on_selector_all(
            ".cited", "all => all.map(one => one.firstChild.textContent)"
        )
        assert cited == ["\N{GRINNING FACE}", HOSTILE["search_web"].model_dump()["text"][2:8]]


async def test_the_policy_stops_what_a_fault_of_the_script_would_let_in(
    browse: Open, door: Door
) -> None:
    async with door() as http, browse() as page:
        await page.goto(f"{address(http)}/play")
        with pytest.raises(Exception, match="TrustedHTML"):
            await page.evaluate(f"document.body.innerHTML = {EVIL!r}")
        await page.evaluate(
            "document.body.append(Object.assign(document.createElement('a'), {href: 'javascript:owned=1'}))"
        )
        await page.evaluate("document.body.lastChild.click()")
        assert await page.evaluate("window.owned") is None


async def test_every_text_can_be_read_and_every_control_has_a_name(
    browse: Open, door: Door
) -> None:
    """WCAG 2.2: 1.4.3 (contrast of 4.5), 1.4.10 (no scrolling to the side), 4.1.2 (names)."""
    async with door(auth_mode="secret", auth_secret=SECRET) as http, browse() as page:
        await answered(page, HOSTILE)
        await page.goto(f"{address(http)}/play")
        assert await page.evaluate(FAULTS) == []
        for tool in HOSTILE:
            await ask(page, tool)
            assert await page.evaluate(FAULTS) == []
            for size in (WIDE, TABLET, PHONE):
                await resize(page, size)
                assert await page.evaluate("document.documentElement.scrollWidth") <= size[0]
                for scheme in SCHEMES:
                    await page.emulate_media(color_scheme=scheme)
                    assert await page.evaluate(LEAST_CONTRAST) >= 4.5, (tool, size, scheme)


async def test_region_freshness_and_domains_reach_the_tool(browse: Open, door: Door) -> None:
    asked: list[dict[str, Any]] = []
    async with door() as http, browse() as page:
        page.on(
            "request",
            lambda request: (
                asked.append(json.loads(request.post_data)) if request.post_data else None
            ),
        )
        await page.goto(f"{address(http)}/play")
        await page.click("#tab-web_search")
        await page.select_option("#web_search-freshness", "week")
        await ask(page, "web_search", region="DE", includeDomains="example.org")
        await ask(page, "search_web", freshnessHours="24", region="DE")
        await ask(page, "check_claims")
    domains = {"includeDomains": "example.org"}
    assert asked == [
        {
            "tool": "web_search",
            "arguments": {"query": "eiffel tower", "region": "DE", "freshness": "week", **domains},
        },
        {
            "tool": "search_web",
            "arguments": {
                "query": QUESTION,
                "region": "DE",
                "freshnessHours": "24",
                "verifyCitations": True,
            },
        },
        {
            "tool": "check_claims",
            "arguments": {"claims": [{"claim": "The Eiffel Tower is 330 metres tall."}]},
        },
    ]


async def test_the_answer_stands_above_the_trace_and_a_citation_has_one_link(
    browse: Open, door: Door
) -> None:
    async with door() as http, browse() as page:
        await page.goto(f"{address(http)}/play")
        before = await page.locator("#panel-search_web [type=submit]").bounding_box()
        await ask(page)
        answer, stages = [
            await page.locator(name).first.bounding_box() for name in (".answer", ".stages")
        ]
        assert answer is not None
        assert stages is not None
        assert answer["y"] < stages["y"]
        assert await page.locator("#panel-search_web [type=submit]").bounding_box() == before
        assert await page.locator(".answer sup a").count() >= 1
        assert (
            await page.locator(".answer a").count() == await page.locator(".answer sup a").count()
        )
        assert (
            await page.locator(".sources > li").count() == await page.locator(".sources a").count()
        )
        await resize(page, (375, 800))
        heights = "[...document.querySelectorAll('.result td')].map(cell => cell.getClientRects()[0].height)"
        cells = await page.evaluate(heights)
        assert max(cells) < 1.9 * min(cells), "a word is broken"


async def test_axe_finds_nothing_serious(browse: Open, door: Door) -> None:
    """On a wide light screen and a narrow dark one; the contrast on every screen has a test above."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm install --prefix tests/node")
    async with door() as http, browse() as page:
        for path, tools in (("/play", FIELDS), ("/", [""])):
            await page.goto(f"{address(http)}{path}")
            # Not as a script of the page, which its policy refuses.
            await page.evaluate(AXE.read_text())
            for tool in tools:
                if tool:
                    await ask(page, tool)
                for size, scheme in zip((WIDE, (375, 800)), SCHEMES, strict=True):
                    await resize(page, size)
                    await page.emulate_media(color_scheme=scheme)
                    found = (await page.evaluate("axe.run()"))["violations"]
                    serious = [
                        one["id"] for one in found if one["impact"] in ("serious", "critical")
                    ]
                    assert serious == [], (path, tool, size, scheme)
