"""The queries that go to a specialist server. The wording is ours; each line is a query that a user might type."""

from __future__ import annotations

import re

import pytest

from websearch_gateway.base.patterns import Rule
from websearch_gateway.base.query import matching_form, normalise
from websearch_gateway.base.routes import Route, built_in_routes, repeats_a_repetition

BUILT_IN_ROUTES = built_in_routes(2026)

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

LIVE_DATA_OF_MARKETS = """\
how much volume is in the polymarket fed december market
which polymarket markets close this week
has polymarket odds for a recession gone up today
what are the polymarket odds on a fed rate cut
polymarket odds trump 2028
kalshi price for cpi above 3 percent
is there a kalshi market on the government shutdown ending
current probability of a ceasefire on polymarket
show me the polymarket leaderboard this month
who is leading the polymarket market for the french election
how many traders are in the kalshi senate market right now
did the kalshi odds on a shutdown move overnight
does polymarket still favour newsom for 2028
what does metaculus say about agi by 2030
metaculus median forecast for agi
what percent chance does kalshi give a december rate cut
what's trending on polymarket today
biggest polymarket markets by volume today
when does the polymarket market on the oscars close
when will the kalshi cpi market resolve
has the manifold market on gpt-6 resolved yet
are polymarket traders betting on a recession
how high are the polymarket odds for bitcoin above 200k
is the polymarket price for yes on a fed cut above 80 cents
liquidity of the polymarket super bowl market
open interest on kalshi's fed decision contract
order book for the kalshi recession contract
compare polymarket and kalshi odds for the next fed chair
polymarket vs kalshi odds fed chair
who do prediction markets think will win the 2028 election
what do betting markets say about the senate race
prediction market odds for us recession in 2027
latest prediction market prices for the supreme court nominee
what are people betting on at polymarket right now
list open kalshi markets about inflation
any new polymarket markets about openai
top ten kalshi markets by open interest
give me the current predictit price for the republican nominee
predictit odds on the house majority
how has the polymarket price for eth moved this week
what was yesterday's polymarket price for a rate cut
did polymarket's recession odds fall after the jobs report
polymarket whale positions in the election market
which way is kalshi leaning on the fed decision
how confident is polymarket that the bill passes
is kalshi pricing in a rate hike in march
what chance do prediction markets give a recession this year
how is the polymarket market on the ceasefire doing
polymarket ceasefire market status
kalshi fed december
polymarket recession 2026
how much money is on the polymarket mayor race
what would a yes share on polymarket's shutdown market cost now
do kalshi traders expect a shutdown
will there be a recession according to polymarket
where does kalshi put the odds of a hurricane landfall
which kalshi contracts expire tomorrow
what is the spread on the kalshi cpi contract
polymarket daily volume this week
odds of a government shutdown prediction market
what's the current market on polymarket for best picture
futuur odds champions league winner
forecastex price fed funds december
what is the implied probability on kalshi of two cuts
what does polymarket think about the supreme court tariff ruling
how much has been traded on the polymarket papal market so far
are there any kalshi markets closing tonight
who's favoured to be fed chair on kalshi
tell me the kalshi odds for a january shutdown
how likely does metaculus think nuclear war is before 2030
is polymarket's bitcoin market still above 60
did polymarket traders react to the jobs report this morning
where is the polymarket price for the mamdani market now
what price is the yes contract for cuts on kalshi
how have prediction markets moved since the debate
which candidates are leading on predictit
what's the volume on kalshi's hurricane market
when will polymarket resolve the epstein files market
how many contracts are open in kalshi's gdp market
are bettors on polymarket expecting a ceasefire
what are the top markets on kalshi this week
has kalshi listed a market on the world cup final
is the manifold market about agi trending up
how wide is the spread on kalshi fed contracts today
could you check polymarket for the chance of a recession
what is polymarket pricing for the next james bond
do prediction markets expect the bill to pass
what's the likelihood on polymarket that openai releases gpt-6 this year
what odds is kalshi showing for a government shutdown in january
does the kalshi market expire in december
will polymarket's market on tiktok settle this month
how many people are betting on the super bowl at polymarket
kalshi mention markets trump speech
polymarket largest movers 24h
""".splitlines()

