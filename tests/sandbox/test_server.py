from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from datetime import UTC, datetime

import httpx2
import pytest

from websearch_gateway.sandbox import Sandbox, create_app, environment, key_of, serving
from websearch_gateway.sandbox import server as package
from websearch_gateway.settings.loading import Settings, load_settings


async def test_a_sandbox_answers_while_it_runs_and_not_afterwards() -> None:
    async with Sandbox() as own, httpx2.AsyncClient() as http:
        address = f"{own.url}/pages/compost"
        assert (await http.get(address)).status_code == 200
    async with httpx2.AsyncClient() as http:
        with pytest.raises(httpx2.ConnectError):
            await http.get(address)


async def test_stopping_does_not_wait_for_requests_that_hang() -> None:
    async with httpx2.AsyncClient() as http:
        async with Sandbox() as own:
            own.fault("pages", "hang")
            waiting = asyncio.create_task(http.get(f"{own.url}/pages/compost"))
            await own.wait_for("pages", calls=1)
        with pytest.raises(httpx2.HTTPError):
            await waiting


def test_a_taken_port_is_an_error_at_the_start() -> None:
    with Sandbox() as first, pytest.raises(OSError, match="address already in use"):
        Sandbox(port=int(first.url.rsplit(":", 1)[1])).start()


def test_stopping_what_never_ran_is_no_error() -> None:
    Sandbox().stop()


async def test_a_clock_moves_what_is_fresh() -> None:
    async with (
        Sandbox(clock=lambda: datetime(2025, 2, 12, tzinfo=UTC)) as own,
        httpx2.AsyncClient() as http,
    ):
        asked = {"q": "balanced espresso", "tbs": "qdr:w"}
        reply = await http.post(
            f"{own.url}/serper/search", json=asked, headers={"X-API-KEY": key_of("serper")}
        )
    assert "How to pull a balanced espresso at home" in [
        hit["title"] for hit in reply.json()["organic"]
    ]


async def test_serving_gives_its_address_and_runs_while_the_context_is_open() -> None:
    async with httpx2.AsyncClient() as http:
        async with serving("127.0.0.1", 0) as url:
            assert (await http.get(f"{url}/pages/compost")).status_code == 200
        with pytest.raises(httpx2.ConnectError):
            await http.get(f"{url}/pages/compost")


async def test_the_app_can_be_mounted_without_a_socket() -> None:
    transport = httpx2.ASGITransport(app=create_app())
    async with httpx2.AsyncClient(transport=transport, base_url="http://sandbox") as http:
        reply = await http.post(
            "/serper/search", json={"q": "compost"}, headers={"X-API-KEY": key_of("serper")}
        )
    assert reply.json()["organic"][0]["link"] == "http://sandbox/pages/compost"


def test_the_environment_holds_settings_that_exist_and_configures_every_vendor(
    sandbox: Sandbox,
) -> None:
    flags = sandbox.flags()
    assert set(flags) <= set(Settings.model_fields)
    settings = load_settings(**flags)
    assert settings.openai_base_url == f"{sandbox.url}/openai/v1"
    assert settings.fetch_allow_private_hosts == (sandbox.url.removeprefix("http://"),)
    named = {name for name in Settings.model_fields if name.endswith("_base_url")}
    assert named <= set(flags) | {"llm_base_url"}, "whose address alone would turn nothing on"
    assert sandbox.environment() == environment(sandbox.url)
    assert {name.upper(): value for name, value in flags.items()} == sandbox.environment()


def test_the_developers_settings_do_not_reach_a_test() -> None:
    leaked = {name for name in os.environ if name.lower() in Settings.model_fields} - {"DATA_DIR"}
    assert leaked == set()
    assert load_settings().openai_api_key is None


def test_importing_the_package_loads_no_web_framework() -> None:
    heavy = "{'uvicorn', 'starlette', 'httpx2', 'openai', 'pydantic'}"
    code = (
        f"import sys, websearch_gateway.sandbox.server; print(sorted({heavy} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_every_public_name_exists() -> None:
    assert all(hasattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError):
        package.no_such_name  # noqa: B018
