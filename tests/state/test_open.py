"""STATE_URL chooses the backend."""

import pytest

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.state.firestore import FirestoreState
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.opening import open_state
from websearch_gateway.state.postgres import PostgresState


def _no_parent(name: str) -> None:
    raise ModuleNotFoundError(name)


async def test_memory_needs_no_further_part():
    assert isinstance(open_state("memory://"), MemoryState)


async def test_an_absolute_path_has_four_slashes(tmp_path):
    state = open_state(f"sqlite:///{tmp_path / 'new folder' / '50%.db'}")
    await state.put("k", b"v")
    await state.close()
    assert (tmp_path / "new folder" / "50%.db").is_file()


async def test_a_relative_path_is_relative_to_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = open_state("SQLite:///state.db")
    monkeypatch.chdir("/")
    await state.put("k", b"v")
    await state.close()
    assert (tmp_path / "state.db").is_file()


def test_opening_touches_no_file(tmp_path):
    open_state(f"sqlite:///{tmp_path / 'state.db'}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "backend"),
    [
        ("firestore://my-project/prefix", FirestoreState),
        ("firestore://example.com:my-project", FirestoreState),
        ("firestore://my-project/prefix?database=websearch", FirestoreState),
        ("Firestore://my-project/", FirestoreState),
        ("postgresql://u:p@host/database", PostgresState),
    ],
)
async def test_a_scheme_chooses_the_backend_and_connects_nowhere(url, backend):
    state = open_state(url)
    assert isinstance(state, backend)
    await state.close()


@pytest.mark.parametrize(
    ("url", "extra"),
    [("firestore://project/prefix", "firestore"), ("postgresql://u:hunter2@h/d", "postgres")],
)
@pytest.mark.parametrize("missing", [lambda name: None, _no_parent])
def test_a_missing_extra_is_named_with_its_command(monkeypatch, url, extra, missing):
    monkeypatch.setattr("importlib.util.find_spec", missing)
    with pytest.raises(SearchNotConfiguredError, match=rf"pip install '\.\[{extra}\]'") as caught:
        open_state(url)
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "",
        "state.db",
        "mysql://root:hunter2@db/x",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://host",
        "firestore://",
        "firestore:///prefix",
        "firestore://p/a/b",
        "firestore://p/a?database=",
        "firestore://p/a?database=Websearch",
        "firestore://p/a?other=websearch",
        "firestore://p/ä",
        "postgresql://",
    ],
)
def test_the_error_for_an_unusable_url_names_the_setting_and_does_not_quote_the_url(url):
    with pytest.raises(SearchNotConfiguredError, match="STATE_URL") as caught:
        open_state(url)
    assert "hunter2" not in caught.value.message
