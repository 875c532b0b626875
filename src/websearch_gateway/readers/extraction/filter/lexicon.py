"""Hints in the class names and the words of a block, as bits."""

from __future__ import annotations

import re
from functools import lru_cache

TAGS = (
    *("p", "div", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "dt", "dd", "blockquote"),
    *("figcaption", "button", "section", "article", "main", "header", "footer", "nav", "aside", "form", "ul"),
    *("ol", "dl", "table", "tr", "details", "summary", "noscript", "figure", "body", "fieldset", "address"),
    *("legend", "caption", "center", "label"),
)
"""The container tags that the filter distinguishes, by index."""

WITHIN = (
    *("nav", "header", "footer", "aside", "main", "article", "section", "form", "table", "ul", "ol", "dl", "pre"),
    *("blockquote", "noscript", "figure", "button"),
)
"""The tags that apply to everything inside them, by index."""

# Matched against class, id, role, itemprop and data-testid of an element. One bit each, in this order.
NAME_HINTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bnav|menu|breadcrumb|tabs?\b|toolbar|pagination|pager|skip",
        r"foot(?!note)|bottom|colophon|legal|copyright",
        r"header|masthead|topbar|banner|hero|jumbotron",
        r"side-?bar|aside|widget|rail\b|secondary|complementary",
        r"comment|repl(?:y|ies)|disqus|discussion|respond",
        r"\bposts?\b|post[-_]?(?:body|content|text|message)|message|thread|topic|answer|question",
        r"share|social|follow|twitter|facebook",
        r"relat|recommend|similar|more-|also|upsell|cross-?sell|recent|popular|trending|suggest|next|prev",
        r"promo|\bads?\b|advert|sponsor|banner|cta\b|campaign",
        r"cookie|consent|gdpr|modal|popup|dialog|overlay|toast|alert|lightbox",
        r"log-?in|sign-?(?:in|up)|register|subscri|newsletter|account|cart|basket|checkout|wishlist",
        r"content|article|story|entry|prose|richtext|rich-text|markdown|rte|wysiwyg|copy\b|\btext",
        r"\bmain|primary|page-?body",
        r"product|detail|descri|spec|feature|overview|summary",
        r"price|sku|stock|buy|quantity|variant|swatch|shipping|deliver",
        r"review|rating|testimonial|stars?\b",
        r"card|tile|item|result|grid|list|teaser|carousel|slide|swiper|row\b",
        r"author|byline|meta|date|time\b|tags?\b|categor|avatar|user|profile|badge|rank",
        r"hidden|hide|collapse|sr-only|visually|screen-reader|invisible|offscreen|d-none|print",
        r"toc|table-of|contents\b|index|anchor",
        r"caption|figure|image|photo|gallery|media|video|credit",
        r"search|filter|sort|facet|refine",
        r"title|headline|heading|subtitle|tagline",
        r"faq|accordion|question|step|how|benefit|why|section|block",
        r"signature|\bsig\b|quote|edited|controls|actions|buttons?\b|btn",
    )
)
_ANY_HINT = re.compile("|".join(hint.pattern for hint in NAME_HINTS))
# One bit each, in this order, in English, German, French, Spanish, Italian, Portuguese, Dutch and Polish.
_WORD_LISTS = (
    "login log sign register subscribe newsletter password email account anmelden abonnieren abo passwort"
    " registrieren eingeloggt inscrivez abonnez connexion suscríbete suscribirse iscriviti assine aanmelden zaloguj"
    " zapisz",
    "share tweet facebook twitter linkedin pinterest whatsapp instagram youtube follow teilen telegram partager"
    " compartir condividi compartilhar delen udostępnij seguici síguenos folgen",
    "reply replies quote report posted joined post posts like likes views member thread topic moderator wrote said"
    " kommentar kommentare kommentieren antwort antworten antworte commentaires répondre comentarios comentar"
    " responder commenti rispondi comentários reacties reageer komentarze komentarz odpowiedz",
    "related recommended might similar popular recent trending latest next previous also bought auch ähnliche"
    " verwandte weitere passend neueste meistgelesen beliebt interessieren themen nächster vorheriger aussi articles"
    " populaires également también relacionadas relacionados relacionado interesar anche correlati potrebbe também"
    " ook gerelateerd także również podobne powiązane zobacz",
    "contact about careers help support faq sitemap home press kontakt über autor redaktion pressekontakt telefon"
    " tel ansprechpartner auteur autora redacción autore redakcja pressestelle",
)
SUBSCRIBE, SHARE, REPLIES, RELATED, CONTACT = range(len(_WORD_LISTS))
"""The bits of `text_bits`."""

_FIRST_WORDS = 40
_WORD_BITS: dict[str, int] = {}
for _place, _words in enumerate(_WORD_LISTS):
    for _word in _words.split():
        _WORD_BITS[_word] = _WORD_BITS.get(_word, 0) | 1 << _place
_HINT_WORDS = frozenset(_WORD_BITS)


@lru_cache(maxsize=5_000)
def name_bits(names: str) -> int:
    """A bit for each of NAME_HINTS that occurs in `names`: the names of an element, separated by blanks."""
    bits = 0
    for name in names.lower().split():
        bits |= _bits_of_name(name)
    return bits


@lru_cache(maxsize=20_000)
def _bits_of_name(name: str) -> int:
    if not _ANY_HINT.search(name):
        return 0
    return sum(1 << place for place, hint in enumerate(NAME_HINTS) if hint.search(name))


def text_bits(words: list[str]) -> int:
    """A bit for each word list that contains one of the lower-case words of a block. Looks only at its first words."""
    bits = 0
    for word in _HINT_WORDS.intersection(words[:_FIRST_WORDS]):
        bits |= _WORD_BITS[word]
    return bits
