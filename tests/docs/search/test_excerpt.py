"""A section is cut to a limit of tokens, between sentences or lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.tokenization import estimate_tokens, query_terms
from websearch_gateway.docs.search.excerpt import NOTE, excerpt, without_links

PROSE = " ".join(f"Sentence number {n} says nothing." for n in range(50))


def test_a_text_that_fits_stays_as_it_is():
    assert excerpt("# Title\n\nText.", ["text"], 100) == "# Title\n\nText."


def test_the_sentence_that_has_the_words_of_the_query_is_kept_with_those_after_it():
    text = f"{PROSE} The queries are cached for an hour. Then they are gone. {PROSE}"
    cut = excerpt(text, query_terms("how long is a query cached"), 60)
    assert cut.startswith(
        "The queries are cached for an hour. Then they are gone. Sentence number 0"
    )
    assert cut.endswith(f"says nothing.\n\n{NOTE}")


def test_a_sentence_that_fits_is_better_than_a_part_of_one_that_does_not():
    text = f"The walrus of the zebra {'is very long ' * 60}. The walrus sleeps. {PROSE}"
    assert excerpt(text, ["walrus", "zebra"], 40).startswith("The walrus sleeps. Sentence number 0")


def test_code_is_cut_between_lines_and_stays_code():
    code = "```python\n" + "\n".join(f"    line_{n} = {n}" for n in range(100)) + "\n```"
    cut = excerpt(f"{PROSE}\n\n{code}", ["line", "57"], 60)
    lines = cut.splitlines()
    assert (lines[0], lines[-3]) == ("```python", "```")
    assert lines[1].startswith("    line_")


def test_code_is_cut_from_the_line_that_has_the_name_and_fills_the_room():
    code = (
        "```c\n" + "\n".join(f"int call_{n}(int first, int second);" for n in range(100)) + "\n```"
    )
    cut = excerpt(code, ["call"], 120, ["call_60"])
    assert cut.startswith("```c\nint call_60(int first, int second);\nint call_61(")
    assert 100 <= estimate_tokens(cut) <= 120


@pytest.mark.parametrize(
    "definition",
    ["def find(word, *, most=3):", "static int *find(char *word) {", "pub fn find<T>(word: T) {"],
)
def test_code_is_cut_from_the_line_that_defines_the_name_and_not_from_one_that_uses_it(definition):
    uses = "\n".join(f"    return find(word_{n})" for n in range(50))
    code = f"```\n{uses}\n{definition}\n{uses}\n```"
    assert excerpt(code, ["find"], 80, ["find"]).startswith(f"```\n{definition}\n")


def test_code_that_names_something_at_its_end_shows_the_lines_before_it():
    code = (
        "```c\n" + "\n".join(f"int call_{n}(int first, int second);" for n in range(100)) + "\n```"
    )
    cut = excerpt(code, ["call"], 120, ["call_99"])
    assert "int call_99(int first, int second);\n```" in cut
    assert 100 <= estimate_tokens(cut) <= 120


def test_marks_of_code_inside_a_line_do_not_end_the_code():
    code = (
        "```c\nintro ``` text\n"
        + "\n".join(f"int call_{n}(int first);" for n in range(100))
        + "\n```"
    )
    assert "intro ``` text\nint call_0(" in excerpt(code, ["call"], 120)


def test_a_definition_is_kept_rather_than_its_uses():
    text = f"{PROSE}\n\n**run(*coro*)**\n\nRuns it.\n\n{PROSE}\n\nWith run() run until run is over, after run."
    assert excerpt(text, ["run", "until", "over"], 60, ["run"]).startswith("**run(*coro*)**")


def test_a_text_that_begins_with_the_words_of_the_query_is_shown_from_its_beginning():
    code = "```\n" + "\n".join(f"install files to_{n}" for n in range(100)) + "\n```"
    text = f"## Files\n\n`install(FILES)` copies.\n\nThey are there then. {PROSE}\n\n{code}\n\nSay files."
    assert excerpt(text, ["instal", "file"], 80).startswith("## Files\n\n`install(FILES)` copies.")
    assert excerpt(text, ["instal", "file", "to_5"], 80).startswith("```\ninstall files to_0")


@pytest.mark.parametrize("text", ["x" * 5_000, "```\n" + "y" * 5_000 + "\n```", "字" * 5_000])
def test_a_text_without_sentences_is_cut_between_words(text):
    cut = excerpt(text, [], 50)
    assert estimate_tokens(cut) <= 50
    assert cut.endswith(NOTE)
    assert len(cut) > len(NOTE) + 10


def test_a_cut_begins_with_the_heading_of_its_section_and_never_inside_code():
    code = "```py\n" + "\n".join(f"step_{n}()" for n in range(8)) + "\n```"
    text = f"{PROSE}\n\n## Stopping\n\nTo stop, call this:\n\n{code}\n\n{PROSE}"
    assert excerpt(text, ["stop", "call"], 80).startswith(
        f"## Stopping\n\nTo stop, call this:\n\n{code}"
    )
    assert excerpt(text, ["step_5"], 60).startswith("```py\nstep_0()")


def test_code_that_does_not_fit_is_cut_where_a_sentence_announces_it():
    code = "```py\n" + "\n".join(f"step_number_{n}()" for n in range(80)) + "\n```"
    cut = excerpt(f"## Stopping\n\nTo stop, call this:\n\n{code}", ["stop"], 150)
    assert cut.startswith("## Stopping\n\nTo stop, call this:\n\n```py\nstep_number_0()\n")
    assert cut.endswith(f"()\n```\n\n{NOTE}")
    assert estimate_tokens(cut) <= 150


def test_links_are_shown_without_their_addresses_except_in_code():
    text = (
        "Use [`run`](https://x.example/run) here.\n\n```\n[a](b)\n```\n\n[End](https://x.example)"
    )
    assert without_links(text) == "Use `run` here.\n\n```\n[a](b)\n```\n\nEnd"


BLOCKS = st.sampled_from(
    [
        "A sentence. Another one!",
        "# Heading",
        "- item",
        "| a | b |\n|---|---|\n| c | d |",
        "```py\nx = 1\n\ny = 2\n```",
        "> q",
    ]
)


@given(st.lists(BLOCKS, max_size=30), st.integers(30, 120))
def test_a_cut_always_fits_and_closes_its_fences(parts, most):
    text = "\n\n".join(parts)
    cut = excerpt(text, ["x", "anoth"], most)
    assert estimate_tokens(cut) <= most
    assert (cut == text) == (estimate_tokens(text) <= most)
    assert sum(line.startswith("```") for line in cut.splitlines()) % 2 == 0
    assert all(line in text or line in ("```", NOTE) for line in cut.splitlines())


def test_a_text_with_one_character_of_a_script_without_spaces_keeps_its_size():
    sign = f"The sign 漢 stands {'by itself, ' * 9}"
    text = "A lock is held for a while.\n\n" * 9 + f"{sign}\n\n" + "Then it ends.\n\n" * 9
    for spare in range(4):
        longer = f"{text}{'.' * spare}"
        for most in range(40, 120):
            assert estimate_tokens(excerpt(longer, ["sign"], most)) <= most
