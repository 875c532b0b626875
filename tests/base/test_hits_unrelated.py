"""A page of results is refused only if it can have nothing to do with the query."""

from __future__ import annotations

import pytest

from tests.growth import too_much
from websearch_gateway.base.hits import FEWEST_ROWS, is_unrelated
from websearch_gateway.models import Hit

FOOTBALL = (
    "Rovers win the derby | The keeper saved two penalties before the whistle, and the visitors went home in silence.",
    "Transfer window: who moves where | Clubs spent less on strikers than a summer ago, an agent told our reporter.",
    "Live ticker of the cup final | Follow each corner, card and substitution as it happens in the second half.",
    "Fantasy league tips for the weekend | Captain your midfielder and bench the left back, our panel says.",
    "A stadium without a roof | Supporters sang in the rain until the referee ended the match after ninety minutes.",
    "The coach steps down | After nine defeats the board thanked him and named his assistant for the rest of autumn.",
)
HOMES = (
    "Flats to rent near the park | Two bedrooms, a balcony and a lift; viewings on Saturday, deposit of three rents.",
    "Houses for sale by the lake | A cottage with a garden of 900 square metres and a garage for a pair of cars.",
    "What landlords may ask of tenants | A lawyer explains notices, repairs and who pays for the boiler.",
    "Interest on mortgages falls | Banks offer fixed loans to buyers with a fifth of the price in savings.",
    "Tiny houses on wheels | Builders in the valley sell them with a stove, a bunk and a shower.",
    "Moving boxes and vans | Book helpers by the hour; they carry the piano up to the fifth floor.",
)
FASHION_DE = (
    "Sommerkleider im Angebot | Leichte Stoffe und kräftige Farben: die neue Kollektion ist da und wird gern gekauft.",
    "Schuhe für den Herbst | Stiefel aus Leder sind in dieser Saison wieder gefragt, und das nicht nur bei Frauen.",
    "Taschen von jungen Designern | Auf der Messe in Mailand haben sie gezeigt, was aus Resten werden kann.",
    "Frisuren, die jedem stehen | Der Friseur erklärt, wie man mit wenig Aufwand und einem Kamm viel erreicht.",
    "Schmuck selbst gemacht | Aus Perlen und Draht wird mit etwas Geduld ein schönes Geschenk für die Freundin.",
    "Der Anzug kommt zurück | Warum Männer im Büro wieder Krawatte tragen, hat ein Soziologe untersucht.",
)
QUERIES = (
    "how to descale an espresso machine",
    "python asyncio timeout",
    "RFC 9110 caching semantics",
    "E202 error dishwasher",
    "vitamin d deficiency symptoms",
    "who invented the telephone",
    "eiffel tower height",
    "sourdough starter ratio",
    "best laptops 2026",
    "symptoms of dengue fever",
    "capital of Mongolia",
    "kubernetes ingress nginx",
    "what is the boiling point of ethanol",
    "moon landing hoax evidence",
    "translate hello into Icelandic",
    "comet visible tonight",
    "sqlite wal checkpoint",
    "bee waggle dance",
    "los angeles weather",
    "tour de france stages",
    "café near Louvre",
    "Beyoncé tour 2026",
    "Zürich airport trains",
)


def page(rows: tuple[str, ...], host: str = "site.example") -> list[Hit]:
    parts = [row.split(" | ") for row in rows]
    return [
        Hit(f"https://{host}/{n}", title, snippet, "x") for n, (title, snippet) in enumerate(parts)
    ]


