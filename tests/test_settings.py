"""The sources of settings, refused values, and secrets, which are never shown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from websearch_gateway.base import routes
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings.groups import BUILT_IN_ROUTES, TOOLSETS, login_secrets
from websearch_gateway.settings.loading import (
    MOST_FILE_BYTES,
    Settings,
    config_path,
    forget_unusable_width,
    load_settings,
    nearest_setting,
)

KEY = "sk-proj-do-not-show-0123"
URL_SETTINGS = [
    name for name in Settings.model_fields if name.endswith(("_base_url", "_server_url"))
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def outcome(config: Path | None = None, **flags: object) -> Settings | SearchNotConfiguredError:
    try:
        return load_settings(config, **flags)
    except SearchNotConfiguredError as error:
        return error


def refusal(config: Path | None = None, **flags: object) -> str:
    error = outcome(config, **flags)
    assert isinstance(error, SearchNotConfiguredError)
    assert error.__context__ is None or error.__suppress_context__, (
        "the library's own error quotes the value"
    )
    return error.message


def test_flags_win_over_the_environment_and_the_environment_over_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("concurrency = 2\ncache_ttl_seconds = 2\nrequest_timeout_ms = 2\n")
    monkeypatch.setenv("CONCURRENCY", "3")
    monkeypatch.setenv("CACHE_TTL_SECONDS", "3")
    settings = load_settings(file, concurrency=4)
    assert (settings.concurrency, settings.cache_ttl_seconds, settings.request_timeout_ms) == (
        4,
        3,
        2,
    )
    assert (
        settings.search_deadline_seconds == Settings.model_fields["search_deadline_seconds"].default
    )


def test_the_argument_names_the_file_before_the_environment_and_the_users_folder(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config_path().parts[-2:] == ("websearch-gateway", "config.toml")
    monkeypatch.setenv("WEBSEARCH_GATEWAY_CONFIG", str(file))
    assert config_path() == file
    assert config_path(Path("other.toml")) == Path("other.toml")


def test_a_file_must_exist_only_if_it_was_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().concurrency == 64
    assert refusal(file) == f"The settings file {file} does not exist."
    monkeypatch.setenv("WEBSEARCH_GATEWAY_CONFIG", str(file))
    assert "does not exist" in refusal()


def test_the_error_lists_unknown_names_in_the_file_without_their_values(file: Path) -> None:
    file.write_text(f'openai_api_kye = "{KEY}"\nconcurrency = 2\nOPENAI_API_KEY = "{KEY}"\n')
    assert (
        refusal(file)
        == f"The settings file {file} has unknown names: OPENAI_API_KEY, openai_api_kye."
    )


@pytest.mark.parametrize(
    "content",
    [
        b"openai_api_key = sk-proj-do-not-show-0123",
        b'openai_api_key = "sk-proj-do-not-show-0123',
        b"\xff\xfe",
        b"a = " + b"[" * 5_000,
        b"a = " + b"9" * 5_000,
        b"#" * (MOST_FILE_BYTES + 1),
        None,
    ],
    ids=[
        "no quotes",
        "cut short",
        "no text",
        "nested deeply",
        "a long number",
        "a large file",
        "a folder",
    ],
)
def test_the_error_names_an_unreadable_file_without_its_content(
    file: Path, content: bytes | None
) -> None:
    file.mkdir() if content is None else file.write_bytes(content)
    message = refusal(file)
    assert message.startswith(f"The settings file {file} cannot be read")
    assert "do-not-show" not in message
    assert len(message.splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_settings_file_without_an_end_is_refused(file: Path) -> None:
    os.mkfifo(file)
    for path in (file, Path("/dev/zero"), Path("/dev/null")):
        assert (
            refusal(path) == f"The settings file {path} cannot be read: it is not a regular file."
        )


def test_names_of_a_file_cannot_reach_the_terminal_as_commands(file: Path) -> None:
    file.write_text("\n".join(f'"\\u001b[3{number}m" = 1' for number in range(30)))
    message = refusal(file)
    assert message.isprintable()
    assert len(message) < 300


def test_the_users_own_file_is_skipped_with_a_warning_if_it_cannot_be_read(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_path().mkdir(parents=True)
    assert load_settings().concurrency == 64
    (told,) = (record.getMessage() for record in caplog.records)
    assert str(config_path()) in told
    assert "cannot be read" in told
    monkeypatch.setenv("WEBSEARCH_GATEWAY_CONFIG", str(config_path()))
    assert "cannot be read" in refusal()


def test_a_user_without_a_home_has_settings_and_a_data_folder_that_nobody_can_make(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_home(*_: object, **__: object) -> str:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("platformdirs.user_config_dir", no_home)
    monkeypatch.setattr("platformdirs.user_data_dir", no_home)
    monkeypatch.delenv("DATA_DIR")
    data = load_settings().data_dir
    with pytest.raises(OSError, match="directory"):
        data.mkdir(parents=True)


def test_a_data_folder_in_the_home_of_nobody_is_refused() -> None:
    assert refusal(data_dir="~nobody-has-this-name/data").startswith(
        "Unusable settings: DATA_DIR: must not begin"
    )


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_value_of_an_optional_setting_counts_as_unset(
    file: Path, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    optional = (
        "OPENAI_API_KEY",
        "SEARXNG_BASE_URL",
        "EMBEDDING_SERVER_URL",
        "STATE_URL",
        "GOOGLE_SEARCH_ENGINE_ID",
    )
    for name in optional:
        monkeypatch.setenv(name, blank)
    file.write_text(f'serper_api_key = "{blank}"\n')
    settings = load_settings(file)
    assert [getattr(settings, name.lower()) for name in (*optional, "serper_api_key")] == [None] * 6
    assert settings.effective_state_url.startswith("sqlite:///")


def test_an_empty_variable_leaves_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    monkeypatch.setenv("CONCURRENCY", "")
    settings = load_settings()
    assert (settings.openai_base_url, settings.concurrency) == ("https://api.openai.com/v1", 64)


def test_lists_are_written_with_commas_or_as_toml(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_PROVIDERS", " brave, serper ,,")
    file.write_text(
        'openai_models = ["a", "b"]\nfetch_allow_private_hosts = "127.0.0.1:80,[::1]:81"\n'
    )
    settings = load_settings(file)
    assert settings.search_providers == ("brave", "serper")
    assert settings.openai_models == ("a", "b")
    assert settings.fetch_allow_private_hosts == ("127.0.0.1:80", "[::1]:81")


@pytest.mark.parametrize(
    ("written", "servers"),
    [
        (
            "polymarket:markets, google-news-rss:feeds",
            {"polymarket": "markets", "google-news-rss": "feeds"},
        ),
        ("Polymarket", {"polymarket": ""}),
        ("google-news-rss:my:feeds", {"google-news-rss": "my:feeds"}),
        (" None ", {}),
    ],
)
def test_routes_are_pairs_of_a_route_and_its_server(
    monkeypatch: pytest.MonkeyPatch, written: str, servers: dict[str, str]
) -> None:
    monkeypatch.setenv("ROUTES", written)
    routes = load_settings().routes
    assert {name: route.server for name, route in routes.items() if route.enabled} == servers
    assert set(BUILT_IN_ROUTES) == set(routes)


def test_the_settings_know_the_built_in_routes_by_name() -> None:
    assert tuple(routes.built_in_routes(2026)) == BUILT_IN_ROUTES


def test_a_route_of_the_file_names_its_server_in_its_table(file: Path) -> None:
    file.write_text(
        '[routes.polymarket]\nserver = "markets"\n[routes.tickets]\npatterns = ["t-1"]\nserver = "jira"\n'
    )
    assert {name: route.server for name, route in load_settings(file).routes.items()} == {
        "polymarket": "markets",
        "tickets": "jira",
    }


@pytest.mark.parametrize(
    ("written", "told"), [("sports:x", "names an unknown route; choose from polymarket")]
)
def test_an_unknown_route_is_refused(
    monkeypatch: pytest.MonkeyPatch, written: str, told: str
) -> None:
    monkeypatch.setenv("ROUTES", written)
    assert f"ROUTES: {told}" in refusal()


@pytest.mark.parametrize("written", ["none", "None", " NONE "])
def test_none_means_no_limit(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("RATE_LIMIT", written)
    assert load_settings().rate_limit == ""


@pytest.mark.parametrize(
    ("written", "meant"), [("none", None), (" NONE ", None), ("0.5", 0.5), ("0", 0.0), ("", 5.0)]
)
def test_the_daily_budget_is_five_dollars_by_default_and_none_lifts_it(
    monkeypatch: pytest.MonkeyPatch, written: str, meant: float | None
) -> None:
    monkeypatch.setenv("DAILY_BUDGET_USD", written)
    assert load_settings().daily_budget_usd == meant


@pytest.mark.parametrize("written", ["-1", "inf", "nan", " ", "five"])
def test_an_invalid_budget_is_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("DAILY_BUDGET_USD", written)
    assert "DAILY_BUDGET_USD" in refusal()


@pytest.mark.parametrize(
    "written",
    ["abc", " ", "20", "-1/day", "1.5/day", "20/fortnight", "20/0minutes", "1/day;2/hour"],
)
def test_an_invalid_rate_limit_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("RATE_LIMIT", written)
    message = "Unusable settings: RATE_LIMIT: must be of the form N/PERIOD, such as 20/10minutes, or none."
    assert refusal() == message


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("LOG_LEVEL", "debug", "DEBUG"),
        ("CACHE_SCOPE", "USER", "user"),
        ("GOOGLE_SAFE_SEARCH", "Strict", "strict"),
    ],
)
def test_the_values_of_choices_may_have_any_case(
    monkeypatch: pytest.MonkeyPatch, name: str, written: str, meant: str
) -> None:
    monkeypatch.setenv(name, written)
    assert getattr(load_settings(), name.lower()) == meant


def test_pairs_of_name_and_number_become_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_WEIGHTS", " Brave:3, duckduckgo:1 ")
    assert load_settings().provider_weights == {"brave": 3.0, "duckduckgo": 1.0}


@pytest.mark.parametrize(
    "written", ["brave", "brave:", "brave:nan", "brave:-1", ":3", "brave:three"]
)
def test_a_pair_without_name_or_number_is_refused(
    monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("PROVIDER_WEIGHTS", written)
    assert refusal().startswith("Unusable settings: PROVIDER_WEIGHTS: ")


def test_all_means_every_toolset_and_an_unknown_one_is_refused() -> None:
    assert load_settings(toolsets="all").toolsets == TOOLSETS
    assert load_settings(toolsets="read,answer").toolsets == ("read", "answer")
    message = refusal(toolsets=f"answer,{KEY}")
    assert message.startswith("Unusable settings: TOOLSETS: unknown toolset; choose from answer,")
    assert KEY not in message


def test_no_refusal_quotes_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pasting a key into the wrong variable is the likeliest mistake."""
    for name in (name.upper() for name in Settings.model_fields):
        with monkeypatch.context() as patch:
            patch.setenv(name, KEY)
            result = outcome()
            if isinstance(result, SearchNotConfiguredError):
                assert result.message.startswith(f"Unusable settings: {name}: ")
                assert KEY not in result.message


