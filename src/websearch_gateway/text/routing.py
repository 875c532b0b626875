"""Recognises queries that a specialist server should answer instead of a web search.

A rule must match queries for the *data* ("polymarket odds on a fed cut", "rss feed of the verge"), but not queries
*about* the thing ("is polymarket legal", "how to parse an rss feed in python") or with the same words ("farmers
market", "rss memory of a process"). So a rule has a subject, often a cue, and an exception, all matched on the
matching form of the query (`text.normalise.matching_form`): lower case, no accents, one width. Subjects also match
when their letters are spaced or dotted.

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
        message: names the server to use instead.
        rules: matched on the matching form.
        patterns: the operator's case-insensitive regular expressions, matched on the normalised query.
        keywords: only for strict mode: any of them anywhere in the matching form, even inside a word.
    """

    message: str
    rules: tuple[Rule, ...] = ()
    patterns: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()

    def asks(self, text: str, form: str) -> bool:
        """Whether the query asks for this server's data."""
        return any(rule.asks(form) for rule in self.rules) or any(_compiled(p).search(text) for p in self.patterns)

    def keyword(self, form: str) -> str | None:
        """The first of `keywords` that the query contains; None if it contains none."""
        return next((word for word in self.keywords if word in form), None)


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


# --- prediction markets: the venues, and the concept when data is wanted --------------------------------------------

