"""Evidence: the sentences that an answer without a model may quote, and those that it may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.extractive import find_evidence
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.evidence.sentences import Document

TOWER = Document(
    "The Eiffel Tower",
    "# The Eiffel Tower\n\nThe tower stands in Paris. It is 330 metres tall, antennas included. "
    "The company of Gustave Eiffel built it for the fair of 1889.\n\n## Visits\n\nThe lifts run until midnight.",
)
SOUP = Document(
    "Potato soup", "Peel the potatoes. Cook them in broth for half an hour. Serve the soup hot."
)


def quoted(query: str, *pages: str, title: str = "") -> list[str]:
    found = find_evidence(query, [Document(title, page) for page in pages], 800, encode)
    return [evidence.text for evidence in found.sentences]


def test_the_sentence_that_answers_comes_first_and_names_its_page() -> None:
    best = find_evidence("How tall is the Eiffel tower?", [SOUP, TOWER], 800, encode).sentences[0]
    assert best.text.startswith(
        "The tower stands in Paris. It is 330 metres tall, antennas included."
    )
    assert best.document == 1


def test_a_page_about_something_else_is_not_quoted() -> None:
    assert {
        one.document
        for one in find_evidence(
            "Who built the Eiffel tower?", [SOUP, TOWER], 800, encode
        ).sentences
    } == {1}


def test_no_sentence_is_quoted_if_none_is_close_enough() -> None:
    assert (
        find_evidence(
            "What is the airspeed velocity of an unladen swallow?", [SOUP, TOWER], 800, encode
        ).sentences
        == ()
    )
    assert find_evidence("?!", [TOWER], 800, encode).sentences == ()
    assert find_evidence("tower", [], 800, encode).sentences == ()


def test_one_stray_word_of_a_long_question_is_not_enough() -> None:
    assert (
        quoted(
            "Which broth company sponsored the national rowing championship final?", SOUP.markdown
        )
        == []
    )


def test_a_chinese_question_needs_few_pairs_of_characters_on_the_page() -> None:
    page = "斯凯里灯塔建于1901年，高四十二米。\n\n守塔人一直住到1987年才离开。"
    assert (
        quoted("最后一位守塔人究竟是在什么时候离开那里的呢？", page)[0]
        == "守塔人一直住到1987年才离开。"
    )
    assert quoted("谁赢得了上个世纪最后一次划船比赛的冠军？", page) == []


def test_thai_letters_that_occur_on_every_page_do_not_make_an_answer() -> None:
    lighthouse = Document("ประภาคาร", "ประภาคารสเกอร์รีสร้างขึ้นในปี 1901 และมีความสูง 42 เมตร")
    soup = Document("ซุปมันฝรั่ง", "การทำซุปที่ดีจะต้องใช้มันฝรั่งสดใหม่ และต้มในน้ำซุปเป็นเวลาครึ่งชั่วโมง ใส่เกลือเล็กน้อย")
    question = "ประภาคารสเกอร์รีสร้างขึ้นในปีใด"
    assert find_evidence(question, [soup, lighthouse], 800, encode).is_answer
    assert not find_evidence("การทำสงครามที่ใช้เวลานานที่สุดเป็นของใคร", [soup], 800, encode).is_answer


def test_a_sentence_on_two_pages_is_quoted_once() -> None:
    page = "The bridge was opened to traffic in May 1932."
    repeated = "The bridge was opened to traffic, in May 1932!"
    assert quoted("When was the bridge opened?", page, repeated) == [page]


def test_the_context_of_a_sentence_helps_to_find_it() -> None:
    page = "Skerry lighthouse stands on a rock. It was lit in 1901. The keeper left in 1987.\n\nMany were lit in 1850."
    found = quoted("When was the Skerry lighthouse lit?", page)
    assert "Skerry lighthouse stands on a rock. It was lit in 1901." in found
    assert "Many were lit in 1850." not in found


def test_a_sentence_whose_page_is_about_something_else_is_not_quoted_with_vectors_either() -> None:
    question = "When was the lamp of the Skerry island lighthouse first lit?"
    told = {
        title: find_evidence(
            question, [Document(title, "It was lit in 1901.")], 800, encode
        ).sentences
        for title in ("Skerry lighthouse", "Fireworks")
    }
    assert [one.text for one in told["Skerry lighthouse"]] == ["It was lit in 1901."]
    assert told["Fireworks"] == ()


@pytest.mark.parametrize(
    ("question", "page"),
    [
        (
            "Wo wohnt der Präsident?",
            "Der Staatspräsident wohnt in der Hauptstadt. Brot ist gut, sagt man.",
        ),
        (
            "Кто построил старый мост?",
            "Старые мосты построил Иван Петров. Хлеб пекут в печи каждый день.",
        ),
        ("من بنى الجسر القديم؟", "بنى أحمد الجسر القديم في المدينة. الخبز لذيذ جدا هنا."),
    ],
)
def test_endings_clitics_and_compounds_of_other_languages_do_not_prevent_a_match(
    question: str, page: str
) -> None:
    assert quoted(question, page)[0] == page.split(". ")[0] + "."


def test_a_sentence_with_the_kind_asked_for_is_quoted_although_others_have_more_of_the_words() -> (
    None
):
    page = "The Skerry lighthouse was lit by its keeper, to our joy. The lamp of the lighthouse burned from 1901 on."
    assert any(
        "1901" in sentence for sentence in quoted("When was the Skerry lighthouse lit?", page)
    )


@pytest.mark.parametrize(
    "start",
    [
        "It was",
        "These are",
        "Under the deal it was",
        "However, it was",
        "One of them was",
        "When it was ready, it was",
    ],
)
def test_a_quote_begins_with_what_its_sentence_points_at(start: str) -> None:
    page = f"Skerry has a new museum. {start} opened by the queen in 1901. The harbour is old. Boats leave daily."
    assert quoted("When was it opened by the queen?", page) == [
        f"Skerry has a new museum. {start} opened by the queen in 1901."
    ]


@pytest.mark.parametrize(
    ("question", "page"),
    [
        (
            "When did boats run to Skerry?",
            "Ann Lee bought the pier. Thereafter, boats ran to Skerry from 1901.",
        ),
        (
            "Wann fuhren Boote nach Skerry?",
            "Ann Lee kaufte den Hafen. Danach fuhren Boote ab 1901 nach Skerry.",
        ),
        (
            "¿Cuándo fueron barcos a Skerry?",
            "Ana Lee compró el puerto. Después fueron barcos a Skerry en 1901.",
        ),
        (
            "Когда лодки ходили на Скерри?",
            "Анна Ли купила причал. Затем лодки ходили на Скерри в 1901 году.",
        ),
    ],
)
def test_a_sentence_that_tells_what_came_next_follows_the_one_before_it(
    question: str, page: str
) -> None:
    assert quoted(question, page) == [page]


def test_what_a_sentence_points_at_may_be_before_another_that_points() -> None:
    page = "Ann Lee founded the museum. She lived on Skerry. She also wrote the report on fog horns in 1901."
    assert quoted("When was the report on fog horns written?", page) == [page]


def test_another_sentence_is_taken_where_nothing_is_before_one_that_points() -> None:
    page = "It was lit by the keeper in 1901.\n\nThe Skerry lighthouse was first lit in 1901."
    assert quoted("When was the Skerry lighthouse lit?", page) == [
        "The Skerry lighthouse was first lit in 1901."
    ]
    assert quoted("When was it lit by the keeper?", "It was lit by the keeper in 1901.") == [
        "It was lit by the keeper in 1901."
    ]


def test_a_sentence_that_goes_on_from_a_quote_joins_it() -> None:
    page = "The Skerry lighthouse was lit in 1901. It was lit by gas until 1911. Boats leave daily."
    assert quoted("When was the Skerry lighthouse lit by gas?", page) == [
        page.removesuffix(" Boats leave daily.")
    ]
    chinese = "斯凯里灯塔建于海边的岩石上。它于1901年点亮。"
    assert quoted("斯凯里灯塔何时点亮？", chinese) == [chinese]


def test_the_marks_of_notes_are_not_quoted() -> None:
    page = "The Skerry lighthouse was lit in 1901,[c] as `a[i]` says.[note 2]"
    assert quoted("When was the Skerry lighthouse lit?", page) == [
        "The Skerry lighthouse was lit in 1901, as a[i] says."
    ]


def test_a_number_at_the_start_of_a_line_of_prose_is_part_of_its_sentence() -> None:
    page = "The rare gas of Skerry (O\n4) was found in 2001 by a crew. Boats leave daily."
    assert quoted("When was the rare gas of Skerry found?", page) == [
        "The rare gas of Skerry (O 4) was found in 2001 by a crew."
    ]


def test_a_further_sentence_adds_a_word_of_the_question_or_the_kind_asked_for() -> None:
    page = (
        "Ann Lee built the Skerry lighthouse for the fishing fleet. The lighthouse is painted white every spring. "
        "The fleet thanked the Skerry council."
    )
    assert quoted("Who built the Skerry lighthouse for the fishing fleet?", page) == [
        "Ann Lee built the Skerry lighthouse for the fishing fleet."
    ]


def test_a_further_sentence_of_a_page_about_something_else_is_not_quoted() -> None:
    about = "The Skerry lighthouse was lit by Ann Lee for the ferry."
    other = "The ferry from Oslo sank in 1901 with a crew of ten men, two women and a dog that nobody had paid for."
    assert quoted("When was the Skerry lighthouse lit for the ferry?", about, other) == [about]


def test_a_sentence_that_only_repeats_the_question_is_no_answer() -> None:
    page = "The opening of the Skerry lighthouse.\n\nThe opening of the Skerry lighthouse was a feast for the village."
    assert quoted("opening of the Skerry lighthouse", page) == [
        "The opening of the Skerry lighthouse was a feast for the village."
    ]


def test_an_impersonal_it_needs_no_sentence_before_it() -> None:
    page = "Skerry has a new museum. It is possible to visit the lamp room on Sundays. Boats leave daily."
    assert quoted("When is it possible to visit the lamp room?", page) == [
        "It is possible to visit the lamp room on Sundays."
    ]


def test_a_sentence_without_a_word_of_the_question_needs_the_kind_asked_for() -> None:
    page = "The Eiffel tower is tall. It measures 330 metres. Bread is nice."
    assert quoted("How tall is the Eiffel tower?", page) == [
        "The Eiffel tower is tall. It measures 330 metres."
    ]
    assert quoted("tall Eiffel tower", page) == ["The Eiffel tower is tall."]


def test_headings_above_a_sentence_help_to_find_it() -> None:
    page = "## {}\n\nPeople like this. Members pay {} euros."
    pages = (page.format("Hobby plan", 3), page.format("Team plan", 29))
    assert quoted("euros of the team plan", *pages)[0] == "Members pay 29 euros."


def test_the_title_of_a_page_helps_to_find_its_sentences() -> None:
    question, page = (
        "When was the lamp of the Skerry island lighthouse first lit?",
        "It was lit in 1901.",
    )
    assert quoted(question, page, title="Skerry lighthouse") == [page]
    assert quoted(question, page, title="Fireworks") == []


def test_a_question_on_the_page_is_not_quoted_but_its_answer_is() -> None:
    page = "Can I cancel my plan?\n\nYes, at any time.\n\nWe make anvils of all sizes."
    assert quoted("cancel plan", page) == ["Yes, at any time."]


def test_headings_code_and_runs_of_links_are_not_quoted() -> None:
    page = (
        "# Installing the frobnicator now\n\n[Install frobnicator](a) [Buy frobnicator](b) [Sell frobnicator](c)\n\n"
        "```\nplease install the frobnicator\n```\n\nThe frobnicator is installed by hand."
    )
    assert quoted("install frobnicator", page) == ["The frobnicator is installed by hand."]


def test_markdown_marks_are_removed() -> None:
    page = "- The **lamp** of the [lighthouse](https://a.example/b) has `500` watts.[3] ![x](y)"
    assert quoted("lighthouse lamp watts", page)[0] == "The lamp of the lighthouse has 500 watts."


@pytest.mark.parametrize("remark", ["citation needed", "not in citation given"])
def test_editorial_remarks_of_an_encyclopedia_are_removed(remark: str) -> None:
    page = f"The lighthouse at Skerry was lit in 1901.[{remark}]"
    assert quoted("When was the Skerry lighthouse lit?", page) == [
        "The lighthouse at Skerry was lit in 1901."
    ]


@pytest.mark.parametrize("rest", [":212–219", ":212-219", ":7", ": 7, 12–14"])
def test_the_pages_of_a_footnote_are_removed(rest: str) -> None:
    page = f"The Skerry lighthouse was lit in 1901.{rest} Boats leave at 10:30 daily."
    assert quoted("When was the Skerry lighthouse lit?", page) == [
        "The Skerry lighthouse was lit in 1901."
    ]
    assert quoted("When do the boats leave daily?", page)[0] == "Boats leave at 10:30 daily."


def test_a_table_row_is_found_by_its_header_which_is_not_quoted() -> None:
    page = "| Plan | Monthly price |\n|---|---|\n| Hobby plan | 0 euros |\n| Team plan | 29 euros |"
    assert quoted("monthly price of the team plan", page)[0] == "Team plan | 29 euros"
    assert "Plan | Monthly price" not in quoted("monthly price of the team plan", page)
    cities = "Bergen is cold. It rains there.\n\n| City | Population |\n|---|---|\n| Oslo | 709,037 |\n| Bergen | 291,940 |"
    assert quoted("population of Bergen", cities)[0] == "Bergen | 291,940"


def test_words_in_the_order_of_the_question_count_more() -> None:
    page = "The bridge and the tower are old. The tower bridge and mill are old."
    assert quoted("tower bridge", page)[0] == "The tower bridge and mill are old."


def test_a_sentence_far_behind_the_best_is_left_out() -> None:
    page = (
        "The Skerry lighthouse was lit in 1901.\n\n"
        + "A paragraph about wholly other things follows.\n\n" * 3
    )
    assert quoted("When was the Skerry lighthouse lit?", page + "Candles were lit.") == [
        "The Skerry lighthouse was lit in 1901."
    ]


def test_of_two_similar_sentences_the_one_on_the_page_about_the_question_is_first() -> None:
    stray = "The ferry to the island costs nine crowns."
    about = "The ferry to the island costs ten crowns now. It leaves daily. It is white. Skerry is loved."
    assert quoted("What does the ferry to Skerry island cost?", stray, about)[0].endswith(
        "ten crowns now."
    )


def test_questions_in_other_languages_are_answered() -> None:
    assert quoted("東京タワーの高さは？", "東京タワーの高さは333メートルです。大阪は晴れです。")[
        0
    ].startswith("東京")
    assert quoted(
        "¿Cuántos huevos lleva la tortilla?", "La tortilla lleva seis huevos. Hace sol hoy aquí."
    ) == ["La tortilla lleva seis huevos."]


def test_a_sentence_without_room_is_skipped_for_one_that_fits() -> None:
    long = "The tower " + "and its very long description " * 10 + "ends."
    short = "The tower is high."
    found = find_evidence("tower", [Document("", f"{long} {short}")], 100, encode).sentences
    assert [evidence.text for evidence in found] == [short]


def test_fragments_and_endless_sentences_are_not_quoted() -> None:
    endless = "The tall tower " + "and its very long description " * 20 + "ends."
    assert quoted("tall tower", f"- Tall tower\n\n{endless}") == []


def test_private_use_characters_never_reach_an_answer() -> None:
    """They are raw citation marks in the vocabulary of one vendor's models, so a page could forge a citation."""
    assert (
        quoted("tower height", "The tower height is \ue200cite\ue202turn0search0\ue201 unknown.")
        == []
    )


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                (
                    "tower",
                    "Paris",
                    "tall",
                    "1889",
                    ". ",
                    "? ",
                    "\n\n",
                    "# ",
                    "- ",
                    "| ",
                    "[1]",
                    "[a](b)",
                    "東京。",
                )
            ),
            max_size=40,
        ).map(" ".join),
        max_size=4,
    ),
    st.integers(min_value=0, max_value=200),
)
def test_evidence_keeps_to_its_limit_and_is_on_its_page(pages: list[str], room: int) -> None:
    found = find_evidence(
        "tall tower 東京", [Document("Paris", page) for page in pages], room, encode, overhead=3
    ).sentences
    assert sum(len(evidence.text) + 3 for evidence in found) <= room
    for evidence in found:
        spoken = "".join(character for character in evidence.text if character.isalnum())
        written = pages[evidence.document].replace("[1]", "").replace("(b)", "")
        assert spoken in "".join(character for character in written if character.isalnum())


