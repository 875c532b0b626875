"""The settings for reading take effect in a whole gateway over real sockets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from websearch_gateway import __version__
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.errors import SearchError
from websearch_gateway.models import ContentRequest
from websearch_gateway.settings.loading import load_settings

CLOSED = b"User-agent: websearch-gateway\nDisallow: /private\n"


async def read(api: Any, path: str, **settings: Any) -> str:
    """The text that a gateway with these settings reads, or the message of its error."""
    loaded = load_settings(fetch_allow_private_hosts=(api.pair,), state_url="memory://", **settings)
    async with open_gateway(loaded) as gateway:
        try:
            return (await gateway.reading.content(ContentRequest(api.url + path))).page_content
        except SearchError as error:
            return error.message


@pytest.mark.parametrize(
    ("respect", "expected"), [(True, "does not allow programs to read"), (False, "# Text")]
)
async def test_robots_txt_is_obeyed_if_the_operator_enables_it(
    api: Any, respect: bool, expected: str
) -> None:
    api.says("/robots.txt", CLOSED)
    api.says("/private", b"# Text", content_type="text/markdown")
    assert expected in await read(api, "/private", respect_robots=respect)
    assert ("/robots.txt" in api.seen) is respect


async def test_sites_receive_the_contact_of_the_operator(api: Any) -> None:
    api.says("/page", b"# Text", content_type="text/markdown")
    await read(api, "/page", contact_url="https://example.org/bots")
    assert (
        f"user-agent: websearch-gateway/{__version__} (+https://example.org/bots)\r\n"
        in api.heads[0]
    )


async def test_the_browser_has_the_path_and_the_retries_of_the_settings(
    api: Any, tmp_path: Path
) -> None:
    log, program = tmp_path / "starts", tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\necho x >> {log}\nexit 1\n")
    program.chmod(0o755)
    api.says("/page", b"<div id=root></div><script src=/app.js></script>", content_type="text/html")
    message = await read(
        api, "/page", browser_path=str(program), browser_retries=1, browser_backoff_ms=1
    )
    assert "does not start" in message
    assert log.read_text().count("x") == 2


@pytest.mark.skipif(
    not shutil.which("chromium"), reason="Chromium is missing; `make test` installs it"
)
async def test_robots_txt_also_applies_to_the_requests_of_scripts(api: Any) -> None:
    text = "The tide comes in twice a day. " * 20
    script = f"fetch('/private').catch(() => root.innerHTML = `<p>{text}</p>`)"
    api.says("/robots.txt", CLOSED)
    api.says("/private", b"{}", content_type="application/json")
    api.says(
        "/page", f"<div id=root></div><script>{script}</script>".encode(), content_type="text/html"
    )
    assert text.strip() in await read(api, "/page", respect_robots=True)
    assert "/private" not in api.seen
