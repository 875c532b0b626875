"""Recognises the kind of thing that a question asks for, and finds things of this kind in a sentence."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from itertools import islice

from websearch_gateway.text.tokens import words

_MOST_FOUND = 20
_STEM = 5
_MARKED_BY_WORDS = frozenset(("name", "reason"))
"""Kinds that are recognised by words that may also be in the question: "called", "because"."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of answer. `given` matches things of this kind; `stem` is the number of letters that identify a word."""

    name: str
    given: re.Pattern[str]
    stem: int | None = None

    def said_in(self, question: str) -> frozenset[str]:
        """The words of a question, which cannot be its answer: the stems of its words, empty for some kinds."""
        if self.stem is not None and self.name in _MARKED_BY_WORDS:
            return frozenset()
        return frozenset(word[: self.stem] for word in words(question))

    def found_in(self, text: str, asked: frozenset[str]) -> list[re.Match[str]]:
        """The things of this kind in a sentence, except those whose words are all in `asked`, a result of `said_in`."""
        found = islice(self.given.finditer(text), _MOST_FOUND)
        return [one for one in found if not asked or not asked >= {word[: self.stem] for word in words(one[0])}]


def asked_for(query: str, language: str) -> Kind | None:
    """The kind of thing that a question asks for; None if it asks for no known kind."""
    if language == "en":
        name = english_kind(query)
        return Kind(name, english_pattern(name)) if name else None
    name = kind_of(query, language)
    return Kind(name, pattern(name, language), _STEM) if name else None


def _words(spaced: str) -> frozenset[str]:
    return frozenset(spaced.split())


_QUESTION_WORD = re.compile(
    r"\b(who|whom|whose|when|where|why|"
    r"how (?:many|much|long|old|tall|high|far|deep|large|big|fast|often|wide|heavy|hot|cold|few|little|"
    r"frequently|close|soon)|how|what|which)\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_SIMPLE = {"who": "person", "whom": "person", "whose": "person", "when": "date", "where": "place", "why": "reason"}

_NOUNS = {
    "date": "year years date dates day days month months century centuries decade decades era season time period",
    "number": "percent percentage portion fraction proportion share number numbers amount population age height depth "
    "length width distance size area speed temperature rate score weight total sum value degree degrees volume "
    "capacity frequency ratio rank elevation altitude mass",
    "money": "price cost fee budget salary income revenue worth",
    "person": "person people individual individuals man men woman women president king queen prince emperor ruler "
    "leader author authors writer poet philosopher actor actress actors player players scientist scientists "
    "mathematician mathematicians physicist chemist artist singer musician composer coach architect designer founder "
    "founders inventor engineer general commander officer governor mayor director producer historian theologian pope "
    "saint bishop monk quarterback doctor professor explorer minister politician senator astronauts character",
    "place": "city cities country countries nation nations state states town towns village place places region regions "
    "continent continents county counties province provinces island islands river rivers lake sea ocean street streets "
    "location stadium venue building buildings neighborhood neighborhoods district districts port mountain mountains "
    "area areas park desert valley suburb airport university school college",
    "named": "company companies team teams organization organizations organisation party parties newspaper magazine "
    "network channel book books film movie show series album song band war battle treaty act law acts laws language "
    "languages religion nationality ethnicity group groups tribe tribes denomination dynasty award event agency church "
    "museum palace festival station conference museums faction theory theorem mission program edict empire colony",
    "name": "name names title term terms word words nickname called",
    "color": "color colour colors colours",
}
_KIND_OF_NOUN = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}
_TERMED = re.compile(
    r"\b(?:called|termed|referred to as|known as|named|nicknamed|dubbed|stand for|term for|word for)(?: as)?\W*$",
    re.IGNORECASE,
)
_ENDS_NOUN = _words(
    "is was were are did does do has have had can could will would should may might of in on at to for from by with "
    "that which who and or be been being it the a an"
)
_COPULA = _words("is was were are")
_ARTICLES = _words("the a an")
_FARTHEST_NOUN = 4


