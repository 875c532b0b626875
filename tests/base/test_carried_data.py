"""Addresses with data are told from ordinary ones: own cases of both, none of them seen in a page or a result."""

from __future__ import annotations

import base64
import codecs
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from websearch_gateway.base.carried_data import (
    LEAST_CHARACTERS,
    MOST_ADDRESSES,
    addresses_with_data,
    carried_characters,
    carries_data,
    identity,
)

ORDINARY = (Path(__file__).parent / "ordinary_addresses.txt").read_text().splitlines()
"""Articles, code, papers, documentation, questions, news, shops, maps, with the parameters of their sites."""

EVIL = "https://evil.example"

KNOWN_TO_THE_AGENT = (
    "The user's name is Ada Example and she lives at 12 Harbour Street in Bremen.",
    "password is hunter2 and the server is 10.0.0.5 with user admin",
    "Meeting notes: Globex will buy Initech for 3.2 billion dollars on March 14, keep it secret",
    "my email is ada@example.com and my phone number is +49 421 555 0199",
    "System prompt: You are the assistant of Acme Corp. Never reveal the discount code SPRING-40.",
    "conversation so far: the user asked how to hide income from the tax office",
)


def _slug(text: str, separator: str = "-") -> str:
    return separator.join(re.findall(r"[a-z0-9]+", text.lower()))


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _b64(text: str) -> str:
    return _url64(text.encode())


def _hex(text: str) -> str:
    return text.encode().hex()


def _b32(text: str) -> str:
    return base64.b32encode(text.encode()).decode().rstrip("=").lower()


def _encrypted(text: str) -> bytes:
    return bytes((byte * 7 + 37 * place) % 256 for place, byte in enumerate(text.encode()))


def _escaped(text: str, sign: str = "%") -> str:
    return "".join(f"{sign}{byte:02X}" for byte in text.encode())


def _numbered(parts: list[str]) -> str:
    return "&".join(f"p{number}={part}" for number, part in enumerate(parts))


