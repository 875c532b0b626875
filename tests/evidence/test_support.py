from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.evidence.facts import Quotable, best_quotes
from websearch_gateway.evidence.supporting import is_claim, judged, support


def checked(sentence: str, passage: Quotable) -> str | None:
    return support(sentence, best_quotes(sentence, passage.quotes), passage)


BRIDGE = Quotable.of(
    "The bridge cost 5.8 million euros and opened on 14 May 1932. It is 120 metres long and 9 metres wide. "
    "About 3% of drivers pay in cash, down 2 percentage points from a year earlier. "
    "The bridge is not open to lorries. A second bridge may be built by 2030. "
    "In the final, the Broncos defeated the Panthers 24-10. Anna Berg designed the arch; Tom Lund designed the piers. "
    "The temperature fell to -12 °C in 1956. Some 600 ships pass each month. The toll rose from 2 to 3 euros. "
    "Critics say that the arch is unsafe. If the toll rises, ferries will return. Is the bridge haunted? "
    "Most drivers pay by card, according to the operator. The old ferry, which sank in 1930, carried 40 people. "
    "He published the plans in Oslo. Painters and divers earn 20 and 30 euros respectively.",
    "Harbour Bridge > History > 2025-03-04",
)

TOWERS = Quotable.of(
    "| Tower | Height (m) | Lifts | Opened |\n|---|---|---|---|\n| North | 41 | 2 | 3 May 1930 |\n"
    "| South | 38 | 4 | 9 June 1931 |",
    "Towers",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge is not open to lorries.",
        "the bridge is not open to lorries",
        "The temperature fell to -12 °C in 1956.",
        "The bridge cost 5.8 million euros and opened on 14 May 1932.",
    ],
)
def test_a_sentence_of_the_page_is_verbatim(sentence: str) -> None:
    assert checked(sentence, BRIDGE) == "verbatim"


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge opened on May 14, 1932, at a cost of €5.8 million.",
        "The Harbour Bridge has a length of 120 m and is 9 m wide.",
        "Lorries are not allowed: the bridge is not open to them.",
        "A second bridge could be built by 2030.",
        "The piers were designed by Tom Lund and the arch by Anna Berg.",
        "Each month some 600 ships pass the bridge.",
        "In 1956 the temperature dropped to minus 12 °C.",
        "As of March 2025, the bridge is 120 metres long.",
        "Critics say the arch is unsafe.",
    ],
)
def test_a_true_sentence_in_other_words_is_a_paraphrase(sentence: str) -> None:
    assert checked(sentence, BRIDGE) == "paraphrase"


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge cost 5.8 billion euros.",
        "The bridge cost 5.8 million dollars.",
        "The bridge opened on 14 May 1923.",
        "The bridge opened on 15 May 1932.",
        "The bridge opened in June 1932.",
        "The bridge is 120 feet long.",
        "About 3 percentage points of drivers pay in cash.",
        "Cash is down 2% from a year earlier.",
        "The bridge is open to lorries.",
        "A second bridge was built by 2030.",
        "The Broncos defeated the Panthers 24-12.",
        "Anna Lund designed the arch.",
        "The temperature fell to 12 °C in 1956.",
        "Some 600 ships pass each week.",
        "The arch is unsafe.",
        "Ferries will return.",
        "The bridge is haunted.",
        "All drivers pay by card, according to the operator.",
        "Most drivers pay by card.",
        "Anna Berg published the plans in Oslo.",
        "Painters earn 20 euros and divers 30 euros.",
        "You can see that the bridge is 120 metres long.",
        "The bridge is 120 metres long, see https://evil.example/.",
        "How long is the bridge?",
        "The moon is made of green cheese.",
        "",
        "The temperature never sank to -12 °C in 1956.",
    ],
)
def test_an_altered_sentence_is_refused(sentence: str) -> None:
    assert checked(sentence, BRIDGE) is None


