"""Pages of our own making with questions and the words that answer each: the floors of `test_ranking_floors.py`.

Several sentences of a page share words with each question, so that each signal of the order has something to do.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page with its questions and, for each, the words of the sentence that answers."""

    title: str
    markdown: str
    questions: dict[str, str]


LIGHTHOUSE = Page(
    "Corrin Point Lighthouse",
    """\
Corrin Point Lighthouse stands on a granite ledge at the northern tip of the island of Marrow. It is a round tower of
brick, painted white, and rises to a height of 42 metres. The lighthouse warns ships of the Teeth, a reef that sank
eleven vessels in the century before it was built.

## History

A first lighthouse of timber was built at Corrin Point in 1794 and burned down nine years later. Merchants of the town
then collected money for a tower of stone, but the harbour board refused to buy the land. The present tower was designed
by the engineer Tamsin Arkle and completed in 1851. Arkle had built bridges before, and she never designed another
lighthouse. The cost of the tower, 18,400 pounds, was twice what the board had planned.

## Keepers

Three keepers and their families lived beside the tower. Most of the keepers came from fishing families of the island.
The best known of them, Edmund Vane, rescued the crew of the schooner Halcyon in a storm. The last keepers left after
the light was automated in 1983. Their houses are now let to visitors in summer.

## Light

The lamp burned whale oil at first, and later paraffin. Electric light came in 1936, when a cable was laid from the
village. The lens was made in Lyon and weighs 2.3 tonnes. Its beam reaches 21 nautical miles. In fog a horn sounds every
thirty seconds because the beam cannot be seen.
""",
    {
        "How tall is the Corrin Point Lighthouse?": "42 metres",
        "Who designed the present tower at Corrin Point?": "Tamsin Arkle",
        "What happened to the first lighthouse at Corrin Point?": "burned down",
        "How much did the tower cost?": "18,400 pounds",
        "When was the light of the lighthouse automated?": "1983",
        "Who saved the crew of the Halcyon?": "Edmund Vane",
        "Where was the lens made?": "Lyon",
        "Why does a horn sound in fog?": "cannot be seen",
        "How far does the beam reach?": "21 nautical miles",
        "When did the lighthouse get electric light?": "1936",
        "What did the lamp burn at first?": "whale oil",
    },
)

BEETLE = Page(
    "Amber dune beetle",
    """\
The amber dune beetle is a beetle of the coasts of the Sea of Orth. It was first described in 1902 by the zoologist Ines
Carvalho. Adults are about 14 millimetres long and have yellow wing cases with a dark line.

## Behaviour

The beetles sleep in the sand by day and hunt at night. They eat sand hoppers and the eggs of other insects. When it is
disturbed, a beetle squirts a liquid that smells of vinegar. A female lays up to 60 eggs in a single burrow. The larvae
hatch after eleven days, and they stay underground until the next spring.

## Threats

The number of beetles has fallen by 70 percent since 1990. Cars on beaches crush the burrows, and street lamps confuse
the adults. Storms destroyed the largest colony in 2014. Since 2017 the town of Pell has closed its beach to cars between
April and August. Volunteers counted 412 burrows there last year, three times as many as before.

| Colony | Burrows | Protected |
|---|---|---|
| Pell | 412 | yes |
| Ostrand | 95 | no |
| Green Head | 38 | yes |
""",
    {
        "Who first described the amber dune beetle?": "Ines Carvalho",
        "How long are adult beetles?": "14 millimetres",
        "What does the beetle do when it is disturbed?": "vinegar",
        "How many eggs does a female lay?": "60 eggs",
        "How long does it take the larvae to hatch?": "eleven days",
        "By how much has the number of beetles fallen?": "70 percent",
        "What destroyed the largest colony of beetles?": "Storms",
        "When is the beach of Pell closed to cars?": "April and August",
        "How many burrows are there at Ostrand?": "95",
        "What do the beetles eat?": "sand hoppers",
    },
)