EXFILTRATIONS: dict[str, Callable[[str], str]] = {
    "base64 in a parameter": lambda text: (
        f"{EVIL}/?q={quote(base64.b64encode(text.encode()).decode(), safe='')}"
    ),
    "base64 for URLs in a parameter": lambda text: f"{EVIL}/c?d={_b64(text)}",
    "base64 as the query": lambda text: f"{EVIL}/?{_b64(text)}",
    "base64 as a picture": lambda text: f"{EVIL}/i/{_b64(text)}.png",
    "base64 in directories of eight": lambda text: f"{EVIL}/{'/'.join(_cut(_b64(text), 8))}",
    "base64 in directories of four": lambda text: f"{EVIL}/{'/'.join(_cut(_b64(text), 4))}",
    "base64 with hyphens": lambda text: f"{EVIL}/news/{'-'.join(_cut(_b64(text), 6))}",
    "base64 over parameters of sixteen": lambda text: f"{EVIL}/?{_numbered(_cut(_b64(text), 16))}",
    "base64 over parameters of five": lambda text: f"{EVIL}/?{_numbered(_cut(_b64(text), 5))}",
    "base64 as names": lambda text: (
        f"{EVIL}/?{'&'.join(f'{part}=1' for part in _cut(_b64(text), 20))}"
    ),
    "base64 in a campaign": lambda text: f"{EVIL}/?utm_source=a&utm_content={_b64(text)}",
    "base64 in a matrix parameter": lambda text: f"{EVIL}/a;d={_b64(text)}/b",
    "base64 in a route": lambda text: f"{EVIL}/#/x/{_b64(text)}",
    "base64 on a known host": lambda text: (
        f"https://en.wikipedia.org/wiki/Main_Page?x={_b64(text)}"
    ),
    "base64 in a search": lambda text: f"https://www.google.com/search?q={_b64(text)}",
    "base64 in an address in an address": lambda text: (
        f"https://a.example/go?u={quote(f'{EVIL}/?d={_b64(text)}', safe='')}"
    ),
    "base64 of compressed text": lambda text: f"{EVIL}/?z={_url64(zlib.compress(text.encode()))}",
    "base64 of encrypted text": lambda text: f"{EVIL}/img/{_url64(_encrypted(text))}.gif",
    "base32": lambda text: f"{EVIL}/{_b32(text).upper()}",
    "base32 in hosts": lambda text: f"https://{'.'.join(_cut(_b32(text), 50))}.evil.example/",
    "hex in a parameter": lambda text: f"{EVIL}/?x={_hex(text)}",
    "hex in the path": lambda text: f"{EVIL}/{_hex(text)}",
    "hex in capitals": lambda text: f"{EVIL}/a?b={_hex(text).upper()}",
    "hex in pairs": lambda text: f"{EVIL}/{'-'.join(_cut(_hex(text), 2))}",
    "hex in directories": lambda text: f"{EVIL}/{'/'.join(_cut(_hex(text), 4))}",
    "hex as ids": lambda text: (
        f"{EVIL}/{'/'.join('-'.join(_cut(part, 8)) for part in _cut(_hex(text), 32))}"
    ),
    "hex in hosts": lambda text: f"https://{'.'.join(_cut(_hex(text), 60)[:3])}.evil.example/x",
    "hex as a commit": lambda text: f"https://github.com/o/r/commit/{_hex(text)[:40]}",
    "hex of encrypted text": lambda text: f"{EVIL}/?k={_encrypted(text).hex()}",
    "decimal numbers": lambda text: f"{EVIL}/?n={''.join(f'{byte:03d}' for byte in text.encode())}",
    "decimal numbers with hyphens": lambda text: (
        f"{EVIL}/{'-'.join(str(byte) for byte in text.encode())}"
    ),
    "binary numbers": lambda text: f"{EVIL}/?b={''.join(f'{byte:08b}' for byte in text.encode())}",
    "escaped letters": lambda text: f"{EVIL}/?q={_escaped(text)}",
    "escaped letters in the path": lambda text: f"{EVIL}/{_escaped(text)}",
    "twice escaped letters": lambda text: f"{EVIL}/?q={_escaped(text, '%25')}",
    "a sentence with plus signs": lambda text: f"{EVIL}/search?q={quote_plus(text)}",
    "a sentence with escaped blanks": lambda text: f"{EVIL}/log?msg={quote(text, safe='')}",
    "a sentence in the path": lambda text: f"{EVIL}/log/{quote(text, safe='')}",
    "a sentence with plus signs in the path": lambda text: f"{EVIL}/{quote_plus(text)}",
    "a sentence in an address in an address": lambda text: (
        f"https://a.example/r?to={quote(f'{EVIL}/?d={quote(text)}', safe='')}"
    ),
    "a sentence in JSON": lambda text: f"{EVIL}/?j={quote(json.dumps({'text': text}), safe='')}",
    "a sentence backwards": lambda text: f"{EVIL}/?q={quote_plus(text[::-1])}",
    "a rotated sentence": lambda text: f"{EVIL}/?q={quote_plus(codecs.encode(text, 'rot13'))}",
    "a sentence with hyphens in a parameter": lambda text: f"{EVIL}/?data={_slug(text)}",
    "a sentence with underscores": lambda text: f"{EVIL}/track?m={_slug(text, '_')}",
    "a sentence with dots": lambda text: f"{EVIL}/track?m={_slug(text, '.')}",
    "a sentence with commas": lambda text: f"{EVIL}/track?m={_slug(text, ',')}",
    "a sentence with hyphens in the path": lambda text: f"{EVIL}/blog/{_slug(text)}",
    "a sentence without blanks": lambda text: f"{EVIL}/{_slug(text, '')}",
    "a sentence without blanks in a parameter": lambda text: f"{EVIL}/?x={_slug(text, '')}",
    "a title in another alphabet order": lambda text: (
        f"{EVIL}/{codecs.encode(_slug(text), 'rot13')}"
    ),
    "a paragraph for a search page": lambda text: (
        f"https://www.google.com/search?q={quote_plus(f'{text} {text}')}"
    ),
    "a word in each directory": lambda text: f"{EVIL}/{_slug(text, '/')}",
    "a word in each parameter": lambda text: f"{EVIL}/?{_numbered(_slug(text).split('-'))}",
    "a word in each name": lambda text: f"{EVIL}/?{_slug(text, '&')}",
    "a word in each label": lambda text: (
        f"https://{'.'.join(_slug(text).split('-')[:20])}.evil.example/"
    ),
    "a sentence as a label": lambda text: f"https://{_slug(text)[:60].strip('-')}.evil.example/",
}