@pytest.mark.parametrize(
    "sentence",
    ["The North tower is 41 m high.", "The South tower has 4 lifts.", "The South tower opened on 9 June 1931."],
)
def test_a_row_of_a_table_supports_a_sentence_about_it(sentence: str) -> None:
    assert checked(sentence, TOWERS) == "paraphrase"


@pytest.mark.parametrize(
    "sentence",
    [
        "The North tower is 38 m high.",
        "The South tower has 2 lifts.",
        "The South tower has 38 lifts.",
        "The North tower opened on 9 June 1931.",
        "The North tower is 41 feet high.",
    ],
)
def test_cells_of_other_rows_and_columns_are_not_mixed(sentence: str) -> None:
    assert checked(sentence, TOWERS) is None


@pytest.mark.parametrize(
    ("told", "invented"),
    [
        ("Die Brücke wurde 1932 von Anna Berg gebaut.", "Die Brücke wurde 1932 nicht von Anna Berg gebaut."),
        ("Die Brücke wurde 1932 von Anna Berg gebaut.", "Die Brücke wurde 1932 von Anna Lund gebaut."),
        ("Das Tor wurde am 3. Mai 1990 geöffnet.", "Das Tor wurde am 3. Mai 1991 geöffnet."),
        ("El puente tiene dos torres de 120 metros.", "El puente nunca tiene dos torres de 120 metros."),
        ("La tour fut ouverte en 1889 par le maire.", "La tour fut ouverte en 1898 par le maire."),
        ("这座桥建于1932年，全长120米。", "这座桥建于1933年，全长120米。"),
        ("这座桥建于1932年，全长120米。", "这座桥不建于1932年，全长120米。"),
        ("पुल 1932 में खुला और 120 मीटर लंबा है।", "पुल 1932 में नहीं खुला और 120 मीटर लंबा है।"),
        ("घाट पर नावें चलती हैं।", "घाट पर नवाब चले हैं।"),
        ("افتتح الجسر في عام 1932 وطوله 120 مترا.", "لم يفتتح الجسر في عام 1932 وطوله 120 مترا."),
        ("Мост был открыт в 1932 году в Осло.", "Мост не был открыт в 1932 году в Осло."),
        ("Η γέφυρα άνοιξε το 1932 στο Όσλο.", "Η γέφυρα δεν άνοιξε το 1932 στο Όσλο."),
        ("Cây cầu được mở vào năm 1932.", "Cây cầu không được mở vào năm 1932."),
        ("Podul a fost deschis în 1932.", "Podul nu a fost deschis în 1932."),
        ("Köprü 1932 yılında Oslo'da açıldı.", "Köprü 1933 yılında Oslo'da açıldı."),
    ],
)
def test_numbers_names_and_denials_are_checked_in_other_languages(told: str, invented: str) -> None:
    passage = Quotable.of(told)
    assert checked(told, passage) == "verbatim"
    assert checked(invented, passage) is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The tower by Gustave Eiffel in Paris is 330 metres tall.", "paraphrase"),
        ("The tower by Gustave Eiffel in Paris is 331 metres tall.", None),
        ("The tower by Stephen Sauvestre in Paris is 330 metres tall.", None),
        ("The tower by Gustave Eiffel in Paris is not 330 metres tall.", None),
        ("The tower is tall.", None),
    ],
)
def test_a_sentence_in_another_language_needs_all_its_names_and_numbers(sentence: str, expected: str | None) -> None:
    page = Quotable.of("La tour Eiffel, construite par Gustave Eiffel à Paris, mesure 330 mètres depuis 2022.")
    assert checked(sentence, page) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The bridge is long.", True),
        ("Yes!", False),
        ("Here is a summary of it:", False),
        ("The passage describes two bridges.", False),
        ("The passage states that the bridge is long.", True),
    ],
)
def test_talk_about_the_passage_is_no_claim(sentence: str, expected: bool) -> None:
    assert is_claim(sentence) is expected


