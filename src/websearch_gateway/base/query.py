"""Normalises a query without changing its meaning, and recognises queries that a specialist server should answer.

Plain NFKC is too much for a search query: it makes `10²` into `102`, `½` into `1⁄2` and `ℌ` into `H`. So the text is
composed (NFC), and only typographic variants are folded: full, half and small width, vertical forms, Latin ligatures
and Arabic letter shapes. White space is collapsed and invisible characters are removed.

A route must catch queries for the *data* ("polymarket odds on a fed cut", "rss feed of the verge"), but not queries
*about* the thing ("is polymarket legal", "how to parse an rss feed in python") or with the same words ("farmers
market", "rss memory of a process"). So a rule has a subject, often a cue, and an exception. A question is about the
thing unless it asks for what the data say now ("what does polymarket say about a fed cut"), so each route knows the
questions of that kind. All are matched on the `matching_form` of the query: lower case, no accents, one width. Subjects
also match when their letters are spaced or dotted. The patterns are laid out in columns: white space in them is
ignored, and `_` matches a space.

The codes of countries (ISO 3166-1) and languages (ISO 639-1) are those assigned in November 2026. They are listed here
because every query is checked against them, and Babel would need 6 MB and 0.1 s for that. A test compares them with
Babel's, which is loaded only for an English name.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import LONGEST_QUERY, SHORTEST_QUESTION

LONGEST_RAW_QUERY = 10_000  # the most characters; a longer text is rejected before normalisation

_FOLDED_TAGS = frozenset(
    {"<wide>", "<narrow>", "<small>", "<vertical>", "<initial>", "<medial>", "<final>", "<isolated>"}
)
_LATIN_LIGATURES = range(0xFB00, 0xFB07)
_TYPOGRAPHIC_FORMS = range(0xFB00, 0xFFF0)

_WRITES_WORDS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")
"""Kana, ideographs and Hangul syllables."""

_WHITE_SPACE = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029 \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")

# White space is already collapsed here.
_FORBIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt and the interlinear annotation marks, less the two
# joiners. Includes variation selectors and tags: both can hide text from a reader; and the marks, embeddings, overrides
# and isolates of UAX #9, which phones put around names, and which can display a text in another order than stored.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)

# A zero-width joiner or non-joiner is part of the spelling in Arabic, Indic and South-East Asian scripts, and joins
# emoji. A single one stays after such a character, but never before a Latin letter or digit.
_JOINERS = "\u200c\u200d"
_JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ua840-\ua87f\ua8e0-\ua8ff\u2190-\u2bff\U0001f000-\U0001faff"
)
_STRAY_JOINERS = re.compile(
    f"(?<![{_JOINING}])[{_JOINERS}]+|(?<=[{_JOINERS}])[{_JOINERS}]+|[{_JOINERS}]+(?=[0-9A-Za-z])"
)


@functools.cache
def _typographic_folds() -> dict[int, str]:
    """Each typographic form and its replacement, from Unicode's own decompositions."""
    folds = {}
    for code in _TYPOGRAPHIC_FORMS:
        tag, _, target = unicodedata.decomposition(chr(code)).partition(" ")
        letters = [int(part, 16) for part in target.split()]
        is_word = len(letters) > 3 or 0x20 in letters  # U+FDFA is a whole phrase: keep it
        if code in _LATIN_LIGATURES:
            folds[code] = unicodedata.normalize("NFKC", chr(code))
        elif tag in _FOLDED_TAGS and not is_word:
            folds[code] = "".join(map(chr, letters))
    return folds


def normalise(text: str, field: str = "query") -> str:
    """The normalised query, or another parameter, which is checked, cached and sent. Idempotent.

    Raises:
        SearchValidationError: it contains a control character, a non-character or a lone surrogate; the message names
            the code point, never the query.
    """
    text = _WHITE_SPACE.sub(" ", text)
    if found := _FORBIDDEN.search(text):
        name = f"U+{ord(found.group()):04X}"
        raise SearchValidationError(
            f"{'The query' if field == 'query' else f'`{field}`'} contains the control character {name}; remove it.",
            details={"field": field, "codePoint": name},
        )
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text).translate(_typographic_folds()))
        text = unicodedata.normalize("NFC", text)
        while (fewer := _WHITE_SPACE.sub(" ", _STRAY_JOINERS.sub("", text))) != text:
            text = unicodedata.normalize("NFC", fewer)  # which may reorder marks around a joiner
    return text.strip(" ")


