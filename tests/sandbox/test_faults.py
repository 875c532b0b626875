from __future__ import annotations

import asyncio
import zlib

import httpx2
import pytest

from websearch_gateway.sandbox import OPENAI_KEY, Fault, Sandbox, key_of

PAGE = "/pages/espresso-at-home"
MIB = 1 << 20


async def _serper(http: httpx2.AsyncClient, query: str = "bread") -> httpx2.Response:
    return await http.post(
        "/serper/search", json={"q": query}, headers={"X-API-KEY": key_of("serper")}
    )


async def _read(http: httpx2.AsyncClient, most: int) -> tuple[httpx2.Response, int]:
    """Read a page up to so many decoded bytes."""
    size = 0
    async with http.stream("GET", PAGE) as reply:
        async for piece in reply.aiter_bytes():
            size += len(piece)
            if size >= most:
                break
    return reply, size


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("serper", "refusal"),
        ("serper", "huge"),
        ("pages", "no_search"),
        ("openai", "gzip_bomb"),
        ("pages", "typo"),
    ],
)
def test_a_fault_that_its_target_cannot_have_is_refused(
    sandbox: Sandbox, target: str, kind: str
) -> None:
    with pytest.raises(ValueError, match="choose from"):
        sandbox.fault(target, kind)
    with pytest.raises(TypeError):
        sandbox.fault("serper", "status", colour="red")