COMPANY = Page(
    "Halvorsen Instruments",
    """\
Halvorsen Instruments is a maker of measuring devices with its seat in Brenholm. The company was founded in 1923 by
Sigrid Halvorsen, a watchmaker, in a former bakery. It employs 1,240 people at four sites and sells to some sixty
countries.

## Products

Its first product was a barometer for fishing boats. A depth gauge followed in 1931, and it made the company known
abroad. Today two thirds of the revenue come from sensors for wind turbines. A sensor is tested for 300 hours before it
leaves the factory. Barometers are still built, but only to order.

## Ownership

The founder's son Arne led the company until 1974. He sold a part of it to a bank, which his sister opposed. In 1998 the
employees bought back all shares, so the company belongs to them today. The present director is Maja Lind, who joined as
an apprentice. Revenue reached 310 million crowns in 2022, and the profit was 24 million.

## Accident

A fire destroyed the warehouse in March 2005. Nobody was hurt, since the building was empty on that Sunday. The cause was
a faulty heater. Deliveries were late for five months.
""",
    {
        "Who founded Halvorsen Instruments?": "Sigrid Halvorsen",
        "How many people work for Halvorsen Instruments?": "1,240",
        "What was the first product of the company?": "barometer for fishing boats",
        "How long is a sensor tested?": "300 hours",
        "Who is the director of Halvorsen Instruments now?": "Maja Lind",
        "What was the revenue of Halvorsen in 2022?": "310 million",
        "When did the warehouse burn?": "March 2005",
        "What caused the fire in the warehouse?": "faulty heater",
        "Who owns the company today?": "employees",
        "Until when did Arne lead the company?": "1974",
    },
)

BRUNNEN = Page(
    "Der Löwenbrunnen von Tannfeld",
    """\
Der Löwenbrunnen steht auf dem Marktplatz von Tannfeld. Er wurde 1687 von dem Bildhauer Veit Amsel geschaffen. Das
Becken fasst 9.000 Liter Wasser und besteht aus rotem Sandstein.

## Geschichte

Vor dem Brunnen gab es auf dem Markt nur eine hölzerne Pumpe. Die Bürger bezahlten den Bau mit einer Steuer auf Bier.
Im Winter 1812 zersprang das Becken durch den Frost. Es wurde erst vierzig Jahre später ersetzt. Während des Krieges
lagerte man die Löwen in einem Keller ein, um sie vor Bomben zu schützen.

## Figuren

Vier Löwen tragen die Säule in der Mitte. Auf ihrer Spitze steht die Figur einer Müllerin. Sie erinnert an die Mühlen,
denen die Stadt ihren Wohlstand verdankte. Jedes Jahr im Mai schmücken Kinder den Brunnen mit Blumen.
""",
    {
        "Wer hat den Löwenbrunnen geschaffen?": "Veit Amsel",
        "Wie viel Wasser fasst das Becken?": "9.000 Liter",
        "Wie wurde der Bau des Brunnens bezahlt?": "Steuer auf Bier",
        "Wann zersprang das Becken?": "1812",
        "Wo lagerten die Löwen während des Krieges?": "Keller",
        "Wie viele Löwen tragen die Säule?": "Vier Löwen",
    },
)

ORCHARD = Page(
    "青石果园",
    """\
青石果园位于柳河北岸，占地三百亩。果园由农学家沈若兰于1956年建立。园中主要种植梨树和核桃树。

## 历史

建园之前，这里是一片盐碱地。工人们从山上运来黑土，用了四年时间改良土壤。1975年的洪水冲毁了一半的梨树。第二年，附近的学生帮助重新种植。

## 今天

果园每年出产梨子八百吨。大部分梨子被送往省城的市场出售。核桃油由村里的小工厂榨取。每年四月，游客来这里观看梨花。
""",
    {
        "青石果园是谁建立的？": "沈若兰",
        "果园每年出产多少梨子？": "八百吨",
        "哪一年的洪水冲毁了梨树？": "1975年",
        "核桃油由谁榨取？": "小工厂",
        "游客什么时候来看梨花？": "四月",
    },
)

PAGES = (LIGHTHOUSE, BEETLE, COMPANY, BRUNNEN, ORCHARD)
