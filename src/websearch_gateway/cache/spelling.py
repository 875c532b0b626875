"""Turns British spellings into American ones, which mean the same in any question.

Names are left as they are, so "labour", "defence" and "tyre" are not here: the Labour Party is British and the Labor
Party Australian, and Tyre is a town.
"""

from __future__ import annotations

import re

from websearch_gateway.base import word_set

_WORDS = {
    "colour": "color", "favour": "favor", "flavour": "flavor", "behaviour": "behavior", "neighbour": "neighbor",
    "humour": "humor", "rumour": "rumor", "tumour": "tumor", "vapour": "vapor", "centre": "center",
    "theatre": "theater", "fibre": "fiber", "travell": "travel", "cancell": "cancel", "labell": "label",
    "modell": "model", "fuell": "fuel", "jewellery": "jewelry", "aluminium": "aluminum", "doughnut": "donut",
    "moustache": "mustache", "pyjama": "pajama", "ageing": "aging", "tyres": "tires", "anaemi": "anemi",
    "leukaemi": "leukemi", "anaesthe": "anesthe", "paediatric": "pediatric", "orthopaedic": "orthopedic",
    "gynaecolog": "gynecolog", "diarrhoea": "diarrhea", "oestrogen": "estrogen", "haemorrh": "hemorrh",
}  # fmt: skip
"""The beginnings of words; their endings stay."""
_VERBS = word_set(
    "organis realis recognis specialis customis apologis minimis maximis optimis emphasis summaris utilis categoris "
    "prioritis sterilis normalis visualis standardis legalis immunis hospitalis memoris analys paralys"
)
"""How verbs in -ise begin; their nouns in -ism and -ist have an s in both."""
_BRITISH = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_WORDS)})"
    rf"|(?P<verb>(?:un|re|dis)?(?:{'|'.join(sorted(_VERBS))}))(?=e|ing|ation)"
    r"|(?P<grey>grey)\b(?!'s))"  # "Grey's Anatomy" is not "Gray's Anatomy"
)


def american(text: str) -> str:
    """A text in lower case with American spelling."""
    return _BRITISH.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    if match["word"]:
        return _WORDS[match["word"]]
    if match["verb"]:
        return f"{match['verb'][:-1]}z"
    return "gray"
