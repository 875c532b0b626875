"""The answer engines and the readers of claims that the settings choose, each behind its guard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from websearch_gateway.answers import table as answers
from websearch_gateway.answers.table import Outside
from websearch_gateway.app.guards import Guards
from websearch_gateway.cache.judgements import CachedReader
from websearch_gateway.cache.pages import BlobCache
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import SearchQuery
from websearch_gateway.pipeline.fallback import FallbackEngine, Ranked
from websearch_gateway.pipeline.judging import FallbackReader
from websearch_gateway.ports import AnswerEngine, ClaimReader, HostedEngine, State
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.guarded import Guarded
from websearch_gateway.upstream.race import LEAST_SHARE_SECONDS

if TYPE_CHECKING:
    from websearch_gateway.answers.claim_reader import ModelReader


def open_engines(settings: Settings, outside: Outside) -> Sequence[HostedEngine]:
    """Every configured engine, in order. Calls nothing.

    Raises:
        SearchNotConfiguredError: ANSWER_ENGINES names an engine that does not exist or lacks its key.
    """
    return [entry.build(settings, outside) for entry in answers.configured(settings)]


def claim_reader(
    settings: Settings, outside: Outside, state: State, guards: Guards
) -> ClaimReader | None:
    """The models that CLAIMS_READER names, each upstream behind its guard and its cache. Calls nothing.

    Raises:
        SearchNotConfiguredError: CLAIMS_READER names a model whose settings are missing.
    """
    stored, per_user = BlobCache(state), settings.cache_scope == "user"
    readers: list[ClaimReader] = []
    for name, reader in _bare_readers(settings, outside).items():
        reader.guard = guards.around(name, partial(_most_usd, reader))
        readers.append(CachedReader(reader, stored, settings.cache_long_ttl_seconds, per_user))
    return FallbackReader(readers) if readers else None


def _bare_readers(settings: Settings, outside: Outside) -> Mapping[str, ModelReader]:
    """The readers in the order in which they are asked, by the name of their upstream."""
    has_own = settings.llm_base_url is not None and settings.llm_model is not None
    match settings.claims_reader:
        case "off":
            return {}
        case "auto":
            return {"llm": answers.own_reader(settings, outside)} if has_own else {}
        case "llm":
            if not has_own:
                raise SearchNotConfiguredError(
                    "CLAIMS_READER=llm needs LLM_BASE_URL and LLM_MODEL."
                )
            return {"llm": answers.own_reader(settings, outside)}
        case "engine":
            return _engine_readers(settings, outside)


def _engine_readers(settings: Settings, outside: Outside) -> Mapping[str, ModelReader]:
    """The answer engines that can be asked without a search. Your own model is one of them, and needs none."""
    readers = {}
    names = [entry.name for entry in answers.configured(settings)]
    for name in names:
        if name == "llm":
            readers[name] = answers.own_reader(settings, outside)
        elif reader := answers.engine_reader(name, settings, outside):
            readers[name] = reader
    if readers:
        return readers
    if names:
        raise SearchNotConfiguredError(
            f"CLAIMS_READER=engine cannot ask {' or '.join(names)}: without a model in its setting, or without chat "
            "completions that search nothing, an answer engine judges no claims. Name another one in ANSWER_ENGINES, "
            "or set CLAIMS_READER=llm or off."
        )
    raise SearchNotConfiguredError(
        "CLAIMS_READER=engine needs an answer engine, and none is configured."
    )


def answering(
    settings: Settings,
    engines: Sequence[HostedEngine],
    raw: AnswerEngine,
    guards: Guards,
) -> AnswerEngine:
    """The engines in order, with raw search as the last."""
    fair_seconds = max(
        LEAST_SHARE_SECONDS,
        min(settings.fallback_hedge_seconds, settings.search_deadline_seconds / 2),
    )
    ranked = []
    for engine, entry in zip(engines, answers.configured(settings), strict=True):
        guard = guards.around(engine.name, partial(_most_usd, engine), fair_seconds=fair_seconds)
        ranked.append(Ranked(Guarded(engine, guard), guard.breaker.overtaken, entry.gathers))
    return FallbackEngine(ranked, raw, settings.fallback_hedge_seconds)


def _most_usd(upstream: HostedEngine | ModelReader, _: SearchQuery) -> float:
    """What a call may cost; it changes when a model is shut down."""
    return upstream.most_usd