@given(st.integers(0, 10**9))
def test_a_number_that_the_passage_lacks_is_never_supported(number: int) -> None:
    known = {5, 8, 14, 1932, 120, 9, 3, 2, 2030, 24, 10, 12, 1956, 600, 1930, 40, 20, 30, 2025}
    assert number in known or checked(f"The bridge is {number} metres long.", BRIDGE) is None


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_checked(sentence: str, passage: str) -> None:
    assert checked(sentence, Quotable.of(passage)) in ("verbatim", "paraphrase", None)


SHIPS = (f"Ship number {n} passed in the year {1900 + n}." for n in range(90))
PAGE = "\n\n".join(["# Harbour Bridge", *SHIPS, "The bridge is 120 m long."])


def test_each_sentence_gets_the_words_of_the_page_for_it() -> None:
    said = ["The Harbour Bridge has a length of 120 m.", "The bridge is 120 m long.", "The bridge is 130 m long."]
    assert judged(said, PAGE, "Bridges") == [
        ("paraphrase", "The bridge is 120 m long."),
        ("verbatim", "The bridge is 120 m long."),
        ("contradicted", "The bridge is 120 m long."),
    ]


def test_an_empty_page_says_nothing() -> None:
    assert judged(["The bridge is 120 m long."], "", "") == [("not_found", "")]


HARBOUR = """# Harbour Bridge

The bridge opened on 14 May 1932. It is 120 metres long. The bridge is not open to lorries. It has three lanes.
The town of Olm has 2,102,650 inhabitants. Toll was first paid in 1940. If it rains, the bridge closes at 9 p.m. """


def test_a_word_that_only_looks_like_a_hedge_leaves_a_contradiction() -> None:
    page = "The first two highways opened up the old forest of Olm to settlers."
    assert (
        judged(["The first three highways opened up the old forest of Olm to settlers."], page, "")[0][0]
        == "contradicted"
    )


def test_a_claim_is_contradicted_by_a_quote_with_two_other_numbers() -> None:
    page = "The ticket costs 12 euros for adults, and 20 euros with a guide."
    assert judged(["The ticket costs 15 euros."], page, "") == [("contradicted", page)]


@pytest.mark.parametrize(
    ("claim", "told", "verdict"),
    [
        ("The temperature in Halden rose by three degrees.", "The temperature in Halden fell by three degrees.", "no"),
        ("The Panthers defeated the Broncos in the final.", "The Broncos defeated the Panthers in the final.", "no"),
        ("Jones had 25 rebounds in the game.", "Jones had 25 points in the game.", "no"),
        ("The Broncos beat the Panthers in the final.", "The Broncos defeated the Panthers in the final.", "yes"),
    ],
)
def test_a_claim_with_an_opposite_or_with_names_in_another_order_is_not_supported(
    claim: str, told: str, verdict: str
) -> None:
    ((found, _),) = judged([claim], told, "")
    assert (found == "paraphrase") == (verdict == "yes")


