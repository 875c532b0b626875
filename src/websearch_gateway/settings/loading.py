"""The only reader of the environment. `make docs` lists all settings.

Names are those of environment variables; a TOML file uses the same names in lower case. Flags override the environment,
and the environment overrides the file. The file is `--config FILE`, else `$WEBSEARCH_GATEWAY_CONFIG`, else
`config.toml` in the user's configuration folder (platformdirs).

ENGINES and PROVIDERS are the ordered tables of vendors: settings, engines, providers, sandbox and documents derive from
them. The code of a row is the file with its name in `answers/` or `providers/`; docs/adding-an-engine.md and
docs/adding-a-provider.md say what belongs in it. All other settings are in `groups.py`.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

import platformdirs
from pydantic import Field, SecretStr, ValidationError, create_model
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from websearch_gateway.errors import SearchNotConfiguredError, shown
from websearch_gateway.settings.groups import (
    APP_NAME,
    DEFAULT_TOOLSETS,
    HTTP_LIMITS,
    TOOLSETS,
    Behaviour,
    Key,
    Names,
    OptionalUrl,
    Pages,
    Serving,
    SettingsGroup,
    Storage,
    Text,
    Upstreams,
    Url,
    is_placeholder,
    login_secrets,
    masked,
    without_quotes,
)


@dataclass(frozen=True, slots=True)
class EngineRow:
    """A vendor whose model searches and answers.

    Attributes:
        name: lower case; also the name of its module in `answers/`, and the start of its settings' names.
        title: as the vendor writes it.
        base_url: the part before the vendor's own path.
        models: the default models in order; the first is the cheapest without an end in the next year, unless the next
            one takes over.
    """

    name: str
    title: str
    base_url: str
    models: tuple[str, ...]


ENGINES: tuple[EngineRow, ...] = (
    EngineRow("openai", "OpenAI", "https://api.openai.com/v1", ("gpt-5-nano", "gpt-6-luna")),
    EngineRow("anthropic", "Anthropic", "https://api.anthropic.com", ("claude-haiku-5-5",)),
    EngineRow(
        "gemini", "Gemini", "https://generativelanguage.googleapis.com", ("gemini-3.5-flash-lite",)
    ),
    EngineRow("perplexity", "Perplexity", "https://api.perplexity.ai", ("perplexity/sonar",)),
)


class _OwnModel(SettingsGroup):
    """The settings that belong to no row."""

    answer_engines: Names = Field(
        (),
        description=f"Answer engines in order: {', '.join(row.name for row in ENGINES)}, llm. Default: all configured "
        "ones. Quotes from raw search always come last.",
    )
    llm_base_url: OptionalUrl = Field(
        None,
        description="Your own model: any OpenAI-compatible chat completions server, such as "
        "`http://localhost:11434/v1` (`/v1` may be left out). It writes from the pages that raw search finds.",
    )
    llm_model: Text = Field(None, description="The name of its model (needs LLM_BASE_URL too).")
    llm_api_key: Key = Field(None, description="Its key, if it requires one.")
    llm_evidence_tokens: int = Field(
        6000,
        ge=500,
        le=100_000,
        description="The most tokens of pages in its prompt; less than its context.",
    )
    gemini_resolve_links: bool = Field(
        False,
        description="Resolve Gemini's source links through Google's redirect. Google's terms may forbid this to "
        "programs.",
    )


def _engine_settings(row: EngineRow) -> dict[str, Any]:
    models = "Models in order; if one is gone, the next is used."
    return {
        f"{row.name}_api_key": (Key, Field(None, description=f"Key for {row.title}.")),
        f"{row.name}_base_url": (
            Url,
            Field(row.base_url, description=f"Base URL of {row.title}'s API."),
        ),
        f"{row.name}_models": (Names, Field(row.models, description=models)),
    }


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """A search vendor.

    Attributes:
        name: lower case.
        title: as the vendor writes it.
        base_url: the part before the vendor's own path; None when every operator has a server of their own.
        has_key: whether it needs `NAME_API_KEY`.
        note: a sentence for the description of its first setting.
        settings: field of the provider -> setting, for fields other than `key` and `base_url` or with another name;
            `groups.py` defines those settings.
        optional: those of these settings that it does not require.
        module: the module in `providers/` with its class, if not the one with its name.
        engine: the answer engine of the same vendor, whose key and base URL it uses. Such a provider serves only if
            SEARCH_PROVIDERS names it, since its key may be meant for the engine alone.
    """

    name: str
    title: str
    base_url: str | None
    has_key: bool = True
    note: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    engine: str = ""
    module: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """Field of the provider -> the setting that fills it."""
        prefix = self.engine or self.name
        own = {"key": f"{prefix}_api_key"} if self.has_key else {}
        return {**own, "base_url": f"{prefix}_base_url", **self.settings}


PROVIDERS: tuple[ProviderRow, ...] = (
    # Google's results, fast and the cheapest of the paid ones.
    ProviderRow("serper", "Serper", "https://google.serper.dev"),
    # Made for agents: long snippets and a score.
    ProviderRow("tavily", "Tavily", "https://api.tavily.com"),
    # An index of its own, for when Google's index is unavailable.
    ProviderRow("brave", "Brave Search", "https://api.search.brave.com"),
    # Ends on 2027-01-01, and has a daily quota.
    ProviderRow(
        "google",
        "Google Custom Search",
        "https://www.googleapis.com",
        note="GOOGLE_SEARCH_ENGINE_ID is needed too.",
        settings={
            "base_url": "google_search_base_url",
            "engine_id": "google_search_engine_id",
            "safe_search": "google_safe_search",
        },
    ),
    # No filters, but returns the text of pages.
    ProviderRow("synthetic", "synthetic.new", "https://api.synthetic.new"),
    # The next four return the text of pages too. The first has an index of its own.
    ProviderRow("exa", "Exa", "https://api.exa.ai", module="with_texts"),
    # Reads the pages that it finds, in a browser.
    ProviderRow("firecrawl", "Firecrawl", "https://api.firecrawl.dev", module="with_texts"),
    # Long excerpts.
    ProviderRow("linkup", "Linkup", "https://api.linkup.so", module="with_texts"),
    # Results of other search engines; slow, because it reads their pages.
    ProviderRow("jina", "Jina", "https://s.jina.ai", module="with_texts"),
    # Without the vendor's models.
    ProviderRow(
        "perplexity_search",
        "Perplexity Search",
        "https://api.perplexity.ai",
        engine="perplexity",
        module="with_texts",
    ),
    # Free, if you run it.
    ProviderRow("searxng", "SearXNG", None, has_key=False, note="It must allow `format=json`."),
    # Needs no key and may block at any time.
    ProviderRow("duckduckgo", "DuckDuckGo", "https://html.duckduckgo.com", has_key=False),
    # Needs no key and is always available, but covers only an encyclopaedia, hence last.
    ProviderRow(
        "wikipedia",
        "Wikipedia",
        "https://{lang}.wikipedia.org",
        has_key=False,
        note="`{lang}` stands for the question's language.",
        settings={"contact": "contact_url"},
        optional=("contact_url",),
    ),
)


def _provider_settings(row: ProviderRow) -> dict[str, Any]:
    """The definitions of the row's own settings, by name."""
    note = f" {row.note}" if row.note else ""
    definitions: dict[str, Any] = {}
    if row.has_key:
        definitions[row.fields["key"]] = (
            Key,
            Field(None, description=f"Key for {row.title}.{note}"),
        )
        note = ""
    if row.base_url is None:
        about = f"Base URL of your {row.title} server.{note}"
        definitions[row.fields["base_url"]] = (OptionalUrl, Field(None, description=about))
    else:
        about = f"Base URL of {row.title}.{note}"
        definitions[row.fields["base_url"]] = (Url, Field(row.base_url, description=about))
    return definitions