@pytest.mark.parametrize("name", URL_SETTINGS)
@pytest.mark.parametrize(
    "address",
    [
        "api.vendor.example/v1",
        "localhost:11434",
        "ftp://vendor.example",
        "https://",
        "https:///v1",
        "https://vendor.example:port",
        "https://user:secret/word@vendor.example",
        "https://vendor .example",
        "http://[::1",
    ],
)
def test_an_invalid_web_address_is_refused_at_the_start(name: str, address: str) -> None:
    """Later it would be a failing upstream, which a fallback would hide."""
    message = refusal(**{name: address})
    assert (
        message
        == f"Unusable settings: {name.upper()}: must be an address such as https://host/path."
    )


@pytest.mark.parametrize("name", URL_SETTINGS)
def test_the_last_slash_of_a_web_address_is_removed(name: str) -> None:
    assert (
        getattr(load_settings(**{name: " HTTP://127.0.0.1:8080/v1/ "}), name)
        == "HTTP://127.0.0.1:8080/v1"
    )


def test_keys_are_in_no_repr_and_shown_only_as_set() -> None:
    keys = {
        name: f"{name}-{KEY}" for name in Settings.model_fields if name.endswith(("_key", "_token"))
    }
    settings = load_settings(**keys)
    shown = settings.shown()
    assert set(settings.secrets()) == set(keys.values())
    assert {shown[name.upper()] for name in keys} == {"(set)"}
    assert load_settings().shown()["OPENAI_API_KEY"] is None
    for text in (repr(settings), str(settings), json.dumps(shown), settings.model_dump_json()):
        assert KEY not in text


