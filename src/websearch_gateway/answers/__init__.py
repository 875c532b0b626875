"""Answer engines, one file each: `ENGINES` is the ordered table.

`http_engine` runs every engine that is an HTTP API; OpenAI has its own SDK. To add one: docs/adding-an-engine.md. The
extractive composer, which quotes without a model, is here too.

Importing this package imports no engine, since worker processes import it to compose and check answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from websearch_gateway.errors import SearchNotConfiguredError

if TYPE_CHECKING:
    import httpx2
    from pydantic import SecretStr

    from websearch_gateway.answers.http_engine import EngineApi
    from websearch_gateway.models import Answer, Deadline
    from websearch_gateway.net.fetch import Fetcher
    from websearch_gateway.net.retry import Retry
    from websearch_gateway.ports import Gather, HostedEngine, Workers
    from websearch_gateway.settings import Settings

    Finish = Callable[[Answer, Deadline], Awaitable[Answer]]

__all__ = ["ENGINES", "Entry", "Outside", "configured"]


@dataclass(frozen=True, slots=True)
class Outside:
    """The resources that engines share: the process's client and retry, raw search, workers, the guarded fetcher."""

    client: httpx2.AsyncClient
    retry: Retry
    gather: Gather
    workers: Workers
    fetcher: Fetcher


@dataclass(frozen=True, slots=True)
class Entry:
    """An engine, the settings that it requires, and the function that builds it from all settings.

    `gathers` says that it writes from the results of raw search.
    """

    name: str
    needs: tuple[str, ...]
    build: Callable[[Settings, Outside], HostedEngine]
    gathers: bool = False

    def missing(self, settings: Settings) -> list[str]:
        """The environment names of required settings that are not set."""
        return [need.upper() for need in self.needs if not getattr(settings, need)]


def _key(settings: Settings, name: str) -> SecretStr:
    key: SecretStr = getattr(settings, name)
    return key


def _openai(settings: Settings, outside: Outside) -> HostedEngine:
    from websearch_gateway.answers.openai.client import OpenAIClient
    from websearch_gateway.answers.openai.engine import OpenAIEngine
    from websearch_gateway.answers.openai.models import SEARCH_USD
    from websearch_gateway.net.own_threads import ReplyParser

    account = OpenAIClient(
        outside.client,
        _key(settings, "openai_api_key"),
        settings.openai_base_url,
        settings.request_timeout_ms / 1000,
        settings.secrets(),
    )
    search_usd = settings.prices.get("openai", SEARCH_USD)
    return OpenAIEngine(account, settings.openai_models, outside.retry, search_usd, ReplyParser(outside.workers))


def _over_http(
    settings: Settings, outside: Outside, api: EngineApi, models: tuple[str, ...], finish: Finish | None = None
) -> HostedEngine:
    from websearch_gateway.answers.http_engine import HttpEngine
    from websearch_gateway.net.own_threads import ReplyParser

    seconds, price = settings.request_timeout_ms / 1000, settings.prices.get(api.name)
    parser = ReplyParser(outside.workers)
    return HttpEngine(api, models, outside.client, outside.retry, seconds, price, parser, finish)


def _anthropic(settings: Settings, outside: Outside) -> HostedEngine:
    from websearch_gateway.answers.anthropic import Anthropic

    api = Anthropic(_key(settings, "anthropic_api_key"), settings.anthropic_base_url)
    return _over_http(settings, outside, api, settings.anthropic_models)


def _gemini(settings: Settings, outside: Outside) -> HostedEngine:
    from websearch_gateway.answers.gemini import Gemini
    from websearch_gateway.answers.redirects import Redirects

    api = Gemini(_key(settings, "gemini_api_key"), settings.gemini_base_url)
    redirects = Redirects(outside.fetcher) if settings.gemini_resolve_links else None
    return _over_http(settings, outside, api, settings.gemini_models, redirects)


def _perplexity(settings: Settings, outside: Outside) -> HostedEngine:
    from websearch_gateway.answers.perplexity import Perplexity

    api = Perplexity(_key(settings, "perplexity_api_key"), settings.perplexity_base_url)
    return _over_http(settings, outside, api, settings.perplexity_models)


def _llm(settings: Settings, outside: Outside) -> HostedEngine:
    from websearch_gateway.answers.llm.chat import Chat
    from websearch_gateway.answers.llm.engine import LlmEngine

    chat = Chat(outside.client, settings.llm_base_url or "", settings.llm_model or "", settings.llm_api_key)
    price = settings.prices.get("llm", 0.0)
    return LlmEngine(chat, outside.gather, outside.retry, outside.workers, settings.llm_evidence_tokens, price)


ENGINES: tuple[Entry, ...] = (
    Entry("openai", ("openai_api_key",), _openai),
    Entry("anthropic", ("anthropic_api_key",), _anthropic),
    Entry("gemini", ("gemini_api_key",), _gemini),
    Entry("perplexity", ("perplexity_api_key",), _perplexity),
    Entry("llm", ("llm_base_url", "llm_model"), _llm, gathers=True),
)


def configured(settings: Settings) -> list[Entry]:
    """The engines to ask, in order: those that ANSWER_ENGINES names, else every engine whose required settings are set.

    Raises:
        SearchNotConfiguredError: an unknown name or a named engine without its key.
    """
    return _named(settings) or [entry for entry in ENGINES if not entry.missing(settings)]


def _named(settings: Settings) -> list[Entry]:
    table = {entry.name: entry for entry in ENGINES}
    names = list(dict.fromkeys(name.lower() for name in settings.answer_engines))
    for name in names:
        if name not in table:
            raise SearchNotConfiguredError(f"ANSWER_ENGINES names {name!r}, which is not one of {', '.join(table)}.")
        if missing := table[name].missing(settings):
            raise SearchNotConfiguredError(f"ANSWER_ENGINES names {name}, which needs {' and '.join(missing)}.")
    return [table[name] for name in names]
