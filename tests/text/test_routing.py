"""The queries that go to a specialist server. The wording is ours; each line is a query that a user might type."""

from __future__ import annotations

import re

import pytest

from websearch_gateway.text.normalise import matching_form, normalise
from websearch_gateway.text.routing import BUILT_IN_ROUTES, Route, Rule, repeats_a_repetition

ASKS_FOR_PREDICTION_MARKET_DATA = """\
polymarket odds on a fed cut
P O L Y M A R K E T odds
poly-market odds
polymarket who will be next pope
polymarket bitcoin price end of year
polymarket probability of government shutdown
polymarket leaderboard
polymarket market on openai ipo
polymarket tiktok ban
polymarket resolution of zelensky suit market
show me polymarket
polymarket mamdani
latest polymarket prices
polimarket odds
PoLyMaRkEt WhO wInS
poly market fed december
kalshi nyc mayor odds
kalshi volume for the super bowl
kalshi unemployment rate market
kalshi prices for november jobs report
compare polymarket and kalshi odds for fed
kalshi march madness
predict it odds 2028
metaculus agi forecast
manifold markets agi 2030
prediction market odds
prediction markets fed cut probability
prediction market for super bowl winner
prediction markets right now
current prediction market pricing of rate cuts
prediction markets oscar winner
latest prediction market forecast for senate
what do betting markets say about the fed
polymarket API odds for trump right now please
how are polymarket bettors positioned on taiwan
is trump favored on polymarket
any polymarket market about gta 6 release
polymarket elon musk tweets
polymarket nobel peace prize
polymarket f1 champion
get polymarket event data for fed
all polymarket markets about ai
kalshi marijuana legalization odds
polymarket odds of spacex ipo
crowd odds from prediction markets on powell leaving
polymarket screenshot trump odds
metaculus russia ukraine
prediction market whether tiktok gets sold
""".splitlines()

ASKS_FOR_A_FEED = """\
rss feed of the verge
google news rss
R.S.S. feed of bbc
best rss feeds for tech news
rss url for hacker news
bbc rss
cnn rss feed
guardian rss politics
reddit rss r/python
medium.com rss
github releases atom feed
json feed of daring fireball
https://www.theverge.com/rss/index.xml
rss.nytimes.com services xml
techmeme rss
ars technica rss
bloomberg rss
espn rss nfl
fetch the rss for npr news
show rss feed nasa
how do i get the rss feed of the verge
where is the bbc rss feed
sec edgar rss feed
usgs earthquake feed atom
library of congress rss feed
rust blog rss feed
aws whats new rss feed
nasa breaking news rss
pubmed rss feed for crispr
yahoo finance rss feed aapl
crypto rss feeds list
googlenews rss
news feed of reuters
news feeds about electric cars
newsfeed of associated press
the verge feed url
subscribe to simon willison's feed
feed of bbc news
track github releases by rss
opml of tech blogs
rss xml for cnn money
feed in rss of le monde
rss feed nhk
R.S.S F.E.E.D verge
verge feed
tech news feeds
nytimes.com technology rss
show me the rss for yahoo finance aapl
""".splitlines()

ORDINARY = """\
alphabet ceo
farmers market
who will win the world cup
best sports betting sites odds
riemannian manifold metric tensor
history of prediction markets
what are prediction markets?
is polymarket safe
polymarket ceo
kalshi lawsuit nevada
kalshi funding round
how to deposit usdc on polymarket
polymarket fees
kalshi vs polymarket
polymarket alternatives
prediction markets accuracy in 2024 election
cftc regulation of prediction markets
interpreting prediction market prices as probabilities
oligopoly market structure
low poly market assets unity
polymarker pcr
housing market predictions 2026
can you predict it
weather prediction for denver
odds of a royal flush
horse racing odds kentucky derby
fed rate cut expectations
bitcoin price prediction
event contract template wedding
augur meaning
diabetes alphabet bets
i bet you look good on the dancefloor
kalashnikov
karachi market
prediction market insider trading 2026
how much does kalshi pay its ceo
when was polymarket founded
polymarket blockchain polygon
does polymarket pay taxes
decentralized prediction market protocol
prediction market design
rss memory of a process
rss vs vsz linux
node heap rss
what is rss
rss chief mohan bhagwat
rss india history
residual sum of squares rss formula
rss radio
best rss reader android
parse rss feed javascript
how do i add rss feed to wordpress
rss feed validator
rss feed not working wordpress
rss 2.0 specification history
why did google reader shut down
how do rss feeds work
how to subscribe to rss feeds
build an rss aggregator in go
best cattle feed prices
feed conversion ratio broilers
feed my starving children
facebook news feed algorithm
instagram feed order
hide news feed facebook extension
atom bomb
headlines today
news headlines
feedback form template
feed dog sewing machine
chainlink price feed
feedlot
duck feed mixing ratio
boss rs 3
rs 2000 ford
medium feed rate cnc
best feed for laying hens
rss of nginx worker process growing
reddit home feed sort by new
rss full form
rss headquarters nagpur
who is the head of rss
read about rss
killed by rss workers
get rss membership
""".splitlines()

