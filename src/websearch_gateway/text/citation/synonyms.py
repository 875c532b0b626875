"""Words that may replace each other in a claim and its source: only those that do so in nearly every sentence."""

from __future__ import annotations

import re

from websearch_gateway.text.retrieval.tokens import stems

_ROWS = """\
began begin started start commenced commence
ended end finished finish concluded completed
big large sizable
small little tiny
named called termed dubbed titled
built constructed erected build construct
created made produced create make produce formed form
used employed utilised utilized use employ utilise utilize
various several diverse
show demonstrate shows demonstrates showed demonstrated
people persons
person individual
important significant
get obtain gets obtains got obtained received receive acquired acquire gained gain
helped assisted aided help assist aid
area region zone
city town
known recognised recognized
part portion section
found discovered find discover
difficult hard tough
main principal chief primary
caused cause
required needed require need
became become
said stated reported say state report
increased grew rose increase grow rise
decreased fell declined dropped decrease fall decline drop
reduced lowered cut reduce lower
buy purchase bought purchased
wrote authored write author
company firm business corporation
war conflict
fight battle fought
students pupils
student pupil
method approach technique
problem issue
country nation state
countries nations states
house home
film movie
car automobile
job occupation profession
leader head
led headed lead
child kid
children kids
illness disease sickness
doctor physician
teacher instructor
law statute act
money funds
price cost
costs cost
killed slain
died perished
beat defeated defeat beaten won
visit visits visited
annual yearly annually
quick fast rapid rapidly quickly
total overall
famous renowned celebrated
usual normal
near close nearby
opened inaugurated
closed shut
answer reply response
answered replied responded
ask inquire
chosen selected chose select choose picked
allowed permitted allow permit
forbidden banned prohibited
gave provided give provide offered offer supplied supply
held possessed
owned possessed
owner proprietor
happened occurred occur happen
join joined
left departed
arrived came
moved relocated
changed altered change alter modified modify
kept retained keep retain
saw observed see observe
wanted desired want desire
consists comprises consist comprise
contains includes contain include including
contained included
divided split separated
linked connected joined
married wed
wife spouse
husband spouse
road street
ship vessel boat
ships vessels boats
sea ocean
forest woods
mountain mount
language tongue
religion faith
king monarch
queen monarch
rich wealthy
poor impoverished
old ancient
ill sick
dangerous hazardous
sold marketed
introduced launched
founded established set
published issued released
designed devised
invented devised
taught instructed
studied investigated examined
study research
study investigation
gathered collected assembled
protect guard
protected guarded
attacked assaulted
additional further extra
run operated
january jan
february feb
august aug
september sept sep
october oct
november nov
december dec
america usa
uk britain british
percent percentage"""


_PHRASES = {
    "close to": "near",
    "led to": "caused",
    "turned into": "became",
    "more than": "over",
    "less than": "under",
    "fewer than": "under",
    "as well as": "and",
    "because of": "because",
    "due to": "because",
    "owing to": "because",
    "in order to": "to",
    "a lot of": "many",
    "such as": "including",
    "no one": "nobody",
    "per cent": "percent",
}
_PHRASE = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b", re.IGNORECASE)


def _groups() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for number, row in enumerate(_ROWS.splitlines()):
        for stem in stems(row.split()):
            found[stem] = found.get(stem, frozenset((stem,))) | {f"={number}"}
    return found


_GROUPS = _groups()


def senses(stem: str) -> frozenset[str]:
    """The stem, and a name for each row of synonyms that contains it."""
    return _GROUPS.get(stem) or frozenset((stem,))


def in_one_word(text: str) -> str:
    """`text` with each fixed phrase replaced by the one word that means the same."""
    return _PHRASE.sub(lambda phrase: _PHRASES[phrase[0].lower()], text)
