"""Recognises queries that a specialist server should answer instead of a web search.

A route must catch queries for the *data* ("polymarket odds on a fed cut", "rss feed of the verge"), but not queries
*about* the thing ("is polymarket legal", "how to parse an rss feed in python") or with the same words ("farmers
market", "rss memory of a process"). So a rule has a subject, often a cue, and an exception. A question is about the
thing unless it asks for what the data say now ("what does polymarket say about a fed cut"), so each route knows the
questions of that kind. All are matched on the matching form of the query (`text.normalise.matching_form`): lower case,
no accents, one width. Subjects also match when their letters are spaced or dotted.

The patterns below are laid out in columns: white space in them is ignored, and `_` matches a space.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # On first use: together they take 30 ms to compile, which would delay the start.
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """Matches a query if `subject` and `cue` (if any) match, and `unless` (if any) does not."""

    subject: str
    cue: str = ""
    unless: str = ""

    def asks(self, form: str) -> bool:
        """Whether the query asks for this rule's data."""
        if not _compiled(self.subject).search(form):
            return False
        if self.cue and not _compiled(self.cue).search(form):
            return False
        return not (self.unless and _compiled(self.unless).search(form))


@dataclass(frozen=True, slots=True)
class Route:
    """A specialist server: the rules that match its queries, and the message for the caller.

    Args:
        message: names the server to use instead, in backticks.
        server: its name.
        rules: matched on the matching form.
        data_questions: matches the questions that ask for data; the rules do not apply to other questions.
        patterns: the operator's case-insensitive regular expressions, matched on the normalised query.
    """

    message: str
    server: str = ""
    rules: tuple[Rule, ...] = ()
    data_questions: str = ""
    patterns: tuple[str, ...] = ()

    def asks(self, text: str, form: str) -> bool:
        """Whether the query asks for this server's data."""
        if any(_compiled(pattern).search(text) for pattern in self.patterns):
            return True
        return any(rule.asks(form) for rule in self.rules) and not self._is_question_about(form)

    def _is_question_about(self, form: str) -> bool:
        return bool(_compiled(_QUESTION).search(form)) and not _compiled(self.data_questions).search(form)


def repeats_a_repetition(pattern: str) -> bool:
    """Whether a valid pattern repeats a group with a repetition inside, as `(a+)+`, which can take exponential time."""
    atoms = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern)
    groups = [False]  # one per open group: does it contain a repetition?
    closed_repeats = False  # does the group that was just closed contain one?
    for character in atoms:
        if character in "*+{":
            if closed_repeats:
                return True
            groups[-1] = True
        if character == "(":
            groups.append(False)
        closed_repeats = character == ")" and groups.pop()
        groups[-1] |= closed_repeats
    return False


def _words(*patterns: str) -> str:
    """Any of the patterns, as whole words."""
    return r"\b(?:" + "".join("|".join(patterns).split()).replace("_", " ") + r")(?!\w)"


_GAP = r"[\W\x5f]"


def _spelled(word: str) -> str:
    """`word`, also with spaces or dots between its letters: `rss`, `R.S.S`, `r s s`."""
    return f"{_GAP}*".join(word)


# --- questions ------------------------------------------------------------------------------------------------------

_PREAMBLE = r"""(?:
    please | hey | hi | hello | ok(?:ay)? | so | and | but | also | well | explain | describe | find_out | tell_me
    | do_you_know | (?:i_)?wonder(?:ing)?(?:_if)? | i_(?:want|need|would_like|'?d_like)_to_(?:know|learn|understand)
    | (?:can|could|would)_you_(?:please_)?(?:explain|describe|tell_me) )"""
