"""Whether a query asks for the data of a prediction market: what its prices, volumes or markets say now.

A query names a venue (Polymarket, Kalshi) or the concept. Words alone, such as "polymarket tiktok ban", ask for its
market. A question asks for data if it is for a figure (odds, volume) or the state of a market (closes, is trading,
traders expect), in the present or future. It is for the web if it is about the companies, the law or how markets work,
asks for an explanation, or is about the past.
"""

from __future__ import annotations

import re

from websearch_gateway.base.patterns import GAP, QUESTION, REQUEST, Rule, has, spelled, words

_VENUE = rf"""(?:
    (?!poly\s){spelled("polymarket")}s? | p(?:ol+[yi]|loy)ma?r?k[ae]?ts? | {spelled("kalshi")} | kalshy | khalshi
    | predict[-.]?it | {f"{GAP}+".join("predictit")} | predict_it_(?:odds|markets?|prices?)
    | ^predict_it(?=_.*_(?:odds|prices?))
    | (?<!exhaust_)(?<!intake_)manifold[-._]markets?(?!_(?:size|share|growth|report))
    | metaculus | futuur | forecastex | iowa_electronic_markets? )(?:'?s)?"""
_CONCEPT = rf"{spelled('prediction')}{GAP}*{spelled('market')}s?"
_QUOTE = r"""
    odds | chances? | probabilit(?:y|ies) | likelihood | volumes? | liquidity | open_interest | order_?books?
    | leaderboards? | prices? | pricing | priced | quotes? | payouts? | contracts? | shares | position\w* | whales?
    | traders? | bettors? | bets? | betting | favou?rites? | front_?runners? | trending | resolv\w+ | resolution
    | percent(?:age)? | implied | saying | says? | thinks? | expect\w* | currently | right_now | today | tonight
    | live | latest | according_to | sentiment | moved | trading_at"""
_EVENT = r"""
    elections? | president\w* | nomin\w+ | primary | primaries | senate | congress | governor | mayor\w* | fed | fomc
    | rate_(?:cut|hike)s? | recession | inflation | cpi | gdp | shutdown | impeach\w* | resign\w* | ceasefire | invasion
    | wins? | winn\w+ | oscars? | grammys? | super_?bowl | world_(?:cup|series) | champion\w* | nba | nfl
    | q[1-4] | bitcoin | btc | ethereum | trump | vance | newsom | openai | next_\w+ | 20(?:2[4-9]|[3-9]\d)"""

_WORKINGS = r"""
    api_(?:docs?|documentation|keys?|reference|clients?|endpoints?|limits?|examples?) | sdk | documentation | tutorial
    | (?:python|javascript|typescript)_(?:api|client|library|code|script|bot|package|wrapper) | whitepaper
    | (?:in|with|using)_(?:python|javascript|typescript) | github
    | business_models? | research | academic | accura\w+ | calibrat\w+ | manipulat\w+ | explained | track_record"""
_COMPANY = r"""(?:
    api | ceo | c[ft]o | (?:co-?)?founders? | owners? | investors? | valuation | funding | revenue | hq | headquarters
    | employees? | jobs? | careers? | salary | interview | lawsuits? | legal(?:ity)? | illegal | regulat\w+
    | bann?(?:ed)? | reviews? | news | alternatives? | competitors? | app | apk | log_?in | sign_?up | account | kyc
    | fees? | tax(?:es)? | deposits? | withdraw\w* | referral | promo | bonus | airdrop | token | stock | ipo | company
    | wiki\w* | blockchain | github | reddit | twitter | discord | logo | scam | safe | legit | down | blocked | vpn
    | advis[eo]rs? | track_record | users? | vs | versus | or )"""
_ABOUT_VENUE = rf"""
    {_VENUE}_{_COMPANY} | {_COMPANY}_(?:of|at|from|like|to)_{_VENUE} | (?:fees?|tax(?:es)?)_on_{_VENUE}
    | (?:sites?|apps?|companies)_like .*"""
_WRITTEN = rf"""
    (?:articles? | essays? | papers? | stud(?:y|ies) | books? | news | reports? | debates? | critici\w+ | scandals?
        | histor(?:y|ies) | lawsuits? | documentar\w+ | opinions? | reviews? | guides? | introduction)
        _(?:to|of|on|about|against|over|around|into|behind)_.*(?:{_VENUE}|{_CONCEPT})
    | (?:{_VENUE}|{_CONCEPT}) .* (?:comparison | stud(?:y|ies) | lawsuits? | identity | arrested | charged | indicted
        | sued | hacked | fined | scandals? | partnership | for_beginners | fee_schedule | trade_history)"""
"""What has been written about the markets, and what happened to their companies."""
_ABOUT_CONCEPT = r"""
    papers? | stud(?:y|ies) | thesis | theor\w+ | (?<!order_)books? | literature | scoring | reliab\w+ | efficien\w+
    | interpret\w+ | defin\w+ | meaning | introduction | guide | history_of | markets?_history | legal(?:ity)?
    | regulat\w+ | cftc | industry | corporate | beginners | dummies | business\w* | compan\w+ | startups?
    | platforms? | sites? | apps? | exchanges? | growth | revenue | size | tax\w* | insider | forecasting"""