@pytest.mark.parametrize(
    ("name", "url", "shown"),
    [
        (
            "searxng_base_url",
            "https://user:pass%20word@searx.example/x",
            "https://***@searx.example/x",
        ),
        ("embedding_server_url", "http://user:pass%20word@[::1]:11434", "http://***@[::1]:11434"),
        (
            "state_url",
            "postgresql://user:pass%20word@db.example/gateway",
            "postgresql://***@db.example/gateway",
        ),
        (
            "state_url",
            "postgresql://user:pa/ss?w#or@d@db.example/gateway",
            "postgresql://***@db.example/gateway",
        ),
        ("state_url", "redis://:pass%20word@db.example", "redis://***@db.example"),
        ("openai_base_url", "https://pass%20word@proxy.example/v1", "https://***@proxy.example/v1"),
    ],
)
def test_a_login_inside_an_address_is_a_secret(name: str, url: str, shown: str) -> None:
    settings = load_settings(**{name: url})
    assert getattr(settings, name) == url
    assert settings.shown()[name.upper()] == shown
    for text in (repr(settings), str(settings), json.dumps(settings.shown())):
        assert "pass%20word" not in text
        assert "pa/ss" not in text
    assert set(settings.secrets()) in ({"pass%20word", "pass word"}, {"pa/ss?w#or@d"})


