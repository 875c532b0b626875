"""The life of the browser: it starts when needed, retries, is shared and replaced, and ends when idle."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetched, Fetcher
from websearch_gateway.base.workers.pool import Workers
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline
from websearch_gateway.pages import browser
from websearch_gateway.pages.browser import NO_CHROMIUM, NO_EXTRA, NO_START, Browser
from websearch_gateway.pages.reader_table import ReaderTable

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(
    not CHROMIUM, reason="Chromium is missing; `make test` installs it"
)

Create = Callable[..., Browser]

TEXT = "The tide goes out twice a day as well. " * 8
PAGE = f"<!doctype html><div id=root></div><script>root.innerHTML = '<p>{TEXT}</p>'</script>"


def soon() -> Deadline:
    return Deadline.after(300)


@pytest.fixture
async def fetcher(api: Any) -> AsyncIterator[Fetcher]:
    api.says("/page", PAGE.encode(), content_type="text/html")
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        yield fetcher


@pytest.fixture
async def page(api: Any, fetcher: Fetcher) -> Fetched:
    return await fetcher.fetch(f"{api.url}/page", soon())


@pytest.fixture
async def create(fetcher: Fetcher) -> AsyncIterator[Create]:
    """A function that creates a browser, which ends with the test even if the test fails."""
    created: list[Browser] = []

    def create(**options: Any) -> Browser:
        created.append(Browser(fetcher, **options))
        return created[-1]

    yield create
    for one in created:
        await one.aclose()


def processes(word: str) -> dict[int, str]:
    """The processes below this one whose command line contains `word`, and their command lines."""
    found = {}
    for process in list(browser._tree(os.getpid()))[1:]:
        with suppress(OSError):  # it has just ended
            command = Path(f"/proc/{process}/cmdline").read_text()
            if word in command:
                found[process] = command
    return found


@needs_chromium
async def test_one_browser_serves_all_pages_and_leaves_nothing_behind(
    create: Create, page: Fetched
) -> None:
    one = create()
    assert processes("chromium") == {}
    many = await asyncio.gather(
        *(one.render(page, soon()) for _ in range(browser.PAGES_AT_ONCE + 2))
    )
    assert all(TEXT.strip() in rendered.body.decode() for rendered in many)
    mains = [command for command in processes("/chromium").values() if "--type=" not in command]
    assert len([main for main in mains if "remote-debugging-pipe" in main]) == 1
    await one.aclose()
    await one.aclose()
    assert processes("chromium") | processes("playwright") == {}


@needs_chromium
async def test_an_idle_browser_ends_and_the_next_page_starts_another(
    create: Create, page: Fetched
) -> None:
    one = create(idle_seconds=0)
    for _ in range(2):
        assert TEXT.strip() in (await one.render(page, soon())).body.decode()
        for main in processes("remote-debugging-pipe"):
            await asyncio.to_thread(wait_for_the_end_of, main)
        assert processes("remote-debugging-pipe") == {}


def wait_for_the_end_of(process: int) -> None:
    import select

    with suppress(ProcessLookupError), os.fdopen(os.pidfd_open(process)) as end:
        select.select([end], [], [], 60)


@pytest.mark.parametrize("broken", [True, False], ids=["without the extra", "without Chromium"])
async def test_a_warning_says_how_to_install_a_browser(
    api: Any, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    if broken:
        monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    note = NO_EXTRA if broken else NO_CHROMIUM
    async with Workers(count=1) as workers:
        table = ReaderTable.build(
            fetcher, workers, renderer=Browser(fetcher, path="/nowhere/chromium")
        )
        with pytest.raises(SearchFetchError) as caught:
            await table.read(f"{api.url}/page", soon())
        assert (caught.value.message, caught.value.details) == (note, {"reason": "javascript"})
        api.says(
            "/little",
            b"<p>Tides of Skerry, the island.</p>" + PAGE.encode(),
            content_type="text/html",
        )
        little = await table.read(f"{api.url}/little", soon())
        assert little.markdown == "Tides of Skerry, the island."
        assert little.warnings == (
            f"This is only the text of the page without its scripts: {note}",
        )


def stand_in(folder: Path, failures: int) -> tuple[str, Path]:
    """A program that fails so many times before it is Chromium, and the file with a line for each start."""
    log, program = folder / "starts", folder / "chromium"
    then = f'exec {CHROMIUM} "$@"' if CHROMIUM else "exit 1"
    program.write_text(
        f'#!/bin/sh\necho x >> {log}\n[ "$(wc -l < {log})" -gt {failures} ] || exit 1\n{then}\n'
    )
    program.chmod(0o755)
    return str(program), log


@needs_chromium
async def test_a_failed_start_is_retried_after_waits_that_double(
    create: Create, page: Fetched, tmp_path: Path
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    program, log = stand_in(tmp_path, failures=3)
    one = create(path=program, retries=3, backoff_seconds=0.5, sleep=sleep)
    assert TEXT.strip() in (await one.render(page, soon())).body.decode()
    assert waits == [0.5, 1.0, 2.0]
    assert log.read_text().count("x") == 4


async def test_after_the_last_failed_start_the_next_page_tries_again(
    create: Create, page: Fetched, tmp_path: Path
) -> None:
    async def sleep(seconds: float) -> None:
        pass

    program, log = stand_in(tmp_path, failures=99)
    one = create(path=program, retries=1, sleep=sleep)
    for starts in (2, 4):
        with pytest.raises(SearchFetchError) as caught:
            await one.render(page, soon())
        assert (caught.value.message, caught.value.details) == (NO_START, {"reason": "javascript"})
        assert log.read_text().count("x") == starts


async def test_a_driver_that_does_not_run_counts_as_a_failed_start(
    create: Create, page: Fetched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/bin/false")
    one = create(path=stand_in(tmp_path, failures=99)[0], retries=0)
    with pytest.raises(SearchFetchError, match="does not start"):
        await one.render(page, soon())
    await one.aclose()
    await drivers_are_reaped()


async def drivers_are_reaped() -> None:
    """Wait until Playwright has seen the end of a driver whose start failed, which it does in a task of its own."""
    readers = [task for task in asyncio.all_tasks() if "PipeTransport.run" in repr(task.get_coro())]
    await asyncio.gather(*readers)


@needs_chromium
@pytest.mark.parametrize("word", ["remote-debugging-pipe", "run-driver"], ids=["browser", "driver"])
async def test_a_browser_that_dies_fails_only_its_own_pages(
    api: Any, fetcher: Fetcher, create: Create, page: Fetched, word: str
) -> None:
    one = create()
    await one.render(page, soon())
    api.hangs("/never")
    api.says(
        "/slow", b"<div id=root></div><script src='/never'></script>", content_type="text/html"
    )
    slow = asyncio.create_task(one.render(await fetcher.fetch(f"{api.url}/slow", soon()), soon()))
    await api.asked_for("/never")
    for process in processes(word):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(SearchFetchError, match="broke down"):
        await slow
    assert TEXT.strip() in (await one.render(page, soon())).body.decode()


@needs_chromium
async def test_cancelling_the_caller_closes_the_page_and_its_requests(
    api: Any, fetcher: Fetcher, create: Create, page: Fetched
) -> None:
    one = create()
    api.hangs("/never")
    api.says(
        "/slow", b"<div id=root></div><script src='/never'></script>", content_type="text/html"
    )
    slow = asyncio.create_task(one.render(await fetcher.fetch(f"{api.url}/slow", soon()), soon()))
    await api.asked_for("/never")
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert one._running is not None
    assert (await one._running).browser.contexts == []
    await asyncio.wait_for(api.left.wait(), PATIENCE)


@needs_chromium
async def test_a_start_that_outlasts_one_caller_serves_the_next(
    create: Create, page: Fetched
) -> None:
    one = create()
    with pytest.raises(SearchTimeoutError):
        await one.render(page, Deadline.after(0.05))
    first = one._running
    assert TEXT.strip() in (await one.render(page, soon())).body.decode()
    assert one._running is first


@needs_chromium
async def test_closing_during_a_start_leaves_no_process_behind(
    create: Create, page: Fetched
) -> None:
    one = create()
    with pytest.raises(SearchTimeoutError):
        await one.render(page, Deadline.after(0.05))
    await one.aclose()
    assert processes("chromium") | processes("playwright") == {}


@needs_chromium
async def test_the_memory_of_a_page_is_limited(api: Any, fetcher: Fetcher, create: Create) -> None:
    """Ours: no page takes the machine down. A browser of the same program gives a page all there is."""
    script = """const all = []; let got = 0;
      try { for (; got < 30; got++) all.push(new Uint8Array(1e8).fill(1)) } catch {}
      root.textContent = `Got ${got} times a hundred megabytes`"""
    api.says(
        "/greedy",
        f"<div id=root></div><script>{script}</script>".encode(),
        content_type="text/html",
    )
    one = create()
    rendered = await one.render(await fetcher.fetch(f"{api.url}/greedy", soon()), soon())
    got = int(rendered.body.decode().partition("Got ")[2].split()[0])
    assert 2 <= got <= browser.MOST_MEGABYTES // 100


@needs_chromium
async def test_the_browser_gets_no_secret_of_this_process(
    create: Create, page: Fetched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    one = create()
    await one.render(page, soon())
    environments = []
    for process in processes("/chromium"):
        with suppress(OSError):  # it has just ended
            environments.append(Path(f"/proc/{process}/environ").read_text())
    assert environments
    assert all("sk-made-up" not in environment for environment in environments)
