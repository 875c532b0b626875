"""Phrases that count as one word: names, fixed terms, and frames of questions.

Each entry has the form `replacement = phrase, phrase, ...`; `-` removes the phrase, an indented line continues the
previous one. A marker in capitals (HOWTO, WHEN, VS, ...) gives the kind of question, see `parse`.
"""

from __future__ import annotations

import functools

_FRAMES = """
- = tell me about, tell me, show me, give me, information
    about, information on, info on, what is the name of, step by step
list of = give me a list of
HOWTO = what is the best way to, best way to, best ways to, what is the way to, ways to, way to, how to, how do i,
    how do you, how do we, how can i, how can you, how can we, steps to, steps for, instructions for, instructions
    to, step by step guide to, a guide to, guide to, guide on, guide for, tutorial on, tutorial about, how to guide
HOWTO translate = how do you say, how to say
population of = how many people live in
HOWMANY = how many, number of
HOWMUCH = how much
where = where can i, where can you, where do i, where do you
phonenumber of = phone number of
price of = how much does it cost to, how much is, how much are, how expensive is, how expensive are
HOWLONG take = how long does it take to
length of = how long is, how long are
HOWLONG = how long, how long do you, how long do i, how long should i, how long should you, how long should we
timedifference between = time difference between
timedifference = time difference
driving age = legal driving age
drinking age = legal drinking age
HOWLONG last of = duration of
HOWLONG last = duration
HOWOFTEN = how often, how often should i, how often should you, how often should we, how often do i, how often do you
height of = how tall is, how tall are, how high is
height of was = how tall was
age of = how old is, how old are
weight of = how heavy is, how heavy are
depth of = how deep is
width of = how wide is
size of = how big is, how large is, how big are
speed of = how fast is, how fast are
speed of can = how fast can
temperature of = how hot is
reliability of = how reliable is, how reliable are
accuracy of = how accurate is, how accurate are
effectiveness of = how effective is, how effective are
safety of = how safe is, how safe are
popularity of = how popular is
distance from = how far is it from
distance = how far is it, how far is, how far
now time = what time is it, time now, current time
now = right now, at the moment
YEAR = what year, in what year, in which year, which year
MONTH = what month, which month
WHEN = on what date, what date
best time to = when is the best time to
best time of year to = when is the best time of year to
WHEN birth = date of birth, birth date, birthdate, birthday
WHEN death = date of death, death date
WHEN release = release date
WHEN launch = launch date
WHEN start = start date
WHEN end = end date
WHEN endoflife = end of life date
endoflife = reach end of life, reaches end of life, end of life, eol
WHERE birth = place of birth, birth place, birthplace
WHERE of = location of
WHERE = where is it located
WHY = reason why, reasons why
WHY of = reasons for, reason for
WHY the = the reason the, reason the
cause of PRESENT = what causes
cause of PAST = what caused
meaning of = what is meant by, definition of, define
author of = who wrote
inventor of = who invented
founder of = who founded
director of = who directed
discoverer of = who discovered
composer of = who composed
painter of = who painted
creator of = who created
designer of = who designed
developer of = who developed
owner of = who owns
singer of = who sings
producer of = who produced
host of = who hosts
winner of = who won
killer of = who killed
VS = difference between, differences between, compare, comparison between, comparison
VS of = comparison of
vs = compared to, compared with, in comparison to, versus
lyrics of = lyrics to
alternative of = alternative to
alternatives of = alternatives to, alternatives for
solution of = solution to
answer of = answer to
introduction of = introduction to
"""