@pytest.mark.parametrize(
    "url", ["sqlite:////home/me@corp/state.db", "memory://", "sqlite:///state.db"]
)
def test_an_at_sign_in_a_path_is_not_a_login(url: str) -> None:
    settings = load_settings(state_url=url)
    assert settings.shown()["STATE_URL"] == url
    assert settings.secrets() == ()


@pytest.mark.parametrize("pasted", ["sk-key-0123\n", "  sk-key-0123 "])
def test_blanks_around_a_key_are_not_part_of_it(
    monkeypatch: pytest.MonkeyPatch, pasted: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", pasted)
    key = load_settings().openai_api_key
    assert key is not None
    assert key.get_secret_value() == "sk-key-0123"


@pytest.mark.parametrize("broken", ["sk-key 0123", "sk-k\u00e9y-0123"])
def test_an_impossible_key_is_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", broken)
    with pytest.raises(SearchNotConfiguredError, match="OPENAI_API_KEY") as caught:
        load_settings()
    assert "0123" not in str(caught.value)


@pytest.mark.parametrize("endless", ["inf", "nan"])
def test_times_are_finite(monkeypatch: pytest.MonkeyPatch, endless: str) -> None:
    monkeypatch.setenv("CACHE_TTL_SECONDS", endless)
    with pytest.raises(SearchNotConfiguredError, match="CACHE_TTL_SECONDS"):
        load_settings()


def test_toolsets_are_read_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSETS", "Answer,READ")
    assert load_settings().toolsets == ("answer", "read")


@pytest.mark.parametrize(
    "line",
    [
        f'serper_api_key = "{KEY}"',
        'state_url = "postgresql://me:word@db.example/x"',
        f'auth_secret = "{KEY}"',
    ],
)
def test_a_file_with_a_key_is_made_private_and_a_warning_says_so(
    file: Path, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    file.write_text(line)
    file.chmod(0o644)
    load_settings(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "0600" in caplog.text
    assert KEY not in caplog.text
    caplog.clear()
    load_settings(file)
    assert caplog.text == ""


def test_a_file_without_a_key_keeps_its_mode(file: Path) -> None:
    file.write_text("concurrency = 2\n")
    file.chmod(0o644)
    load_settings(file)
    assert file.stat().st_mode & 0o777 == 0o644


def test_a_key_that_others_can_read_is_refused_if_the_mode_cannot_be_changed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a read-only mount, or in a file of another user."""

    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    file.write_text(f'serper_api_key = "{KEY}"')
    file.chmod(0o644)
    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(SearchNotConfiguredError, match="chmod 600") as refused:
        load_settings(file)
    assert KEY not in refused.value.message


def test_the_query_of_the_contact_is_not_shown() -> None:
    shown = Settings(contact_url="https://example.org/contact?token=abc").shown()
    assert shown["CONTACT_URL"] == "https://example.org/contact"
    assert Settings().shown()["CONTACT_URL"] is None


@pytest.mark.parametrize("quoted", ['"{}"', "'{}'", ' "{}"\n', '" {} "'])
def test_quotes_around_a_key_are_not_part_of_it(
    monkeypatch: pytest.MonkeyPatch, quoted: str
) -> None:
    """A shell removes them, a file of variables for a container keeps them."""
    monkeypatch.setenv("OPENAI_API_KEY", quoted.format(KEY))
    key = load_settings().openai_api_key
    assert key is not None
    assert key.get_secret_value() == KEY


PLACEHOLDERS = [
    "${OPENAI_API_KEY}",
    "$OPENAI_API_KEY",
    "'${input:openai-key}'",
    "{{ OPENAI_API_KEY }}",
    "<your key>",
    "%OPENAI_API_KEY%",
    "your-api-key",
    "YOUR_OPENAI_KEY_HERE",
    "sk-your-key",
    "changeme",
    "xxxx",
    "sk-...",
]


@pytest.mark.parametrize("written", PLACEHOLDERS)
def test_a_placeholder_is_no_key_and_is_told_at_the_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, written: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", written)
    assert load_settings().openai_api_key is None
    assert "OPENAI_API_KEY holds a placeholder" in caplog.text
    assert written.strip("'") not in caplog.text.replace("${NAME}", "")


@pytest.mark.parametrize(
    "key", [KEY, "sk-youruby12345678", "AIzaSyxxxxxxxxxxx", "fc-0a1b2c3d4e", "tvly-heremdown1"]
)
def test_a_key_is_no_placeholder(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, key: str
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", key)
    found = load_settings().tavily_api_key
    assert found is not None
    assert (found.get_secret_value(), caplog.text) == (key, "")


def test_a_file_may_begin_with_a_byte_order_mark(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfsearch_providers = ['brave']\r\n")
    assert load_settings(file).search_providers == ("brave",)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("DAILY_BUDGET", "DAILY_BUDGET_USD"),
        ("SEARCH_PROVIDER", "SEARCH_PROVIDERS"),
        ("OPENIA_API_KEY", "OPENAI_API_KEY"),
        ("tavily_key", "TAVILY_API_KEY"),
        ("ALLOWED_HOST", "ALLOWED_HOSTS"),
        ("MAX_REPLY_TOKEN", "MAX_REPLY_TOKENS"),
        ("SEARXNG_URL", "SEARXNG_BASE_URL"),
    ],
)
def test_a_variable_that_looks_like_a_setting_is_told_with_the_nearest_one(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    file: Path,
    name: str,
    near: str,
) -> None:
    assert nearest_setting(name) == near
    monkeypatch.setenv(name, "secret-value")
    load_settings()
    assert f"There is no setting {name}; did you mean {near}?" in caplog.text
    assert "secret-value" not in caplog.text
    file.write_text(f"{name.lower()} = 'secret-value'")
    assert f"Did you mean {near.lower()}?" in refusal(file)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "XAI_API_KEY",
            "GROQ_API_KEY",
            "GOOGLE_CLOUD_PROJECT",
            "GITHUB_REPOSITORY",
            "XDG_DATA_DIRS",
            "LOG_FILE",
        ),
        *(
            "OPENAI_ORG_ID",
            "OTEL_SERVICE_NAME",
            "MYAPP_LOG_LEVEL",
            "DATABASE_URL",
            "AWS_REGION",
            "PATH",
            "SSH_AUTH_SOCK",
        ),
    ],
)
def test_the_variables_of_other_programs_are_none_of_our_business(name: str) -> None:
    assert nearest_setting(name) is None


def test_no_setting_is_near_to_another_one() -> None:
    assert [name for name in Settings.model_fields if nearest_setting(name)] == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("0", False),
        ("1", False),
        ("-5", False),
        ("abc", False),
        ("9" * 9, False),
        ("20", True),
        ("1000", True),
    ],
)
def test_a_width_that_shows_nothing_is_forgotten(
    monkeypatch: pytest.MonkeyPatch, given: str, kept: bool
) -> None:
    monkeypatch.setenv("COLUMNS", given)
    forget_unusable_width()
    assert ("COLUMNS" in os.environ) is kept


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("postgresql://websearch_gateway@db.example/x", set()),
        ("postgresql://user:pass%20word@db.example/x", {"pass%20word", "pass word"}),
        ("https://a-token@proxy.example/", {"a-token"}),
        ("https://user:word@proxy.example/", {"word"}),
    ],
)
def test_the_user_of_a_database_is_no_secret(url: str, secrets: set[str]) -> None:
    assert login_secrets(url) == secrets
