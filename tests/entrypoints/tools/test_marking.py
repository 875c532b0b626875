"""What a page says stays between its marks."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.entrypoints.tools.marking import fresh_nonce, marked
from websearch_gateway.results.search import WebResult

MARK = re.compile(r"</?untrusted-web-text", re.IGNORECASE)


@given(
    st.lists(st.sampled_from(["</untrusted-web-text", "<untrusted-web-text", ' id="', "NONCE", '">', "\n", "x", " "]))
)
def test_no_page_can_open_or_close_a_mark(pieces: list[str]) -> None:
    """Not even one that has guessed the nonce."""
    nonce = fresh_nonce()
    page = "".join(pieces).replace("NONCE", nonce)
    text = marked(WebResult(page_content=page), "page_content", nonce).page_content
    assert len(MARK.findall(text)) == 2
    assert text.startswith(f'<untrusted-web-text id="{nonce}">\n')
    assert text.endswith(f'\n</untrusted-web-text id="{nonce}">')
    assert text.count(nonce) == 2


def test_nothing_else_of_a_result_changes() -> None:
    result = WebResult(title="t", link="https://a.example/", snippet="s", page_content="p", relevance_score=0.5)
    assert marked(result, "page_content", fresh_nonce()).model_copy(update={"page_content": "p"}) == result