def matching_form(text: str) -> str:
    """A normalised text reduced for matching only: full NFKC, lower case, no accents, joiners or look-alike letters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.translate(_WHOLE_PHRASES))
    letters = "".join(c for c in decomposed if not unicodedata.combining(c) and c not in _JOINERS)
    return unicodedata.normalize("NFKC", letters).casefold().translate(_LOOK_ALIKES)


def matching_letters(text: str) -> str | None:
    """A text with each non-ASCII character in its `matching_form`, to search it for English words. Much faster than
    `matching_form`.

    None if no character becomes ASCII: then the result would have the same English words as the text.
    """
    shapes = {ord(character): matching_form(character) for character in set(text) if not character.isascii()}
    return text.translate(shapes) if any(map(str.isascii, shapes.values())) else None


# Each of these characters expands to 8 to 18 letters, which would make a text of them expensive.
_WHOLE_PHRASES = {0xFDFA: " ", 0xFDFB: " "}
# Cyrillic and Greek letters that look like Latin ones.
_LOOK_ALIKES = str.maketrans("аеорсухіѕјкмтԁοραεκντι", "aeopcyxisjkmtdopaekvti")


def checked_query(text: str, shortest: int = SHORTEST_QUESTION) -> str:
    """The normalised query.

    Raises:
        SearchValidationError: not text, or outside `shortest` (1 with a Chinese, Japanese or Korean character, which
            may be a word) to `LONGEST_QUERY` characters.
    """
    if not isinstance(text, str):
        raise SearchValidationError("`query` must be text.", details={"field": "query", "allowed": "text"})
    if len(text) <= LONGEST_RAW_QUERY:
        text = normalise(text)
    least = 1 if _WRITES_WORDS.search(text) else shortest
    if not least <= len(text) <= LONGEST_QUERY:
        raise SearchValidationError(
            f"`query` must be {shortest} to {LONGEST_QUERY} characters long, white space collapsed; one "
            "character is enough in Chinese, Japanese and Korean.",
            details={"field": "query", "allowed": f"{shortest}-{LONGEST_QUERY} characters"},
        )
    return text


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
        asks = _compiled(self.subject).search(form) and (not self.cue or _compiled(self.cue).search(form))
        return bool(asks) and not (self.unless and _compiled(self.unless).search(form))


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
        if not any(rule.asks(form) for rule in self.rules):
            return False
        return not _compiled(_QUESTION).search(form) or bool(_compiled(self.data_questions).search(form))


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

_COUNTRIES = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
COUNTRIES = frozenset(_COUNTRIES.split())

_LANGUAGES = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta
te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = frozenset(_LANGUAGES.split())


# Beside the names of Unicode's CLDR, which Babel has: those to use in place of one of them, and further ones.
_USUAL_NAMES = "BA Bosnia and Herzegovina; CG Congo; CZ Czech Republic; MM Myanmar; TR Turkey; TT Trinidad and Tobago"
_OTHER_NAMES = """
AE UAE; BA Bosnia; BN Brunei Darussalam; CI Ivory Coast; CV Cabo Verde; GB Britain; GB Great Britain; GB UK; HK Hong
Kong; KR Korea; MK Macedonia; MM Burma; MO Macao; MO Macau; NL Holland; RU Russian Federation; SZ Swaziland; US United
States of America; US USA; VN Viet Nam
"""


def country_code(text: str) -> str | None:
    """The ISO 3166-1 alpha-2 code of a country by its English name or code, in any case; None if it is not a country.

    A name may be a common abbreviation or have an article, such as "the Netherlands", "U.S.".
    """
    name = text.strip()
    return name.upper() if name.upper() in COUNTRIES else _codes_of_countries().get(_key(name).removeprefix("the "))


def country_name(code: str) -> str:
    """The usual English name of the country with an ISO 3166-1 alpha-2 code, in lower case."""
    from babel import Locale

    return (dict(_rows(_USUAL_NAMES)).get(code) or Locale("en").territories[code]).lower()


def _rows(table: str) -> list[tuple[str, str]]:
    return [(row[:2], row[3:]) for row in " ".join(table.split()).split("; ")]


_OTHER_LANGUAGES = """
bengali bn; bokmål nb; castilian es; farsi fa; frisian fy; gaelic gd; mandarin zh; maori mi; nynorsk nn; oriya or;
sami se; sinhalese si; uighur ug
"""


def language_code(text: str) -> str | None:
    """The ISO 639-1 code of a language's code, English name or tag (`de-AT`), in any case; None if it is neither."""
    name = " ".join(text.lower().split())
    code = name.replace("_", "-").partition("-")[0]
    return code if code in LANGUAGES else _codes_of_languages().get(name)


@functools.cache
def _codes_of_languages() -> Mapping[str, str]:
    from babel import Locale

    names = {name.lower(): code.partition("_")[0] for code, name in Locale("en").languages.items()}
    others = dict(row.split() for row in _OTHER_LANGUAGES.split(";"))
    return {name: code for name, code in (names | others).items() if code in LANGUAGES}


@functools.cache
def _codes_of_countries() -> Mapping[str, str]:
    from babel import Locale

    territories = Locale("en").territories
    names = ((code, territories[code]) for code in COUNTRIES)
    return {_key(name): code for code, name in (*names, ("US", "US"), *_rows(_USUAL_NAMES), *_rows(_OTHER_NAMES))}


def _key(name: str) -> str:
    """A name as it is looked up: without dots, with `and` for `&`."""
    return " ".join(name.lower().replace(".", "").replace("&", " and ").replace("’", "'").split())