DISGUISED = {
    "P O L Y M A R K E T odds": "polymarket",
    "p.o.l.y.m.a.r.k.e.t odds": "polymarket",
    "PoLyMaRkEt odds": "polymarket",
    "\uff50\uff4f\uff4c\uff59\uff4d\uff41\uff52\uff4b\uff45\uff54\u3000odds": "polymarket",
    "poly\u200bmar\u00adket odds": "polymarket",
    "p\u043elym\u0430rket odds": "polymarket",
    "p\u00f3lymarket odds": "polymarket",
    "pol\U0001d432mar\U0001d424et odds": "polymarket",
    "k a l s h i fed": "polymarket",
    "p r e d i c t i o n  m a r k e t odds": "polymarket",
    "R.S.S. feed of bbc": "google-news-rss",
    "r s s f e e d the verge": "google-news-rss",
    "\uff32\uff33\uff33 feed reuters": "google-news-rss",
    "r\u200bs\u2060s feed bbc": "google-news-rss",
    "RSS_feed verge": "google-news-rss",
}


def route(query: str) -> str | None:
    text = normalise(query)
    reduced = matching_form(text)
    return next((name for name, built_in in BUILT_IN_ROUTES.items() if built_in.asks(text, reduced)), None)


@pytest.mark.parametrize("query", ASKS_FOR_PREDICTION_MARKET_DATA)
def test_a_request_for_prediction_market_data_goes_to_polymarket(query: str) -> None:
    assert route(query) == "polymarket"


@pytest.mark.parametrize("query", ASKS_FOR_A_FEED)
def test_a_request_for_a_feed_goes_to_google_news_rss(query: str) -> None:
    assert route(query) == "google-news-rss"


@pytest.mark.parametrize("query", ORDINARY)
def test_an_ordinary_question_is_not_routed_to_a_server(query: str) -> None:
    assert route(query) is None


@pytest.mark.parametrize(("query", "name"), DISGUISED.items())
def test_case_spacing_width_and_invisible_letters_do_not_hide_a_subject(query: str, name: str) -> None:
    assert route(query) == name


@pytest.mark.parametrize(
    ("query", "keyword"),
    [("alphabet ceo", "bet"), ("farmers market", "market"), ("event loop", "event"), ("BREASTFEEDING", "feed")],
)
def test_a_strict_keyword_is_found_even_inside_a_word(query: str, keyword: str) -> None:
    reduced = matching_form(query)
    assert keyword in [built_in.keyword(reduced) for built_in in BUILT_IN_ROUTES.values()]


def test_every_message_names_the_server_to_use() -> None:
    for name, built_in in BUILT_IN_ROUTES.items():
        assert name in built_in.message


def test_a_rule_needs_its_cue_and_does_not_match_its_exception() -> None:
    rule = Rule(r"\bapple", cue=r"\bpie", unless=r"\brecipe")
    assert rule.asks("apple pie nearby")
    assert not rule.asks("apple stock")
    assert not rule.asks("apple pie recipe")


def test_a_pattern_of_the_operator_is_matched_on_the_query_itself_without_case() -> None:
    route = Route("use the tickets server", patterns=(r"caf\u00e9-\d+",))
    assert route.asks("CAF\u00c9-12 status", "cafe-12 status")
    assert not route.asks("cafe-12 status", "cafe-12 status")


@pytest.mark.parametrize("pattern", ["(a+)+", "(?:a*)*b", r"(\w+\s?)*$", "((a|b+)c)*", "([ab]+x){2,}"])
def test_a_nested_repetition_is_recognised(pattern: str) -> None:
    re.compile(pattern)
    assert repeats_a_repetition(pattern)


@pytest.mark.parametrize("pattern", ["a+b+", "(a+)?", r"(foo|bar)+", r"\(a+\)+", "[(a+)]+", r"jira[- ]?\d+", "(a+)b*"])
def test_a_simple_repetition_is_allowed(pattern: str) -> None:
    re.compile(pattern)
    assert not repeats_a_repetition(pattern)


@pytest.mark.parametrize("part", ["feed of ", "polymarket ", "latest ", "get a ", "how to ", "p ", "r s s ", "news "])
def test_no_query_takes_exponential_time(part: str) -> None:
    """An exponential pattern would not end within the limit that every test has."""
    assert route((part * 400)[:400]) in {None, *BUILT_IN_ROUTES}