_TERMS = """
southamerica = united states of south america, south america
northamerica = north america, north america
latinamerica = latin america, latin america
centralamerica = central america, central america
usa = united states, the us, us, u s
uk = united kingdom
eu = european union
un = united nations
world health organization = world health organisation
nyc = new york city
losangeles = los angeles
ww1 = world war i, world war 1, 1st world war, world war one, ww 1, wwi, ww i
ww2 = ww 2, world war 2, 2nd world war, wwii, ww ii
wifi = wi fi
regex = regular expression
regexes = regular expressions
gpu = graphics card, video card
aws = amazon web services
llm = large language model
llms = large language models
frontend = front end
backend = back end
dataset = data set
datasets = data sets
username = user name
filename = file name
highestpaid = highest paid, best paid, top paid, highest earning, top earning
newfeatures in = new in
afew = a few
alittle = a little
alot = a lot, lots
famous = well known
healthy = good for you
email = e mail
emails = e mails
ebook = e book
enable = turn on, turning on, switch on
turnoff = turn off, turning off, switch off, shut off
shutdown = shut down
setup = set up, setting up
login = log in, sign in, logging in
logout = log out, sign out
signup = sign up
remove = get rid of, getting rid of
upgrade = upgrade to, upgrading to
upgrade python = upgrade python to
migrate = migrate to, migrating to
migration = migration to
capital = capital city
stockprice = share price, stock price
openinghours = opening hours, opening times, opening time, business hours, hours of operation
phonenumber = phone number, telephone number, contact number
customer service = customer support
postcode = zip code, postal code, post code
driverlicense = driving license, driving licence, driver license, drivers license, drivers licence
heartattack = heart attack, myocardial infarction
hypertension = high blood pressure
symptoms = signs and symptoms, symptoms and signs, signs
symptoms of = signs of
advantages and disadvantages = pros and cons
machinelearning = machine learning
machinelearning model = ml model
ai = artificial intelligence
envvar = environment variable, env var
envvars = environment variables, env vars
nodejs = node js
react = react js, reactjs
vue = vue js, vuejs
nextjs = next js
c# = c sharp
mobilephone = cell phone, mobile phone, cellphone
mobilephones = cell phones, mobile phones, cellphones
webapp = web application, web app
guidedog = guide dog
guidedogs = guide dogs
will = going to
filmcamera = film camera
filmcameras = film cameras
greyanatomy = grey anatomy, greys anatomy
daily = per day, each day, every day
weekly = per week, every week, each week
monthly = per month, each month, every month
annual = per year, each year, every year
over = more than, greater than
under = fewer than, less than, lower than
before = prior to
because = because of, due to
to = in order to
with = by means of
cheapest = least expensive, most affordable
latest = most recent
priciest = most expensive
must-need = need to, needs to
must-have = have to, has to
can-able = able to
may-allowed = allowed to, permitted to
should-supposed = supposed to
usedto = used to
instead = instead of, rather than
according = according to
"""


AGENTS = {
    "write": "author", "invent": "inventor", "found": "founder", "direct": "director", "discover": "discoverer",
    "compose": "composer", "paint": "painter", "create": "creator", "design": "designer", "develop": "developer",
    "own": "owner", "sing": "singer", "produce": "producer", "win": "winner", "kill": "killer",
}  # fmt: skip
"""The noun for the agent of a verb, as in the frames "author of = who wrote"."""


@functools.cache
def _table() -> dict[str, list[tuple[list[str], list[str]]]]:
    """For each first word, its phrases with their replacements, the longest first."""
    table: dict[str, list[tuple[list[str], list[str]]]] = {}
    for entry in (_FRAMES + _TERMS).replace("\n    ", " ").splitlines():
        replacement, _, phrases = entry.partition(" = ")
        for phrase in filter(None, phrases.split(", ")):
            words = phrase.split()
            table.setdefault(words[0], []).append((words, [] if replacement == "-" else replacement.split()))
    for options in table.values():
        options.sort(key=lambda option: -len(option[0]))
    return table


def rewrite(words: list[str]) -> list[str]:
    """`words` with every phrase replaced. Replacements are not matched again."""
    table, found, position = _table(), [], 0
    while position < len(words):
        for phrase, replacement in table.get(words[position], ()):
            if words[position : position + len(phrase)] == phrase:
                found += replacement
                position += len(phrase)
                break
        else:
            found.append(words[position])
            position += 1
    return found
