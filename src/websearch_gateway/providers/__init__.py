"""Raw search vendors, one small file of pure functions each, in the order of settings/__init__.py.

To add one, follow docs/adding-a-provider.md. `net/client.py` handles network, retries and errors for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import SecretStr

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import Capabilities
from websearch_gateway.ports import Provider
from websearch_gateway.settings import PROVIDERS as ROWS
from websearch_gateway.settings import ProviderRow, Settings

__all__ = ["PROVIDERS", "Entry", "absent", "advice", "configured"]

_MOST_ADVISED = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table with its provider module, which `build` imports."""

    row: ProviderRow

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def needs(self) -> tuple[str, ...]:
        """The settings that it requires: those without a default."""
        fields = Settings.model_fields
        named = (setting for setting in self.row.fields.values() if setting not in self.row.optional)
        return tuple(setting for setting in named if fields[setting].default is None)

    def missing(self, settings: Settings) -> list[str]:
        """The environment variables of required settings that are not set."""
        return [need.upper() for need in self.needs if not getattr(settings, need)]

    def build(self, settings: Settings) -> Provider:
        """Create the provider from its settings."""
        make: Callable[..., Provider] = _code(self)
        return make(**{field: _plain(getattr(settings, setting)) for field, setting in self.row.fields.items()})


def _plain(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


PROVIDERS: tuple[Entry, ...] = tuple(map(Entry, ROWS))
"""Every provider, in the order in which searches try them."""


def configured(settings: Settings) -> list[Provider]:
    """The providers to try, in order: those that SEARCH_PROVIDERS names, else all whose required settings are set.

    One that uses the key of an answer engine serves only if it is named.

    Raises:
        SearchNotConfiguredError: an unknown name or a named provider without its key.
    """
    usual = [entry for entry in PROVIDERS if not entry.missing(settings) and not entry.row.engine]
    entries = _named(settings) or usual
    return [entry.build(settings) for entry in entries]


def absent(settings: Settings) -> dict[str, str]:
    """The providers that `configured` leaves out, each with the change that would enable it."""
    chosen = {provider.name for provider in configured(settings)}
    return {entry.name: _remedy(entry, settings) for entry in PROVIDERS if entry.name not in chosen}


def advice(settings: Settings) -> str:
    """If no provider has a key: which keys to buy, the cheapest first, and where; else empty.

    Providers that need no key often block callers, or cover little.
    """
    if any(entry.needs for entry in PROVIDERS if entry.name in {one.name for one in configured(settings)}):
        return ""
    sold = sorted(filter(None, map(_sold, PROVIDERS)))[:_MOST_ADVISED]
    keys = " or ".join(f"{key} (USD {usd:g} a request, {page})" for usd, _, key, page in sold)
    return f"No search provider has a key here: set {keys}."


def _sold(entry: Entry) -> tuple[float, int, str, str] | None:
    """Price, place in the table, key and page of a provider that needs only one key and is not being shut down."""
    can: Capabilities = _code(entry).capabilities
    if not can.cost_per_call_usd or can.ends or len(entry.needs) > 1 or entry.row.engine:
        return None
    page = can.price_source.partition(",")[0]
    return can.cost_per_call_usd, PROVIDERS.index(entry), entry.needs[0].upper(), page


def _code(entry: Entry) -> Any:
    """The provider's class, in the module of its row."""
    found = vars(import_module(f"{__name__}.{entry.row.module or entry.name}")).values()
    return next(one for one in found if isinstance(one, type) and getattr(one, "name", None) == entry.name)


def _remedy(entry: Entry, settings: Settings) -> str:
    missing = entry.missing(settings)
    steps = [f"set {' and '.join(missing)}"] if missing else []
    if not missing or entry.row.engine:
        steps.append(f"add {entry.name} to SEARCH_PROVIDERS")
    return " and ".join(steps)


def _named(settings: Settings) -> list[Entry]:
    table = {entry.name: entry for entry in PROVIDERS}
    names = list(dict.fromkeys(name.lower() for name in settings.search_providers))
    for name in names:
        if name not in table:
            known = ", ".join(table)
            raise SearchNotConfiguredError(f"SEARCH_PROVIDERS names {name!r}; the known providers are {known}.")
        if missing := table[name].missing(settings):
            raise SearchNotConfiguredError(f"SEARCH_PROVIDERS names {name}, which needs {' and '.join(missing)}.")
    return [table[name] for name in names]
