from __future__ import annotations

from websearch_gateway.sandbox.vendors.llm import written

PROMPT = """<passages>
[1] How tall is the Eiffel Tower?
The tower in Paris is 330 metres tall, antennas included. When it was finished in 1889 it measured 312 metres.
</passages>
Question: How tall is the Eiffel Tower?
"""


def test_the_reply_begins_with_the_sentence_that_shares_most_words_of_the_question() -> None:
    assert [text[:9] for text, _, _ in written(PROMPT, None)] == ["The tower", "When it w"]