@pytest.mark.parametrize("rows", [FOOTBALL, HOMES], ids=["football", "homes"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_page_about_something_else_is_unrelated(query: str, rows: tuple[str, ...]) -> None:
    assert is_unrelated(query, page(rows))


@pytest.mark.parametrize(
    "query",
    [
        "Wie wird Kartoffelsuppe gekocht?",
        "Wann wurde der Kölner Dom gebaut?",
        "Förderung für Wärmepumpen bekommen",
    ],
)
def test_a_page_in_the_language_of_the_query_is_judged_in_that_language(query: str) -> None:
    assert is_unrelated(query, page(FASHION_DE))


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("how to descale an espresso machine", "Descaling made easy | Citric acid and patience."),
        ("kartoffelsuppe", "Die Suppe der Oma | Mit Lauch."),
        ("suppe", "Kartoffelsuppe | Mit Lauch."),
        ("accomodation Ulm", "Accommodation | Beds."),
        ("eifel towr", "The Eiffel Tower | Tickets."),
        ("computers", "Computing | Machines."),
        ("E202", "Dishwasher stops | The display shows E202."),
        ("404 error", "Not found | A 404 means that the address is wrong."),
        ("что такое блокчейн", "Блокчейны простыми словами | Цепочка."),
        ("東京タワーの高さ", "観光案内 | 東京の名所"),
        ("北京有什么好吃的", "美食 | 北京烤鸭"),
        ("서울의 날씨", "날씨 예보 | 서울은 맑음"),
        ("ประวัติศาสตร์ไทย", "หนังสือประวัติศาสตร์ | เล่มแรก"),
        ("bóng đá Việt Nam", "Lịch thi đấu | Giải bóng đá trẻ"),
    ],
)
def test_one_row_with_a_form_of_one_word_saves_the_page(query: str, row: str) -> None:
    assert not is_unrelated(query, [*page(FOOTBALL), *page((row,))])


def test_a_word_of_the_address_counts_but_not_what_every_address_has() -> None:
    assert not is_unrelated(
        "eiffel tower height", [*page(FOOTBALL), Hit("https://eiffeltower.example/", "A", "B", "x")]
    )
    assert not is_unrelated(
        "Москва",
        [
            *page(FOOTBALL),
            Hit("https://a.example/%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0", "", "", "x"),
        ],
    )
    assert is_unrelated("www nasa com", page(FOOTBALL, "www.sports.com"))


def test_the_words_of_any_question_are_no_content() -> None:
    rows = [
        Hit(
            "https://a.example/",
            "What is the best way to do it",
            "How and when you should, and why.",
            "x",
        )
    ]
    assert is_unrelated("what is the boiling point of ethanol", rows * FEWEST_ROWS)
    assert not is_unrelated("what is the", page(FOOTBALL)), (
        "a query of nothing else asks for just these"
    )


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("how to cook potato soup", FASHION_DE),
        ("wie wird das Wetter in Ulm", FOOTBALL),
        ("Förderung Wärmepumpe", FOOTBALL),
        ("погода в Москве", FOOTBALL),
        ("東京タワーの高さ", FOOTBALL),
        ("python tutorial", ("教程 | 从零开始学习编程语言",) * 6),
        (
            "python tutorial",
            ("Õpetus algajatele | Siin leiad juhised kuidas oma esimene programm ise kirjutada",)
            * 6,
        ),
    ],
)
def test_rows_in_another_language_or_script_never_count(query: str, rows: tuple[str, ...]) -> None:
    assert not is_unrelated(query, page(rows))


@pytest.mark.parametrize(
    ("row", "counts"),
    [
        ("Zorbel | algajatele leiad juhised kuidas programm kirjutada oma", False),
        ("Zorbel | algajatele leiad juhised kuidas programm kirjutada", True),
    ],
)
def test_a_row_of_eight_words_without_one_of_english_is_in_another_language(
    row: str, counts: bool
) -> None:
    assert is_unrelated("python tutorial", page((row,) * 6)) is counts


def test_the_language_of_the_call_counts_more_than_a_guess() -> None:
    assert not is_unrelated("rezept waffel", page(FOOTBALL), language="de")
    assert is_unrelated("rezept waffel", page(FASHION_DE), language="de")


def test_a_few_rows_are_left_to_the_caller() -> None:
    assert not is_unrelated("python asyncio timeout", page(FOOTBALL)[: FEWEST_ROWS - 1])
    assert is_unrelated("python asyncio timeout", page(FOOTBALL)[:FEWEST_ROWS])
    assert not is_unrelated("python asyncio timeout", [])
    assert not is_unrelated("?!", page(FOOTBALL))


def test_the_work_grows_with_the_size_of_the_rows() -> None:
    for unit in ("abcde fghij ", "aaaaaaaa", "東京タワ", "x" * 50 + " ", "ก" * 9):
        assert (
            too_much(
                lambda text: is_unrelated(
                    "zzzzzz yyyyyy", [Hit("https://a.example", text, text, "x")] * 5
                ),
                unit,
            )
            is None
        )
