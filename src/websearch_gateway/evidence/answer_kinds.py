"""Recognises questions that ask for a number or a date, and finds these in a sentence.

Other kinds of answers are not recognised: a name is in nearly every sentence.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from itertools import islice

from websearch_gateway.base import words

_MOST_FOUND = 20
_STEM = 5
_OTHER = "other"  # after "date" and "number" in the table: "what year" asks for a date

_WORDS = {
    "en": (
        r"when\b(?!.*\b(?:what|which|who|how)\b)|(?:what|which) (?:(?:is|was|were) )?(?:the )?(?:\w+ )?(?:year|"
        r"date|day|month|century|decade|era|season)s?\b",
        r"how (?:many|much|long|old|tall|high|far|deep|large|big|fast|wide|heavy|hot|cold|few|little)\b|(?:what|"
        r"which) (?:(?:is|was|were) )?(?:the )?(?:\w+ )?(?:percent(?:age)?|portion|fraction|proportion|share|"
        r"number|amount|population|age|height|depth|length|width|distance|speed|temperature|rate|weight|total|"
        r"price|cost|fee|budget|salary|revenue)s?\b",
        r"who|whom|whose|where|why|what|which|how",
        r"jan(?:uary)?|feb(?:ruary)?|march|april|may(?= \d)|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
        r"nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|centur(?:y|ies)|decades?|spring|"
        r"summer|autumn|winter|\d{3,4}s",
        r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|"
        r"nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|(?:m|b|tr)illions?|"
        r"dozens?|half|twice|thirds?|quarters?|fifths?|tenths?|both|single|none|once|several|couple|majority|most|"
        r"an? (?:second|minute|hour|day|week|month|year|decade|century)|hours|days|weeks|months|years|decades|"
        r"centuries",
    ),
    "de": (
        r"wann\b|welche[nmrs]? (?:jahr|tag|monat|jahrhundert|jahrzehnt|datum|zeit)",
        r"wie ?(?:lange|viele?n?|hoch|groß|alt|weit|oft|schnell|tief|lang|breit|schwer)\b|welche[nmrs]? (?:anteil|"
        r"prozent|anzahl|zahl|alter|höhe|menge)",
        r"we(?:r|n|m|ssen)\b|wo(?:her|hin)?\b|warum|weshalb|wieso",
        r"januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|jahrhundert\w*|"
        r"jahrzehnt\w*|frühling|sommer|herbst|winter|\w+tag",
        r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|vierzig|fünfzig|hundert\w*|"
        r"tausend\w*|millionen?|milliarden?|hälfte|halb\w*|dutzend\w*|drittel|viertel|beide\w*|doppelt\w*|mehrheit",
    ),
    "es": (
        r"cuándo\b|(?:qué|cuál) (?:año|fecha|día|mes|siglo|década|época)",
        r"cuánt[oa]s?\b|qué (?:porcentaje|proporción|distancia|edad|cantidad|número|altura)",
        r"quién|dónde|por qué",
        r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|siglos?|"
        r"décadas?|primavera|verano|otoño|invierno|lunes|martes|miércoles|jueves|viernes|sábado|domingo",
        r"dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta|cien\w*|mil|miles|"
        r"millón|millones|mitad|docenas?|tercio|cuarta|ambos|doble|mayoría",
    ),
    "ru": (
        r"(?<!, )когда\b|как(?:ом|ой|ого|ое|ую) (?:год|век|ден|дат|месяц|десятилет)",
        r"скольк\w+|как долго|как(?:ой|ая|ую|ое) (?:процент|дол[яю]|част|высот|возраст|количеств|расстоян|числ)",
        r"кто|кого|кому|кем|чь[яюеё]|где|куда|откуда|почему|зачем",
        r"январ\w+|феврал\w+|март\w?|апрел\w+|ма[йяе]|июн\w|июл\w|август\w?|\w+ябр[ьяе]|век\w*|столети\w+|"
        r"десятилети\w+|весн\w+|лет[оа]м?|осен\w+|зим\w+",
        r"дв[аеу]\w*|три|тр[её]\w*|четыр\w+|пят\w+|шест\w+|сем[ьи]|восем\w*|девят\w+|десят\w+|двадцат\w+|сот\w*|"
        r"сто|тысяч\w*|миллион\w*|миллиард\w*|половин\w+|треть\w*|четверт\w+|полтора|оба|обе|большинств\w+",
    ),
    "el": (
        r"πότε|ποι[οα]ν? (?:έτος|χρον|ημερομηνία|αιώνα|δεκαετία|μήνα|ημέρα|μέρα)",
        r"πόσ\w+|ποιο (?:ποσοστό|μέρος|ύψος|αριθμ)",
        r"ποι(?:ος|ον|οι|ους|ου|ανού)|πού|γιατί",
        r"\w*ιαν?ου[αά]ρ\w*|φεβρου\w*|μάρτι\w+|μαρτίου|απρ[ιί]λ\w+|μα[ΐι]ου|μάιο\w*|ιο[υύ]ν\w*|ιο[υύ]λ\w*|"
        r"α[υύ]γο[υύ]στ\w+|\w+[εέ]μβρ\w+|οκτ[ωώ]βρ\w+|αι[ωώ]ν\w+|δεκαετία\w*|καλοκαίρι\w*|χειμών\w*",
        r"δύο|τρεις|τρία|τέσσερις|τέσσερα|πέντε|έξι|επτά|οκτώ|εννέα|δέκα|δώδεκα|είκοσι|εκατό\w*|χίλι\w+|χιλιάδες|"
        r"εκατομμύρι\w+|δισεκατομμύρι\w+|μισ\w+|τρίτο|τέταρτο|διπλάσι\w+",
    ),
    "tr": (
        r"ne zaman\b|hangi (?:yıl|tarih|gün|ay\b|yüzyıl|dönem)|kaç yılında",
        r"kaç\w*|ne kadar\w*|yüzde kaç|hangi oran",
        r"kim|nere|neden|niçin|niye",
        r"ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık|yüzyıl\w*|yıl\w+|ilkbahar|"
        r"yaz|kış",
        r"iki|üç|dört|beş|altı|yedi|sekiz|dokuz|on|yirmi|otuz|kırk|elli|yüz|bin|milyon\w*|milyar\w*|yarı\w*|"
        r"çeyrek|düzine\w*|çoğu",
    ),
    "vi": (
        r"khi nào|(?:năm|ngày|thế kỷ|tháng|thập kỷ|thời gian) (?:nào|mấy|bao nhiêu)",
        r"bao nhiêu|bao lâu|mấy\b|bao xa|bao cao",
        r"ai\b|ở đâu|tại sao|vì sao",
        r"tháng|thế kỷ|thập kỷ|thập niên|mùa",
        r"hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|trăm|nghìn|ngàn|triệu|tỷ|nửa|đôi|phần trăm",
    ),
    "ro": (
        r"(?<!, )(?<!atunci )când\b|(?:în|din|ce) (?:ce )?(?:an|secol|dată|zi|lună|deceniu|perioadă)\b|la ce dată",
        r"câ(?:t|ți|ţi|te|tă)\b|ce (?:procent|proporție|distanță|vârstă|număr|înălțime)",
        r"cine|cui|unde|de ce\b",
        r"ianuarie|februarie|martie|aprilie|mai|iunie|iulie|august|septembrie|octombrie|noiembrie|decembrie|"
        r"secol\w*|deceni\w+|anii|primăvar\w+|var[aă]|toamn\w+|iarn\w+",
        r"doi|două|trei|patru|cinci|șase|șapte|opt|nouă|zece|doisprezece|douăzeci|sute|sută|mii|mie|milioane|"
        r"miliarde|jumătate|treime|sfert|ambele",
    ),
    "ar": (
        r"متى|(?:أي|اي) (?:عام|سنة|تاريخ|يوم|قرن|شهر|عقد)",
        r"\bكم\b|المدة|ما (?:عدد|نسبة|مقدار|النسبة)|مسافة",
        r"لماذا|ما سبب|السبب",
        r"يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|القرن|قرن|القرون|عام|سنة|"
        r"العقد",
        r"واحد\w*|اثن\w+|ثلاث\w*|أربع\w*|خمس\w*|ست\w?|سبع\w*|ثمان\w*|تسع\w*|عشر\w*|مئ\w+|مائ\w+|[أآ]لاف|ألف|مليون|"
        r"ملايين|مليار\w*|نصف|ثلث|ربع",
    ),
    "hi": (
        r"कब|किस (?:वर्ष|साल|तारीख|दिन|सदी|शताब्दी|सन|महीने|दशक)|कौन ?से (?:वर्ष|साल)",
        r"कितन|कब तक|कितना प्रतिशत",
        r"क्यों|किस कारण|क्या कारण",
        r"जनवरी|फ़?रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर|"
        r"शताब्दी|सदी|दशक",
        r"दो|तीन|चार|पांच|पाँच|छह|छः|सात|आठ|नौ|दस|बारह|बीस|सौ|हज़ार|हजार|लाख|करोड़|मिलियन|बिलियन|अरब|आधा|आधे|आधी|"
        r"तिहाई|दोनों",
    ),
    "th": (
        r"เมื่อไร|เมื่อไหร่|เมื่อใด|ปีใด|ปีไหน|ปีอะไร|วันที่เท่า|วันใด|วันไหน|ศตวรรษใด|ศตวรรษที่เท่า|ช่วงเวลาใด",
        r"เท่าไร|นานเท่า|เท่าใด|เท่าไหร่|(?<!เ)กี่|จำนวน",
        r"ทำไม|เพราะ|เหตุใด|สาเหตุ",
        r"มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม|"
        r"ศตวรรษ|ทศวรรษ|ปี ?ค\.ศ",
        r"หนึ่ง|สอง|สาม(?!ารถ)|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน(?!ธ)|หมื่น|แสน|ล้าน|ครึ่ง",
    ),
    "zh": (
        r"什么时候|何时|哪一?年|哪一?天|几月|哪个(?:世纪|年代|月|日期)|什么(?:时间|日期)|几世纪",
        r"多少|多久|多长时间|几[个次名位岁分]|多[高大远深长快]|百分之几|多大",
        r"为什么|为何|原因|为了什么",
        r"世纪|世紀|年代|\d{1,4} ?[年月日]|[〇零一二三四五六七八九十]{2,8}[年月日]",
        r"[一二两三四五六七八九十百千万亿兩半]",
    ),
}
"""For each language what asks for a date, for a number, for other things; the words of dates, and of numbers."""

_UNSPACED = frozenset(("th", "zh"))
_WITHOUT_EDGES = frozenset(("ar", "hi"))
"""Languages whose words have vowel signs at an edge, or words of a letter in front."""
_DATE = r"(?<![\d.,])(?:\d{4}(?![\d%]|[.,]\d)|\d{3}(?=s?\s*(?:[),.;:](?!\d)|$|AD\b|BC)))|\d{1,2}\s*[./]\s*\d"
_NUMBER = r"\d[\d.,]*"


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of thing that a question asks for: "date" or "number".

    `asking` are the words that ask for it ("how many"), and `pattern` matches things of this kind. `repeated` are
    the beginnings of the question's words, which cannot be its answer.
    """

    name: str
    asking: str
    pattern: re.Pattern[str]
    repeated: frozenset[str]

    def found_in(self, text: str) -> list[re.Match[str]]:
        """The things of this kind in a sentence, except those of which the question has all words."""
        matches = islice(self.pattern.finditer(text), _MOST_FOUND)
        return [match for match in matches if not self.repeated >= _beginnings(match[0])]


