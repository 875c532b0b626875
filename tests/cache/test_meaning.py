"""The promise of the semantic cache: a question that only looks similar never gets the other's answer."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.semantic import PAIRS, load
from websearch_gateway.cache.meaning import Wording
from websearch_gateway.evidence.facts import numerals

DIFFERENT = {
    "language": [
        ("recetas veganas con nueces", "recetas veganas nueces"),
        ("wetter in paris", "das wetter in paris"),
        ("погода в москве", "погода москве"),
        ("louvre paris", "louvre in paris"),
    ],
    "empty": [("what is the", "what is the"), ("how to", "how to do it")],
    "left over": [
        ("http error 502 nginx", "http error 504 nginx"),
        ("100 miles in km", "100 km in miles"),
        ("laptops under $500", "laptops under 500 euros"),
        ("django 4.2 upgrade guide", "django 5.2 upgrade guide"),
        ("python 1.1 release notes", "python 1.10 release notes"),
        ("download 100 Mb file", "download 100 MB file"),
        ("population of india in 1950", "population of india in 2050"),
        ("vegan recipes with nuts", "vegan recipes without nuts"),
        ("countries that require a visa", "countries that do not require a visa"),
        ("is aspirin safe for dogs", "is aspirin unsafe for dogs"),
        ("foods that raise blood pressure", "foods that lower blood pressure"),
        ("prime minister of austria", "prime minister of australia"),
        ("hepatitis a vaccine for adults", "hepatitis vaccine for adults"),
        ("Hepatitis A: how is it treated", "Hepatitis: how is it treated"),
        ("python == vs is with strings", "python != vs is with strings"),
        ("second amendment of the constitution", "third amendment of the constitution"),
        ("jaguar -car weight", "jaguar car weight"),
        ("IT jobs in london", "jobs in london"),
        ("what is an ARE form", "what is a form"),
        ("how hot is mars", "how cold is mars"),
    ],
    "mark": [
        ("can i freeze cooked rice", "should i freeze cooked rice"),
        ("does he love me", "does she love me"),
        ("what is my ip address", "what is your ip address"),
        ("how do i control my sleep", "how do i control sleep"),
        ("tea or coffee for sleep", "tea and coffee for sleep"),
        ("will i lose my job", "will you lose my job"),
        ("is java used in banks", "does java use banks"),
        ("what was the house built for", "what was the house built on"),
        ("why don't cats like water", "why do cats like water"),
    ],
    "question": [
        ("when was napoleon born", "where was napoleon born"),
        ("who eats spiders in the garden", "what eats spiders in the garden"),
        ("how many planes fly to rome", "how often planes fly to rome"),
        ("filter coffee with milk", "how to filter coffee with milk"),
        ("is bread good for ducks", "bread good for ducks"),
        ("who is mercury the god", "what is mercury the god"),
        ("when did the titanic sink and why", "when did the titanic sink"),
        ("why is the sky blue? why?", "why is the sky blue"),
        ("is there any logic language", "is logic a language"),
    ],
    "tense": [
        ("who is the president of france", "who was the president of france"),
        ("what causes inflation", "what caused inflation"),
        ("how is paper made", "how was paper made"),
        ("companies that bought google shares", "companies that buy google shares"),
        ("how many people die in car accidents", "how many people died in car accidents"),
        ("when did the new season start", "when will the new season start"),
    ],
    "role": [
        ("flights from london to rome", "flights to london from rome"),
        ("what to eat before a marathon", "what to eat after a marathon"),
        ("cat food for dogs", "dog food for cats"),
        ("tickets to the museum", "museum tickets"),
        ("books by darwin", "books about darwin"),
        ("convert celsius to fahrenheit", "convert fahrenheit to celsius"),
        ("visa for india", "visa in india"),
        ("what is on demand", "what is demand"),
    ],
    "number": [("iphone 15 or galaxy 24 price", "galaxy 15 or iphone 24 price")],
    "courtesy": [
        ("hello world in rust", "world in rust"),
        ("please please me release date", "me release date"),
    ],
    "signs of names": [
        ("c++ vector sort", "c# vector sort"),
        ("learn c++ in a month", "learn c in a month"),
        (".net release notes", "net release notes"),
    ],
    "times": [
        ("train at 5:30 to rome", "train at 6:30 to rome"),
        ("trade from 2019 to 2020", "trade from 2020 to 2019"),
    ],
    "order": [
        ("did germany invade poland", "did poland invade germany"),
        ("milk chocolate recipe", "chocolate milk recipe"),
        ("university of miami tuition", "miami university tuition"),
        ("time travel in films", "travel time in films"),
        ("water filter price", "filter water price"),
        ("neurons found in the spinal cord", "cord neurons found in the spinal"),
    ],
    "names in British spelling": [
        ("labour party leader", "labor party leader"),
        ("grey's anatomy cast", "gray's anatomy cast"),
        ("history of tyre", "history of tire"),
    ],
    "alternatives": [
        ("is tea or coffee maker cheaper", "is coffee or tea maker cheaper"),
        ("is whole milk or cream better", "is whole cream or milk better"),
        ("is java or rust better for games", "is java or rust worse for games"),
        ("is java or rust better", "is java and rust better"),
    ],
    "direction": [
        ("train from paris to nice", "nice to paris train"),
        ("train from paris to nice", "train to paris from nice"),
        ("english to french translation", "french to english translation"),
        ("pdf to word conversion", "convert word to pdf"),
    ],
    "parts": [
        ("cost of living in lisbon", "living cost of lisbon"),
        ("average salary of a nurse in texas", "average salary in texas"),
        ("average height of dutch men", "maximum height of dutch men"),
        ("effects of war in film", "war effects of film"),
        ("tickets to the museum in rome", "rome museum tickets"),
    ],
    "act": [
        ("is it able to run windows", "is windows able to run"),
        ("is it safe to eat raw eggs", "is it safe to eat eggs"),
        ("is it legal to own a tiger in texas", "is it illegal to own a tiger in texas"),
        ("who was the telephone invented for", "who invented the telephone"),
        ("who was mozart taught by", "who was mozart"),
    ],
    "rate": [
        ("calories per day for men", "calories per week for men"),
        ("vitamin d dose per day", "vitamin d dose a day later"),
        ("salary of teachers", "yearly salary of teachers"),
    ],
    "moment": [
        ("when was windows 12 released", "when will windows 12 be released"),
        ("where was mozart born", "when was mozart born"),
        ("world war 1 causes", "world war 2 causes"),
        ("how long do cats live", "how long to live with cats"),
    ],
    "near synonyms": [
        ("turn off iphone", "disable iphone"),
        ("hard cheese list", "difficult cheese list"),
        ("purchase order example", "buy order example"),
        ("big data tools", "large data tools"),
        ("lower back pain", "reduce back pain"),
        ("pick a lock", "choose a lock"),
        ("capital city bank", "capital bank"),
    ],
    "count": [
        ("president of the united states", "presidents of the united states"),
        ("tallest building in the world", "tallest buildings in the world"),
        ("cast of the movie alien", "cast of the movie aliens"),
    ],
}

SAME = [
    ("what is the boiling point of water", "boiling point of water"),
    ("weather in Paris 2024", "paris weather 2024"),
    ("how to install docker on ubuntu 22.04", "install docker ubuntu 22.04"),
    ("best laptops under 500 dollars", "best laptops under $500"),
    ("when was albert einstein born", "albert einstein date of birth"),
    ("vegan recipes without nuts", "nut-free vegan recipes"),
    ("two bedroom apartments in lisbon", "2 bedroom apartments lisbon"),
    ("how reliable is the bmw x3", "bmw x3 reliability"),
    ("who wrote moby dick", "moby dick author"),
    ("llama vs alpaca wool", "llama versus alpaca wool"),
    ("what is the difference between tcp and udp", "udp vs tcp"),
    ("read csv file with pandas", "pandas read a csv file"),
    ("why can't i log in", "why can not i log in"),
    ("population of 1.5 million people", "population of 1,500,000 people"),
    (
        "could you tell me what the symptoms of measles are, please?",
        "what the symptoms of measles are",
    ),
    ("what is the best way to learn a language", "how can I learn a language"),
    ("inflation rate in the US in March 2023", "us inflation rate march 2023"),
    ("What's the U.S. GDP?", "what is the usa gdp"),
    ("how do cats purr", "how does a cat purr"),
    ("colour of the sky", "color of the sky"),
    ("how to organise a travelling theatre", "how to organize a traveling theater"),
    ("causes of grey hair", "gray hair causes"),
    ("should i use mysql or postgresql", "should i use postgresql or mysql"),
    ("is rice or pasta better for runners", "is pasta or rice better for runners"),
    ("train from paris to nice", "paris to nice train"),
    ("english to french translation", "translate english to french"),
    ("cost of living in lisbon", "lisbon cost of living"),
    ("average salary of a nurse in texas", "average nurse salary in texas"),
    ("is it safe to drink tap water in mexico", "is tap water in mexico safe to drink"),
    ("who was carthage destroyed by", "who destroyed carthage"),
    ("do you know how old the universe is", "how old is the universe"),
    ("could you please explain how vaccines work", "how do vaccines work"),
    ("where is the louvre located", "where is the louvre"),
    ("how much does a tesla cost", "tesla price"),
    ("how long should i boil an egg", "how long to boil an egg"),
    ("when was the iphone 4 released", "iphone 4 release date"),
    ("define entropy", "entropy definition"),
    ("where was mozart born", "mozart birthplace"),
    ("causes of ww1", "causes of world war i"),
    ("what is the maximum dose of ibuprofen per day", "maximum daily ibuprofen dose"),
    ("max paracetamol dose per day", "maximum daily paracetamol dose"),
    ("newest python version", "latest python version"),
    ("british museum opening times", "opening hours of the british museum"),
    ("boiling point of ethanol in celsius", "what is the ethanol boiling point (°C)"),
]


def same(a: str, b: str) -> bool:
    return Wording.of(a).is_same(Wording.of(b))


def test_the_first_five_hundred_characters_of_a_question_are_compared() -> None:
    shorter, whole, longer = (
        Wording.of("weather in oslo".ljust(length, "o")) for length in (499, 500, 600)
    )
    assert shorter != whole == longer


@pytest.mark.parametrize(
    ("one", "several"), [("city", "cities"), ("pie", "pies"), ("box", "boxes"), ("bus", "bus")]
)
def test_one_and_several_of_a_thing_are_the_same_in_a_question(one: str, several: str) -> None:
    assert same(f"how do i draw a {one}", f"how do i draw {several}")


@pytest.mark.parametrize(("a", "b"), [pair for pairs in DIFFERENT.values() for pair in pairs])
def test_another_question_is_not_the_same(a: str, b: str) -> None:
    assert not same(a, b)


@pytest.mark.parametrize(("a", "b"), SAME)
def test_other_wordings_of_a_question_are_the_same(a: str, b: str) -> None:
    assert same(a, b)


def test_no_near_miss_of_the_benchmark_is_the_same() -> None:
    pairs = [pair for pair in load(PAIRS) if not pair.same]
    assert len(pairs) > 400
    assert [(pair.a, pair.b) for pair in pairs if same(pair.a, pair.b)] == []


def test_most_paraphrases_of_the_benchmark_are_the_same() -> None:
    pairs = [pair for pair in load(PAIRS) if pair.same]
    assert sum(same(pair.a, pair.b) for pair in pairs) / len(pairs) > 0.56


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$ 500", "500usd"),
        ("500 dollars", "500usd"),
        ("$ 1.5 million", "1500000usd"),
        ("1.2.3 million", "1.2.3 million"),
        ("1,000 km", "1000km"),
        ("5 kilometres", "5km"),
        ("16gb", "16gb"),
        ("twenty five years", "25year"),
        ("two hundred and one", "200 and 1"),
        ("second wife", "2nd wife"),
        ("30 seconds per second", "30seconds per seconds"),
        ("henry viii", "henry 8"),
        ("5 in 10", "5 in 10"),
        ("python 3.10", "python 3.10"),
        ("gpt 4o", "gpt 4o"),
        ("$", "$"),
    ],
)
def test_numbers_have_one_spelling(text: str, words: str) -> None:
    assert " ".join(numerals(text.split())) == words


_WORDS = (
    "how to what is are was will who the a of in from with without not no never cat cats dog dogs 5 km 15.2 $ python "
    "install installation recipe best 10 price now date convert guide vs and or can you i it before - = born"
)
WORDS = st.sampled_from(_WORDS.split())


@given(st.lists(WORDS, max_size=9), st.lists(WORDS, max_size=9))
@settings(max_examples=150)
@example(["a"], ["-"])
def test_the_comparison_is_symmetric(a: list[str], b: list[str]) -> None:
    assert same(" ".join(a), " ".join(b)) == same(" ".join(b), " ".join(a))


@given(
    st.permutations(["python", "install", "cats", "of", "best", "vs", "2026", "without nuts"]),
    st.data(),
)
def test_questions_that_are_the_same_share_a_key(words: list[str], data: st.DataObject) -> None:
    """The cache reads only what lies under the key."""
    count = data.draw(st.integers(1, len(words)))
    frame = st.sampled_from(["", "how to ", "what is the ", "how do i ", "the ", "please tell me "])
    a = Wording.of(data.draw(frame) + " ".join(words[:count]))
    b = Wording.of(data.draw(frame) + " ".join(data.draw(st.permutations(words[:count]))))
    assert a.key() == b.key() or not a.is_same(b)


def test_the_pairs_of_the_benchmark_keep_their_figures() -> None:
    """The floor is what the rules reach today, so that each of them is noticed when it is lost."""
    served, served_wrongly, without_key = 0, [], []
    for pair in load(PAIRS):
        a, b = Wording.of(pair.a), Wording.of(pair.b)
        if not a.is_same(b):
            continue
        if a.key() != b.key():
            without_key.append(pair)
        if pair.same:
            served += 1
        else:
            served_wrongly.append(pair)
    assert served >= 190
    assert served_wrongly == without_key == []


@given(st.lists(WORDS, min_size=1, max_size=9))
def test_a_question_with_words_is_the_same_as_itself(words: list[str]) -> None:
    wording = Wording.of("weather " + " ".join(words))
    assert wording.is_same(wording) == bool(wording.words)


@given(
    st.lists(WORDS, max_size=7),
    st.sampled_from(["not", "without", "never", "7", "v2.1", "zebra", "who", "should"]),
)
def test_a_word_that_matters_makes_another_question(words: list[str], more: str) -> None:
    question = ["weather", "in", "oslo", *words]
    assert not same(" ".join(question), " ".join([*question, more, "tigers"]))


_TOKENS = (
    "1.2.3 1,5 -3 ½ ² ① ٣ 12.05.2024 1/2 $5 10% 5km million dozen hundred first minus point half than of in not no who "
    "is isn't my it more less best versus and , . ? ' - ( ) \ud800 İ ß ﬁ"
)


@given(
    st.lists(st.sampled_from(sorted(_TOKENS.split())) | st.text(max_size=8), max_size=40),
    st.sampled_from(" ,"),
)
@settings(max_examples=100)
def test_any_text_can_be_read(tokens: list[str], between: str) -> None:
    wording = Wording.of(between.join(tokens))
    assert wording.is_same(wording) == bool(wording.words)