@pytest.mark.parametrize("amount", ["1500.50", "1,500.50", "1.500,50"])
def test_an_amount_is_the_same_in_the_digits_of_another_country(amount: str) -> None:
    page = "The ticket for the whole harbour cost 1.500,50 euros in Olm."
    claim = f"The ticket for the whole harbour cost {amount} euros in Olm."
    ((found, quote),) = judged([claim], page, "")
    assert found in ("verbatim", "paraphrase")
    assert quote == page


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The Harbour Bridge is 120 metres long.", "paraphrase"),
        ("The Harbour Bridge is 150 metres long.", "contradicted"),
        ("The Harbour Bridge opened on 15 May 1932.", "contradicted"),
        ("The Harbour Bridge opened on 14 May 1933.", "contradicted"),
        ("The bridge is open to lorries.", "contradicted"),
        ("The bridge has four lanes.", "contradicted"),
        ("The town of Olm has 2.4 million inhabitants.", "contradicted"),
        ("The town of Olm has about 2.4 million inhabitants.", "not_found"),
        ("The town of Olm has 2.1 million inhabitants.", "not_found"),
        ("The Harbour Bridge is over 100 metres long.", "not_found"),
        ("The Harbour Bridge is 120 feet wide.", "not_found"),
        ("The Castle Bridge is 150 metres long.", "not_found"),
        ("The bridge closes at 8 p.m.", "not_found"),
        ("Is the bridge 150 metres long?", "not_found"),
    ],
)
def test_a_claim_is_contradicted_by_the_same_sentence_with_another_number_or_its_denial(
    claim: str, verdict: str
) -> None:
    ((found, quote),) = judged([claim], HARBOUR, "Harbour Bridge")
    assert (found, bool(quote)) == (verdict, verdict != "not_found")


@pytest.mark.parametrize(
    ("told", "invented"),
    [
        ("The team was only granted 15 minutes to speak.", "The team was mainly granted 15 minutes to speak."),
        ("Berg averaged 25 points per game as a senior.", "Berg averaged 25 rebounds per game as a senior."),
        ("More than 190 ships have visited the harbour.", "Under 190 ships have visited the harbour."),
        ("The guard opens all the gates of the harbour.", "The guard opens some the gates of the harbour."),
        ("The new bridge over the river has three lanes.", "The new bridge over the river has four lanes."),
        ("The bridge has three lanes. It is old.", "This old bridge has four lanes."),
        (
            '"The arch is the finest work of the whole century," said the mayor of Olm.',
            "The arch is the finest work of the whole century.",
        ),
        ("It is naive to think that the arch holds in every storm.", "The arch holds in every storm."),
        ("The inquiry did not find that the arch was unsafe.", "The inquiry found that the arch was unsafe."),
        ("Nearly all visitors to the harbour take the lift.", "All visitors to the harbour take the lift."),
        ("The old harbour was sold twice by Victor Berg.", "The old harbour was sold by Victor Berg three times."),
        ("If the permit is renewed, the arch will stay until 2050.", "The arch will stay until 2050."),
    ],
)
def test_another_amount_thing_or_a_missing_speaker_is_refused(told: str, invented: str) -> None:
    assert checked(invented, Quotable.of(told)) is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("The fire burned for two days, officials said.", "The fire burned for two days."),
        ('"The arch is the finest work," said the mayor of Olm.', "The mayor said that the arch is the finest work."),
        ("About 35 deputies and officers searched the forest.", "About 35 officers and deputies searched the forest."),
        ("Berg, primarily known as a diver, was born in 1932.", "Berg, known as a diver, was born in 1932."),
    ],
)
def test_a_report_and_another_order_stay_true(told: str, said: str) -> None:
    assert checked(said, Quotable.of(told)) is not None


CLUB = Quotable.of(
    """# News

The winger can play on Saturday, the club said. Anna Berg may sign a new contract in June, and Tom Hill was pleased.
The roof must be repaired before the winter. The keeper trains twice a week. "The pitch is in poor shape," Anna Berg
told the local radio. Old fans still remember the last title."""
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Anna Berg said that the pitch is in poor shape.",
        "According to Anna Berg, the pitch is in poor shape.",
        "She said that the pitch is in poor shape.",
        "Anna Berg may sign a new contract in June.",
    ],
)
def test_a_speaker_and_a_doubt_of_the_page_are_kept(sentence: str) -> None:
    assert checked(sentence, CLUB) is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "Tom Hill said that the pitch is in poor shape.",
        "According to Tom Hill, the pitch is in poor shape.",
        "In Tom Hill's view, the pitch is in poor shape.",
        "Anna Berg signed a new contract in June.",
        "The keeper must train twice a week.",
        "The roof was repaired before the winter.",
    ],
)
def test_another_speaker_and_a_doubt_made_certain_are_refused(sentence: str) -> None:
    assert checked(sentence, CLUB) is None


