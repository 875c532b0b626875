"""Pages that move their reader on by other ways than a status 3xx are followed under the same rules."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.base.net.conftest import RawServer, Serve, page
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import MAX_REDIRECTS, Fetched, Fetcher
from websearch_gateway.base.net.redirects import CallCookies, refresh_of
from websearch_gateway.errors import ForbiddenUrlError, SearchFetchError
from websearch_gateway.models import Deadline

HERE = "https://a.example/dir/page"
HTML = "Content-Type: text/html"


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("0; url=/b", "https://a.example/b"),
        ("0;URL='b.html'", "https://a.example/dir/b.html"),
        ('5 ; url = "https://b.example/x?y=1"', "https://b.example/x?y=1"),
        ("0.5,//b.example/", "https://b.example/"),
        ("0;/b", "https://a.example/b"),
        ("9; url=/b", "https://a.example/b"),
        ("10; url=/b", None),
        ("300; url=/b", None),
        ("0", None),
        ("5;", None),
        ("0; url=javascript:alert(1)", None),
        ("0; url=app://open", None),
        ("0; url=http://[", None),
        ("", None),
    ],
)
def test_a_refresh_is_read_from_the_header_and_from_the_page(
    value: str, target: str | None
) -> None:
    assert refresh_of(HERE, {"refresh": value}) == target
    quote = "'" if '"' in value else '"'
    head = f"<html><head><META content={quote}{value}{quote} http-equiv=Refresh></head>".encode()
    if quote not in value:
        assert refresh_of(HERE, {}, head) == target


@pytest.mark.parametrize(
    "markup",
    [
        "<!-- {} -->",
        "<noscript>{}</noscript>",
        "<script>'{}'</script>",
        "<template>{}</template>",
        "<title>{}</title>",
        "<textarea>{}",
        " " * 20_000 + "{}",
    ],
)
def test_a_meta_that_no_reader_gets_moves_nobody(markup: str) -> None:
    meta = '<meta http-equiv="refresh" content="0; url=/b">'
    assert refresh_of(HERE, {}, markup.format(meta).encode()) is None
    assert refresh_of(HERE, {}, f"{meta} {markup}".encode()) == "https://a.example/b"


def test_the_address_is_relative_to_the_base_and_its_entities_are_read() -> None:
    text = b"<base href='/other/'><meta http-equiv=refresh content='0;url=b?x=1&amp;y=2'>"
    assert refresh_of(HERE, {}, text) == "https://a.example/other/b?x=1&y=2"


@given(st.binary(max_size=300), st.text(max_size=60))
def test_any_page_and_header_have_a_target_or_none(body: bytes, value: str) -> None:
    for found in (
        refresh_of(HERE, {"refresh": value}),
        refresh_of(HERE, {}, b"<meta http-equiv=refresh " + body),
    ):
        assert found is None or found.startswith(("http://", "https://"))


def test_cookies_go_back_to_their_own_place_only() -> None:
    cookies = CallCookies()
    given = [
        (b"Set-Cookie", b"a=1; Path=/"),
        (b"set-cookie", b"b=2; Path=/dir"),
        (b"Set-Cookie", b"c=3; Domain=x.com"),
    ]
    assert cookies.keep("https://a.example/dir/page", given)
    assert not cookies.keep("https://a.example/dir/page", given), "nothing is new"
    assert cookies.added_to({}, "https://a.example/") == {"cookie": "a=1"}
    assert cookies.added_to({}, "https://a.example/dir/x")["cookie"].split("; ") == ["b=2", "a=1"]
    assert (
        cookies.added_to({}, "https://b.example/") == cookies.added_to({}, "https://x.com/") == {}
    )


def test_a_cookie_of_a_domain_holds_for_its_hosts() -> None:
    cookies = CallCookies()
    cookies.keep(
        "https://consent.a.example/", [(b"Set-Cookie", b"ok=1; Domain=.a.example; Path=/; Secure")]
    )
    assert cookies.added_to({}, "https://www.a.example/x") == {"cookie": "ok=1"}
    assert cookies.added_to({}, "http://www.a.example/x") == {}


def test_neither_the_number_of_cookies_nor_their_length_is_a_sites_to_choose() -> None:
    cookies = CallCookies()
    cookies.keep(
        HERE, [(b"Set-Cookie", f"c{number}={'x' * 200}; Path=/".encode()) for number in range(500)]
    )
    assert cookies.added_to({}, HERE) == {}
    few = CallCookies()
    few.keep(HERE, [(b"Set-Cookie", f"c{number}=1; Path=/".encode()) for number in range(500)])
    assert few.added_to({}, HERE)["cookie"].count("=") == 50


@pytest.mark.parametrize(("characters", "is_sent"), [(8_000, True), (8_001, False)])
def test_cookies_have_up_to_eight_thousand_characters(characters: int, is_sent: bool) -> None:
    cookies = CallCookies()
    half = characters // 2
    values = {"a": "x" * (half - 2), "b": "x" * (characters - half - 4)}
    cookies.keep(
        HERE, [(b"Set-Cookie", f"{name}={value}".encode()) for name, value in values.items()]
    )
    assert bool(cookies.added_to({}, HERE)) is is_sent


Pages = Mapping[str, bytes]


async def _site(serve: Serve, pages: Pages) -> RawServer:
    """A site whose pages depend on the path and on whether a cookie came (`/x` and `/x+cookie`)."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = server.requests[-1]
        path = head.split(b" ")[1].decode().partition("?")[0]
        key = f"{path}+cookie" if b"\r\ncookie:" in head.lower() else path
        writer.write(pages.get(key, pages.get(path, page(b"", status="404 Not Found"))))
        await writer.drain()

    server = await serve(answer)
    return server


