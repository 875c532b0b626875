"""The lists behind `forms`: bounded, and short enough to read. Each line is a group; its first word stands for all.

Pairs that differ in some contexts are left out on purpose: delete and remove (an app from a screen), app and
application (for a job), flat and apartment, photo and image, salary and wage.
"""

from __future__ import annotations

from websearch_gateway.cache.semantic.meaning.words import word_set

VERBS = """
install uninstall update upgrade migrate create delete remove eliminate convert translate calculate compute measure fix
repair clean cook boil bake freeze thaw store prune learn teach write read run open close start begin stop use change
buy purchase sell cancel renew register treat enable disable activate deactivate download upload export import encrypt
decrypt compress extract parse merge split sort filter reverse iterate loop check verify validate test configure deploy
restart reset reinstall undo revert rename copy move replace insert append add find get list print send receive transfer
share connect disconnect join leave lose gain make prepare become apply own cause prevent avoid reduce lower increase
improve choose pick compare save invest travel visit drive fly eat drink take reheat roast grill fry steam
peel unlock lock block unblock recover restore backup format partition mount unmount plan organize center
align resize crop edit record stream watch play win discover invent found release launch happen work need require
contain include exclude handle throw catch raise return call pass implement override debug compile render fetch
kill exit quit apply pay contact unsubscribe publish sync submit solve sew knit sharpen wash assemble grow breed
meditate sleep wake heal relieve soothe whiten tighten loosen cancel withdraw deposit refinance negotiate memorize
die query select join group count sum round truncate concatenate trim strip escape encode decode
serialize deserialize hash
assassinate invade attack defeat conquer destroy build construct paint sign murder bomb elect compose design develop
direct produce manufacture marry arrest ban approve adopt finance fund sponsor acquire occupy liberate colonize rule
govern kiss sue divorce consume steal sing beat shoot sink hire fire crown bury execute rent lease
"""

ALSO_NOUNS = word_set(
    "store filter record lock test lower clean transfer block group change work plan open return drink watch run list "
    "play drive round count copy stream format pass share use start stop cook fly win pay contact wash sleep cause "
    "split sort hash query escape partition export import release range sum trim strip travel visit own boil need "
    "lower attack design sign ban fund sponsor rule kiss beat shoot sink fire crown build paint murder bomb rent lease"
)
"""Verbs that may begin a compound noun: "filter coffee", "lock screen"."""

TASK_NOUNS = frozenset(
    {"install", "uninstall", "update", "upgrade", "repair", "fix", "reset", "restart", "download", "upload"}
)
"""Verbs that are also nouns, with the object before them: "windows upgrade"."""

IRREGULAR_VERBS = """
write wrote written
read
run ran
begin began begun
buy bought
sell sold
teach taught
find found
get got gotten
send sent
lose lost
make made making
become became
choose chose chosen
drive drove driven
fly flew flown
eat ate eaten
drink drank drunk
die died
take took taken
freeze froze frozen
undo undid undone
throw threw thrown
catch caught
win won winning
split splitting
learn learnt
put putting
build built
steal stole stolen
sing sang sung
beat beaten beating
shoot shot
sink sank sunk
"""

DERIVED = """
install installation
uninstall uninstallation
translate translation translations
convert conversion conversions converter
calculate calculation calculations
create creation
delete deletion
remove removal
renew renewal
register registration
treat treatment treatments
migrate migration migrations
encrypt encryption
decrypt decryption
compress compression
extract extraction
configure configuration config
deploy deployment
verify verification
validate validation
reduce reduction
improve improvement improvements
prevent prevention
restore restoration
invest investment investments
birth born
release releases
cause causes
assassinate assassination
consume consumption
use usage
destroy destruction
construct construction
elect election
invade invasion
invent invention inventions
discover discovery discoveries
publish publication
"""

IRREGULAR_NOUNS = """
child children
person people
man men
woman women
mouse mice
tooth teeth
knife knives
wife wives
life lives
leaf leaves
wolf wolves
tomato tomatoes
potato potatoes
hero heroes
bus buses
gas gases
lens lenses
virus viruses
bonus bonuses
campus campuses
status statuses
shoe shoes
house houses
crisis crises
analysis analyses
index indexes indices
criterion criteria
alumnus alumni
goose geese
half halves
movie movies
cookie cookies
calorie calories
zombie zombies
brownie brownies
smoothie smoothies
"""

SYNONYMS = """
movie film
buy purchase
start begin
cheap affordable inexpensive
child kid
big large
largest biggest
fast quick quickly rapidly
fastest quickest
lawyer attorney
tv television
doctor physician
bicycle bike
fridge refrigerator
plane airplane
couch sofa
faucet tap
remove eliminate
fix repair
benefit advantage pro
drawback disadvantage downside con
maximum max
minimum min
price cost
javascript js
typescript ts
postgresql postgres
kubernetes k8s
database db
repository repo
directory folder
information info
mathematics maths math
teenager teen
flu influenza
paracetamol acetaminophen
latest newest
now current currently
required needed necessary
example sample
annual annually yearly
near nearby
effect impact
beginner newbie
meaning definition
death die
car automobile
happen occur
use utilize
trash garbage
gasoline petrol
baby infant
rabbit bunny
truck lorry
diaper nappy
eggplant aubergine
zucchini courgette
windshield windscreen
ad advertisement advert
documentation docs
cpu processor
parameter param
argument arg
regex regexp
jpeg jpg
rich wealthy
richest wealthiest
famous renowned
sick ill
disease illness
country nation
chickpea garbanzo
calorie kcal
"""

SEPARATE = """
news windows glasses goods customs arms means jeans politics physics economics series species pants shorts teams works
stairs spirits woods futures options securities odds premises remains contents manners headquarters always perhaps
building opening painting meaning recording reading playing drinking baking frying running flying driving steaming
fishing eating watching
williams adams edwards peters stevens roberts daniels rogers richards andrews evans phillips matthews simons charles
james jones hughes wales mars texas paris vegas hanks parks banks
"""
"""Words that look like a plural or a form of another word but are not."""