# --- keywords: words without a question ------------------------------------------------------------------------------

_NEWS_OF_COMPANIES = rf"""
    (?:raise[sd]?|raising|secures?)_(?:\S+_){{0,4}}(?:funding|million|billion|round|capital) | series_[a-h] | led_by
    | {_VENUE}_(?:raises?|hires?|acquires?|launches|partners|sues|settles|wins_(?:lawsuit|appeal|case)) | acquisition
    | cftc | attorney_general | injunction | subpoena\w* | investigat\w+ | founders_fund | licen[cs]es? | rulings?
    | fine[sd]? | lawsuits? | sue[sd]? | su(?:es|ing) | advis[eo]rs? | biograph\w+ | net_worth"""
_PRECISE_FIGURE = (
    r"odds | chances? | probabilit(?:y|ies) | volumes? | open_interest | prices? | forecasts?"
)

_KEYWORDS = (
    Rule(
        words(_VENUE),
        cue=words(_QUOTE, "markets?_(?:on|for|about)"),
        unless=words(_WORKINGS, _WRITTEN, rf"{_VENUE}_(?:news|stock_price)"),
    ),
    Rule(words(_VENUE), unless=words(_WORKINGS, _WRITTEN, _ABOUT_VENUE)),
    Rule(words(r"(?<!low_)poly\s+markets?"), cue=words(_QUOTE, _EVENT), unless=words(_WORKINGS)),
    Rule(
        words(_CONCEPT),
        cue=words(_QUOTE, _EVENT, "markets?_(?:on|for|about|whether|data|forecasts?)"),
        unless=words(_WORKINGS, _WRITTEN, _ABOUT_CONCEPT),
    ),
    Rule(
        words("betting_markets?"),
        cue=words("saying|says?|thinks?", _EVENT),
        unless=words(_WORKINGS, "size"),
    ),
)

# --- questions: a figure or a state of a market, now or later --------------------------------------------------------

_MARKET = rf"""(?:{_VENUE}|{_CONCEPT}|betting_markets?|(?<!low_)poly\s+markets?)"""
_CROWD = rf"""(?:the_)?(?:market_on_{_VENUE}|{_MARKET}|bettors|traders)(?:'s)?
    (?:_(?:users|bettors|traders|odds|markets?|prices?|currently|now|still|people|crowd|on_{_VENUE})){{0,2}}"""
_SAYS = r"""(?:
    say(?:ing|s)? | think(?:ing|s)? | expect(?:ing|s)? | predict(?:ing|s)? | impl(?:y|ies|ying) | pric(?:e|es|ing)
    | favou?r(?:ing|s)? | giv(?:e|es|ing) | forecast(?:ing|s)? | put(?:s|ting)? | see(?:s|ing)? | rate | lean(?:ing)?
    | show(?:ing|s)? | suggest(?:ing|s)? | bet(?:ting)?_on | hav(?:e|ing)_(?:\S+_)?(?:winning|ahead|leading|at) )"""