def asked_for(query: str, language: str) -> Kind | None:
    """The kind of thing that a question asks for first; None if it asks for neither."""
    if language not in _WORDS:
        return None
    asking, things = _patterns(language)
    matches = [
        (name, match) for name, pattern in asking.items() if (match := pattern.search(query))
    ]
    if not matches:
        return None
    name, first = min(matches, key=lambda match: match[1].start())
    if name == _OTHER:
        return None
    return Kind(name, first[0], things[name], _beginnings(query))


def _beginnings(text: str) -> frozenset[str]:
    """The beginnings of the words of a text, which their forms share."""
    return frozenset(word[:_STEM] for word in words(text))


@functools.cache
def _patterns(language: str) -> tuple[dict[str, re.Pattern[str]], dict[str, re.Pattern[str]]]:
    """The patterns that ask for each kind of thing, and those of the things."""
    edge = "" if language in _UNSPACED else r"\b"
    start = "" if language in _WITHOUT_EDGES else edge
    end = "" if language == "hi" else edge
    *questions, dates, numbers = _WORDS[language]
    asking = [re.compile(f"{start}(?:{question})", re.IGNORECASE) for question in questions]
    things = {
        "date": re.compile(rf"{_DATE}|{edge}(?:{dates}){end}", re.IGNORECASE),
        "number": re.compile(rf"{_NUMBER}|{edge}(?:{numbers}){end}", re.IGNORECASE),
    }
    return dict(zip(("date", "number", _OTHER), asking, strict=True)), things