LIVE_ENTRIES_OF_FEEDS = """\
what's new in the verge rss feed
latest headlines from the bbc rss feed
show me the newest items in hacker news rss
has the nyt rss feed published anything about the strike today
how many new items are in the techcrunch feed today
get the rss feed of arxiv cs.CL
fetch https://www.theverge.com/rss/index.xml
give me the latest posts from simonwillison.net feed
which stories are in the guardian news feed right now
did the reuters feed mention the merger today
rss feed url for npr news
what did the ars technica feed post this morning
any updates in the github blog atom feed
read the latest entries of the xkcd rss feed
list today's items from my opml feeds
when was the last item in the bbc world rss feed published
what's in today's guardian rss feed
did the bbc news feed carry anything on the earthquake today
how many stories did the nyt rss feed publish today
are there new posts in the cloudflare blog rss feed
what is the latest item in the hn rss feed
has the lwn.net feed been updated this week
which headlines are in the reuters rss feed now
what's the newest episode in the daily podcast feed
""".splitlines()

NEAR_MISSES = """\
is polymarket legal in the united states
how does polymarket work
who founded polymarket
polymarket founder shayne coplan biography
what is kalshi
kalshi lawsuit nevada
kalshi valuation after series e
why was polymarket banned in france
does polymarket charge fees
how are kalshi contracts taxed
how do i withdraw money from polymarket
polymarket api documentation
polymarket python client github
how to build a bot for kalshi in python
how accurate are prediction markets
history of prediction markets
are prediction markets gambling
what is the iowa electronic markets
iowa electronic markets accuracy study 2004
paper on prediction markets and information aggregation
prediction markets versus polls accuracy
what is a prediction market
how do prediction markets resolve disputes
polymarket uma oracle explained
cftc ruling on kalshi election contracts
cftc fine polymarket 2022
polymarket raises funding from founders fund
kalshi series d led by paradigm
kalshi jobs new york
is kalshi safe
polymarket vs kalshi differences
polymarket vs kalshi fees
best prediction market platforms
did polymarket move its headquarters to new york
when did kalshi launch
when was polymarket founded
polymarket revenue model
polymarket volume in october 2024
how much volume did polymarket have in the 2024 election
did polymarket predict the 2024 election correctly
what were polymarket's odds on election night 2024
theo the french polymarket whale 2024
who is the french whale on polymarket
nate silver polymarket advisor
polymarket election accuracy research
was polymarket manipulated in 2024
polymarket app download
polymarket login problem
metaculus scoring rule explained
how does metaculus aggregate forecasts
metaculus track record
manifold garden walkthrough
intake manifold market size
exhaust manifold price
farmers market hours
stock market today
bond market expectations for fed rate cut
fed rate cut december 2026
what are the odds of winning the lottery
probability of a recession economists survey
super bowl odds draftkings
bitcoin price today
current odds for the grand national
cme fedwatch probability december
betting odds premier league
sports betting market size
housing market forecast 2027
market odds ratio statistics
prediction market startup ideas
prediction of market demand with machine learning
how to parse an rss feed in python
what is an rss feed
rss feed reader for android
how to add rss feed to wordpress
rss vs atom
is rss still used in 2026
rss memory of a linux process
rss headquarters nagpur
residual sum of squares rss formula
chicken feed prices
feed conversion ratio salmon
facebook news feed algorithm
instagram feed not loading
twitter feed embed website
cattle feed nutrition
breast feeding tips
how to feed a sourdough starter
google news rss deprecated
why did google kill google reader
podcast rss feed hosting providers
create a podcast rss feed
atom editor sunset
live feed of the space station
feed the birds mary poppins
linkedin feed algorithm 2026
xml feed validation error
bbc news today
latest news from the verge
hacker news front page stories
reuters headlines ukraine
new york times crossword answers today
what did the economist write about inflation
will there be a recession in 2027
who will win the 2028 election
polls for the senate race in ohio
government shutdown latest news
can us citizens use polymarket
how do kalshi market makers earn money
what happened to intrade
polymarket cofounder interview
is betting on kalshi gambling under texas law
how is kalshi different from a sportsbook
what blockchain does polymarket use
how did polymarket do in predicting the 2020 election
who regulates kalshi
are prediction markets better than polls
what is metaculus and who runs it
why did kalshi sue the cftc
which states banned kalshi
when will polymarket launch in the us
does kalshi have an app for android
how much funding has kalshi raised
what is the minimum deposit on kalshi
does polymarket have a token
can i short on polymarket
how do polymarket liquidity rewards work
polymarket ceo fbi raid
best books on prediction markets
explain automated market makers in prediction markets
robin hanson prediction markets essay
kalshi partnership with robinhood
is predictit shutting down
how to cash out on predictit
who won the 2024 us election
what do economists expect for inflation next year
what are the odds of rain tomorrow
what does the bond market expect for rates
who is favored to win the champions league
chances of a fed cut according to cme fedwatch
how to price a used car
do rss feeds still matter in 2026
what is the best rss reader for mac
does youtube have rss feeds for channels
how do i subscribe to a podcast without itunes
who maintains the atom feed standard
what does rss stand for
how many people use rss readers
is the facebook feed chronological
what should i feed my cat today
latest news on openai today
what did the guardian publish about climate today
what are today's top headlines
rss leader speech today
what did the rss chief say today
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
    return next(
        (name for name, built_in in BUILT_IN_ROUTES.items() if built_in.asks(text, reduced)), None
    )


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


@pytest.mark.parametrize("query", LIVE_DATA_OF_MARKETS)
def test_a_question_for_a_figure_or_the_state_of_a_market_goes_to_polymarket(query: str) -> None:
    assert route(query) == "polymarket"


@pytest.mark.parametrize("query", LIVE_ENTRIES_OF_FEEDS)
def test_a_question_for_what_a_feed_has_published_goes_to_google_news_rss(query: str) -> None:
    assert route(query) == "google-news-rss"


@pytest.mark.parametrize("query", NEAR_MISSES)
def test_a_question_with_the_same_words_is_one_for_the_web(query: str) -> None:
    assert route(query) is None


def test_what_a_market_said_in_an_earlier_year_is_history() -> None:
    question = "polymarket odds of a recession in 2026"
    assert built_in_routes(2026)["polymarket"].asks(question, question)
    assert not built_in_routes(2027)["polymarket"].asks(question, question)


@pytest.mark.parametrize("query", ORDINARY)
def test_an_ordinary_question_is_not_routed_to_a_server(query: str) -> None:
    assert route(query) is None


@pytest.mark.parametrize(("query", "name"), DISGUISED.items())
def test_case_spacing_width_and_invisible_letters_do_not_hide_a_subject(
    query: str, name: str
) -> None:
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


@pytest.mark.parametrize(
    "pattern", ["(a+)+", "(?:a*)*b", r"(\w+\s?)*$", "((a|b+)c)*", "([ab]+x){2,}"]
)
def test_a_nested_repetition_is_recognised(pattern: str) -> None:
    re.compile(pattern)
    assert repeats_a_repetition(pattern)


@pytest.mark.parametrize(
    "pattern", ["a+b+", "(a+)?", r"(foo|bar)+", r"\(a+\)+", "[(a+)]+", r"jira[- ]?\d+", "(a+)b*"]
)
def test_a_simple_repetition_is_allowed(pattern: str) -> None:
    re.compile(pattern)
    assert not repeats_a_repetition(pattern)


@pytest.mark.parametrize(
    "part",
    [
        "feed of ",
        "polymarket ",
        "latest ",
        "get a ",
        "how to ",
        "p ",
        "r s s ",
        "news ",
        "what polymarket ",
    ],
)
def test_no_query_takes_exponential_time(part: str) -> None:
    """An exponential pattern would not end within the limit that every test has."""
    assert route((part * 400)[:400]) in {None, *BUILT_IN_ROUTES}
