from __future__ import annotations

from websearch_gateway.pages.visibility.hostile import LONGEST_CACHED, cached_if_short


def test_only_short_texts_are_cached() -> None:
    calls: list[int] = []

    @cached_if_short(10)
    def length(text: str) -> int:
        calls.append(len(text))
        return len(text)

    for size in (LONGEST_CACHED, LONGEST_CACHED + 1):
        assert [length("x" * size), length("x" * size)] == [size, size]
    assert calls == [LONGEST_CACHED, LONGEST_CACHED + 1, LONGEST_CACHED + 1]