@pytest.mark.parametrize(
    ("told", "invented"),
    [
        ("The bridge was built by John Miller, and Anna Berg designed the towers.", "Anna Berg built the bridge."),
        ("The tower is about 300 metres tall and stands in Olm.", "The tower is exactly 300 metres tall."),
        ("The tower was built from 1887 to 1889 in Olm.", "The tower was finished in 1887."),
        ("The museum was founded in 1793. The library was opened in 1850.", "The library was founded in 1793."),
        (
            "Olm was the seat of Lake Abbey, one of the oldest abbeys in what is now the north of Sweden.",
            "Lake Abbey was the oldest abbey in the present north of Sweden.",
        ),
        ("One of the authors of the report is Tom Lund of Oslo.", "Tom Lund of Oslo is the author of the report."),
        (
            "The road will likely be numbered Interstate 9 by the state.",
            "Interstate 9 is how the state numbered the road.",
        ),
        (
            "Tickets bought on board cost more than those bought online.",
            "Tickets bought online cost more than on board.",
        ),
        (
            "The majority of the wool comes from Peru, with 60% of it, followed by Chile with 13%, Bolivia with 10%.",
            "Bolivia supplies 13 percent of the wool, a share that trails Peru.",
        ),
        ("The largest known prime has 22,338,618 decimal digits.", "The largest known prime takes 22,338,618 bits."),
        (
            "In 2011 came two reports, the Report on Renewable Energy Sources (SRREN) and the Report on Risks (SREX).",
            "The SREX report deals with renewable energy sources.",
        ),
        (
            "Kearney Park is the largest park of the town, and Roeding Park is home to the Olm Zoo.",
            "Roeding Park is the largest park of the town.",
        ),
        (
            "On the eve of the feast, apart from floating candles, jumping over fires and dances, there are songs.",
            "A guest at the eve of the feast is required to jump over fires, among candles and songs.",
        ),
        (
            "However, these evening classes are not part of the German school system.",
            "As courses at night, these evening classes belong to Germany's school system as a part.",
        ),
    ],
)
def test_a_sentence_that_loses_or_moves_what_decides_its_meaning_is_refused(told: str, invented: str) -> None:
    assert checked(invented, Quotable.of(told)) is None


def test_two_counts_that_change_places_with_what_they_count_stay_true() -> None:
    told = "The series aired from October 3, 2013 to July 18, 2015 and ran 34 episodes over two seasons on CBS."
    said = "The series aired on CBS from 2013 to 2015, with two seasons and 34 episodes."
    assert checked(said, Quotable.of(told)) == "paraphrase"


def test_a_rounded_number_contradicts_nothing() -> None:
    page = "6.9 million people live in the city of Ambria."
    assert judged(["7 million people live in the city of Ambria."], page, "") == [("not_found", "")]
    assert judged(["8 million people live in the city of Ambria."], page, "")[0][0] == "contradicted"


@pytest.mark.parametrize("amount", ["1500", "1,500", "1.500"])
def test_a_price_with_a_point_before_three_digits_is_in_thousands(amount: str) -> None:
    told = Quotable.of("The ticket for the whole harbour cost 1.500 euros in Olm.")
    assert checked(f"In Olm the ticket for the harbour cost {amount} euros.", told) == "paraphrase"


TRIAL = Quotable.of(
    "Patients on the drug had an average of 4.1 fewer headache days a month, against 1.9 fewer on placebo. "
    "Prosecutors allege that Vance moved 3 million dollars through a bank in Cyprus. "
    "Curator Lena Brandt urged visitors not to touch the tower clock, and Joel Pike praised the old museum. "
    "If the council agrees, the museum will close for repairs in the spring. "
    "The defendant denied the charge in court on Monday. "
    "Tolls fell sharply once the railway reached Ansley."
)


