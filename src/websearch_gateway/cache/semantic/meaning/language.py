"""Whether a question is in English: by its letters and by words that only English has."""

from __future__ import annotations

import functools
import re
from typing import Literal

from websearch_gateway.cache.semantic.meaning.forms import form
from websearch_gateway.cache.semantic.meaning.lexicon import IRREGULAR_VERBS, VERBS
from websearch_gateway.cache.semantic.meaning.words import groups, word_set
from websearch_gateway.text.retrieval.tokens import fold

Language = Literal["english", "foreign", "unknown"]

_WORD = re.compile(r"[^\W\d_]+")

# Left out: words that other languages share, and parts of names ("los angeles", "van gogh").
_ENGLISH = """
the of and how what when where who whom whose why which does did with without from by are not can could should would
must might my your his her their our you they she we it this that these those than then there between before after
during against under over near about into because while if or be been was were has have had will many much more most
less least some any every other best better worst good bad new old first last next top high low big small large long
short cheap free fast slow hot cold easy hard safe right wrong early late young

colour favourite grey centre theatre award mile dollar laptop win age weather price cost time times day days week
month year years hour hours date birthday height weight length width depth size speed distance meaning difference
example list kind type name word number amount rate rates law laws tax taxes wage wages salary job jobs work home
house city country state states county street road school college university student students teacher child children
kid kids baby woman women man men boy girl people person wife husband father mother son daughter brother sister friend
king queen president winner author actor singer founder owner leader player team game games movie movies film song
songs lyrics book books story news show cast season episode character food foods recipe recipes cake bread rice
chicken beef fish egg eggs milk cheese water wine beer sugar salt flour fruit vegetable dog dogs cat cats horse bird
birds animal animals plant plants tree trees flower garden car cars bike truck train trains flight flights ticket
tickets hotel hotels trip travel map beach island lake river mountain ocean sea sky sun moon earth world war battle
history army church health disease illness symptom symptoms treatment pain cure heart blood skin hair eye eyes tooth
teeth bone brain body cancer fever cough drug drugs dose side effects pregnancy birth death loss diet exercise doctor
nurse lawyer court rights money bank loan mortgage credit debt insurance stock share shares market business company
trade buy sell sale shop store phone address email password account login website page screen computer keyboard file
files folder error code string array loop thread function functions sort read write run build guide tutorial review
reviews step steps way ways reason reasons cause causes effect benefit benefits advantage advantages drawback rules
rule population temperature capital language currency flag anthem holiday holidays festival wedding gift gifts toy
toys red blue green black white brown gray yellow gold silver steel iron wood glass paper stone plastic leather cotton
north south east west left inside outside around rocket engine wheel brake tire oil gas fuel power energy solar wind
heat light sound noise music paint color kitchen bathroom bedroom floor wall roof door one two three four five
six seven eight nine ten hundred thousand million billion january february march april may june july august september
october november december monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter today
tomorrow yesterday tonight to for us federal social security service services license licenses government employment
department housing program programs training office forms fire police public american statistics medical syndrome
requirements requirement district act safety education veterans records grants nursing management schedule mileage
assistance care bankruptcy system prison guidelines pictures picture board maps census authority human airport highway
development emergency area regulations revenue space real building plans property report community application
committee administration licensing data hospital schools secretary treasury homeland agency agencies veteran
disability retirement welfare elderly aging adult adults teen teens youth family families marriage divorce custody
adoption parent parents grandparents treatments treating therapy surgery injury injuries wound stroke attack failure
disorder disorders deficiency allergy allergies infection infections pressure cholesterol diabetes arthritis asthma
flu sore rash lung liver kidney kidneys stomach knee shoulder hip foot feet back neck throat chest breast skull muscle
muscles joint joints damage repair replacement removal cleaning painting cooking baking buying selling hiring hunting
fishing swimming running walking riding driving flying sailing camping hiking boating gardening farming mining
drilling shipping packing moving living working teaching learning reading writing spelling speaking listening testing
parking shopping dating funeral anniversary creek falls bay harbor bridge tunnel railroad railway subway station ferry
cruise port dam lighthouse castle museum library temple cemetery farm ranch barn garage basement attic roofing
plumbing wiring heating cooling lighting furniture couch chair table bed desk lamp carpet curtain mirror towel blanket
pillow weapon gun guns knife sword bomb soldier soldiers navy marine marines slavery slave indian native tribe tribes
settlement settlers founding fathers amendment amendments constitution congress senate senator governor mayor election
voting vote votes voter ballot bill bills income earnings savings budget deficit lending loans foreclosure lease
rental landlord tenant apartment apartments mortgages refund refunds rebate payment payments check checks deposit
withdrawal fee fees fine fines charge charges crime criminal murder theft fraud jail sheriff attorney attorneys
lawsuit lawsuits trial evidence witness judge jury trademark copyright engineer engineering science physics chemistry
biology math algebra geometry equation equations theory research study studies survey surveys papers essay essays
thesis speech speeches quote quotes poem poems poetry software hardware download driver drivers printer wireless
router network networks database spreadsheet websites browser search mobile phones smartphone tablet headphones
speaker speakers battery charger cable stocks bond bonds fund funds trading investing investment dividend feed seeds
fertilizer lawn grass weed weeds rose roses oak pine maple bee bees ant ants spider spiders snake snakes lizard frog
turtle whale shark bear wolf deer rabbit squirrel mouse mice rat rats eagle owl hawk turkey duck cow cows pig pigs
sheep goat puppy kitten pet pets breakfast lunch dinner snack soup salad sauce cheesecake pie pies cookies pancakes
muffins steak pork ham bacon sausage shrimp crab lobster salmon tuna potato potatoes tomato tomatoes onion garlic
pepper carrot bean beans corn apple apples banana bananas berry berries strawberry blueberry cherry peach grape grapes
lemon shirt dress shoes boots jacket coat hat gloves jewelry ring rings necklace watch watches bag bags football
baseball basketball soccer hockey tennis wrestling boxing racing coach quarterback championship league playoffs
winning wins loser scored touchdown english french german spanish italian chinese japanese british european african
bible god jesus christ christian jewish muslim buddhist prayer faith actress band guitar drums piano album comedy
drama cartoon highest lowest biggest largest smallest tallest longest shortest oldest youngest newest latest fastest
strongest richest cheapest greatest famous popular common main major minor average total full empty heavy dark bright
clean dirty fresh frozen raw dry wet soft sharp loud quiet deep shallow wide narrow thick thin round flat straight
offices centers unemployment healthcare vehicle vehicles residential workers worker supreme storm coast sales homes
citizen citizens citizenship plate registration stadium broadway words spoke versus compared comparison reliable
reliability likely available
connection connections maximum minimum max min default timeout limit limits setting settings variable variables
environment environments proxy permission permissions memory request requests response error errors port ports
cluster container containers authentication token tokens query queries schema replica replication vitamin level levels
"""
_SHARED = word_set(
    "import export test filter format partition compile render debug parse reset backup download upload update "
    "upgrade register organize die may son on an as am so man men page type date film hotel album radio capital "
    "population language code string gas plastic solar festival mars april august september november oil rest war was "
    "will list mode information installation translation conversion migration student king wind brake note invest "
    "print stream plan scan loop are over under bad rate rates long bank team blog boot land hand arm warm find "
    "last post total ski quit index winter band golf word name show map cast sale gold wall fast state bread stage "
    "court drill gift"
)

