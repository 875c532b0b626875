"""ENGINES, the ordered table of answer engines, derived from settings/__init__.py. Importing it imports no engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings.loading import ENGINES as ROWS
from websearch_gateway.settings.loading import EngineRow

if TYPE_CHECKING:
    import httpx2
    from pydantic import SecretStr

    from websearch_gateway.answers.claim_reader import ModelReader, ReadingModel
    from websearch_gateway.answers.common import EngineApi
    from websearch_gateway.answers.llm import Chat
    from websearch_gateway.base import Fetcher, Retry
    from websearch_gateway.ports import Gather, HostedEngine, Workers
    from websearch_gateway.settings.loading import Settings

__all__ = ["ENGINES", "Entry", "Outside", "configured", "engine_reader", "own_reader"]


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


def _hosted(row: EngineRow, settings: Settings, outside: Outside) -> HostedEngine:
    from websearch_gateway.answers.http_engine import HttpEngine
    from websearch_gateway.base import ReplyParser

    module = import_module(f"{__package__}.{row.name}")
    make: Callable[[SecretStr, str], EngineApi] = module.API
    resolves_links: bool = getattr(settings, f"{row.name}_resolve_links", True)
    key, base_url, models = (
        getattr(settings, f"{row.name}_{part}") for part in ("api_key", "base_url", "models")
    )
    api = make(key, base_url)
    return HttpEngine(
        api,
        models,
        outside.client,
        outside.retry,
        settings.request_timeout_ms / 1000,
        settings.prices.get(row.name),
        ReplyParser(outside.workers),
        finish=api.finish(outside.fetcher) if resolves_links else None,
        sdk=api.sdk(outside.client),
    )


def _llm(settings: Settings, outside: Outside) -> HostedEngine:
    from websearch_gateway.answers.llm import LlmEngine

    chat, price = _own_chat(settings, outside), settings.prices.get("llm", 0.0)
    return LlmEngine(
        chat, outside.gather, outside.retry, outside.workers, settings.llm_evidence_tokens, price
    )


def _own_chat(settings: Settings, outside: Outside) -> Chat:
    from websearch_gateway.answers.llm import Chat

    return Chat(
        outside.client, settings.llm_base_url or "", settings.llm_model or "", settings.llm_api_key
    )


def own_reader(settings: Settings, outside: Outside) -> ModelReader:
    """The model of LLM_BASE_URL as a reader of claims."""
    from websearch_gateway.answers.claim_reader import ModelReader, ReadingModel

    price = settings.prices.get("llm", 0.0)
    model = ReadingModel(_own_chat(settings, outside), lambda *_: price)
    return ModelReader([model], outside.retry)


def engine_reader(name: str, settings: Settings, outside: Outside) -> ModelReader | None:
    """The models of a configured engine as a reader of claims: plain chat models, which search nothing.

    None if they cannot be asked without a search, or there are none.
    """
    from websearch_gateway.answers.claim_reader import ModelReader

    make: Callable[[SecretStr, str], EngineApi] = import_module(f"{__package__}.{name}").API
    api = make(getattr(settings, f"{name}_api_key"), getattr(settings, f"{name}_base_url"))
    models: Sequence[str] = getattr(settings, f"{name}_models")
    if api.chat_path is None or not models:
        return None
    return ModelReader([_reading_model(api, model, outside) for model in models], outside.retry)


def _reading_model(api: EngineApi, name: str, outside: Outside) -> ReadingModel:
    from websearch_gateway.answers.claim_reader import ReadingModel
    from websearch_gateway.answers.common import Billed, find_model
    from websearch_gateway.answers.llm import Chat, ChatServer
    from websearch_gateway.base import utc_now

    setting = api.name.upper()
    model = find_model(name, api.known_models)
    takes_low = model is not None and "low" in model.efforts
    server = ChatServer(
        name=api.traced_as or api.name,
        address=api.vendor,
        key_setting=f"{setting}_API_KEY",
        model_settings=f"{setting}_MODELS and {setting}_BASE_URL",
        limit=api.chat_limit,
        options={"reasoning_effort": "low"} if takes_low else {},
        names_options=True,
    )
    chat = Chat(outside.client, f"{api.base_url}{api.chat_path}", name, api.key, server)

    def price(prompt: int, response: int) -> float:
        billed = Billed(prompt=prompt, response=response)
        return model.tokens_usd(billed, utc_now()) if model else 0.0

    return ReadingModel(
        chat, price, has_price=model is not None, ends=model.ends if model else None
    )


ENGINES: tuple[Entry, ...] = (
    *(Entry(row.name, (f"{row.name}_api_key",), partial(_hosted, row)) for row in ROWS),
    Entry("llm", ("llm_base_url", "llm_model"), _llm, gathers=True),
)
"""Every engine, in the order in which questions try them."""


def configured(settings: Settings) -> list[Entry]:
    """The engines to ask, in order: those that ANSWER_ENGINES names, else every engine whose required settings are set.

    Raises:
        SearchNotConfiguredError: an unknown name or a named engine without its key.
    """
    table = {entry.name: entry for entry in ENGINES}
    names = list(dict.fromkeys(name.lower() for name in settings.answer_engines))
    for name in names:
        if name not in table:
            raise SearchNotConfiguredError(
                f"ANSWER_ENGINES names {name!r}, which is not one of {', '.join(table)}."
            )
        if missing := table[name].missing(settings):
            raise SearchNotConfiguredError(
                f"ANSWER_ENGINES names {name}, which needs {' and '.join(missing)}."
            )
    return [table[name] for name in names] or [
        entry for entry in ENGINES if not entry.missing(settings)
    ]