_VENUE = rf"""(?:
    (?!poly\s){_spelled("polymarket")}s? | p(?:ol+[yi]|loy)ma?r?k[ae]?ts? | {_spelled("kalshi")} | kalshy | khalshi
    | predict[-.]?it | {f"{_GAP}+".join("predictit")} | predict_it_(?:odds|markets?|prices?)
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

_WORKINGS = rf"""
    how_(?:do|does|is|are|to|can|should)_.*(?:work|calculat\w+|determin\w+|decid\w+|settled?|resolved?|comput\w+|set
        |make_money|start\w*|sign_up|use|trade|bet|buy|sell|deposit|withdraw|invest|build|create|scrape)
    | what_(?:is|are|was)_(?:an?_|the_)?(?:{_VENUE}|{_CONCEPT})\W*$
    | who_(?:owns?|founded|runs|created|invented|started) .* | (?:can|should)_(?:i|you|we) .* | why .*
    | api_(?:docs?|keys?|reference|clients?|endpoints?|limits?|examples?) | sdk | documentation | tutorial | whitepaper
    | (?:python|javascript|typescript)_(?:api|client|library|code|script|bot|package|wrapper)
    | (?:in|with|using)_(?:python|javascript|typescript)
    | research | academic | accura\w+ | calibrat\w+ | manipulat\w+ | explained"""
_COMPANY = r"""(?:
    api | ceo | c[ft]o | (?:co-?)?founders? | owners? | investors? | valuation | funding | revenue | hq | headquarters
    | employees? | jobs? | careers? | salary | interview | lawsuits? | legal(?:ity)? | illegal | regulat\w+
    | bann?(?:ed)? | reviews? | news | alternatives? | competitors? | app | apk | log_?in | sign_?up | account | kyc
    | fees? | tax(?:es)? | deposits? | withdraw\w* | referral | promo | bonus | airdrop | token | stock | ipo | company
    | wiki\w* | blockchain | github | reddit | twitter | discord | logo | scam | safe | legit | down | blocked | vpn
    | vs | versus | or )"""
_ABOUT_VENUE = rf"""
    {_VENUE}_{_COMPANY} | {_COMPANY}_(?:of|at|from|like|to)_{_VENUE} | (?:fees?|tax(?:es)?)_on_{_VENUE}
    | (?:is|are|was)_{_VENUE} .* | does_{_VENUE}_(?:accept|allow|charge|make|offer|operate|pay|report|require|use|work)
    | (?:sites?|apps?|companies)_like .*"""
_ABOUT_CONCEPT = r"""
    papers? | stud(?:y|ies) | thesis | theor\w+ | (?<!order_)books? | literature | scoring | reliab\w+ | efficien\w+
    | interpret\w+ | defin\w+ | meaning | introduction | guide | history_of | markets?_history | legal(?:ity)?
    | regulat\w+ | cftc | industry | corporate | beginners | dummies | business\w* | compan\w+ | startups?
    | platforms? | sites? | apps? | exchanges? | growth | revenue | size | tax\w* | insider | forecasting"""

_PREDICTION_MARKETS = Route(
    message="This asks for prediction-market data: use the server `polymarket` instead of a web search.",
    rules=(
        Rule(
            _words(_VENUE),
            cue=_words(_QUOTE, "markets?_(?:on|for|about)"),
            unless=_words(_WORKINGS, rf"{_VENUE}_(?:news|stock_price)"),
        ),
        Rule(_words(_VENUE), unless=_words(_WORKINGS, _ABOUT_VENUE)),
        Rule(_words(r"(?<!low_)poly\s+markets?"), cue=_words(_QUOTE, _EVENT), unless=_words(_WORKINGS)),
        Rule(
            _words(_CONCEPT),
            cue=_words(_QUOTE, _EVENT, "markets?_(?:on|for|about|whether|data|forecasts?)"),
            unless=_words(_WORKINGS, _ABOUT_CONCEPT),
        ),
        Rule(_words("betting_markets?"), cue=_words("saying|says?|thinks?", _EVENT), unless=_words(_WORKINGS, "size")),
    ),
    keywords=(
        *("market", "event", "bet", "odds", "prediction", "wager", "liquidity", "volume", "position"),
        *("kalshi", "predictit", "metaculus"),
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
_PUBLISHER = rf"""(?:
    {_NEWSROOM} | wired | hn | reddit | subreddit | youtube | substack | medium | arxiv | ft | economist | github | xkcd
    | podcast | blog | newsletter | news | [\w-]+\.(?:com|org|net|io|dev|gov|edu|co\.uk|de|fr) )"""
_FETCH = r"(?: subscri\w+ | follow | get | fetch | pull | give | show | find | load | monitor | track | check | read )"

_FUNCTION_WORD = "(?:of|the|in|is|on|about|with|and|to|or|vs|from|against)"
_MAKING = r"""
    pars(?:e|es|ed|er|ers|ing) | feedparser | aggregators? | validat\w+ | generat\w+ | plugins? | widgets? | xslt
    | tutorial | icon | logo | vs | versus | difference | scrap\w+ | convert\w* | embed\w* | implement\w* | deprecated
    | swartz | inventor | merchant | shopping | product_feeds? | not_working | error
    | (?:rss|feed|news)_(?:feed_)?(?:readers?|apps?|clients?|software|format|spec\w*|schema|library|history|standard)
    | (?:in|with|using)_(?:python|javascript|typescript|php|java|golang|go|rust|ruby|react|c\#|node|wordpress|django)
    | how_(?:to|do|does|can|would|should)_.*(?:creat\w+|mak\w+|build|add|display|work|use|set_up|publish|host|writ\w+
        |fix|disable|turn_off|remove|sort|merge|style|start|design)
    | how_(?:to|do_i|can_i)_(?:find|get|read|subscribe_to)_(?:an?_|any_|the_)?(?:rss|atom|news)_(?:feeds?)?
        (?:_ur[li]s?)?(?:_(?:of|for|from|on|in)_(?:an?|any|my|every) .*)?\W*$
    | what_(?:is|are|does)_(?:an?_)?(?:rss|atom|xml|json|news)(?:_feeds?)?(?:_(?:mean|stand_for|used_for))?\W*$
    | (?:define|meaning_of|history_of|who_invented|who_created|what_happened_to) .* | (?:is|are)_.*(?:dead|used)
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

_FEEDS = Route(
    message="This asks for an RSS or news feed: use the server `google-news-rss` instead of a web search.",
    rules=(
        Rule(_words(_SYNDICATED), unless=_words(_MAKING)),
        Rule(
            _words(
                rf"{_RSS}_(?:of|for|from) | (?:via|over)_{_RSS} | {_FETCH}_(?:(?!about)\S+_){{0,5}}(?<!_o[fn]_){_RSS}",
                rf"{_PUBLISHER}_(?:(?!{_FUNCTION_WORD}_)\w+_)?{_RSS} | {_RSS}_(?:\w+_)?{_NEWSROOM}",
                rf"^(?:\S+_){{0,4}}(?!{_FUNCTION_WORD}_)\S+_rss$",
                r"(?:headlines|items|stories|posts|articles|entries|latest)_(?:\S+_){0,4}from_(?:\S+_){1,5}rss",
            ),
            unless=_words(_MAKING, _OTHER_RSS, "(?:what|who|why|when|is|was) .*"),
        ),
        Rule(
            _words(
                rf"news{_GAP}*{_FEED} | (?:blog|{_NEWSROOM})(?:_\w+)?_{_FEED}",
                rf"{_FEED}_(?:ur[li]s?|links?) | subscribe .* {_FEED}",
                rf"{_FEED}_(?:of|from|for)_.*(?:news|blog|headlines|articles|posts|times|podcast|releases|{_PUBLISHER})",
            ),
            unless=_words(_MAKING, _OTHER_FEED),
        ),
        Rule(r"\b(?:rss|feeds?)\.\w+\.\w+|://\S*\b(?:rss|atom|feed)\b|\bgoogle ?news headlines\b"),
    ),
    keywords=("feed", "rss", "syndicat", "google news", "subscribe"),
)


BUILT_IN_ROUTES: Mapping[str, Route] = {"polymarket": _PREDICTION_MARKETS, "google-news-rss": _FEEDS}
"""The built-in routes, by the name of the server to use."""