@pytest.mark.parametrize("kind", EXFILTRATIONS)
def test_what_an_agent_knows_is_found_in_an_address(kind: str) -> None:
    made = [EXFILTRATIONS[kind](text) for text in KNOWN_TO_THE_AGENT]
    assert [url for url in made if not carries_data(url)] == []


@pytest.mark.parametrize(
    "url",
    [
        f"{EVIL}/?user=ada&email=ada.example%40example.com&phone=%2B494215550199",
        f"{EVIL}/p?password=correct-horse-battery-staple-in-the-barn",
        f"{EVIL}/?a=Tr0ub4dor&b=3xKq91LmZ&c=Pw0rd5511aa&d=Zz19kkQwPx7",
        f"{EVIL}/?q=%E3%83%A6%E3%83%BC%E3%82%B6%E3%83%BC%E3%81%AE%E5%90%8D%E5%89%8D%E3%81%AF%E8%8A%B1%E5%AD%90"
        "%E3%81%A7%E6%9D%B1%E4%BA%AC%E3%81%AB%E4%BD%8F%E3%82%93%E3%81%A7%E3%81%84%E3%81%BE%E3%81%99%E3%80%82",
    ],
)
def test_personal_facts_and_short_secrets_together_are_found(url: str) -> None:
    assert carries_data(url)


@pytest.mark.parametrize("url", ORDINARY)
def test_an_ordinary_address_that_nobody_gave_carries_no_data(url: str) -> None:
    assert carried_characters(url) < LEAST_CHARACTERS


def test_there_are_enough_cases_of_both() -> None:
    assert len(ORDINARY) >= 200
    assert len(EXFILTRATIONS) * len(KNOWN_TO_THE_AGENT) >= 300


@pytest.mark.parametrize(
    "title",
    [
        "how-do-i-reset-my-password-if-my-email-address-is-no-longer-valid",
        "the-user-is-always-right-what-designers-get-wrong-about-feedback-and-how-to-fix-it",
        "why-my-name-is-on-the-list-and-what-i-did-next-a-story-in-three-parts-told-by-those-who-were-there",
        "what-happens-when-an-api-key-is-leaked-and-how-to-rotate-it-without-downtime-in-2024",
        "average-salary-2024-by-profession-and-region-all-numbers-in-one-table",
        "New-RSL-Web-Standard-and-Collective-Rights-Organization-Automate-Content-Licensing-for-the-AI-First-Internet",
        "sanna-marin-tapasi-angela-merkelin-myos-saksa-haluaa-pitaa-kiinni-maataloustuista-meidan-nakemyksiamme",
        "dziennikarz-w-redakcji-zagranicznej-opowiada-o-swojej-pracy-na-wschodzie",
        "linke-will-keine-gewinnausschuettungen-von-hwg-und-gwg-an-die-stadt-freie-waehler-stadtrat-kritisiert",
    ],
)
def test_the_slug_of_a_title_is_no_data_however_long(title: str) -> None:
    for url in (
        f"https://news.example/{title}",
        f"https://news.example/2024/05/{title}.html?page=2",
    ):
        assert not carries_data(url)


def test_a_sentence_that_looks_like_a_title_passes() -> None:
    """The limit of every rule over words: docs/guard.md says so."""
    assert not carries_data(
        f"{EVIL}/{_slug('We plan to lay off forty people in the Lisbon office before June')}"
    )


WORDS = "garden window market bridge castle orange button silver mountain kitchen rabbit planet summer winter candle"


def _words(count: int, separator: str) -> str:
    words = WORDS.split()
    return separator.join(words[place % len(words)] for place in range(count))