async def test_a_status_is_worded_as_the_vendor_words_it(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("serper", "status", status=429, retry_after=1.5)
    reply = await _serper(http)
    assert (reply.status_code, reply.json()["statusCode"], reply.headers["retry-after"]) == (
        429,
        429,
        "1.5",
    )
    sandbox.fault("openai", "status", status=429, reason="insufficient_quota")
    reply = await http.get("/openai/v1/models", headers={"Authorization": f"Bearer {OPENAI_KEY}"})
    assert reply.json()["error"]["code"] == "insufficient_quota"
    sandbox.fault("pages", "status", status=404)
    assert (await http.get(PAGE)).status_code == 404


async def test_a_fault_ends_after_its_number_of_times(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("serper", "status", times=2)
    assert [(await _serper(http)).status_code for _ in range(3)] == [503, 503, 200]


async def test_faults_of_one_target_are_used_up_in_order(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("serper", "status", status=500, times=1)
    sandbox.fault("serper", "garbage", times=1)
    assert (await _serper(http)).status_code == 500
    assert b"neither JSON" in (await _serper(http)).content
    assert (await _serper(http)).json()["organic"]


async def test_a_fault_hits_only_its_target_and_only_requests_with_its_text(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("serper/search", "status", when="espresso")
    sandbox.fault("pages/compost", "status")
    assert (await _serper(http, "bread")).status_code == 200
    assert (await _serper(http, "espresso")).status_code == 503
    assert (await http.get(PAGE)).status_code == 200
    assert (await http.get("/pages/compost")).status_code == 503


async def test_clearing_faults_heals_everything(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    sandbox.fault("serper", "reset")
    sandbox.clear_faults()
    assert (await _serper(http)).status_code == 200


async def test_a_reset_is_a_real_one(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    sandbox.fault("serper", "reset")
    with pytest.raises(httpx2.NetworkError) as caught:
        await _serper(http)
    causes, error = [], caught.value.__context__
    while error is not None:
        causes.append(error)
        error = error.__cause__ or error.__context__
    assert any(isinstance(cause, ConnectionResetError) for cause in causes)
    assert sandbox.cancelled("serper") == 0


async def test_a_hang_lasts_until_the_client_leaves_and_this_is_noticed(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("serper", "hang")
    waiting = asyncio.create_task(_serper(http))
    await sandbox.wait_for("serper", calls=1)
    assert sandbox.cancelled("serper") == 0
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await sandbox.wait_for("serper", cancelled=1)
    assert (sandbox.calls("serper"), sandbox.cancelled("serper")) == (1, 1)


async def test_a_wait_in_vain_says_what_was_seen(sandbox: Sandbox) -> None:
    with pytest.raises(TimeoutError, match="serper saw 0 calls, 0 cancelled"):
        await sandbox.wait_for("serper", calls=1, within=0.01)


async def test_a_delayed_answer_is_the_right_one(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("serper", "delay", seconds=0.01)
    assert (await _serper(http)).json()["organic"]


async def test_a_dripping_answer_is_the_right_one_at_last(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("openai", "drip", seconds=0.0)
    reply = await http.get("/openai/v1/models", headers={"Authorization": f"Bearer {OPENAI_KEY}"})
    assert reply.json()["object"] == "list"
    assert sandbox.cancelled("openai") == 0


async def test_the_bot_page_of_duckduckgo_has_status_202(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("duckduckgo", "bot")
    sandbox.fault("pages", "bot")
    reply = await http.post("/duckduckgo/html/", data={"q": "bread", "b": ""})
    assert reply.status_code == 202
    assert "anomaly-modal" in reply.text
    assert "Unfortunately, bots use DuckDuckGo too" in reply.text
    assert (await http.get(PAGE)).status_code == 403


async def test_a_huge_page_has_no_end(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    sandbox.fault("pages", "huge")
    reply, size = await _read(http, 4 * MIB)
    assert reply.status_code == 200
    assert size >= 4 * MIB
    await sandbox.wait_for("pages", cancelled=1)


async def test_a_gzip_bomb_is_a_thousand_times_larger_inside(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("pages", "gzip_bomb")
    async with http.stream("GET", PAGE) as reply:
        packed = bytearray()
        async for piece in reply.aiter_raw():
            packed += piece
            if len(packed) > 8192:
                break
    unpacked = zlib.decompressobj(31).decompress(bytes(packed), 5 * MIB)
    assert len(unpacked) > 500 * len(packed)


async def test_pages_can_redirect_to_private_addresses_and_in_circles(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("pages", "redirect_private", times=1)
    sandbox.fault("pages", "redirect_private", location="http://10.0.0.1/", times=1)
    sandbox.fault("pages", "redirect_loop")
    assert (await http.get(PAGE)).headers["location"] == "http://169.254.169.254/latest/meta-data/"
    assert (await http.get(PAGE)).headers["location"] == "http://10.0.0.1/"
    with pytest.raises(httpx2.TooManyRedirects):
        await http.get(PAGE, follow_redirects=True)


async def test_a_wrong_length_cuts_the_page_short(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("pages", "wrong_length")
    with pytest.raises(httpx2.RemoteProtocolError):
        await http.get(PAGE)


async def test_an_odd_charset_is_declared(sandbox: Sandbox, http: httpx2.AsyncClient) -> None:
    sandbox.fault("pages", "odd_charset")
    async with http.stream("GET", PAGE) as reply:
        assert reply.headers["content-type"] == "text/html; charset=punycode"


async def test_many_clients_at_once_are_all_counted(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    sandbox.fault("serper", "status", times=10)
    replies = await asyncio.gather(*(_serper(http) for _ in range(40)))
    assert sum(reply.status_code == 503 for reply in replies) == 10
    assert sandbox.calls("serper") == 40


async def test_what_was_asked_can_be_looked_at_afterwards(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    await _serper(http, "bread")
    await http.get("/pages/compost?utm_source=x")
    [call] = sandbox.seen("serper")
    assert (call.method, call.path, call.body) == ("POST", "serper/search", b'{"q":"bread"}')
    assert sandbox.seen("pages")[0].query == "utm_source=x"
    assert "bread" not in repr(call)


async def test_faults_are_asked_for_and_calls_counted_over_http(
    sandbox: Sandbox, http: httpx2.AsyncClient
) -> None:
    asked = {"target": "serper", "fault": "status", "status": 500, "times": 1}
    assert (await http.post("/_sandbox/faults", json=asked)).status_code == 204
    assert (await _serper(http)).status_code == 500
    assert (await _serper(http)).status_code == 200
    assert (await http.get("/_sandbox/calls")).json() == {
        "serper/search": {"calls": 2, "cancelled": 0}
    }
    await http.post("/_sandbox/faults", json={"target": "serper", "fault": "reset"})
    assert (await http.delete("/_sandbox/faults")).status_code == 204
    assert (await http.delete("/_sandbox/calls")).status_code == 204
    assert (await _serper(http)).status_code == 200
    assert sandbox.calls("") == 1


@pytest.mark.parametrize(
    "asked", [{}, {"target": "serper", "fault": "typo"}, {"fault": "reset"}, [1], {"fault": 1}]
)
async def test_an_impossible_fault_is_explained_over_http(
    http: httpx2.AsyncClient, asked: object
) -> None:
    reply = await http.post("/_sandbox/faults", json=asked)
    assert reply.status_code == 400
    assert reply.json()["error"]


def test_a_fault_knows_its_targets() -> None:
    assert Fault("openai/v1/responses", "refusal").times is None
    with pytest.raises(ValueError, match="no fault"):
        Fault("openaix", "refusal")
