"""ENGINES, the ordered table of answer engines, derived from settings/__init__.py. Importing it imports no engine."""

from __future__ import annotations

from collections.abc import Callable
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

    from websearch_gateway.answers.common import EngineApi, Model
    from websearch_gateway.answers.llm import Chat, Written
    from websearch_gateway.base import Fetcher, Retry
    from websearch_gateway.ports import ClaimReader, Gather, HostedEngine, Layer, Workers
    from websearch_gateway.settings.loading import Settings

__all__ = ["ENGINES", "EngineChat", "Entry", "Outside", "configured", "own_reader"]


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


def own_reader(settings: Settings, outside: Outside, guard: Layer) -> ClaimReader:
    """The model of LLM_BASE_URL as a reader of claims."""
    from websearch_gateway.answers.claim_reader import ModelReader

    price = settings.prices.get("llm", 0.0)
    return ModelReader(_own_chat(settings, outside), outside.retry, guard, lambda _: price)


@dataclass(frozen=True, slots=True)
class EngineChat:
    """The first model of an engine, asked as a plain chat model: it searches nothing."""

    api: EngineApi
    model: str
    known: Model | None

    @classmethod
    def of(cls, name: str, settings: Settings) -> EngineChat:
        """The chat of a configured engine.

        Raises:
            SearchNotConfiguredError: the engine has no model, or none that can be asked without a search.
        """
        from websearch_gateway.answers.common import find_model
        from websearch_gateway.base import utc_now

        make: Callable[[SecretStr, str], EngineApi] = import_module(f"{__package__}.{name}").API
        api = make(getattr(settings, f"{name}_api_key"), getattr(settings, f"{name}_base_url"))
        if api.chat_path is None:
            raise SearchNotConfiguredError(
                f"CLAIMS_READER=engine cannot ask {api.vendor}, the first answer engine: it offers no chat "
                "completions without a web search. Name another engine first in ANSWER_ENGINES, or set CLAIMS_READER="
                "llm or off."
            )
        for model in getattr(settings, f"{name}_models"):
            known = find_model(model, api.known_models)
            if known is None or not known.has_ended(utc_now()):
                return cls(api, model, known)
        raise SearchNotConfiguredError(
            f"CLAIMS_READER=engine needs a model that serves in {name.upper()}_MODELS."
        )

    @property
    def most_usd(self) -> float:
        """The most that a reply may cost."""
        from websearch_gateway.answers.claim_reader import MOST_PROMPT_TOKENS, MOST_REPLY_TOKENS

        return self._usd(MOST_PROMPT_TOKENS, MOST_REPLY_TOKENS)

    def usd(self, written: Written | None) -> float:
        """The price of a reply, or of a usual one."""
        from websearch_gateway.answers.claim_reader import USUAL_PROMPT_TOKENS, USUAL_REPLY_TOKENS

        if written is None:
            return self._usd(USUAL_PROMPT_TOKENS, USUAL_REPLY_TOKENS)
        return self._usd(written.prompt_tokens, written.response_tokens)

    def reader(self, outside: Outside, guard: Layer) -> ClaimReader:
        """The model as a reader of claims."""
        from websearch_gateway.answers.claim_reader import ModelReader
        from websearch_gateway.answers.llm import Chat, ChatServer

        takes_low = self.known is not None and "low" in self.known.efforts
        settings_name = self.api.name.upper()
        server = ChatServer(
            name=self.api.traced_as or self.api.name,
            address=self.api.vendor,
            key_setting=f"{settings_name}_API_KEY",
            model_settings=f"{settings_name}_MODELS and {settings_name}_BASE_URL",
            limit=self.api.chat_limit,
            options={"reasoning_effort": "low"} if takes_low else {},
        )
        chat = Chat(
            outside.client,
            f"{self.api.base_url}{self.api.chat_path}",
            self.model,
            self.api.key,
            server,
        )
        return ModelReader(chat, outside.retry, guard, self.usd)

    def _usd(self, prompt: int, response: int) -> float:
        from websearch_gateway.answers.common import Billed
        from websearch_gateway.base import utc_now

        return (
            self.known.tokens_usd(Billed(prompt=prompt, response=response), utc_now())
            if self.known
            else 0.0
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
