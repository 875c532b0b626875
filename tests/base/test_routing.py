"""The queries that go to a specialist server. The wording is ours; each line is a query that a user might type."""

from __future__ import annotations

import re

import pytest

from websearch_gateway.base.query import BUILT_IN_ROUTES, Route, Rule, matching_form, normalise, repeats_a_repetition

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

ABOUT_PREDICTION_MARKETS = """\
how to read polymarket odds
what did polymarket say about the 2026 election
Did Metaculus or superforecasters do better on covid questions?
How do UMA token holders vote on Polymarket disputes?
What was the final polymarket price before the 2024 result?
explain the difference between polymarket shares and options
explain what polymarket shares pay out
has any hedge fund used polymarket data
how accurate were polymarket odds in 2024
how did kalshi win its lawsuit against the cftc
how do i export my polymarket trade history
how polymarket makes money
how to cite polymarket odds in a paper
is kalshi regulated by the cftc
polymarket fee schedule change 2026
summarize the debate about insider trading on prediction markets
what does a 60 cent contract on kalshi mean
what does open interest mean on kalshi
what percentage of polymarket traders lose money
who pays for polymarket liquidity rewards
""".splitlines()

ABOUT_FEEDS = """\
what is the rss feed url of hacker news
how do i get the rss feed of the verge
do bloggers still publish rss feeds
does apple podcasts validate the rss feed before approval
does google news have an rss url format
how can i tell if a site has an rss feed
how do podcasts use rss
how does feedly discover the feed of a website
how does google news choose stories for its rss feed
how is google news ranking articles
how to find the rss feed of a youtube channel
what are good alternatives to rss
what information does an rss item contain
what is the difference between the reuters feed and its api
what is the rss feed for the federal reserve press releases
when did google reader stop syncing feeds
when was rss 2.0 released
who invented rss
why did the verge change its rss feed to full text
why is my rss feed not updating
""".splitlines()

DATA_OF_PREDICTION_MARKETS = """\
How likely is a Fed rate cut in September on Polymarket?
I need the current Polymarket odds for the Super Bowl
Metaculus community prediction for AGI date
What does Polymarket currently give for a recession in 2027?
What is Polymarket's probability that Bitcoin reaches 150k this year?
are the odds on polymarket for a us recession above 40 percent
crowd forecast metaculus ukraine ceasefire
is vance favored on kalshi right now
kalshi market for nyc temperature tomorrow
latest prediction market odds for best picture
list polymarket events closing this week
odds on polymarket that musk leaves tesla
polymarket gta vi release date
polymarket markets about openai
polymarket order book for bitcoin 200k
polymarket sentiment on a ukraine ceasefire
polymarket yes price openai ipo 2026
prediction markets for the next james bond
show me what's trending on polymarket
what are people betting on at polymarket
""".splitlines()

ENTRIES_OF_FEEDS = """\
What are the latest entries in the arXiv cs.AI RSS feed?
atom feed of linux kernel releases
fetch the latest from the nytimes technology rss
follow the lwn.net feed
follow the rss of nature journal
get the google news rss for electric cars
give me the newest items of the verge feed
google news rss artificial intelligence
hacker news front page rss items
latest entries from daring fireball's json feed
latest headlines from the bbc rss feed
news feed from al jazeera
please list the newest items from the guardian world rss feed
podcast feed of the daily latest episodes
pull the last ten posts from the cloudflare blog feed
rss for the weather warnings of the met office
rss headlines from al jazeera
show feed entries of slashdot
subscribe to the planet python atom feed
what's new in the nyt rss feed
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


@pytest.mark.parametrize("query", [*ABOUT_PREDICTION_MARKETS, *ABOUT_FEEDS])
def test_a_question_about_a_market_or_a_feed_is_one_for_the_web(query: str) -> None:
    assert route(query) is None


@pytest.mark.parametrize("query", DATA_OF_PREDICTION_MARKETS)
def test_a_request_for_what_a_market_says_now_goes_to_polymarket(query: str) -> None:
    assert route(query) == "polymarket"


@pytest.mark.parametrize("query", ENTRIES_OF_FEEDS)
def test_a_request_for_the_entries_of_a_feed_goes_to_google_news_rss(query: str) -> None:
    assert route(query) == "google-news-rss"


@pytest.mark.parametrize("query", ORDINARY)
def test_an_ordinary_question_is_not_routed_to_a_server(query: str) -> None:
    assert route(query) is None


@pytest.mark.parametrize(("query", "name"), DISGUISED.items())
def test_case_spacing_width_and_invisible_letters_do_not_hide_a_subject(query: str, name: str) -> None:
    assert route(query) == name


def test_every_message_names_the_server_to_use() -> None:
    for name, built_in in BUILT_IN_ROUTES.items():
        assert built_in.server == name
        assert f"`{name}`" in built_in.message


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


@pytest.mark.parametrize(
    "part", ["feed of ", "polymarket ", "latest ", "get a ", "how to ", "p ", "r s s ", "news ", "what polymarket "]
)
def test_no_query_takes_exponential_time(part: str) -> None:
    """An exponential pattern would not end within the limit that every test has."""
    assert route((part * 400)[:400]) in {None, *BUILT_IN_ROUTES}