def english_kind(question: str) -> str | None:
    """The name of the kind; None if the question asks for no known kind."""
    asked = _QUESTION_WORD.search(question)
    if asked is None:
        return None
    if asked[1].lower() in ("when", "where") and (main := _QUESTION_WORD.search(asked[2])):
        asked = main  # "When it rains, what ...?"
    word, rest = asked[1].lower(), asked[2]
    if word in _SIMPLE:
        return _SIMPLE[word]
    if word == "how long":
        return "duration"
    if word == "how much":
        return "money" if re.search(r"\b(?:cost|pay|paid|spen[dt]|earn|worth|price|money|charge)", rest) else "number"
    if word.startswith("how "):
        return "number"
    if word == "how":
        return None
    return _of_noun(rest)


def _of_noun(rest: str) -> str | None:
    """The kind of the first known noun of "what city ..." or "what is the largest city ..."."""
    said = re.findall(r"[a-z]+", rest.lower())
    if said and said[0] in _COPULA:
        if _TERMED.search(rest):
            return "name"
        said = [one for one in said[1:] if one not in _ARTICLES]
    for one in said[:_FARTHEST_NOUN]:
        if one in _ENDS_NOUN:
            break
        if one in _KIND_OF_NOUN:
            return _KIND_OF_NOUN[one]
    return "name" if _TERMED.search(rest) else None


@functools.cache
def english_pattern(kind: str) -> re.Pattern[str]:
    """A pattern that matches things of this kind."""
    flags = re.IGNORECASE if kind in ("date", "number", "money", "duration", "reason", "color") else 0
    return re.compile(_LOOKS[kind], flags)


_NUMBER = (
    r"(?<![\w-])[$€£¥]?\d[\d.,]*(?:%|\b)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|"
    r"fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    r"hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|twice|thirds?|quarters?|fifths?|tenths?|both|"
    r"single|none|once|several|couple|majority|most)\b"
)
_NAME = (
    r"(?<![.!?]\s)(?<!^)(?<![\w'’-])(?!(?:The|A|An|In|On|At|I)\b)[A-ZÀ-Þ][\w.'’-]*\w"
    r"(?:\s(?:(?:of|the|de|von|and)\s){0,2}[A-ZÀ-Þ][\w.'’-]*)*|"
    r"^(?!(?:The|A|An|In|On|At|It|Its|He|She|They|His|Her|Their|This|These|That|Those|Such|There|After|Before|During|"
    r"While|When|Where|Although|Though|However|For|From|By|With|As|If|Since|Some|Many|Most|Other|Others|One|Two|Three|"
    r"All|Both|Each|Every|Another|Because|But|And|Or|So|To|Of|Under|Over|Among|Between|Until|Despite|Following|"
    r"According|Also|Then|Thus|Therefore|Today|Early|Late|Later|First|Second|Once|Only|Even|Not|No|We|You|I|Our|What|"
    r"Which|Who|How|Why|Upon|Through|Throughout|Several|Various|Like|Unlike|Further|Furthermore|Moreover|Instead|"
    r"Here|Being|Having|Within|Without|Near|More|Less|Much|Few|Any|Same|Additionally|Currently|Originally)\b)"
    r"[A-ZÀ-Þ][\w.'’-]+"
)
_LOOKS = {
    "person": _NAME,
    "place": _NAME,
    "named": _NAME,
    "name": rf"{_NAME}|[\"“„«‘']\w[^\"”“»’']*",
    "number": _NUMBER,
    "money": r"[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:%|(?:thousand|million|billion|trillion)?\s?(?:dollars?|euros?|pounds?|"
    r"cents?|yen|francs?|crowns?|usd|eur))|\b\d[\d.,]*\b",
    "duration": rf"(?:{_NUMBER}|\ban?)\W+(?:\w+\W+){{0,3}}?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|"
    r"decades?|centur(?:y|ies)|nights?|generations?|miles?|km|kilomet\w+|met(?:er|re)s?|feet|foot|inch(?:es)?|cm|mm|"
    r"yards?)\b|\b(?:until|from \d|since)\b",
    "date": r"\b\d{3,4}s?\b|\b(?:jan(?:uary)?|feb(?:ruary)?|march|april|may(?= \d)|june|july|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|monday|tuesday|wednesday|thursday|friday|saturday|"
    r"sunday|century|centuries|decades?|spring|summer|autumn|winter)\b",
    "reason": r"\b(?:because|due to|since|as a result|in order|caused?|reasons?|so that|therefore|thus|to \w+|owing|"
    r"led to|thanks to|hence)\b",
    "color": r"\b(?:red|blue|green|yellow|black|white|orange|purple|violet|brown|gr[ae]y|gold|golden|silver|pink|"
    r"scarlet|crimson|turquoise|colou?rless|pale)\b",
}

