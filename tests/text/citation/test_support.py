"""The claims that a passage supports; one number, date or name that it lacks is enough to reject a claim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.citation.support import Evidence, anchors, supports

PASSAGE = (
    "Eiffel Tower > Height > 2026-05-10\n"
    "The tower is 330 metres (1,083 ft) tall. It opened on 31 March 1889, after two years of work by the company of "
    "Gustave Eiffel. About 5.8 million people visit it each year. Until 1930 no building was taller. Its lifts are not "
    "open at night. The entrance on the south side was moved by Louis Sauvestre in 1960."
)
EVIDENCE = Evidence.of(PASSAGE)


@pytest.mark.parametrize(
    "claim",
    [
        "The Eiffel Tower is 330 metres tall.",
        "The tower is 1083 ft tall.",
        "The tower opened on March 31, 1889.",
        "It opened in March 1889.",
        "About 5.8 million people visit the tower each year.",
        "No building was taller until 1930.",
        "As of May 2026, the tower is 330 metres tall.",
    ],
)
def test_a_claim_in_other_words_is_supported(claim: str) -> None:
    assert supports(claim, EVIDENCE)


@pytest.mark.parametrize(
    "claim",
    [
        "The Eiffel Tower is 324 metres tall.",
        "The tower opened on 30 March 1889.",
        "The tower opened on 31 May 1889.",
        "The tower opened in May 1889.",
        "The company of Stephen Sauvestre worked on the tower for two years.",
        "Paris visits the tower each year.",
        "About six million people visit it each year.",
        "About 5.8 billion people visit it each year.",
        "The tower is 1960 metres tall.",  # a figure of the page, and of something else
        "The moon is made of green cheese.",
        "The tower is 330 metres tall, see https://evil.example/.",
        "The tower is 330 metres tall [here](https://evil.example/).",
        "How tall is the tower?",
        "330",
        "",
    ],
)
def test_an_invention_is_not_supported(claim: str) -> None:
    assert not supports(claim, EVIDENCE)


def test_a_denial_is_supported_only_by_a_denial() -> None:
    told = Evidence.of("Bridge\nThe bridge is open to cars.")
    assert supports("The bridge is open to cars.", told)
    assert not supports("The bridge is not open to cars.", told)


@pytest.mark.parametrize("claim", ["埃菲尔铁塔高330米。", "Der Turm ist 330 Meter hoch."])
def test_a_claim_in_the_language_of_its_passage_is_supported(claim: str) -> None:
    told = Evidence.of("塔 Turm\n埃菲尔铁塔高330米，位于巴黎。 Der Turm ist 330 Meter hoch.")
    assert supports(claim, told)
    assert not supports(claim.replace("330", "331"), told)


BRIDGE = Evidence.of(
    "Harbour Bridge > History > 2025-03-04\n"
    "The bridge cost 5.8 million euros and opened on 14 May 1932. It is 120 metres long and 9 metres wide. "
    "About 3% of drivers pay in cash, down 2 percentage points from a year earlier. "
    "The bridge is not open to lorries. A second bridge may be built by 2030. "
    "In the final, the Broncos defeated the Panthers 24-10. Anna Berg designed the arch; Tom Lund designed the piers. "
    "The temperature fell to -12 °C in 1956. Its north tower is taller than the Old Mill. Some 600 ships pass each "
    "month. According to a rumour, a ghost haunts the tower. The toll rose from 2 to 3 euros."
)


@pytest.mark.parametrize(
    "claim",
    [
        "The bridge cost 5.8 billion euros.",
        "The bridge cost 5.8 million dollars.",
        "The bridge cost 58 million euros.",
        "The bridge cost $5.8 million.",
        "The bridge opened on 14 May 1923.",
        "The bridge opened on 15 May 1932.",
        "The bridge opened in June 1932.",
        "The bridge opened in June.",
        "The bridge opened on Monday.",
        "The bridge is 120 feet long.",
        "The bridge is 9 metres long.",
        "The bridge is 120 metres wide.",
        "The bridge is 120 years old.",
        "About 3 percentage points of drivers pay in cash.",
        "Cash is down 2% from a year earlier.",
        "Cash is up 2 percentage points from a year earlier.",
        "The bridge is open to lorries.",
        "A second bridge was built by 2030.",
        "A third bridge may be built by 2030.",
        "The Panthers defeated the Broncos 24-10.",
        "The Broncos were defeated by the Panthers 24-10.",
        "The Broncos lost to the Panthers 24-10.",
        "The Broncos defeated the Panthers 24-12.",
        "Anna Lund designed the arch.",
        "The temperature fell to 12 °C in 1956.",
        "The temperature fell to -12 °F in 1956.",
        "The temperature rose to -12 °C in 1956.",
        "The Old Mill is taller than the north tower.",
        "Its south tower is taller than the Old Mill.",
        "Some 600 ships pass each week.",
        "Some six thousand ships pass each month.",
        "Some six ships pass each month.",
        "A ghost haunts the tower.",
        "The toll rose from 3 to 2 euros.",
        "The toll fell from 2 to 3 euros.",
        "The bridge opened fourteen years ago.",
        "Half of the drivers pay in cash.",
        "The bridge cost 5.8 million euros and killed 14 people.",
        "The bridge cost 5,8 billion euros.",
        "The bridge opened in the 1930s.",
        "The bridge opened in the 19th century.",
        "The bridge opened yesterday.",
        "No ships pass each month.",
        "Nobody designed the arch.",
        "The bridge opened on 14/06/1932.",
        "The bridge was 120 km long.",
        "The bridge opened in May 1932 BC.",
        "The bridge opened at 5 p.m.",
        "The bridge cost 5.8 m euros in Paris.",
        "The bridge in Oslo is 120 metres long.",
        "XII bridges opened in 1932.",
        "The bridge opened on the 14th of March 1932.",
        "The bridge, which collapsed in 1956, opened in 1932.",
        "The bridge cost V million euros.",
        "The bridge cost five point nine million euros.",
        "The bridge cost \u0665.\u0669 million euros.",
        "The bridge cost \uff15.\uff19 million euros.",
    ],
)
def test_an_altered_claim_is_not_supported(claim: str) -> None:
    assert not supports(claim, BRIDGE)


@pytest.mark.parametrize(
    "claim",
    [
        "The bridge cost 5.8 million euros.",
        "The bridge cost €5.8 million.",
        "The bridge cost 5,800,000 euros.",
        "The bridge opened on May 14, 1932.",
        "The bridge opened in May 1932.",
        "The Harbour Bridge opened in 1932.",
        "It opened in 1932 and is 120 m long.",
        "Some 3 percent of drivers pay in cash.",
        "A second bridge might be built by 2030.",
        "The Panthers were defeated by the Broncos 24-10.",
        "The Broncos beat the Panthers 24–10.",
        "Anna Berg designed the arch.",
        "The arch was designed by Anna Berg.",
        "In 1956 the temperature fell to minus 12 °C.",
        "Each month about six hundred ships pass.",
        "The toll rose from 2 euros to 3 euros.",
    ],
)
def test_a_true_claim_in_other_words_is_supported_if_it_keeps_the_order(claim: str) -> None:
    assert supports(claim, BRIDGE)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("La tour fut ouverte le 31 mai 1889.", "La tour fut ouverte le 31 mars 1889."),
        ("Der Turm ist nicht offen.", "Der Turm ist offen."),
        ("La torre nunca está abierta.", "La torre está abierta."),
        ("Das Tor wurde am 3. Juni 1990 geöffnet.", "Das Tor wurde am 3. Mai 1990 geöffnet."),
    ],
)
def test_dates_and_denials_of_other_languages_are_checked(claim: str, passage: str) -> None:
    assert supports(passage, Evidence.of(f"Turm tour torre\n{passage}"))
    assert not supports(claim, Evidence.of(f"Turm tour torre\n{passage}"))


@given(st.integers(0, 10**9))
def test_a_claim_with_a_number_that_the_passage_lacks_is_never_supported(number: int) -> None:
    known = {330, 1083, 31, 1889, 1930, 1960, 2026, 10, 5, 8, 2}
    assert number in known or not supports(f"The tower is {number} metres tall.", EVIDENCE)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_checked(claim: str, passage: str) -> None:
    assert supports(claim, Evidence.of(passage)) in (True, False)


FRENCH_PAGE = Evidence.of(
    "Tour Eiffel\nLa tour Eiffel, construite par Gustave Eiffel à Paris, mesure 330 mètres depuis 2022."
)


@pytest.mark.parametrize(
    ("claim", "held"),
    [
        ("The tower by Gustave Eiffel in Paris is 330 metres tall.", True),
        ("El edificio de Gustave Eiffel en Paris mide 330 metros.", True),
        ("The tower by Gustave Eiffel in Paris is 331 metres tall.", False),
        ("The tower by Stephen Sauvestre in Paris is 330 metres tall.", False),
        ("The tower by Gustave Eiffel in Paris is not 330 metres tall.", False),
        ("The tower is tall.", False),
        ("Der Turm von Gustave Eiffel in Paris ist 330 Meter hoch.", False),
        ("埃菲尔铁塔高330米，建于2022年。", False),
        ("La tour par Gustave Eiffel hante Paris et 330 autres villes de fantômes.", False),
    ],
)
def test_a_claim_in_another_language_needs_all_its_names_and_numbers_in_one_sentence(claim: str, held: bool) -> None:
    assert anchors(claim, FRENCH_PAGE) is held


STATION = Evidence.of(
    "Aurora Station\n"
    "Aurora Station opened on 3 May 1984 after 12 months of work. Its crew of 24 people, led by Dr. Maria Keller, "
    "studies ice cores up to 2,300 m deep. In 2019 a fire destroyed the old kitchen; nobody was hurt. The station "
    "costs 4.5 million dollars per year, of which 60% is paid by Norway and 40% by Chile. It recorded -89.2 °C in July "
    "1983, the lowest temperature on Earth."
)


@pytest.mark.parametrize(
    "claim",
    [
        "The station costs 4.5 million dollars per month.",
        "The station recorded the highest temperature on Earth.",
        "Chile pays 60% and Norway 40%.",
        "Norway pays 40% of the costs.",
        "The fire was in '85.",
        "Aurora Station opened in MCMLXXXV.",
        "Aurora Station opened in nineteen eighty-five.",
        "Aurora Station opened on 3 May 1984, and it is a secret military base.",
        "Everybody was hurt in the fire of 2019.",
        "Dr. Mario Keller leads the crew.",
        "Ice cores are up to 2.3 m deep.",
        "Nobody studies ice cores.",
    ],
)
def test_a_plausible_invention_is_not_supported(claim: str) -> None:
    assert not supports(claim, STATION)


@pytest.mark.parametrize(
    "claim",
    [
        "A fire destroyed the old kitchen in 2019; no one was hurt.",
        "In 2019 a fire destroyed the kitchen.",
        "The old kitchen was destroyed by a fire in 2019.",
        "Aurora Station opened on May 3, 1984, and the station costs $4.5 million per year.",
        "The station recorded \N{MINUS SIGN}89.2 °C in July 1983.",
    ],
)
def test_a_true_sentence_by_a_model_is_supported(claim: str) -> None:
    assert supports(claim, STATION)


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The bridge is closed to lorries.", BRIDGE),
        ("Lorries may not use the bridge.", BRIDGE),
        ("The Broncos won the final against the Panthers.", BRIDGE),
        ("Tom Lund designed the piers, and Anna Berg the arch.", BRIDGE),
        ("Norway pays 60 percent of the yearly cost, Chile 40 percent.", STATION),
        ("The annual cost of the station is $4.5 million.", STATION),
        ("The crew studies ice cores as deep as 2300 metres.", STATION),
    ],
)
def test_a_true_claim_far_from_the_words_of_its_source_is_not_supported(claim: str, told: Evidence) -> None:
    """A known gap: no rule over words tells these from inventions, so quotes are served."""
    assert not supports(claim, told)


COLONY = Evidence.of(
    "Huguenots\n"
    "After the revocation of the Edict of Nantes, the Dutch Republic received the largest group of refugees, about "
    "75,000 people. Louis XIV ruled France until 1715. His ministers were not always successful. He believed it to be "
    "the oldest church. Some towns may have lost half of their "
    "weavers, but most of them kept their mills. Informal rule is less direct than the rule of governors. The Normans, "
    "the Franks and the Danes settled in Rouen. Brazil is the second largest producer of soybeans. In 1950 Noble named "
    "Kintner president, a post that he held until 1958."
)


@pytest.mark.parametrize(
    "claim",
    [
        "After the revocation of the Nantes of Edict, the Dutch Republic received the largest group of refugees.",
        "Louis XIV received the largest group of refugees.",
        "The Dutch Republic ruled France until 1715.",
        "France ruled Louis XIV until 1715.",
        "Louis XIV ruled France after 1715.",
        "Louis XIV never ruled France.",
        "Louis XIV alone ruled France until 1715.",
        "His ministers were not not always successful.",
        "His ministers were always successful.",
        "His ministers were not successful.",
        "The king's ministers were successful.",
        "It is the oldest church.",
        "Some towns lost half of their weavers.",
        "All towns may have lost half of their weavers.",
        "Some towns may have lost most of their weavers.",
        "Some towns kept half of their weavers.",
        "Some towns may have lost half of their mills.",
        "The rule of governors is less direct than informal rule.",
        "Informal rule is more direct than the rule of governors.",
        "The Danes settled in France.",
        "Brazil is the largest producer of soybeans.",
        "In 1958 Noble named Kintner president, a post that he held until 1950.",
        "In 1950 Kintner named Noble president.",
        "Louis XIV ruled France until 1715 because the Dutch Republic received refugees.",
    ],
)
def test_words_of_the_page_in_another_combination_are_not_supported(claim: str) -> None:
    assert not supports(claim, COLONY)


@pytest.mark.parametrize(
    "claim",
    [
        "The Dutch Republic received the largest group of refugees after the revocation of the Edict of Nantes.",
        "The Dutch Republic received roughly 75,000 people.",
        "France was ruled by Louis XIV until 1715.",
        "Louis XIV's ministers were not always successful.",
        "Some towns may have lost half of their weavers.",
        "The Danes settled in Rouen.",
        "Louis XIV ruled France until 1715, but his ministers weren't always successful.",
        "Noble named Kintner president in 1950.",
    ],
)
def test_a_claim_with_parts_left_out_moved_or_replaced_by_synonyms_is_supported(claim: str) -> None:
    assert supports(claim, COLONY)


@pytest.mark.parametrize(
    ("told", "invented"),
    [
        ("Die Brücke wurde 1932 von Anna Berg gebaut.", "Die Brücke wurde 1932 nicht von Anna Berg gebaut."),
        ("Die Brücke wurde 1932 von Anna Berg gebaut.", "Die Brücke wurde 1932 von Anna Lund gebaut."),
        ("El puente tiene dos torres de 120 metros.", "El puente nunca tiene dos torres de 120 metros."),
        ("这座桥建于1932年，全长120米。", "这座桥建于1932年，全长120公里。"),
        ("这座桥建于1932年，全长120米。", "这座桥不建于1932年，全长120米。"),
        ("สะพานเปิดในปี 1932 และยาว 120 เมตร", "สะพานปิดในปี 1932 และยาว 120 เมตร"),
        ("पुल 1932 में खुला और 120 मीटर लंबा है।", "पुल 1932 में नहीं खुला और 120 मीटर लंबा है।"),
        ("तापमान में वृद्धि हुई और नदी में पानी बढ़ा।", "तापमान में कमी हुई और नदी में पानी बढ़ा।"),
        ("افتتح الجسر في عام 1932 وطوله 120 مترا.", "لم يفتتح الجسر في عام 1932 وطوله 120 مترا."),
        ("Мост был открыт в 1932 году в Осло.", "Мост не был открыт в 1932 году в Осло."),
        ("Η γέφυρα άνοιξε το 1932 στο Όσλο.", "Η γέφυρα δεν άνοιξε το 1932 στο Όσλο."),
        ("Cây cầu được mở vào năm 1932.", "Cây cầu không được mở vào năm 1932."),
        ("Köprü 1932 yılında açıldı.", "Köprü 1932 yılında açılmadı."),
        ("Podul a fost deschis în 1932.", "Podul nu a fost deschis în 1932."),
    ],
)
def test_a_sentence_in_the_language_of_its_source_is_checked_like_an_english_one(told: str, invented: str) -> None:
    evidence = Evidence.of(f"Harbour\n{told}")
    assert supports(told, evidence)
    assert not supports(invented, evidence)
    assert not anchors(invented, evidence)


IRON = Evidence.of(
    "Iron Tower\n"
    "The Iron Tower (French: Tour de fer; short: TdF) is a lattice tower on the Field of Mars in Paris. During its "
    "construction, it surpassed the Monument, a title that it held until the Harbour Building was finished."
)


@pytest.mark.parametrize(
    ("claim", "held"),
    [
        ("The Iron Tower is a lattice tower in Paris.", True),
        ("It surpassed the Monument during its construction.", True),
        ("It surpassed the Harbour Building during its construction.", False),
        ("The Monument surpassed it during its construction.", False),
        ("The Field of Mars is a lattice tower in Paris.", False),
    ],
)
def test_brackets_and_synonyms_elsewhere_in_a_sentence_do_not_hide_its_words(claim: str, held: bool) -> None:
    assert supports(claim, IRON) is held


@pytest.mark.parametrize(
    ("claim", "held"),
    [
        ("Repairs were paid by Norrick Steel's insurer.", True),
        ("The repairs were paid by the Norrick Steel insurer.", True),
        ("Repairs were paid by Norrick Steel.", False),
        ("Norrick Steel paid $45 million.", False),
        ("Norrick Steel paid the repairs.", False),
    ],
)
def test_a_statement_about_anns_insurer_does_not_support_one_about_ann(claim: str, held: bool) -> None:
    passage = "Halden Dam\nRepairs cost $45 million and were paid by Norrick Steel's insurer."
    assert supports(claim, Evidence.of(passage)) is held