@pytest.mark.parametrize(
    "page",
    [
        f"- tower.{' ' * 300_000}x",
        f"| {'tall ' * 100_000}|\n|---|\n{'| tower is tall |' + chr(10)}"
        + "| tower is tall |\n" * 30_000,
        "- tower " + "**a " * 250_000,
        "- tower " + "e" + "\u0301\u0327" * 250_000,
    ],
    ids=["blanks", "long header", "open marks", "piled accents"],
)
def test_one_endless_line_costs_linear_time(page: str) -> None:
    """Each took quadratic time once: minutes, or many seconds; the test would time out."""
    assert len(find_evidence("tall tower", [Document("", page)], 800, encode).sentences) <= 2


def test_a_sentence_over_thousands_of_characters_is_not_quoted_and_not_cut_to_fit() -> None:
    page = f"- The tall tower is very{' ' * 5_000} high.\n\nParis has a tall tower."
    assert quoted("tall tower", page) == ["Paris has a tall tower."]


@pytest.mark.parametrize(
    "scrap", ["tower. ", "tower ", "# tower\n", "| tower is tall |\n", "[tower](x) ", "tower?\n\n"]
)
def test_hostile_pages_cost_linear_time(scrap: str) -> None:
    """200 KB of a repeated scrap; anything quadratic would need minutes, and the test would time out."""
    assert (
        len(
            find_evidence(
                "tall tower", [Document("", scrap * (200_000 // len(scrap)))], 800, encode
            ).sentences
        )
        <= 2
    )