_ASKED: dict[str, dict[str, str]] = {
    "de": {
        "date": r"wann\b|welche[nmrs]? (?:jahr|tag|monat|jahrhundert|jahrzehnt|datum|zeit)",
        "number": r"wie ?(?:lange|viele?n?|hoch|groß|alt|weit|oft|schnell|tief|lang|breit|schwer)\b|"
        r"welche[nmrs]? (?:anteil|"
        r"prozent|anzahl|zahl|alter|höhe|menge)",
        "person": r"we(?:r|n|m|ssen)\b|welche[nmrs]? (?:\w+ )?(?:person|mann|frau|präsident|könig|kaiser|"
        r"spieler|autor|"
        r"wissenschaftler|mathematiker|herrscher|schauspieler|sänger|trainer|architekt|gouverneur|general|philosoph)",
        "place": r"(?:wo|woher|wohin)\b|welche[nmrs]? (?:\w+ )?(?:stadt|land|ländern|staat|ort|region|fluss|insel|"
        r"kontinent|straße|gebäude|universität|schule)",
        "reason": r"(?:warum|weshalb|wieso)\b|aus welche[mn] gr[uü]nd",
        "name": r"(?:heißt|hieß|genannt|bezeichnet|name|begriff|titel)\b",
    },
    "es": {
        "date": r"cuándo\b|(?:qué|cuál) (?:año|fecha|día|mes|siglo|década|época)",
        "number": r"cuánt[oa]s?\b|qué (?:porcentaje|proporción|distancia|edad|cantidad|número|altura)",
        "person": r"quién(?:es)?\b|qué (?:persona|presidente|rey|reina|emperador|jugador|autor|científico|matemático|"
        r"gobernante|actor|cantante|entrenador|general|filósofo)",
        "place": r"dónde\b|qué (?:ciudad|país|estado|lugar|región|río|isla|continente|calle|edificio|"
        r"universidad|escuela)",
        "reason": r"por qué\b",
        "name": r"(?:llama\w*|nombre|término|conoce|denomina\w*|título)\b",
    },
    "ru": {
        "date": r"(?<!, )когда\b|как(?:ом|ой|ого|ое|ую) (?:год|век|ден|дат|месяц|десятилет)",
        "number": r"скольк\w+|как долго|как(?:ой|ая|ую|ое) (?:процент|дол[яю]|част|высот|возраст|количеств|"
        r"расстоян|числ)",
        "person": r"(?:кто|кого|кому|кем|чь[яюеё]|чьим?)\b|как(?:ой|ого|ая) (?:человек|президент|корол|"
        r"император|игрок|"
        r"автор|учён|учен|математик|правител|актёр|актер|певиц|тренер|генерал)",
        "place": r"(?:где|куда|откуда)\b|как(?:ом|ой|ая|ую) (?:город|стран|штат|мест|регион|рек|остров|континент|улиц|"
        r"университет|школ)",
        "reason": r"(?:почему|зачем|отчего)\b|по какой причине",
        "name": r"(?:называ\w+|назван\w*|имя|термин\w*|известн\w+)\b",
    },
    "el": {
        "date": r"πότε|ποι[οα]ν? (?:έτος|χρον|ημερομηνία|αιώνα|δεκαετία|μήνα|ημέρα|μέρα)",
        "number": r"πόσ\w+|ποιο (?:ποσοστό|μέρος|ύψος|αριθμ)",
        "person": r"ποι(?:ος|ον|οι|ους|ου|ανού)\b",
        "place": r"πού\b|ποι[αο]ν? (?:πόλη|χώρα|πολιτεία|μέρος|περιοχή|ποτάμι|νησί|ήπειρο|δρόμο|πανεπιστήμιο|σχολείο)",
        "reason": r"γιατί|ποιο λόγο",
        "name": r"(?:ονομ\w+|όνομα|όρος|λέγεται|αποκαλ\w+|γνωστ\w+)\b",
    },
    "tr": {
        "date": r"ne zaman\b|hangi (?:yıl|tarih|gün|ay\b|yüzyıl|dönem)|kaç yılında",
        "number": r"kaç\w*|ne kadar\w*|yüzde kaç|hangi oran",
        "person": r"kim(?:dir|di|in|i|ler|lerdi|e|den)?\b",
        "place": r"nere\w+|hangi (?:şehir|ülke|eyalet|bölge|nehir|ada|kıta|üniversite|okul|kent|sokak)",
        "reason": r"neden\b|niçin\b|niye\b",
        "name": r"(?:adı|ismi|denir|bilinir|adlandır\w+|adla|terim\w*)\b",
    },
    "vi": {
        "date": r"khi nào|(?:năm|ngày|thế kỷ|tháng|thập kỷ|thời gian) (?:nào|mấy|bao nhiêu)",
        "number": r"bao nhiêu|bao lâu|mấy\b|bao xa|bao cao",
        "person": r"\bai\b|(?:người|vua|tổng thống|nhà khoa học|cầu thủ|tác giả|hoàng đế) nào",
        "place": r"ở đâu|đâu\b|(?:thành phố|nước|quốc gia|bang|nơi|vùng|sông|đảo|châu lục|đường|trường|đại học) nào",
        "reason": r"tại sao|vì sao|lý do",
        "name": r"(?:tên|gọi là|thuật ngữ|gọi)\b",
    },
    "ro": {
        "date": r"(?<!, )(?<!atunci )când\b|(?:în|din|ce) (?:ce )?(?:an|secol|dată|zi|lună|deceniu|"
        r"perioadă)\b|la ce dată",
        "number": r"câ(?:t|ți|ţi|te|tă)\b|ce (?:procent|proporție|distanță|vârstă|număr|înălțime)",
        "person": r"cine\b|cui\b|ce (?:persoană|președinte|rege|împărat|jucător|autor|savant|matematician|"
        r"conducător|actor)",
        "place": r"unde\b|ce (?:oraș|țară|stat|loc|regiune|râu|insulă|continent|stradă|universitate|școală)",
        "reason": r"de ce\b|din ce (?:motiv|cauză)",
        "name": r"(?:nume\w*|numit\w*|numește|termen\w*|cunoscut\w*|cheamă)\b",
    },
    "fr": {
        "date": r"quand\b|quelle? (?:année|date|jour|mois|siècle|décennie|époque)",
        "number": r"combien\b|quel(?:le)? (?:pourcentage|proportion|distance|âge|nombre|hauteur)",
        "person": r"\bqui\b|quelle? (?:personne|président|roi|reine|empereur|joueur|auteur|acteur)",
        "place": r"où\b|quelle? (?:ville|pays|état|lieu|région|fleuve|île|continent|rue|université|école)",
        "reason": r"pourquoi",
        "name": r"(?:appel\w+|nom|terme|nomm\w+)\b",
    },
    "it": {
        "date": r"quando\b|(?:che|quale) (?:anno|data|giorno|mese|secolo|decennio)",
        "number": r"quant[oaie]\b|(?:che|quale) percentuale",
        "person": r"\bchi\b",
        "place": r"dove\b|(?:che|quale) (?:città|paese|stato|luogo|regione|fiume|isola|continente|via|"
        r"università|scuola)",
        "reason": r"perché",
        "name": r"(?:chiama\w*|nome|termine)\b",
    },
    "pt": {
        "date": r"quando\b|(?:que|qual) (?:ano|data|dia|mês|século|década)",
        "number": r"quant[oa]s?\b|(?:que|qual) (?:porcentagem|percentagem)",
        "person": r"\bquem\b",
        "place": r"onde\b|(?:que|qual) (?:cidade|país|estado|lugar|região|rio|ilha|continente|rua|"
        r"universidade|escola)",
        "reason": r"por ?qu[eê]\b",
        "name": r"(?:chama\w*|nome|termo)\b",
    },
    "nl": {
        "date": r"wanneer\b|welk[e]? (?:jaar|datum|dag|maand|eeuw)",
        "number": r"hoeveel\b|hoe (?:hoog|groot|oud|ver|vaak|snel|diep)",
        "person": r"\bwie\b",
        "place": r"waar\b|welke? (?:stad|land|staat|plaats|regio|rivier|eiland|straat|universiteit|school)",
        "reason": r"waarom",
        "name": r"(?:heet|noemt|genoemd|naam|term)\b",
    },
    "ar": {
        "date": r"متى|(?:أي|اي) (?:عام|سنة|تاريخ|يوم|قرن|شهر|عقد)",
        "number": r"\bكم\b|المدة|ما (?:عدد|نسبة|مقدار|النسبة)|مسافة",
        "reason": r"لماذا|ما سبب|السبب",
    },
    "hi": {
        "date": r"कब|किस (?:वर्ष|साल|तारीख|दिन|सदी|शताब्दी|सन|महीने|दशक)|कौन ?से (?:वर्ष|साल)",
        "number": r"कितन|कब तक|कितना प्रतिशत",
        "reason": r"क्यों|किस कारण|क्या कारण",
    },
    "th": {
        "date": r"เมื่อไร|เมื่อไหร่|เมื่อใด|ปีใด|ปีไหน|ปีอะไร|วันที่เท่า|วันใด|วันไหน|ศตวรรษใด|ศตวรรษที่เท่า|"
        r"ช่วงเวลาใด",
        "number": r"เท่าไร|นานเท่า|เท่าใด|เท่าไหร่|กี่|จำนวน",
        "reason": r"ทำไม|เพราะเหตุใด|เหตุใด|เพราะอะไร|สาเหตุ",
    },
    "zh": {
        "date": r"什么时候|何时|哪一?年|哪一?天|几月|哪个(?:世纪|年代|月|日期)|什么(?:时间|日期)|几世纪",
        "number": r"多少|多久|多长时间|几[个次名位岁分]|多[高大远深长快]|百分之几|多大",
        "reason": r"为什么|为何|原因|为了什么",
    },
    "ja": {"date": r"いつ|何年|何月|何日", "number": r"いくつ|何[人個回歳]|どのくらい", "reason": r"なぜ|どうして"},
    "ko": {"date": r"언제|몇 ?년", "number": r"얼마|몇", "reason": r"왜"},
}
"""For each language its kinds with the words that ask for them; the first such word in a question decides."""

