"""The sentences that are quoted in other languages."""

from websearch_gateway.text.retrieval.candidates import Document
from websearch_gateway.text.retrieval.evidence import find_evidence

KEEPER = (
    "Der Fabrikant von Waffen hieß Olaf Berg. Im Winter fiel viel Schnee auf die Insel. Ann kam im Jahr 1901 aus "
    "Bergen. Sie kaufte den Turm des Fabrikanten. Im Sommer kamen Gäste."
)


def quoted(query: str, page: str, room: int = 800, hedge: int = 80) -> list[str]:
    return [one.text for one in find_evidence(query, [Document("", page)], room, 7, hedge=hedge).sentences]


def test_a_further_sentence_that_begins_with_a_pronoun_is_quoted_with_the_one_before_it() -> None:
    found = quoted("Wie hieß der Fabrikant, dem der Turm gehörte?", KEEPER)
    assert found.index("Sie kaufte den Turm des Fabrikanten.") == found.index("Ann kam im Jahr 1901 aus Bergen.") + 1


def test_an_answer_without_a_hedge_may_use_the_characters_of_the_hedge() -> None:
    page = " ".join(f"Der Leuchtturm {number} von Skerry steht seit 1901 auf einem Felsen." for number in "ABCDEF")
    question, length = "Seit wann steht der Leuchtturm von Skerry auf einem Felsen?", 2 * (61 + 7)
    assert len(quoted(question, page, room=length, hedge=0)) == len(quoted(question, page, room=length, hedge=80))