if TYPE_CHECKING:

    class EngineSettings(_OwnModel):
        """Answer engines"""

    class ProviderSettings(SettingsGroup):
        """Search providers"""
else:

    def _group(
        name: str, title: str, base: type[SettingsGroup], settings: list[dict[str, Any]]
    ) -> type[SettingsGroup]:
        fields = {name: definition for row in settings for name, definition in row.items()}
        return create_model(name, __base__=base, __doc__=title, __module__=__name__, **fields)

    EngineSettings = _group(
        "EngineSettings", "Answer engines", _OwnModel, list(map(_engine_settings, ENGINES))
    )
    ProviderSettings = _group(
        "ProviderSettings",
        "Search providers",
        SettingsGroup,
        [_provider_settings(row) for row in PROVIDERS if not row.engine],
    )


_log = logging.getLogger(__name__)

__all__ = [
    "APP_NAME",
    "DEFAULT_TOOLSETS",
    "GROUPS",
    "TOOLSETS",
    "Settings",
    "config_path",
    "index_variables",
    "load_settings",
]

MOST_FILE_BYTES = 1_000_000
"""The largest settings file, in bytes."""
_INDEX_VARIABLE = re.compile(
    r"(?:PIP|UV|PDM|PIPENV)_(?:EXTRA_|DEFAULT_)?(?:INDEX|FIND_LINKS|PYPI)(?:_URL|_MIRROR)?"
    r"|(?:PIP|UV|PDM)_CONFIG_FILE|NPM_CONFIG_(?:REGISTRY|(?:USER|GLOBAL)CONFIG)|YARN_(?:NPM_)?REGISTRY(?:_SERVER)?"
    r"|VIRTUAL_ENV|XDG_CONFIG_HOME"
)

