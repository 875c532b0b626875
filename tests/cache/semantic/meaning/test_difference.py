"""The promise of the semantic cache: a question that only looks similar never gets the other's answer."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.semantic import PAIRS, load
from websearch_gateway.cache.semantic.meaning.difference import difference
from websearch_gateway.cache.semantic.meaning.frames import parse_question
from websearch_gateway.cache.semantic.meaning.words import word_set

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
    "order": [
        ("did germany invade poland", "did poland invade germany"),
        ("milk chocolate recipe", "chocolate milk recipe"),
        ("university of miami tuition", "miami university tuition"),
        ("time travel in films", "travel time in films"),
        ("water filter price", "filter water price"),
        ("neurons found in the spinal cord", "cord neurons found in the spinal"),
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
    ("what is the capital of slovakia", "slovakia capital city"),
    ("best laptops under 500 dollars", "best laptops under $500"),
    ("How do I turn on dark mode in Windows 11?", "enable dark mode windows 11"),
    ("when was albert einstein born", "albert einstein date of birth"),
    ("vegan recipes without nuts", "nut-free vegan recipes"),
    ("two bedroom apartments in lisbon", "2 bedroom apartments lisbon"),
    ("translate english to french", "english to french translation"),
    ("how reliable is the bmw x3", "bmw x3 reliability"),
    ("maximum daily dose of paracetamol", "max paracetamol dose per day"),
    ("colour blindness test for children", "test of color blindness for children"),
    ("who wrote moby dick", "moby dick author"),
    ("convert 5 miles to km", "how many kilometres are 5 miles"),
    ("llama vs alpaca wool", "llama versus alpaca wool"),
    ("what is the difference between tcp and udp", "udp vs tcp"),
    ("flights from london to tokyo", "london to tokyo flights"),
    ("read csv file with pandas", "pandas read a csv file"),
    ("why can't i log in", "why can not i log in"),
    ("is it safe to eat raw eggs", "are raw eggs safe to eat"),
    ("population of 1.5 million people", "population of 1,500,000 people"),
]


@pytest.mark.parametrize(
    ("reason", "a", "b"), [(reason, a, b) for reason, pairs in DIFFERENT.items() for a, b in pairs]
)
def test_each_difference_is_found_with_its_reason(reason: str, a: str, b: str) -> None:
    assert difference(parse_question(a), parse_question(b)) == reason


@pytest.mark.parametrize(("a", "b"), SAME)
def test_other_wordings_of_a_question_mean_the_same(a: str, b: str) -> None:
    assert difference(parse_question(a), parse_question(b)) is None


def test_no_near_miss_of_the_benchmark_means_the_same() -> None:
    pairs = [pair for pair in load(PAIRS) if not pair.same]
    assert len(pairs) > 400
    assert [
        (pair.a, pair.b) for pair in pairs if difference(parse_question(pair.a), parse_question(pair.b)) is None
    ] == []


def test_most_paraphrases_of_the_benchmark_mean_the_same() -> None:
    pairs = [pair for pair in load(PAIRS) if pair.same]
    kept = sum(difference(parse_question(pair.a), parse_question(pair.b)) is None for pair in pairs)
    assert kept / len(pairs) > 0.85


WORDS = st.sampled_from(
    sorted(
        word_set(
            "how to what is are was will who the a of in from with without not no never cat cats dog dogs 5 km 15.2 $ "
            "python install installation recipe best 10 price now date convert guide vs and or can you i it before - = "
            "born"
        )
    )
)


@given(st.lists(WORDS, max_size=9), st.lists(WORDS, max_size=9))
@settings(max_examples=400, deadline=None)
@example(["a"], ["-"])
def test_the_comparison_is_symmetric(a: list[str], b: list[str]) -> None:
    ours, theirs = parse_question(" ".join(a)), parse_question(" ".join(b))
    assert (difference(ours, theirs) is None) == (difference(theirs, ours) is None)


@given(st.lists(WORDS, min_size=1, max_size=9))
def test_a_question_equals_itself(words: list[str]) -> None:
    question = parse_question("weather " + " ".join(words))
    assert difference(question, question) in (None, "language")


@given(st.lists(WORDS, max_size=7), st.sampled_from(["not", "without", "never", "7", "v2.1", "zebra", "who", "should"]))
def test_a_word_that_matters_makes_another_question(words: list[str], more: str) -> None:
    question = ["weather", "in", "oslo", *words]
    assert (
        difference(parse_question(" ".join(question)), parse_question(" ".join([*question, more, "tigers"])))
        is not None
    )


@given(st.text(max_size=400))
@settings(max_examples=300)
def test_any_two_texts_can_be_compared(text: str) -> None:
    question = parse_question(text)
    assert difference(question, question) in (None, "language", "empty")
