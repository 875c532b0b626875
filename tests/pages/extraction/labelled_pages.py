"""Pages of our own making by kind, in which each element that a reader wants is marked `data-keep`.

The mark is taken out before a page is read. Furniture has the elements and classes that sites give it; the text of
most
pages has none, so it is found by what stands in its elements.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(r" data-keep\b")

_MENU = """<header><nav><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/guides">Guides</a> <a
href="/about">About us</a>
<a href="/jobs">Jobs</a> <a href="/login">Sign in</a> <a href="/cart">Basket (0)</a></nav></header>"""
_CONSENT = """<div id=cookie-consent><p>We and our 214 partners use cookies to store and read information on a
device. You can change your
choice at any time.</p><button>Accept all</button> <button>Reject</button></div>"""
_RELATED = """<aside class=related><h3>You may also like</h3><ul><li><a href="/r1">Ten quiet harbours for a winter
weekend</a></li>
<li><a href="/r2">Why the old mills are coming back</a></li><li><a href="/r3">What a ferry captain eats at
sea</a></li>
</ul></aside>"""
_LETTER = """<div class=newsletter><p>Get our weekly letter. Enter your email address to
subscribe.</p><input><button>Subscribe</button>
</div>"""
_FOOTER = """<footer><p>© 2026 Marn Media Ltd. All rights reserved.</p><a href="/terms">Terms of use</a>
<a href="/privacy">Privacy policy</a> <a href="/imprint">Imprint</a> <a href="/contact">Contact</a></footer>"""


class LabelledPage(NamedTuple):
    """A page as its site would send it, and the text that a reader wants of it."""

    kind: str
    html: str
    gold: str


def _page(kind: str, title: str, body: str) -> LabelledPage:
    kept = re.findall(r"<(\w+) data-keep>(.*?)</\1>", body, re.DOTALL)
    gold = " ".join(re.sub(r"<[^>]+>", " ", inner) for _, inner in kept)
    html = (
        f"<html><head><title>{title}</title></head><body>{_MENU}{_CONSENT}{_MARK.sub('', body)}"
        f"{_RELATED}{_LETTER}{_FOOTER}</body></html>"
    )
    return LabelledPage(kind, html, gold)


PAGES = (
    _page(
        "article",
        "The lighthouse of Skerry is lit again",
        """<div><h1 data-keep>The lighthouse of Skerry is lit again</h1><p data-keep>By Ann Lee, 3 May 2026</p>
<div class=share><a href="/share">Share</a> <a href="/mail">Mail</a> <a href="/print">Print</a></div>
<p data-keep>After eleven years of darkness the lamp of Skerry turned again on Sunday night, and half of the island
came to watch.</p>
<p data-keep>The lens, which weighs four tonnes, was cleaned by two glaziers from Marn, who had never seen one as
large.</p>
<p>Read more: <a href="/r4">The keepers who never came home</a></p>
<p data-keep>“My grandfather lit it every evening,” says Jon Vik, the last keeper, “and he wrote the weather into a
book.”</p>
<blockquote data-keep>He wrote that the sea was kind only to those who feared it.</blockquote>
<p data-keep>The council pays for the lamp until 2030. What happens then nobody knows.</p>
<p>Sign up to read all our stories without limits.</p></div>
<div class=comments><h3>Comments (2)</h3><p>Log in to comment.</p></div>""",
    ),
    _page(
        "article",
        "How we count puffins",
        """<div><div data-keep>How we count puffins</div><div data-keep>Each spring forty people lie in the wet grass
above the cliffs
and look into burrows with a lamp on a stick.</div><div class=ad>Advertisement</div>
<div data-keep>They count the eggs, not the birds, because a bird that flies has no address. In 2025 they found 412
eggs.</div>
<div data-keep>The numbers fall by a tenth in each warm year, since the sand eels on which the birds feed go
north.</div>
<div class=tags><a href="/tag/birds">birds</a> <a href="/tag/sea">sea</a> <a
href="/tag/climate">climate</a></div></div>""",
    ),
    _page(
        "product",
        "Storm lantern 7 - Marn Outfitters",
        """<div><h1 data-keep>Storm lantern 7</h1><span data-keep>€ 48.00</span><p class=rating>4.6 out of 5 stars,
