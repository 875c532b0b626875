"""The runs of letters that a sentence shares with a question."""

from websearch_gateway.text.retrieval.candidates import Document, candidates
from websearch_gateway.text.retrieval.multilingual.letters import likeness, runs

PAGE = (
    "Am Abend spielte eine Kapelle im Park. Der Fabrikant von Waffen wohnte am Fluss. Im Winter fiel viel Schnee. "
    "Die Kinder aßen Brot und Käse. Im Sommer kamen Gäste aus Bergen. Am Ende blieb das Haus leer."
)


def test_a_compound_resembles_its_parts() -> None:
    found = candidates(["wohnt", "park", "schnee", "brot", "gast", "haus"], "de", [Document("", PAGE)])
    alike = likeness("Wer war der Waffenfabrikant?", found)
    shared = {one.text.split()[1]: like.shared for one, like in zip(found, alike, strict=True)}
    assert max(shared, key=lambda word: shared[word]) == "Fabrikant"


def test_the_sentences_around_a_sentence_count_for_it() -> None:
    found = candidates(["wohnt", "park", "schnee", "brot", "gast", "haus"], "de", [Document("", PAGE)])
    around = [like.around for like in likeness("Waffenfabrikant", found)]
    assert around[0] > 0
    assert around[-1] == 0


def test_runs_mark_the_ends_of_words_and_keep_short_words() -> None:
    assert list(runs("Turm am")) == ["_tur", "turm", "urm_", "_am_"]
    assert list(runs("塔高")) == ["塔", "高", "塔高"]
    assert list(runs("")) == []