_QUESTION = _words(
    rf"""(?:(?:^|[.!?;]\s)\W*(?:{_PREAMBLE}\W+)*
        (?:what(?:'?s)?|which|who(?:'?s)?|whom|whose|when|where|is|are|am|was|were|do|does|did|can|could|should|would
        |will|has|have|had|may|might|how|why|explain|define|describe))
    | why | what_is_it | what_(?:is|are)_an? | (?:steps|ways?|guide)_to
    | how(?!_(?:likely|many|much|high|low|far|long|soon)\b)"""
)
_REQUEST = r"""(?:can|could|would|will)_(?:you|u|we)_(?:please_)?
    (?:get|give|show|fetch|pull|find|list|check|bring|look_up|load|grab|read|tell_me)
    (?!.*\b(?:how|why|whether|articles?|papers?|documentation|tutorials?|explain|about)\b) .*"""
"""A question in form, a request for data in meaning."""

# --- prediction markets: the venues, and the concept when data is wanted --------------------------------------------

_VENUE = rf"""(?:
    (?!poly\s){_spelled("polymarket")}s? | p(?:ol+[yi]|loy)ma?r?k[ae]?ts? | {_spelled("kalshi")} | kalshy | khalshi
    | predict[-.]?it | {f"{_GAP}+".join("predictit")} | predict_it_(?:odds|markets?|prices?)
    | ^predict_it(?=_.*_(?:odds|prices?))
    | (?<!exhaust_)(?<!intake_)manifold[-._]markets?(?!_(?:size|share|growth|report))
    | metaculus | futuur | forecastex | iowa_electronic_markets? )(?:'?s)?"""
