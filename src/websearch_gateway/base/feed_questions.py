"""Whether a query asks for a feed (RSS, Atom, the news feed of a publisher) or its entries.

Words alone ask for the feed: "rss feed of the verge". A question asks for data if it is for entries (headlines, items,
what the feed has published), and for the web if it is for how feeds work, are found or are made, or has the same words
in another sense.
"""

from __future__ import annotations

from websearch_gateway.base.patterns import GAP, QUESTION, REQUEST, Rule, has, spelled, words

_RSS = spelled("rss")
_FEED = rf"{spelled('feed')}s?"
_SYNDICATED = rf"""(?:
    (?:{_RSS}|atom|json|xml|podcast|syndication){GAP}*{_FEED} | {_FEED}{GAP}+(?:(?:in|as|via)_)?(?:{_RSS}|atom)
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
    creat\w+ | build\w* | making | hosting | submit\w* | set_?up
    |     pars(?:e|es|ed|er|ers|ing) | feedparser | aggregators? | validat\w+ | generat\w+ | plugins? | widgets? | xslt
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

_FEEDS = (
    Rule(words(_SYNDICATED), unless=words(_MAKING)),
    Rule(
        words(
            rf"{_RSS}_(?:of|for|from) | (?:via|over)_{_RSS} | {_FETCH}_(?:(?!about)\S+_){{0,5}}(?<!_o[fn]_){_RSS}",
            rf"{_PUBLISHER}(?:'s)?_(?:(?!{_FUNCTION_WORD}_)\w+_)?{_RSS} | {_RSS}:?_(?:\w+_)?{_NEWSROOM}",
            rf"^(?:\S+_){{0,4}}(?!{_FUNCTION_WORD}_)\S+_rss$",
            r"(?:headlines|items|stories|posts|articles|entries|latest)_(?:\S+_){0,4}from_(?:\S+_){1,5}rss",
        ),
        unless=words(_MAKING, _OTHER_RSS),
    ),
    Rule(
        words(
            rf"news{GAP}*{_FEED} | (?:blog|{_NEWSROOM})(?:_\w+)?_{_FEED}",
            rf"{_FEED}_(?:ur[li]s?|links?) | subscribe .* {_FEED} | {_FETCH}_(?:\S+_){{0,3}}{_SITE}(?:'s)?_{_FEED}",
            rf"what(?:'?s|_is)_(?:new_)?(?:in|on)_the_(?:\S+_){{1,3}}{_FEED}",
            rf"(?:new|latest|newest|recent)_(?:\S+_)?(?:in|from|of|on)_(?:the_)?(?:\S+_){{1,3}}{_FEED}",
            rf"{_FETCH}_(?:\S+_){{0,3}}{_FEED}_(?:entries|items|posts|stories)_(?:of|from)",
            rf"{_FEED}_(?:of|from|for)_.*(?:news|blog|headlines|articles|posts|times|podcast|releases|{_PUBLISHER})",
        ),
        unless=words(_MAKING, _OTHER_FEED),
    ),
    Rule(r"\b(?:rss|feeds?)\.\w+\.\w+|://\S*\b(?:rss|atom|feed)\b|\bgoogle ?news headlines\b"),
)

# --- questions: the entries of a feed, now ---------------------------------------------------------------------------

_ANY_FEED = rf"(?:(?<!an_)(?<!any_){_RSS}|(?:the_|'s_|{_NEWSROOM}_|{_SITE}_|{_RSS}_|atom_|news_|blog_|my_|podcast_){_FEED})"
_NAMED = words(
    _RSS,
    _SYNDICATED,
    rf"(?:{_NEWSROOM}|{_SITE}|news|blog|podcast|atom|opml)(?:'s)?_(?:\S+_)?{_FEED} | opml",
)
_ENTRY = r"""(?:
    headlines? | stor(?:y|ies) | items? | entries | entry | articles? | posts? | updates? | episodes? | news
    | anything )"""
_PUBLISHES = r"""(?:
    say\w* | show\w* | report\w* | publish\w* | list\w* | mention\w* | post(?:s|ed|ing)? | carry | carries | carried
    | (?:been_)?updated | run | ran | cover\w* | contain_anything | have_(?:any|new) | has_(?:any|new) )"""
_ENTRIES = words(
    rf"""{_ENTRY}_(?:(?!versions?|spec)\S+_){{0,5}}?(?:in|on|from|of|at|by|to)_(?!an?_|any_) .* {_ANY_FEED}
    | {_ANY_FEED}_(?:\S+_){{0,2}}?{_PUBLISHES} | {_PUBLISHES}_(?:\S+_){{0,4}}?(?:in|on|by)_.*{_ANY_FEED}
    | (?:new|fresh|recent|unread|latest|newest|last)_ .* {_ANY_FEED}
    | what(?:'?s|_is)_(?:new_)?(?:in|on)_(?!an?_) .* {_ANY_FEED}""",
    REQUEST,
)
_EXPLAINS = words(
    rf"""how(?!_(?:many|much)\b) | how_to | why | difference | differ\w* | an?_{_RSS} | any_{_RSS} | mean(?:s|ing)?
    | {_RSS}_\d | format | url | link | address | alternatives? | invented | supports? | validate | use[sd]?
    | still_(?:publish|use)\w*"""
)
_PRESENT = words(
    r"""today | tonight | now | right_now | current(?:ly)? | latest | newest | last | new | recent(?:ly)? | overnight
    | yet | yesterday(?:'?s)? | this_(?:morning|afternoon|evening|hour|week|month) | breaking | just"""
)
_PAST = words("did | was | were | had")


def asks_for_a_feed(form: str) -> bool:
    """Whether a query in its matching form asks for a feed or its entries."""
    if not has(QUESTION, form):
        return any(rule.asks(form) for rule in _FEEDS)
    if not has(_NAMED, form) or has(words(_MAKING, _OTHER_FEED), form):
        return False
    if has(words(_OTHER_RSS), form) and not has(words(_FEED), form):
        return False
    if has(_EXPLAINS, form) or (has(_PAST, form) and not has(_PRESENT, form)):
        return False
    return has(_ENTRIES, form)