_FIGURE = words(
    r"""odds | chances? | probabilit(?:y|ies) | likelihood | volumes?
    | liquidity(?!_(?:rewards?|providers?|mining|pools?))
    | (?<!does_)open_interest | order_?books? | leaderboards? | (?<!stock_)prices? | priced | spread | quotes?
    | payouts? | forecasts? | consensus | median
    | percent(?:age)?(?!_of_(?:\S+_){0,2}(?:traders|users|people|bettors|accounts))
    | implied | favou?rites? | front_?runners? | (?:yes|no)_(?:shares?|contracts?|side|price)
    | how_(?:likely|probable|certain|confident|high|close|far_ahead)
    | how_(?:much|many)_(?:\S+_){0,2}(?:money|dollars|traders|bettors|bets?|shares|contracts|trading|volume)
    | how_(?:much|many)_(?:\S+_){1,4}?(?:traded|betting|bet|wagered|staked)"""
)
_STATE = words(
    rf"""{_CROWD}_{_SAYS}
    | (?:market|contract|event|question|bet|pool)s?_(?:\S+_){{0,6}}?
        (?:clos\w+|resolv\w+|expir\w+|settl\w+|end(?:s|ed|ing)?|doing|trading|moving|trending|status|stands?|looking)
    | (?:clos\w+|resolv\w+|expir\w+|trending|moving|hot|popular|biggest|largest|top|new|newest|open|active|live|current)
        _(?:\S+_){{0,2}}(?:{_VENUE}_)?(?:markets?|contracts?|events?|bets?)
    | (?:trending|hot|moving|trading|popular|live|new)_(?:\S+_){{0,2}}?(?:on|at)_{_VENUE}
    | (?:markets?|contracts?|events?|odds)_(?:\S+_){{0,3}}?(?:on|about|for|whether)
    | (?:favou?red|ahead|leading|winning|likely|up|down)_(?:\S+_){{0,6}}?(?:on|by|at|to|in)_(?:the_)?{_MARKET}
    | who(?:'?s)?_(?:(?:is|are|will|do|does)_)?(?:\S+_){{0,3}}(?:lead\w*|win\w*|ahead|next)
    | people_(?:are_)?(?:bet|trad|buy)\w* | (?:traders|bettors)_(?:react\w*|respond\w*|buy\w*|sell\w*|mov\w*)
    | {_VENUE}_(?:resolv\w+|settl\w+|clos\w+)_(?:the|its|this|that)
    | (?:market|contract|odds|price)s?_(?:\S+_){{0,3}}?(?:above|below|over|under|higher|lower)
    | according_to_{_MARKET} | (?:per|on|at)_{_VENUE}_(?:right_now|now|today)
    | how_(?:is|are|has|have)_(?:\S+_){{0,6}}?(?:trading|doing|trending|positioned|leaning|looking?|moved|moving)
    | where_(?:do|does|are|is)_(?:\S+_){{0,6}}?(?:stand|trading|priced)
    | what_(?:markets?|events?|contracts?)_(?:are|does|do|is)
    | which_(?:\S+_)?(?:contracts?|events?|bets?) | leaning
    | positions? | whales?_(?:are|is|buying|betting)""",
    REQUEST,
)
_ASKS_THE_CROWD = words(
    rf"how_(?:do|does|is|are)_{_CROWD}_(?:see|rate|feel|view|lean\w*|pricing|position\w*|betting|look\w*|doing)",
    r"how_(?:do|does|is|are)_(?:the_)?(?:\S+_){0,2}?(?:odds|prices)_(?:\S+_){0,4}?look",
    rf"what_(?:chances?|odds|probability)_(?:do|does|is|are)_{_CROWD}",
)
"""These begin as questions for an explanation do."""

_EXPLAINS = words(
    rf"""how_to | how_(?:do|does|can|could|did|should|would|was|were) | how_{_MARKET} | explain | describe | define
    | definition | what_(?:is|are)_an?_ | mean(?:s|ing)? | difference | differ\w* | why | affects? | calculated?
    | who_(?:is_)?(?:the_)?(?:found\w*|own\w*|run|runs|running|invent\w*|creat\w*|start\w*|pays?|regulat\w*|decid\w*)
    | work(?:s|ed|ing)? | reliable | trustworthy | gambling | for_beginners | best_(?:\S+_)?(?:platform|site|app)s?"""
)
_ABOUT_THINGS = words(_WORKINGS, _WRITTEN, _ABOUT_VENUE)
_CROWD_SAYS = words(rf"{_CROWD}_{_SAYS}")
_ABOUT_THE_CONCEPT = words(_ABOUT_CONCEPT)
_PRESENT = words(
    r"""today | tonight | now | right_now | current(?:ly)? | latest | overnight | yesterday(?:'?s)? | tomorrow | still
    | this_(?:morning|afternoon|evening|hour|week|weekend|month|quarter|year) | so_far | at_the_moment | recent(?:ly)?
    | (?:last|past)_(?:night|hour|day|week|24_hours) | since | live
    | after_(?:the|today'?s|yesterday'?s)_(?:\S+_){0,3}?(?:reports?|debate|speech|hearing|decision|meeting|cut|vote)"""
)
_PAST = words(
    r"did | was | were | had | historical(?:ly)? | ever | back_(?:in|then) | ago | last_(?:year|election|cycle)"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def asks_for_market_data(form: str, year: int) -> bool:
    """Whether a query in its matching form asks for the data of a prediction market.

    Args:
        year: the current one.
    """
    if _is_of_earlier_years(form, year):
        return False
    if not has(QUESTION, form):
        is_news = has(words(_NEWS_OF_COMPANIES), form) and not has(words(_PRECISE_FIGURE), form)
        return not is_news and any(rule.asks(form) for rule in _KEYWORDS)
    if not has(words(_MARKET), form):
        return False
    if has(_ASKS_THE_CROWD, form):
        return True
    if has(_EXPLAINS, form) or _is_about_the_thing(form):
        return False
    if has(_PAST, form) and not has(_PRESENT, form):
        return False
    return has(_FIGURE, form) or has(_STATE, form)


def _is_about_the_thing(form: str) -> bool:
    """Whether a question is about the companies, the law, what was written, or prediction markets as such."""
    if has(_ABOUT_THINGS, form):
        return True
    asks_for_a_view = has(words(_PRECISE_FIGURE), form) or has(_CROWD_SAYS, form)
    if has(words(_NEWS_OF_COMPANIES), form) and not asks_for_a_view:
        return True
    return not has(words(_VENUE), form) and has(_ABOUT_THE_CONCEPT, form)


def _is_of_earlier_years(form: str, year: int) -> bool:
    """Whether a query names years, and all of them are over."""
    years = [int(found) for found in _YEAR.findall(form)]
    return bool(years) and max(years) < year
