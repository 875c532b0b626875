"""Pages and claims about them, written before the rules were: true paraphrases, and inventions by what they change.

A claim is its text, what it changes (empty if it is true) and the number of the sentence that decides it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelledPage:
    title: str
    sentences: tuple[str, ...]
    claims: tuple[tuple[str, str, int], ...]


HARD = frozenset(("number", "date", "unit", "name", "place", "denial"))
"""What an invention changes that can be seen without a reader."""

PAGES = (
    LabelledPage(
        "Varn railway tunnel",
        (
            "The Varn tunnel runs for 14.2 kilometres under the Kessel range and was opened on 12 October 1994.",
            "Around 6,500 people worked on it, and nineteen of them died.",
            "Goods trains may pass it at 100 km/h, passenger trains at 160 km/h.",
            "It was paid for by the federal government; the canton of Ard gave only the land.",
            "Since a fire in 2006 an emergency train has stood at the southern portal.",
        ),
        (
            (
                "A little over fourteen kilometres long, the Varn tunnel passes beneath the Kessel range.",
                "",
                0,
            ),
            ("Nineteen of the roughly 6,500 workers lost their lives.", "", 1),
            (
                "An emergency train has been kept at the tunnel's southern end since the fire of 2006.",
                "",
                4,
            ),
            ("The Varn tunnel is 12.4 kilometres long.", "number", 0),
            ("The Varn tunnel was opened on 12 October 1996.", "date", 0),
            ("Passenger trains may pass the tunnel at 100 km/h.", "swap", 2),
            ("The canton of Ard paid for the Varn tunnel.", "attribution", 3),
            ("The emergency train stands at the northern portal.", "place", 4),
        ),
    ),
    LabelledPage(
        "Nordhaven wind farm",
        (
            "The wind farm off Nordhaven has 72 turbines of 8 megawatts each.",
            "It supplies about 640,000 households and is owned by Brisk Energy, "
            "which bought it from Halvor Group in 2019.",
            "Fishing is forbidden within 500 metres of every turbine.",
            "In its first year it produced 2.1 terawatt hours, 4% less than planned, "
            "because one cable was damaged by an anchor.",
            "A second stage is planned but has not been approved.",
        ),
        (
            ("Brisk Energy acquired the wind farm from Halvor Group in 2019.", "", 1),
            (
                "Damage to a cable by an anchor kept the first year's production 4 percent under plan.",
                "",
                3,
            ),
            ("Nobody may fish closer than half a kilometre to a turbine.", "", 2),
            ("Halvor Group bought the wind farm from Brisk Energy in 2019.", "swap", 1),
            ("The wind farm has 72 turbines of 8 kilowatts each.", "unit", 0),
            ("It supplies about 460,000 households.", "number", 1),
            ("The second stage has been approved.", "denial", 4),
            (
                "It produced 2.1 terawatt hours, 4% more than planned, in its first year.",
                "direction",
                3,
            ),
        ),
    ),
    LabelledPage(
        "Queen Ilsabet",
        (
            "Ilsabet of Marn became queen in 1412 after her brother Oto died without children.",
            "She married Count Rolf of Eide, who never carried the title of king.",
            "In 1419 she signed the peace of Tolm, which ended eleven years of war with Sarrow.",
            "Historians doubt that she founded the university of Marn herself.",
            "She was buried in the abbey of Lund, not in the cathedral of the capital.",
        ),
        (
            ("Since her brother Oto left no children, Ilsabet succeeded him in 1412.", "", 0),
            ("The peace of Tolm put an end to the eleven-year war against Sarrow.", "", 2),
            ("Ilsabet's grave is in the abbey of Lund.", "", 4),
            ("Ilsabet became queen in 1421 after her brother died.", "number", 0),
            ("Count Rolf of Eide carried the title of king.", "denial", 1),
            ("The peace of Tolm ended eleven years of war with Eide.", "name", 2),
            ("Ilsabet founded the university of Marn herself.", "modality", 3),
            ("Ilsabet was buried in the cathedral of the capital.", "denial", 4),
        ),
    ),
    LabelledPage(
        "Kelmo 3.2 release notes",
        (
            "Kelmo 3.2 needs Python 3.11 or later; support for Python 3.9 was removed.",
            "The default timeout is now 30 seconds instead of 60 seconds.",
            "The option `retry` is deprecated and will be removed in version 4.0.",
            "Connections are closed automatically unless `keep_open` is set.",
            "Reading large files is up to five times faster on Linux.",
        ),
        (
            ("Python 3.9 is no longer supported by Kelmo 3.2.", "", 0),
            ("Kelmo now waits 30 seconds by default, half as long as before.", "", 1),
            ("The retry option goes away in version 4.0.", "", 2),
            ("Kelmo 3.2 needs Python 3.10 or later.", "number", 0),
            ("The default timeout is now 60 seconds instead of 30 seconds.", "swap", 1),
            ("The option `retry` was removed in version 3.2.", "number", 2),
            ("Connections are never closed automatically.", "denial", 3),
            ("Reading large files is up to five times faster on Windows.", "name", 4),
        ),
    ),
    LabelledPage(
        "Battle of Dren Ford",
        (
            "The battle of Dren Ford was fought on 7 June 1645 "
            "between the army of General Aske and the rebels under Tom Varley.",
            "Aske had about 4,000 men, Varley hardly 1,500.",
            "The rebels won because heavy rain had made Aske's powder useless.",
            "Varley himself was wounded and died three days later in Harrow.",
            "A stone cross at the ford recalls the dead of both sides.",
        ),
        (
            ("Wet gunpowder cost General Aske the battle.", "", 2),
            ("Tom Varley died in Harrow three days after the battle.", "", 3),
            ("Aske's army counted some 4,000 soldiers.", "", 1),
            ("The battle of Dren Ford was fought on 6 July 1645.", "date", 0),
            ("Varley had about 4,000 men.", "swap", 1),
            ("The rebels won because they had more powder.", "cause", 2),
            ("Varley died five days later in Harrow.", "number", 3),
            ("A stone cross at the ford recalls only the dead rebels.", "scope", 4),
        ),
    ),
    LabelledPage(
        "Marit Solvang",
        (
            "Marit Solvang, born in Bergen in 1971, is a Norwegian chemist who works on membranes for desalination.",
            "She received the Lindqvist Prize in 2014 together with Peter Aldous.",
            "Her company Saltfri was founded in 2009 and employs 140 people in Trondheim.",
            "She has said that she would never sell it to an oil company.",
            "Her doctoral thesis was written in Delft under Anke de Vries.",
        ),
        (
            ("Solvang shared the 2014 Lindqvist Prize with Peter Aldous.", "", 1),
            ("Anke de Vries supervised Solvang's thesis in Delft.", "", 4),
            ("Saltfri, founded in 2009, has 140 employees.", "", 2),
            ("Marit Solvang was born in Oslo in 1971.", "name", 0),
            ("She received the Lindqvist Prize in 2014 together with Anke de Vries.", "name", 1),
            ("Her company Saltfri employs 1,400 people in Trondheim.", "number", 2),
            ("Solvang sold her company to an oil company.", "modality", 3),
            ("Marit Solvang is a Danish chemist.", "name", 0),
        ),
    ),
    LabelledPage(
        "Heart drug trial",
        (
            "In the trial 3,214 patients with heart failure received either cardovane or a placebo for 18 months.",
            "Deaths fell from 14.1% with placebo to 11.3% with cardovane.",
            "The effect was not seen in patients older than 80 years.",
            "The most frequent side effect was dizziness, which 7% of the treated patients reported.",
            "The study was funded by the maker of the drug.",
        ),
        (
            (
                "11.3 percent of the patients given cardovane died, against 14.1 percent in the placebo group.",
                "",
                1,
            ),
            ("Patients over 80 did not benefit from the drug.", "", 2),
            ("The drug's manufacturer paid for the study.", "", 4),
            ("Deaths rose from 11.3% with placebo to 14.1% with cardovane.", "swap", 1),
            ("The effect was also seen in patients older than 80 years.", "denial", 2),
            ("Patients received cardovane for 18 weeks.", "unit", 0),
            ("Dizziness was reported by 17% of the treated patients.", "number", 3),
            ("The most frequent side effect was headache.", "entity", 3),
        ),
    ),
    LabelledPage(
        "Osterby cheese",
        (
            "Osterby is a hard cheese made from the raw milk of goats on the island of Fyllø.",
            "A wheel weighs between 9 and 12 kg and ripens for at least fourteen months.",
            "Only eight dairies may use the name, which has been protected since 1998.",
            "About two thirds of it are sold abroad, mostly in Germany.",
            "The rind is rubbed with salt water twice a week and is not eaten.",
        ),
        (
            ("Ripening takes at least fourteen months.", "", 1),
            (
                "Most exported Osterby goes to Germany, and two thirds of the cheese is exported.",
                "",
                3,
            ),
            (
                "The name Osterby has been protected since 1998, and only eight dairies may use it.",
                "",
                2,
            ),
            ("Osterby is made from the raw milk of sheep.", "entity", 0),
            ("A wheel weighs between 9 and 12 pounds.", "unit", 1),
            ("Eighteen dairies may use the name.", "number", 2),
            ("About one third of it is sold abroad.", "number", 3),
            ("The rind is rubbed with salt water every day.", "frequency", 4),
        ),
    ),
    LabelledPage(
        "Council of Brenn votes on harbour",
        (
            "The council of Brenn voted 23 to 18 on Tuesday "
            "to sell the old harbour to Castor Holding for 41 million euros.",
            "The Greens and the Liberals voted against the sale.",
            "Mayor Ida Krull had warned that the town would otherwise have to close two schools.",
            "Castor wants to build 300 flats there, a fifth of them at reduced rents.",
            "The sale still needs the consent of the regional government.",
        ),
        (
            (
                "By 23 votes to 18 Brenn's council decided to sell the old harbour to Castor Holding.",
                "",
                0,
            ),
            ("One in five of the planned 300 flats is to have a reduced rent.", "", 3),
            ("The regional government still has to agree to the sale.", "", 4),
            ("The council of Brenn voted 32 to 18 to sell the old harbour.", "number", 0),
            ("The council voted on Thursday to sell the old harbour to Castor Holding.", "date", 0),
            ("The Greens and the Liberals voted for the sale.", "relation", 1),
            ("Mayor Ida Krull closed two schools.", "modality", 2),
            ("The regional government has consented to the sale.", "modality", 4),
        ),
    ),
    LabelledPage(
        "Pale spadefoot",
        (
            "The pale spadefoot is a toad of the dry grasslands between the rivers Ume and Tarra.",
            "Adults are 5 to 7 cm long and weigh up to 30 g.",
            "They spend the dry season, which lasts from May to September, under ground.",
            "After rain a female lays as many as 2,000 eggs in shallow pools; "
            "the tadpoles turn into toads within 19 days.",
            "Its main enemy is the marsh crow.",
            "Unlike other toads it has no poison glands.",
        ),
        (
            (
                "Pale spadefoots stay underground during the dry season from May to September.",
                "",
                2,
            ),
            ("A tadpole becomes a toad in at most 19 days.", "", 3),
            ("The pale spadefoot lacks the poison glands of other toads.", "", 5),
            ("The dry season lasts from March to September.", "date", 2),
            ("Adults are 5 to 7 cm long and weigh up to 30 kg.", "unit", 1),
            ("Tadpoles turn into toads within 90 days.", "number", 3),
            ("Like other toads, the pale spadefoot has poison glands.", "denial", 5),
            (
                "The pale spadefoot lives in the dry grasslands between the Ume and the Lorra.",
                "name",
                0,
            ),
        ),
    ),
    LabelledPage(
        "Tariffs of the Lund baths",
        (
            "A day ticket for the Lund baths costs 14 euros for adults and 8 euros for children under 12.",
            "From Monday to Thursday the sauna is open until 10 p.m., on Fridays until midnight.",
            "Dogs are not admitted.",
            "Holders of the city card pay half.",
            "The outdoor pool is open only from 15 May to 15 September.",
        ),
        (
            ("With the city card, admission is half price.", "", 3),
            ("On Fridays the sauna does not close before midnight.", "", 1),
            ("The outdoor pool opens on 15 May and closes in mid-September.", "", 4),
            ("A day ticket costs 8 euros for adults.", "swap", 0),
            ("On Fridays the sauna is open until 10 p.m.", "swap", 1),
            ("Dogs are admitted.", "denial", 2),
            ("The outdoor pool is open from 15 April to 15 September.", "date", 4),
            ("Children under 14 pay 8 euros.", "number", 0),
        ),
    ),
    LabelledPage(
        "Merger of Tavo and Lindmark",
        (
            "The paper makers Tavo and Lindmark will merge in January, both companies said on Wednesday.",
            "Tavo's shareholders will own 58% of the new company, whose seat will be in Malmö.",
            "Sales together were 3.4 billion crowns last year.",
            "Lindmark's chief executive Eva Roos will lead it; Tavo's Jan Berg retires.",
            "No mill will be closed before 2028.",
        ),
        (
            ("Eva Roos, head of Lindmark, is to lead the merged company.", "", 3),
            (
                "The new company will sit in Malmö, with 58 percent held by Tavo's shareholders.",
                "",
                1,
            ),
            ("All mills stay open until at least 2028.", "", 4),
            ("Lindmark's shareholders will own 58% of the new company.", "swap", 1),
            ("Sales together were 3.4 million crowns last year.", "number", 2),
            ("Jan Berg will lead the new company.", "swap", 3),
            ("Tavo and Lindmark merged in January.", "modality", 0),
            ("No mill will be closed before 2038.", "number", 4),
        ),
    ),
)