async def _fetch(server: RawServer, path: str = "/", **options: object) -> Fetched:
    async with Fetcher(AddressPolicy([server.pair])) as fetcher:
        return await fetcher.fetch(server.url(path), Deadline.after(60), **options)  # type: ignore[arg-type]


def _moved(to: str, *headers: str) -> bytes:
    return page(b"", f"Location: {to}", *headers, status="302 Found")


META = b'<meta http-equiv="refresh" content="0; url=/b">Moved.'
COOKIE = "Set-Cookie: ok=1; Path=/"


@pytest.mark.parametrize(
    ("pages", "path"),
    [
        ({"/": page(META, HTML), "/b": page(b"text", HTML)}, "/b"),
        ({"/": page(b"Moved.", HTML, "Refresh: 0; url=/b"), "/b": page(b"text", HTML)}, "/b"),
        ({"/": _moved("/", COOKIE), "/+cookie": page(b"text", HTML)}, "/"),
        (
            {"/": _moved("/b", COOKIE), "/b+cookie": _moved("/"), "/+cookie": page(b"text", HTML)},
            "/",
        ),
        (
            {
                "/": page(b"wait", HTML, "Refresh: 0; url=/", COOKIE),
                "/+cookie": page(b"text", HTML),
            },
            "/",
        ),
        ({"/": page(b"text", HTML, "Refresh: 5; url=/")}, "/"),
        ({"/": page(b"text", HTML, "Refresh: 60; url=/b")}, "/"),
        ({"/": page(b"text", "Content-Type: text/plain", "X: " + META.decode())}, "/"),
    ],
)
async def test_a_page_is_read_where_the_site_leads_to(
    serve: Serve, pages: Pages, path: str
) -> None:
    server = await _site(serve, pages)
    fetched = await _fetch(server)
    assert (fetched.body, fetched.final_url) == (b"text", server.url(path))


async def test_a_page_that_moves_on_for_ever_is_read_in_the_end(serve: Serve) -> None:
    count = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        writer.write(page(b"text", HTML, f"Refresh: 5; url=/?{count}"))
        await writer.drain()

    server = await serve(answer)
    assert (await _fetch(server)).body == b"text"
    assert len(server.requests) == MAX_REDIRECTS + 1, "each move counts as a redirect"


async def test_a_wall_that_takes_no_cookie_ends_as_a_loop(serve: Serve) -> None:
    server = await _site(serve, {"/": _moved("/", COOKIE)})
    with pytest.raises(SearchFetchError, match=f"more than {MAX_REDIRECTS} times"):
        await _fetch(server)


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:1/", "http://169.254.169.254/", "http://localhost/"]
)
async def test_a_refresh_leads_to_no_private_address(serve: Serve, target: str) -> None:
    meta = f'<meta http-equiv="refresh" content="0; url={target}">'
    for reply in (page(meta.encode(), HTML), page(b"x", HTML, f"Refresh: 0; url={target}")):
        with pytest.raises(ForbiddenUrlError):
            await _fetch(await serve(reply))


async def test_a_check_of_redirects_sees_a_refresh_too(serve: Serve) -> None:
    async def refuse(url: str) -> None:
        raise ForbiddenUrlError(url)

    server = await _site(serve, {"/": page(META, HTML), "/b": page(b"text", HTML)})
    deadline = Deadline(Deadline.after(60).at, check_redirect=refuse)
    async with Fetcher(AddressPolicy([server.pair])) as fetcher:
        with pytest.raises(ForbiddenUrlError):
            await fetcher.fetch(server.url(), deadline)
    assert len(server.requests) == 1


async def test_the_cookies_of_a_call_are_gone_with_it(serve: Serve) -> None:
    server = await _site(serve, {"/": page(b"text", HTML, COOKIE)})
    async with Fetcher(AddressPolicy([server.pair]), keep_alive=False) as fetcher:
        for _ in range(2):
            await fetcher.fetch(server.url(), Deadline.after(60))
    assert not [head for head in server.requests if b"cookie" in head.lower()]


@pytest.mark.parametrize(
    ("pages", "location"),
    [
        ({"/": _moved("/", COOKIE), "/+cookie": page(b"text", HTML)}, None),
        ({"/": page(b"Moved.", HTML, "Refresh: 0; url=/b")}, "/b"),
        ({"/": _moved("/b")}, "/b"),
        ({"/": page(META + b"text", HTML)}, None),
    ],
)
async def test_a_caller_that_follows_a_page_to_itself_passes_a_wall_and_sees_where_others_lead(
    serve: Serve, pages: Pages, location: str | None
) -> None:
    server = await _site(serve, pages)
    if location is None:
        assert (await _fetch(server, follows=server.url().__eq__)).body.endswith(b"text")
        return
    with pytest.raises(SearchFetchError) as caught:
        await _fetch(server, follows=server.url().__eq__)
    assert caught.value.details == {"location": server.url(location)}