_CONCEPT = rf"{_spelled('prediction')}{_GAP}*{_spelled('market')}s?"
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
    api_(?:docs?|keys?|reference|clients?|endpoints?|limits?|examples?) | sdk | documentation | tutorial | whitepaper
    | (?:python|javascript|typescript)_(?:api|client|library|code|script|bot|package|wrapper)
    | (?:in|with|using)_(?:python|javascript|typescript)
    | business_models? | research | academic | accura\w+ | calibrat\w+ | manipulat\w+ | explained"""
_COMPANY = r"""(?:
    api | ceo | c[ft]o | (?:co-?)?founders? | owners? | investors? | valuation | funding | revenue | hq | headquarters
    | employees? | jobs? | careers? | salary | interview | lawsuits? | legal(?:ity)? | illegal | regulat\w+
    | bann?(?:ed)? | reviews? | news | alternatives? | competitors? | app | apk | log_?in | sign_?up | account | kyc
    | fees? | tax(?:es)? | deposits? | withdraw\w* | referral | promo | bonus | airdrop | token | stock | ipo | company
    | wiki\w* | blockchain | github | reddit | twitter | discord | logo | scam | safe | legit | down | blocked | vpn
    | vs | versus | or )"""
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

_CROWD = rf"""(?:the_)?(?:market_on_{_VENUE}|{_VENUE}|{_CONCEPT}|betting_markets?|bettors|traders)(?:'s)?
    (?:_(?:users|bettors|traders|odds|markets?|prices?|currently|now|people|crowd|on_{_VENUE})){{0,2}}"""
_SAYS = r"""(?:
    say(?:ing|s)? | think(?:ing|s)? | expect(?:ing|s)? | predict(?:ing|s)? | impl(?:y|ies|ying) | pric(?:e|es|ing)
    | favou?r(?:ing|s)? | giv(?:e|es|ing) | forecast(?:ing|s)? | put(?:s|ting)? | see(?:s|ing)? | rate | lean(?:ing)?
    | show(?:ing|s)? | suggest(?:ing|s)? | bet(?:ting)?_on
    | hav(?:e|ing)_(?:\S+_)?(?:winning|ahead|leading|at) )"""
_FIGURE = r"""(?:
    odds | chances? | probabilit(?:y|ies) | likelihood | prices? | spread | line | quotes? | forecasts? | consensus
    | favou?rites? | front_?runners? | open_interest | order_?books? | volumes? | median )"""
_NOT_A_FIGURE = r"""(?:
    best | easiest | right | way | meaning | difference | definition | purpose | point | min\w* | max\w* | average
    | total | typical | formula | history | historical | relationship | correlation | accuracy | impact | effect
    | final )"""
_ASKED_OF_MARKETS = _words(
    _REQUEST,
    rf"what(?:'?s|_is|_are)_(?:the_)?(?!an?_)(?:(?!{_NOT_A_FIGURE}\b)\S+_){{0,4}}?{_FIGURE}",
    rf"(?:what|which|who|when|where|how_(?:many|much|high))_(?:\S+_){{0,6}}?(?:do|does|is|are)_{_CROWD}_{_SAYS}",
    rf"how_(?:do|does|is|are)_{_CROWD}_(?:see|rate|feel|view|lean\w*|pricing|position\w*|betting|look\w*|doing)",
    rf"how_(?:likely|probable|certain|confident|high|far_ahead) .* {_VENUE}",
    r"how_(?:is|are|has|have|do)_(?:\S+_){0,5}(?:trading|doing|trending|positioned|leaning|looking?|moved|moving)",
    r"how_much_(?:is|are|does|do)_(?:\S+_){0,4}(?:yes|no|shares?|contracts?)_(?:\S+_){0,4}(?:trad\w+|cost|worth|going)",
    r"who(?:'?s)?_(?:(?:is|are|will|do|does)_)?(?:\S+_){0,3}(?:lead\w*|win\w*|ahead|favou?r\w*|front_?runner|next)",
    r"""which_(?!(?:prediction|platform|site|exchange|app|venue|news|countr|state|compan)) .*
        (?:favou?r\w*|lead\w*|ahead|likely|likeliest|highest|trending|biggest|top|open|live|active)""",
    rf"""^(?:is|are)_(?!(?:the_)?{_VENUE}|{_CONCEPT})(?:\S+_){{1,6}}
        (?:favou?r\w+|lead\w*|ahead|up|winning|priced|trading|likely)_.*(?:on|by|at|to)_{_VENUE}""",
    r"(?:is|are)_there_(?:\S+_){1,4}(?:markets?|contracts?|odds|events?)_(?:\S+_){0,3}?(?:on|about|for|whether)",
    rf"(?:do|does)_{_VENUE}_have_(?:\S+_){{0,3}}(?:markets?|odds|contracts?)_(?:on|about|for|whether)",
    rf"will_(?!{_VENUE}) .* (?:according_to|per|on|at|by)_{_VENUE}",
    r"where_(?:do|does|are|is)_(?:\S+_){0,5}(?:stand|trading|priced)",
    r"what(?:'?s|_is|_are)_(?:(?:currently|now|most)_)?(?:trending|hot|moving|trading|new|popular|live)_(?:on|at)",
    rf"(?:is|are)_(?:the_|{_VENUE}_)(?:\S+_)?{_FIGURE}_.*(?:above|below|over|under|higher|lower|rising|falling|up|down)",
    r"what_(?:markets?|events?|contracts?)_(?:are|does|do|is)",
    rf"what_(?:are|do)_people_(?:bet|bett|trad|buy)\w*_.*{_VENUE}",
    r"when_(?:does|do|will|is)_(?:\S+_){0,6}(?:market|contract|event)_(?:\S+_){0,4}(?:resolv\w+|clos\w+|settl\w+|end\w*)",
)

_PREDICTION_MARKETS = Route(
    message="This asks for prediction-market data: use the server `polymarket` instead of a web search.",
    server="polymarket",
    data_questions=_ASKED_OF_MARKETS,
    rules=(
        Rule(
            _words(_VENUE),
            cue=_words(_QUOTE, "markets?_(?:on|for|about)"),
            unless=_words(_WORKINGS, _WRITTEN, rf"{_VENUE}_(?:news|stock_price)"),
        ),
        Rule(_words(_VENUE), unless=_words(_WORKINGS, _WRITTEN, _ABOUT_VENUE)),
        Rule(_words(r"(?<!low_)poly\s+markets?"), cue=_words(_QUOTE, _EVENT), unless=_words(_WORKINGS)),
        Rule(
            _words(_CONCEPT),
            cue=_words(_QUOTE, _EVENT, "markets?_(?:on|for|about|whether|data|forecasts?)"),
            unless=_words(_WORKINGS, _WRITTEN, _ABOUT_CONCEPT),
        ),
        Rule(_words("betting_markets?"), cue=_words("saying|says?|thinks?", _EVENT), unless=_words(_WORKINGS, "size")),
    ),
)

# --- feeds: RSS, Atom and news feeds of a publisher -----------------------------------------------------------------

_RSS = _spelled("rss")
_FEED = rf"{_spelled('feed')}s?"
_SYNDICATED = rf"""(?:
    (?:{_RSS}|atom|json|xml|podcast|syndication){_GAP}*{_FEED} | {_FEED}{_GAP}+(?:(?:in|as|via)_)?(?:{_RSS}|atom)
    | (?:flux|canal|fil)_{_RSS} | {_FEED}\.xml | opml
    | {_RSS}_(?:ur[li]s?|links?|xml|channel|headlines|subscriptions?|address|endpoint|items|entries|articles|stories
        |posts|updates) )"""
_NEWSROOM = r"""(?:
    nyt | new_york_times | bbc | cnn | npr | reuters | guardian | verge | techcrunch | ars_technica | hacker_news | wsj
    | bloomberg | jazeera | espn | politico | axios | slashdot | engadget | associated_press )"""
_SITE = r"[\w-]+\.(?:com|org|net|io|dev|gov|edu|info|me|fm|ai|rs|eu|us|ca|co\.uk|de|fr|es|it|nl|ch)"
_PUBLISHER = rf"""(?:
    {_NEWSROOM} | wired | hn | reddit | subreddit | youtube | substack | medium | arxiv | ft | economist | github | xkcd
    | podcast | blog | newsletter | news | {_SITE} )"""
_FETCH = r"(?: subscri\w+ | follow | get | fetch | pull | give | show | find | load | monitor | track | check | read )"

_FUNCTION_WORD = "(?:of|the|in|is|on|about|with|and|to|or|vs|from|against)"
_MAKING = r"""
    pars(?:e|es|ed|er|ers|ing) | feedparser | aggregators? | validat\w+ | generat\w+ | plugins? | widgets? | xslt
    | tutorial | icon | logo | vs | versus | difference | scrap\w+ | convert\w* | embed\w* | implement\w* | deprecated
    | (?:rss|feeds?)_(?:best_practices?|copyright\w*|polic(?:y|ies)|statistics|usage|popularity|adoption|encoding
        |enclosures?|alternatives?) | alternatives?_(?:to|for) | returns?_\d{3} | what_to_do | swartz | inventor
    | merchant | shopping | product_feeds? | not_working | error
    | (?:rss|feed|news)_(?:feed_)?(?:readers?|apps?|clients?|software|format|spec\w*|schema|library|history|standard)
    | (?:in|with|using)_(?:python|javascript|typescript|php|java|golang|go|rust|ruby|react|c\#|node|wordpress|django)
    | (?:meaning_of|history_of) .*
    | (?:add|put|display)_.*_(?:to|on|in)_(?:(?:my|a|your|the)_)?(?:web_?site|site|page|blog|app|outlook)"""
_OTHER_RSS = r"""
    memory | process(?:es)? | linux | kernel | resident | vsz | pss | uss | heap | malloc | swap | top_command | htop
    | ps | docker | container | residual | regression | squares? | linear | model | variance | siemens | india\w* | bjp
    | hindu\w* | sangh | modi | bhagwat | shakha | swayamsevak | chief | pracharak | gandhi | hedgewar | golwalkar
    | nagpur | members?(?:hip)? | leaders? | ideolog\w+ | uniform | join | bann?(?:ed)? | prayer | camp | volunteers?
    | workers? | schools? | full_form"""
_OTHER_FEED = r"""
    facebook | fb | instagram | linkedin | tiktok | twitter | snapchat | pinterest | strava | algorithm\w* | ranking
    | system_design | architecture | addict\w* | psychology | component | chickens? | cattle | animals? | livestock"""

_ENTRIES = "(?:new|latest|newest|recent|headlines?|stories|items|entries|articles|posts|updates|top|news|episodes)"
_ASKED_OF_FEEDS = _words(
    _REQUEST,
    rf"""what(?:'?s|_is|_are|_has|_have|_did|_does|_do)_(?:\S+_){{0,4}}?{_ENTRIES}
        _(?:(?!versions?|spec)\S+_){{0,4}}?(?:in|on|from|of|at|by)_(?!an?_|any_) .* (?:{_RSS}|{_FEED})""",
    rf"what(?:'?s|_is|_does|_do|_did)_(?!an?_)(?:\S+_){{0,5}}(?:{_RSS}|{_FEED})_(?:say|show|report|publish|list)\w*",
    rf"what(?:'?s|_is)_(?:in|on)_(?!an?_) .* (?:{_RSS}|{_FEED})",
    rf"(?:is|are)_there_(?:any(?:thing)?_)?(?:new|fresh|recent|unread)_ .* (?:{_RSS}|{_FEED})",
)

_FEEDS = Route(
    message="This asks for an RSS or news feed: use the server `google-news-rss` instead of a web search.",
    server="google-news-rss",
    data_questions=_ASKED_OF_FEEDS,
    rules=(
        Rule(_words(_SYNDICATED), unless=_words(_MAKING)),
        Rule(
            _words(
                rf"{_RSS}_(?:of|for|from) | (?:via|over)_{_RSS} | {_FETCH}_(?:(?!about)\S+_){{0,5}}(?<!_o[fn]_){_RSS}",
                rf"{_PUBLISHER}(?:'s)?_(?:(?!{_FUNCTION_WORD}_)\w+_)?{_RSS} | {_RSS}:?_(?:\w+_)?{_NEWSROOM}",
                rf"^(?:\S+_){{0,4}}(?!{_FUNCTION_WORD}_)\S+_rss$",
                r"(?:headlines|items|stories|posts|articles|entries|latest)_(?:\S+_){0,4}from_(?:\S+_){1,5}rss",
            ),
            unless=_words(_MAKING, _OTHER_RSS),
        ),
        Rule(
            _words(
                rf"news{_GAP}*{_FEED} | (?:blog|{_NEWSROOM})(?:_\w+)?_{_FEED}",
                rf"{_FEED}_(?:ur[li]s?|links?) | subscribe .* {_FEED} | {_FETCH}_(?:\S+_){{0,3}}{_SITE}(?:'s)?_{_FEED}",
                rf"what(?:'?s|_is)_(?:new_)?(?:in|on)_the_(?:\S+_){{1,3}}{_FEED}",
                rf"(?:new|latest|newest|recent)_(?:\S+_)?(?:in|from|of|on)_(?:the_)?(?:\S+_){{1,3}}{_FEED}",
                rf"{_FETCH}_(?:\S+_){{0,3}}{_FEED}_(?:entries|items|posts|stories)_(?:of|from)",
                rf"{_FEED}_(?:of|from|for)_.*(?:news|blog|headlines|articles|posts|times|podcast|releases|{_PUBLISHER})",
            ),
            unless=_words(_MAKING, _OTHER_FEED),
        ),
        Rule(r"\b(?:rss|feeds?)\.\w+\.\w+|://\S*\b(?:rss|atom|feed)\b|\bgoogle ?news headlines\b"),
    ),
)


BUILT_IN_ROUTES: Mapping[str, Route] = {"polymarket": _PREDICTION_MARKETS, "google-news-rss": _FEEDS}
"""The built-in routes, by the name of the server to use."""
