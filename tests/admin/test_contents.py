"""What the state says about the age and the question of a cached entry."""

from __future__ import annotations

import pytest

from websearch_gateway.admin.contents import PREFIXES, Content, Kind, contents
from websearch_gateway.cache.pages import KEEP_SECONDS
from websearch_gateway.state.memory import MemoryState

NOW = 1_800_014_400.0


async def only(state: MemoryState, kind: Kind) -> Content:
    (content,) = [content async for content in contents(state, kind, NOW)]
    return content


@pytest.mark.parametrize(
    ("value", "age", "question"),
    [
        (b'{"stored": 1800014300, "question": "q"}', 100, "q"),
        (b'{"stored": 1800014430}', 0, None),
        (b'{"stored": 1800014460, "question": "q"}', None, "q"),
        (b"{}", None, None),
        (b"no JSON", None, None),
    ],
    ids=["ours", "a clock that is a little fast", "a wrong clock", "no moment", "not ours"],
)
async def test_an_entry_about_a_question_says_its_age(
    value: bytes, age: float | None, question: str | None
) -> None:
    state = MemoryState()
    await state.put(f"{PREFIXES['answers']}k", value)
    assert await only(state, "answers") == Content(
        f"{PREFIXES['answers']}k", len(value), age, question
    )


@pytest.mark.parametrize("kind", ["judgements", "pages"])
async def test_the_bytes_of_other_entries_are_not_read(kind: Kind) -> None:
    state = MemoryState()
    await state.put(f"{PREFIXES[kind]}k", b'{"stored": 1800014300, "question": "q"}')
    content = await only(state, kind)
    assert (content.age_seconds, content.question) == (None, None)


async def test_the_age_of_a_page_is_what_is_gone_of_its_lifetime() -> None:
    state = MemoryState()
    await state.put(f"{PREFIXES['pages']}k", b"page", KEEP_SECONDS - 60)
    content = await only(state, "pages")
    assert content.age_seconds == pytest.approx(60, abs=5)


async def test_only_entries_of_the_kind_are_listed() -> None:
    state = MemoryState()
    for prefix in PREFIXES.values():
        await state.put(f"{prefix}k", b"{}")
    for kind in PREFIXES:
        assert (await only(state, kind)).key == f"{PREFIXES[kind]}k"