GROUPS = (EngineSettings, Upstreams, ProviderSettings, Pages, Storage, Behaviour, Serving)


class Settings(
    Serving, Behaviour, Storage, Pages, ProviderSettings, Upstreams, EngineSettings, BaseSettings
):
    """Every setting, with its default. The repr never shows a key (a `SecretStr`) or the login of a URL."""

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then the environment, then the file. Reads no `.env`: the working folder must not change a server."""
        return (init_settings, env_settings)

    @property
    def effective_state_url(self) -> str:
        """`STATE_URL`, or the SQLite file in `DATA_DIR`."""
        return self.state_url or f"sqlite:///{self.data_dir / 'state.db'}"

    @property
    def base_path(self) -> str:
        """The path of PUBLIC_URL, such as `/gateway`; empty without one."""
        return urlsplit(self.public_url or "").path.rstrip("/")

    def over_http(self) -> Settings:
        """These settings for a server whose users share it: with a limit where none is set."""
        return self.model_copy(
            update={name: at for name, at in HTTP_LIMITS.items() if getattr(self, name) is None}
        )

    @property
    def docs_path(self) -> Path | None:
        """The file of the documentation index: named by `DOCS_URL`, or in `DATA_DIR`; None for a database server."""
        if self.docs_url is None:
            return self.data_dir / "docs" / "docs.db"
        if not self.docs_url.startswith("sqlite:"):
            return None
        return Path(self.docs_url.partition("://")[2].removeprefix("/")).expanduser().absolute()

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """For repr and str: every setting, without the logins of its URLs."""
        for name, value in super().__repr_args__():
            yield name, masked(value)

    def shown(self) -> dict[str, Any]:
        """Every setting by its environment name, safe to show: keys only as set or not set, URLs without logins."""
        dumped = self.model_dump(mode="json")
        # A query may name a person.
        dumped["contact_url"] = self.contact_url and self.contact_url.partition("?")[0]
        return {
            name.upper(): "(set)" if isinstance(getattr(self, name), SecretStr) else masked(value)
            for name, value in dumped.items()
        }

    def secrets(self) -> tuple[str, ...]:
        """Every secret value that is set, for redaction only."""
        secrets: set[str] = set()
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, SecretStr):
                secrets.add(value.get_secret_value())
            elif isinstance(value, str):
                secrets |= login_secrets(value)
        return tuple(sorted(secrets - {""}))


def index_variables() -> dict[str, str]:
    """The variables that name package indexes for pip, uv, PDM, npm and Yarn, or files that do. They are no settings of
    this gateway."""
    return {
        name: value
        for name, value in os.environ.items()
        if value and _INDEX_VARIABLE.fullmatch(name.upper())
    }


def certificate_folders() -> list[Path]:
    """The folders of certificates that the environment names for OpenSSL; none if it names a file, which goes first."""
    folders = os.environ.get("SSL_CERT_DIR", "")
    return (
        []
        if os.environ.get("SSL_CERT_FILE")
        else [Path(folder) for folder in folders.split(os.pathsep) if folder]
    )


def forget_unusable_width() -> None:
    """Remove COLUMNS from the environment unless it is a width in which a line can be read: at 0 nothing is printed."""
    width = os.environ.get("COLUMNS", "")
    if width and not (width.isdecimal() and LEAST_COLUMNS <= int(width) <= MOST_COLUMNS):
        del os.environ["COLUMNS"]


LEAST_COLUMNS, MOST_COLUMNS = 20, 1_000
"""A width outside of these is a mistake, and is ignored."""


def names_a_width() -> bool:
    """Whether the environment says how wide a line may be."""
    return "COLUMNS" in os.environ


def _environment_settings() -> dict[str, str]:
    """The values of our settings in the environment, by their names in lower case."""
    return {
        name.lower(): value
        for name, value in os.environ.items()
        if name.lower() in Settings.model_fields
    }


def _warn_of_placeholders(values: Mapping[str, Any]) -> None:
    """Log the keys that count as not set because nobody has replaced what stands for them."""
    for name, value in values.items():
        is_key = name in Settings.model_fields and SecretStr in get_args(
            Settings.model_fields[name].annotation
        )
        if is_key and isinstance(value, str) and is_placeholder(without_quotes(value)):
            _log.warning(
                "%s holds a placeholder such as ${NAME} and counts as not set: put the key itself there, or remove it.",
                name.upper(),
            )


def _warn_of_unknown_variables() -> None:
    """Log the variables that look like our settings but are not: otherwise nobody notices a typo."""
    for name in sorted(os.environ):
        near = nearest_setting(name)
        if near is not None and near not in os.environ:
            _log.warning("There is no setting %s; did you mean %s?", shown(name), near)


# A program that opens several gateways reads the same environment each time.
@lru_cache(maxsize=512)
def nearest_setting(name: str) -> str | None:
    """The setting that a name in our style is nearest to; None for the name of a setting, and for names of others.

    Both begin with the same word, but for a typo. The rest is the same but for a typo, or for words that only one has,
    if two are the same.
    """
    words = name.upper().split("_")
    if name.lower() in Settings.model_fields or len(words) < 2:
        return None
    most, nearest = 0.0, None
    for setting in Settings.model_fields:
        likeness = _likeness(words, setting.upper().split("_"))
        if likeness > most:
            most, nearest = likeness, setting.upper()
    return nearest


_LEAST_LIKENESS = 0.8
"""The least similarity of words with a typo: `PROVIDER` and `PROVIDERS` have 0.94,
`OPENIA` and `OPENAI` 0.83, `XAI` and `EXA` 0.67."""


def _likeness(words: list[str], setting: list[str]) -> float:
    """How much the words of two names are alike, from 0 to 1; 0 if they do not mean the same."""
    name, name_of_setting = "_".join(words), "_".join(setting)
    if set(words).isdisjoint(setting) and not _is_typo(name, name_of_setting):
        return 0.0  # so it is with most variables, and comparing them word by word takes long
    matcher = SequenceMatcher(None, words, setting, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    for kind, start, end, setting_start, setting_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        part, part_of_setting = words[start:end], setting[setting_start:setting_end]
        only_one_has_it = not part or not part_of_setting
        is_more_words = only_one_has_it and start > 0 and same > 1
        if not is_more_words and not _is_typo("_".join(part), "_".join(part_of_setting)):
            return 0.0
    return SequenceMatcher(None, name, name_of_setting, autojunk=False).ratio()


def _is_typo(name: str, setting: str) -> bool:
    """Whether a typo may have made one of the other. The cheapest tests come first."""
    longest_ratio = 2 * min(len(name), len(setting)) / (len(name) + len(setting))
    if longest_ratio < _LEAST_LIKENESS:
        return False
    matcher = SequenceMatcher(None, name, setting, autojunk=False)
    return matcher.quick_ratio() >= _LEAST_LIKENESS and matcher.ratio() >= _LEAST_LIKENESS


def config_path(explicit: Path | None = None) -> Path:
    """The settings file in use, whether or not it exists. For a user without a home it cannot exist."""
    if explicit is not None:
        return explicit
    from_environment = os.environ.get("WEBSEARCH_GATEWAY_CONFIG")
    if from_environment:
        return Path(from_environment)
    try:
        return Path(platformdirs.user_config_dir(APP_NAME, appauthor=False)) / "config.toml"
    except RuntimeError:
        return Path(os.devnull, APP_NAME, "config.toml")


def _read_file(path: Path, *, required: bool) -> dict[str, Any]:
    """The values in the file. Without `required` the file may be missing, or belong to somebody else."""
    try:
        # Windows writes a byte order mark.
        values = tomllib.loads(_bytes_of(path).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if required:
            raise SearchNotConfiguredError(f"The settings file {path} does not exist.") from None
        return {}
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if required:
            raise SearchNotConfiguredError(
                f"The settings file {path} cannot be read: {reason}."
            ) from None
        _log.warning(
            "The settings file %s cannot be read (%s), so its settings are not in force.",
            path,
            reason,
        )
        return {}
    except (ValueError, RecursionError) as error:  # among them those of TOML and of UTF-8
        raise SearchNotConfiguredError(
            f"The settings file {path} cannot be read: {error}."
        ) from None
    unknown = sorted(set(values) - set(Settings.model_fields))
    if unknown:
        nearest = filter(None, map(nearest_setting, unknown))
        suggestions = ", ".join(nearest).lower()
        hint = f" Did you mean {suggestions}?" if suggestions else ""
        raise SearchNotConfiguredError(
            f"The settings file {path} has unknown names: {shown(', '.join(unknown))}.{hint}"
        )
    return values


def _bytes_of(path: Path) -> bytes:
    """The content of a file, never of a pipe or a device, which may have no end.

    Raises:
        OSError, ValueError: there is none, it is no regular file, or it is too large.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    with path.open("rb") as file:
        content = file.read(MOST_FILE_BYTES + 1)
    if len(content) > MOST_FILE_BYTES:
        raise ValueError(f"it has more than {MOST_FILE_BYTES:,} bytes")
    return content