_NUMBER_WORDS = {
    "de": "zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|vierzig|fünfzig|hundert\\w*|"
    "tausend\\w*|millionen?|milliarden?|hälfte|halb\\w*|dutzend\\w*|drittel|viertel|beide\\w*|doppelt\\w*|mehrheit",
    "es": "dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta|cien\\w*|mil|miles|"
    "millón|millones|mitad|docenas?|tercio|cuarta|ambos|doble|mayoría",
    "ru": "дв[аеу]\\w*|три|тр[её]\\w*|четыр\\w+|пят\\w+|шест\\w+|сем[ьи]|восем\\w*|девят\\w+|десят\\w+|"
    "двадцат\\w+|сот\\w*|"
    "сто|тысяч\\w*|миллион\\w*|миллиард\\w*|половин\\w+|треть\\w*|четверт\\w+|полтора|оба|обе|большинств\\w+",
    "el": "δύο|τρεις|τρία|τέσσερις|τέσσερα|πέντε|έξι|επτά|οκτώ|εννέα|δέκα|δώδεκα|είκοσι|εκατό\\w*|χίλι\\w+|χιλιάδες|"
    "εκατομμύρι\\w+|δισεκατομμύρι\\w+|μισ\\w+|τρίτο|τέταρτο|διπλάσι\\w+",
    "tr": "iki|üç|dört|beş|altı|yedi|sekiz|dokuz|on|yirmi|otuz|kırk|elli|yüz|bin|milyon\\w*|milyar\\w*|"
    "yarı\\w*|çeyrek|"
    "düzine\\w*|çoğu",
    "vi": "hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|trăm|nghìn|ngàn|triệu|tỷ|nửa|đôi|phần trăm",
    "ro": "doi|două|trei|patru|cinci|șase|șapte|opt|nouă|zece|doisprezece|douăzeci|sute|sută|mii|mie|milioane|"
    "miliarde|"
    "jumătate|treime|sfert|ambele",
    "fr": "deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|vingt|trente|cent|mille|millions?|milliards?|"
    "moitié|tiers|quart|double",
    "it": "due|tre|quattro|cinque|sei|sette|otto|nove|dieci|dodici|venti|cento|mille|mila|milion[ei]|miliard[oi]|metà",
    "pt": "dois|duas|três|quatro|cinco|seis|sete|oito|nove|dez|doze|vinte|cem|mil|milhão|milhões|metade|dobro",
    "nl": "twee|drie|vier|vijf|zes|zeven|acht|negen|tien|twaalf|twintig|honderd\\w*|duizend\\w*|miljoen\\w*|helft",
    "ar": "واحد\\w*|اثن\\w+|ثلاث\\w*|أربع\\w*|خمس\\w*|ست\\w?|سبع\\w*|ثمان\\w*|تسع\\w*|عشر\\w*|مئ\\w+|مائ\\w+|"
    "[أآ]لاف|ألف|مليون|"
    "ملايين|مليار\\w*|نصف|ثلث|ربع",
    "hi": "दो|तीन|चार|पांच|पाँच|छह|छः|सात|आठ|नौ|दस|बारह|बीस|सौ|हज़ार|हजार|लाख|करोड़|मिलियन|बिलियन|अरब|आधा|आधे|"
    "आधी|तिहाई|दोनों",
    "th": "หนึ่ง|สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน|ครึ่ง",
    "zh": "[一二两三四五六七八九十百千万亿兩半]",
    "ja": "[一二三四五六七八九十百千万億]",
    "ko": "[일이삼사오육칠팔구십백천만억]",
}
_TIMES = {
    "de": "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|jahrhundert\\w*|"
    "jahrzehnt\\w*|frühling|sommer|herbst|winter|\\w+tag",
    "es": "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|siglos?|décadas?|"
    "primavera|verano|otoño|invierno|lunes|martes|miércoles|jueves|viernes|sábado|domingo",
    "ru": "январ\\w+|феврал\\w+|март\\w?|апрел\\w+|ма[йяе]|июн\\w|июл\\w|август\\w?|\\w+ябр[ьяе]|век\\w*|столети\\w+|"
    "десятилети\\w+|весн\\w+|лет[оа]м?|осен\\w+|зим\\w+",
    "el": "\\w*ιαν?ου[αά]ρ\\w*|φεβρου\\w*|μάρτι\\w+|μαρτίου|απρ[ιί]λ\\w+|μα[ΐι]ου|μάιο\\w*|ιο[υύ]ν\\w*|ιο[υύ]λ\\w*|"
    "α[υύ]γο[υύ]στ\\w+|\\w+[εέ]μβρ\\w+|οκτ[ωώ]βρ\\w+|αι[ωώ]ν\\w+|δεκαετία\\w*|καλοκαίρι\\w*|χειμών\\w*",
    "tr": "ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık|yüzyıl\\w*|yıl\\w+|"
    "ilkbahar|yaz|kış",
    "vi": "tháng|thế kỷ|thập kỷ|thập niên|mùa",
    "ro": "ianuarie|februarie|martie|aprilie|mai|iunie|iulie|august|septembrie|octombrie|noiembrie|decembrie|"
    "secol\\w*|"
    "deceni\\w+|anii|primăvar\\w+|var[aă]|toamn\\w+|iarn\\w+",
    "fr": "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|siècles?|décennies?",
    "it": "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|secol[oi]",
    "pt": "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro|séculos?|décadas?",
    "nl": "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december|eeuw\\w*",
    "ar": "يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|القرن|قرن|القرون|عام|سنة|العقد",
    "hi": "जनवरी|फ़?रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर|शताब्दी|सदी|दशक",
    "th": "มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม|"
    "ศตวรรษ|ทศวรรษ|ปี ?ค\\.ศ",
    "zh": "世纪|世紀|年代|\\d{1,4} ?[年月日]|[〇零一二三四五六七八九十]{2,8}[年月日]",
    "ja": "世紀|年代|\\d{1,4} ?[年月日]",
    "ko": "세기|\\d{1,4} ?[년월일]",
}
_REASONS = {
    "de": "weil|denn|da|wegen|aufgrund|damit|um|dadurch|deshalb|daher|grund|gründe\\w*|infolge|somit",
    "es": "porque|debido|ya que|pues|causa|para|fin de|puesto que|razón|razones|motivo|por lo que|gracias",
    "ru": "потому|так как|из-за|поскольку|чтобы|благодаря|в связи|причин\\w+|вследствие|поэтому|ибо|в результате",
    "el": "επειδή|λόγω|διότι|εξαιτίας|για να|καθώς|αιτία|λόγο\\w*|χάρη",
    "tr": "çünkü|nedeniyle|nedeni|dolayı|için|sayesinde|yüzünden|sebebi\\w*|ötürü|amacıyla",
    "vi": "vì|bởi|do|nhằm|để|nên|lý do|nguyên nhân|nhờ",
    "ro": "pentru că|deoarece|fiindcă|cauza|datorită|pentru a|întrucât|motiv\\w*|ca urmare|astfel",
    "fr": "parce que|car|en raison|afin|pour|puisque|cause|grâce|raison",
    "it": "perché|poiché|a causa|per|affinché|dato che|grazie|motivo",
    "pt": "porque|pois|devido|para|causa|já que|graças|motivo|razão",
    "nl": "omdat|want|vanwege|doordat|zodat|om|wegens|reden",
    "ar": "لأن\\w*|بسبب|نتيجة|من أجل|لكي|كي|حيث|نظرا|سبب\\w*|لذلك",
    "hi": "क्योंकि|कारण|ताकि|के लिए|इसलिए|वजह|चूंकि",
    "th": "เพราะ|เนื่องจาก|เพื่อ|ทำให้|จึง|สาเหตุ|เหตุผล",
    "zh": "因为|由于|因此|以便|为了|导致|使得|原因|所以",
    "ja": "ため|から|ので|理由|原因",
    "ko": "때문|위해|이유|원인|므로",
}
_FOREIGN_NAME = (
    r"(?<![.!?…]\s)(?<!^)(?<![\w'’-])[A-ZÀ-ÞĀ-ŽȘȚА-ЯΑ-ΩΆ-Ώ][\w'’-]*\w"
    r"(?:\s(?:(?:von|van|de|del|der|la|du|di|ibn|al|of|the|și|y|και)\s){0,2}[A-ZÀ-ÞĀ-ŽȘȚА-ЯΑ-ΩΆ-Ώ][\w'’-]*)*|"
    r"^[A-ZÀ-ÞĀ-ŽȘȚА-ЯΑ-ΩΆ-Ώ][\w'’-]+\s[A-ZÀ-ÞĀ-ŽȘȚА-ЯΑ-ΩΆ-Ώ][\w'’-]+"
)
_GERMAN_NAME = (
    r"(?<![\w'’-])[A-ZÄÖÜ][\w'’-]+\s(?:(?:von|van|de|der|du|ibn)\s){0,2}[A-ZÄÖÜ][\w'’-]+|"
    r"(?:(?<=\bin )|(?<=\bvon )|(?<=\bnach )|(?<=\bdurch )|(?<=\baus )|(?<=\bbei ))[A-ZÄÖÜ][\w'’-]+"
)
"""All German nouns are capitalised: two in a row, or one after a preposition without an article, are a name."""
_QUOTED = r"[\"“„«‘'「『][^\"”“»’'」』]{1,80}[\"”“»’'」』]"
_CASED = frozenset(("person", "place", "name"))