_FOREIGN = word_set(
    # German
    "und ist nicht wie wo wann warum mit fur ein eine einen auf im dem zum zur oder ohne nach bei der das wer welche "
    "ich unter uber beste "
    # French
    "les est et pour dans que qui comment quel quelle quels quelles avec sans sur une ou aux sont ne "
    # Spanish
    "el los las por para con sin como cual cuando donde quien cuanto cuantos es un una unos hacer "
    # Portuguese
    "os um uma em com sem qual quais onde quem quando nao dos das ao fazer mais "
    # Italian
    "il gli che per senza come quale dove chi quanto della dei nel sono fare perche "
    # Dutch
    "het een voor zonder hoe wat waar wanneer wie op te van zijn "
    # Scandinavian
    "och att som pa av ar hur vad var nar hva hvor hvordan og er til "
    # Polish, Czech, Turkish, Indonesian
    "jak co gdzie kiedy kto na do nie je se ve ile icin nasil nedir kac yang dan untuk dengan dari apa bagaimana "
    "cara di adalah"
) - frozenset({"do", "come", "per", "el", "los", "las", "en", "es", "un", "van", "dan", "je", "der", "an", "a"})


@functools.cache
def _english() -> frozenset[str]:
    verbs = (group[0] for group in groups(IRREGULAR_VERBS))
    return (word_set(_ENGLISH) | word_set(VERBS) | frozenset(verbs)) - _SHARED


def language(text: str) -> Language:
    """The language of a text. Non-Latin letters make it foreign; names alone ("louvre paris") leave it unknown."""
    words = set(_WORD.findall(fold(text)))
    if not all(word.isascii() for word in words):
        return "foreign"
    english = sum(map(_is_english, words))
    foreign = len(words & _FOREIGN)
    if english > foreign:
        return "english"
    return "foreign" if foreign else "unknown"


def _is_english(word: str) -> bool:
    if not _english().isdisjoint((word, word.removesuffix("s"), word.removesuffix("es"))):
        return True
    return form(word).kind in ("past", "ing")