def _is_secret(name: str, value: Any) -> bool:
    """Whether a value in the settings file is a key, or a URL with a login."""
    of_a_key = SecretStr in get_args(Settings.model_fields[name].annotation)
    return bool(value) and (of_a_key or (isinstance(value, str) and bool(login_secrets(value))))


def load_settings(config: Path | None = None, /, **flags: Any) -> Settings:
    """Read flags, environment and file, in that order of precedence. Makes a file that contains a key private.

    Raises:
        SearchNotConfiguredError: a value is invalid, or other users can read a key and the file mode cannot be changed;
            the message names the setting and never its value.
    """
    is_chosen = config is not None or bool(os.environ.get("WEBSEARCH_GATEWAY_CONFIG"))
    file_values = _read_file(config_path(config), required=is_chosen)
    if any(_is_secret(name, value) for name, value in file_values.items()):
        keep_private(config_path(config))

    _warn_of_placeholders({**file_values, **_environment_settings(), **flags})
    _warn_of_unknown_variables()
    made: type[Settings] = Settings
    if file_values:

        class WithFile(Settings):
            @classmethod
            def settings_customise_sources(
                cls, settings_cls: type[BaseSettings], *sources: Any, **named: Any
            ) -> Any:
                flags_and_environment = super().settings_customise_sources(
                    settings_cls, *sources, **named
                )
                return (
                    *flags_and_environment,
                    InitSettingsSource(settings_cls, init_kwargs=file_values),
                )

        made = WithFile

    try:
        return made(**flags)
    except ValidationError as error:
        # The library's own text quotes the input, which may be a key.
        faults = "; ".join(
            f"{str(e['loc'][0]).upper() if e['loc'] else 'settings'}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors()
        )
        raise SearchNotConfiguredError(f"Unusable settings: {faults}.") from None


_OTHERS = stat.S_IRGRP | stat.S_IROTH


def keep_private(path: Path) -> None:
    """Make a file that contains a key readable only by its owner, and log it if that changes the mode.

    Windows has no such modes; there the user's folder protects the file.

    Raises:
        SearchNotConfiguredError: other users can read it and its mode cannot be changed.
    """
    if os.name != "posix" or not path.stat().st_mode & _OTHERS:
        return
    try:
        path.chmod(0o600)
    except OSError as error:
        raise SearchNotConfiguredError(
            f"The settings file {path} holds a key and is readable by others, and its mode cannot be changed "
            f"({error.strerror}). Run chmod 600 on it as its owner, or put the keys into environment variables."
        ) from None
    _log.warning(
        "The settings file %s holds a key and was readable by others: its mode is 0600 now.", path
    )