@pytest.mark.parametrize(
    "invented",
    [
        "Patients on the drug had an average of 1.9 fewer headache days a month.",
        "Joel Pike urged visitors not to touch the tower clock.",
        "Vance moved 3 million dollars through a bank in Cyprus.",
        "The museum closes for repairs in the spring.",
        "The defendant admitted the charge in court on Monday.",
        "Tolls fell sharply because of the price of coal.",
        "Visitors refused to touch the tower clock of the museum's largest hall.",
    ],
)
def test_what_stands_at_another_place_or_is_left_out_or_added_is_refused(invented: str) -> None:
    assert checked(invented, TRIAL) is None


@pytest.mark.parametrize(
    "told",
    [
        "The drug brought patients an average of 4.1 fewer headache days a month.",
        "Vance is alleged to have moved 3 million dollars through a bank in Cyprus.",
        "Visitors were urged by curator Lena Brandt not to touch the tower clock.",
        "In court on Monday the defendant denied the charge.",
    ],
)
def test_the_same_in_other_words_is_kept(told: str) -> None:
    assert checked(told, TRIAL) == "paraphrase"


def test_a_word_from_elsewhere_in_the_passage_needs_a_quote_of_its_own() -> None:
    page = Quotable.of("The mayor urged residents to stay at home. The rail operator stopped all trains on Friday.")
    assert support("The mayor urged residents to stay at home.", page.quotes[:1], page) == "verbatim"
    assert support("The rail operator urged residents to stay at home.", page.quotes[:1], page) is None
    page = Quotable.of("The judge spoke slowly. He told the jury that the case was unusual.")
    assert support("The judge told the jury that the case was unusual.", page.quotes[1:], page) == "paraphrase"


@pytest.mark.parametrize(
    ("told", "true", "invented"),
    [
        ("Die Brücke wurde am 5. Mai 1932 eröffnet.", "Eröffnet wurde die Brücke am 5. Mai 1932.", "Juni:Mai"),
        ("El puente se inauguró el 5 de mayo de 1932.", "El 5 de mayo de 1932 se inauguró el puente.", "junio:mayo"),
        ("Podul a fost deschis la 5 mai 1932.", "La 5 mai 1932 a fost deschis podul.", "iunie:mai"),
        ("Мост был открыт 5 мая 1932 года.", "5 мая 1932 года мост был открыт.", "июня:мая"),
        ("Köprü 5 Mayıs 1932'de açıldı.", "5 Mayıs 1932'de köprü açıldı.", "Haziran:Mayıs"),
        ("Η γέφυρα άνοιξε στις 5 Μαΐου 1932.", "Στις 5 Μαΐου 1932 άνοιξε η γέφυρα.", "Ιουνίου:Μαΐου"),
        ("افتتح الجسر في 5 مايو 1932.", "في 5 مايو 1932 افتتح الجسر.", "يونيو:مايو"),
        ("สะพานเปิดเมื่อวันที่ 5 พฤษภาคม 1932", "วันที่ 5 พฤษภาคม 1932 สะพานเปิด", "มิถุนายน:พฤษภาคม"),
    ],
    ids=["de", "es", "ro", "ru", "tr", "el", "ar", "th"],
)
def test_another_month_is_refused_in_other_languages(told: str, true: str, invented: str) -> None:
    page = Quotable.of(told)
    other, month = invented.split(":")
    assert checked(true, page)
    assert checked(true.replace(month, other), page) is None


@pytest.mark.parametrize("written", ["10⁵", "10^5"])
def test_a_power_of_a_number_is_not_a_longer_number(written: str) -> None:
    passage = Quotable.of(f"The basin of the harbour holds {written} litres of water.", "Harbour")
    assert checked("The basin of the harbour holds 105 litres of water.", passage) is None