318 ratings</p>
<button>Add to basket</button><button>Add to wish list</button>
<p data-keep>A brass lantern for oil that burns for thirty hours in any wind. The glass is drawn by hand and can be
replaced.</p>
<ul><li data-keep>Height: 31 cm, weight: 1.2 kg</li><li data-keep>Tank of 0.4 litres</li><li data-keep>Made in Marn
since 1911</li></ul>
<p>Delivery in 2 to 4 days. Free returns within 30 days.</p></div>
<div class=recommendations><h2>Customers also bought</h2><div><a href="/p1">Wick, flat, 3 pieces</a> € 4.00</div>
<div><a href="/p2">Lamp oil, 1 litre</a> € 9.00</div><div><a href="/p3">Brass polish</a> € 7.00</div></div>""",
    ),
    _page(
        "forum",
        "Lamp flickers after I changed the wick - Lantern board",
        """<div><h1 data-keep>Lamp flickers after I changed the wick</h1>
<div><div class=author><a href="/u/tern">tern</a> Posts: 14 Joined: 2021</div><div data-keep>I put a new wick into my
storm lantern and now the flame
jumps at every step. The old one never did that. What is wrong?</div><a href="#">Reply</a> <a href="#">Quote</a></div>
<div><div class=author><a href="/u/mossy">mossy</a> Posts: 2,310 Joined: 2009</div><div data-keep>Cut the corners of
the wick at an angle, then let it soak
for an hour before you light it. A dry wick burns itself and not the oil.</div><a href="#">Reply</a> <a
href="#">Quote</a></div>
<div><div class=author><a href="/u/tern">tern</a> Posts: 15 Joined: 2021</div><div data-keep>That was it, thank you!
It burns like a candle in church.</div>
<a href="#">Reply</a> <a href="#">Quote</a></div></div><div>Users browsing this board: 3 guests</div>""",
    ),
    _page(
        "documentation",
        "Configure the lamp server",
        """<div class=sidebar><ul><li><a href="/d1">Install</a></li><li><a href="/d2">Configure</a></li><li><a
href="/d3">Upgrade</a></li></ul></div>
<div><h1 data-keep>Configure the lamp server</h1><p data-keep>The server reads its settings from a file when it
starts. Without a file each
setting has its default.</p><pre data-keep>[lamp]
burn_hours = 30
port = 8011</pre><h2 data-keep>Settings</h2><table><tr data-keep><th>Name</th><th>Default</th><th>What it
does</th></tr>
<tr data-keep><td>burn_hours</td><td>30</td><td>After so many hours the lamp goes out</td></tr>
<tr data-keep><td>port</td><td>8011</td><td>Where it listens</td></tr></table>
<p data-keep>Run <code>lamp check</code> after each change: it says which line is wrong.</p>
<p class=feedback>Was this page helpful? <button>Yes</button> <button>No</button></p><a href="/edit">Edit this
page</a></div>""",
    ),
    _page(
        "collection",
        "Harbours - Marn travel",
        """<div><h1 data-keep>Harbours of the north coast</h1><p data-keep>Six places where a small boat finds
shelter in a storm.</p>
<div><a href="/h1"><h2 data-keep>Corrin Point</h2></a><p data-keep>Deep water and a stone pier, open to the
east.</p><a href="/h1">Read more</a></div>
<div><a href="/h2"><h2 data-keep>Skerry Sound</h2></a><p data-keep>Two moorings behind the reef, for boats of up to
nine metres.</p><a href="/h2">Read more</a></div>
<div><a href="/h3"><h2 data-keep>Marn</h2></a><p data-keep>The ferry port, with fuel, water and a crane.</p><a
href="/h3">Read more</a></div></div>
<div class=pagination><span>1</span> <a href="?p=2">2</a> <a href="?p=3">3</a> <a href="?p=2">Next page</a></div>""",
    ),
    _page(
        "service",
        "Sweeping and repair of chimneys in Marn",
        """<div><h1 data-keep>We sweep and repair chimneys in Marn</h1><p data-keep>Our four sweeps come within two
days and leave no soot on your carpet.</p>
<a href="/book">Book now</a></div><div><h2 data-keep>What it costs</h2><p data-keep>A flue costs 45 euros, each
further one in the same house 20.</p></div>
<div><h2 data-keep>Questions</h2><h3 data-keep>How often must a chimney be swept?</h3><p data-keep>Twice a year if
you burn wood, and once if you burn gas.</p>
<h3 data-keep>Do you work on Saturdays?</h3><p data-keep>From September to March, in the mornings.</p></div>
<div><p>★★★★★ Rated excellent by 1,204 customers</p><a href="tel:1">Call us</a></div>""",
    ),
)