def _pattern_of(kind: str, language: str) -> str:
    joined = "" if language in ("th", "zh", "ja", "ko") else r"\b"
    end = "" if language in ("hi",) else joined

    def words(table: dict[str, str]) -> str:
        return rf"{joined}(?:{table[language]}){end}" if language in table else r"\A(?!)"

    digits = r"\d[\d.,]*"
    if kind == "number":
        return rf"{digits}|{words(_NUMBER_WORDS)}"
    if kind == "date":
        return rf"(?<!\d)\d{{3,4}}(?!\d)|\d{{1,2}}\s*[./]\s*\d|{words(_TIMES)}"
    if kind == "reason":
        return words(_REASONS)
    if kind == "name":
        return rf"{_QUOTED}|{joined}(?:{_ASKED[language][kind]})"
    return _GERMAN_NAME if language == "de" else _FOREIGN_NAME


@functools.cache
def _asking(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    kinds = _ASKED.get(language, {})
    starts = "" if language in ("th", "zh", "ja", "ko", "hi", "ar") else r"\b"
    return tuple((kind, re.compile(rf"{starts}(?:{asked})", re.IGNORECASE)) for kind, asked in kinds.items())


def kind_of(question: str, language: str) -> str | None:
    """The kind of thing that a question asks for first; None if it asks for no known kind."""
    found = ((asked.search(question), kind) for kind, asked in _asking(language))
    return min(((one.start(), kind) for one, kind in found if one), default=(0, None), key=lambda each: each[0])[1]


@functools.cache
def pattern(kind: str, language: str) -> re.Pattern[str]:
    """A pattern that matches things of this kind in a language."""
    return re.compile(_pattern_of(kind, language), 0 if kind in _CASED else re.IGNORECASE)