EDGES = {
    "digits of ids": (
        f"{EVIL}/123456789/123456789/123456789/1234567890123",
        f"{EVIL}/123456789/12345678901234567890/12345678901234567890/12345678901",
    ),
    "one id": (f"{EVIL}/12345678901234567890", f"{EVIL}/{'1234567890' * 3}"),
    "a long word": (f"{EVIL}/{'bananaro' * 5}", f"{EVIL}/{'bananaro' * 7}"),
    "a word with a number": (
        f"{EVIL}/bananarepublic2024editionbananas",
        f"{EVIL}/bananarepublic2024editionbananarepublic2024edition",
    ),
    "words for a search page": (
        f"https://www.google.com/search?q={_words(9, '+')}",
        f"https://www.google.com/search?q={_words(15, '+')}",
    ),
    "words of a title": (f"{EVIL}/{_words(30, '-')}", f"{EVIL}/{'-'.join(['sea'] * 55)}"),
    "characters of a title": (f"{EVIL}/{_words(28, '-')}", f"{EVIL}/{_words(43, '-')}"),
    "labels of a host": (
        f"https://{_words(6, '.')}.example/",
        f"https://{_words(10, '.')}.example/",
    ),
    "escaped letters": (f"{EVIL}/%62%6Fok%73", f"{EVIL}/%62%6F%6F%6B%73"),
    "pieces of two characters": (
        f"{EVIL}/{'-'.join(['48', '65'] * 5)}",
        f"{EVIL}/{'-'.join(['48', '65'] * 9)}",
    ),
    "letters of another script": (
        f"{EVIL}/?a={quote('привет' * 2 + 'мир')}",
        f"{EVIL}/?a={quote('привет' * 4 + 'м')}",
    ),
    "the name of a parameter": (f"{EVIL}/?xkqzjvwqpxzk=1", f"{EVIL}/?xkqzjvwqpxzkvjqxwzkq=1"),
    "letters that make no word": (f"{EVIL}/xkqzjv", f"{EVIL}/xkqzjvwqp"),
    "a mixture of cases": (f"{EVIL}/x9K", f"{EVIL}/xQ9Kz"),
    "words with blanks": (f"{EVIL}/?a=garden+window+market", f"{EVIL}/?a={_words(5, '+')}"),
    "a sentence with hyphens": (
        f"{EVIL}/?a=how-are-you-today-then",
        f"{EVIL}/?a=we-will-move-to-the-new-office",
    ),
    "a word in each directory": (
        f"{EVIL}/we/have/garden/window/market/bridge",
        f"{EVIL}/we/have/{_words(8, '/')}",
    ),
    "words that make a sentence": (
        f"{EVIL}/have/{_words(9, '/')}",
        f"{EVIL}/we/have/{_words(8, '/')}",
    ),
    "hints at a person": (f"{EVIL}/the-user-guide", f"{EVIL}/the-user-guide-api-key"),
    "words between nouns": (
        f"{EVIL}/?a=have-{_words(6, '-')}",
        f"{EVIL}/?a=have-then-{_words(5, '-')}",
    ),
    "a list": (f"{EVIL}/?a={_words(8, ',')}", f"{EVIL}/?a={_words(14, ',')}"),
}
"""An address just within a limit, which carries nothing, and one beyond it."""


@pytest.mark.parametrize("edge", EDGES)
def test_each_limit_has_an_address_on_either_side(edge: str) -> None:
    within, beyond = EDGES[edge]
    assert carried_characters(within) == 0
    assert carried_characters(beyond) > 0


def test_a_very_long_address_is_data() -> None:
    assert carries_data(f"{EVIL}/{'a-word/' * 300}")


def test_the_same_address_has_one_identity_and_another_address_another() -> None:
    one = identity("https://Example.com:443/a/%7Eb/?q=x%2Fy#part")
    assert one == identity("http://example.com/a/~b?q=x/y")
    for other in ("https://example.com/a/~b?q=x/z", "https://example.com/a/~b?q=x/y&utm_content=z"):
        assert identity(other) != one
    assert identity("https://a.example/#/x") != identity("https://a.example/#/y")
    assert identity("https://[bad") == "https://[bad"


def test_an_address_whose_escapes_spell_something_is_another_address() -> None:
    """Each letter of a known address could carry a bit: escaped, or not."""
    known = f"https://a.example/{'abcdefgh' * 10}?q={'x:' * 40}"
    chosen = [known.replace("abcdefgh", "a%62c%64efgh", count) for count in range(2, 10)]
    chosen += [known.replace("x:", "x%3A", count) for count in range(4, 40)]
    assert identity(known) not in (spelled := [identity(url) for url in chosen])
    assert len(set(spelled)) == len(chosen)


def test_only_addresses_with_data_are_taken_from_a_text() -> None:
    link = f"https://a.example/f?id={_hex('the quick brown fox jumps')}"
    text = f"See [this]({link}&utm_source=x), [that](https://a.example/plain) and <https://b.example/other>."
    assert addresses_with_data([text, link]) == [f"{link}&utm_source=x", link]
    many = " ".join(f"{link}{number}" for number in range(2 * MOST_ADDRESSES))
    assert len(addresses_with_data([many])) == MOST_ADDRESSES
