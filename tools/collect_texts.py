"""Collect the training texts of the static embedder: one short English text per line, shuffled, no duplicates.

Every source is optional, and none is downloaded here (`tools/README.md` names the packages that carry them)::

    python tools/collect_texts.py --wordnet /usr/share/wordnet --summaries pypi.tsv npm.tsv \
        --control available.txt --docs DIR... --out texts.txt
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import html
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

TAG = re.compile(r"<[^>]+>")
PARAGRAPH = re.compile(
    r"<(?:p|li|dd|h[1-3])\b[^>]*>(.*?)</(?:p|li|dd|h[1-3])>", re.DOTALL | re.IGNORECASE
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")
WORD = re.compile(r"[A-Za-z][a-z']+")
# WordNet's lexicographer files for things that can be seen, and for what is done to them or by them.
THINGS = {"05", "06", "08", "13", "14", "15", "17", "18", "20"}
IDEAS = {"04", "07", "09", "10", "11", "12", "16", "19", "21", "26", "27", "28"}
BEINGS = {"05", "18"}

Inflect = Callable[[str], str]


def read_text(path: Path) -> str:
    """The text of a plain, gzip or bzip2 file; undecodable bytes are dropped."""
    opener = {".gz": gzip.open, ".dz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rb") as file:
        return file.read().decode("utf-8", errors="ignore")


def clean(text: str) -> str:
    """One line, without markup."""
    return " ".join(html.unescape(TAG.sub(" ", text)).split()).strip(" -*•")


def is_english(text: str) -> bool:
    """A cheap test: enough words, and little else than words."""
    if re.search(r"[\\{}|]", text):
        return False
    words = WORD.findall(text)
    return (
        len(words) >= 3
        and sum(map(len, words)) > 0.62 * len(text.replace(" ", ""))
        and text.isascii()
    )


def summaries(paths: Iterable[Path]) -> Iterator[str]:
    """The `summary` column of tab-separated package lists."""
    for path in paths:
        with path.open(encoding="utf-8", errors="ignore") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield row.get("summary") or ""


def control(path: Path) -> Iterator[str]:
    """The one-line descriptions of a Debian control file, such as `apt-cache dumpavail` prints."""
    with path.open(encoding="utf-8", errors="ignore") as file:
        yield from (line.partition(": ")[2] for line in file if line.startswith("Description: "))


def paragraphs(path: Path) -> Iterator[str]:
    """Paragraphs of an HTML page, a man page or a plain text."""
    text = read_text(path)
    if path.suffix in {".html", ".htm", ".page", ".xhtml"}:
        yield from map(clean, PARAGRAPH.findall(text))
        return
    if re.search(r"\.[1-8](\.gz)?$", path.name):
        text = re.sub(r"^[.'].*$", "\n", text, flags=re.MULTILINE)
        text = re.sub(r"\\f.|\\&|\\-|\\\(\w\w", lambda m: "-" if m[0] == "\\-" else "", text)
    yield from map(clean, re.split(r"\n\s*\n", text))


def documents(folders: Iterable[Path], rng: random.Random) -> Iterator[str]:
    """Sentences of documentation, and every so often a passage of a few of them."""
    wanted = re.compile(r"\.(html?|page|xhtml|txt|txt\.gz|dict\.dz|[1-8]\.gz)$")
    files = (
        p
        for folder in folders
        for p in sorted(folder.rglob("*"))
        if wanted.search(p.name) and p.is_file()
    )
    for path in files:
        for paragraph in paragraphs(path):
            sentences = SENTENCE_END.split(paragraph)
            yield from (s for s in sentences if 20 <= len(s) <= 300)
            if len(sentences) > 1 and rng.random() < 0.5:
                yield " ".join(sentences)[:600]


def glosses(folder: Path) -> Iterator[str]:
    """WordNet's definitions (with and without the word they define) and example sentences."""
    for name in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields, _, gloss = line.partition(" | ")
            yield from re.findall(r'"([^"]+)"', gloss)
            definition = re.sub(r'[;,]?\s*"[^"]*"?', "", gloss).strip(" ;")
            yield definition
            yield f"{fields.split()[4].replace('_', ' ')}: {definition}"


def frequent(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Words that WordNet saw four times or more in tagged text, as part of speech -> [(word, lexicographer file)]."""
    found: dict[str, list[tuple[str, str]]] = {"1": [], "2": [], "3": [], "4": []}
    for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
        key, _, count = line.split()
        lemma, _, sense = key.partition("%")
        part, file = sense.split(":")[:2]
        if int(count) >= 4 and lemma.isalpha() and part in found:
            found[part].append((lemma, file))
    return found


def verb_forms(folder: Path) -> tuple[Inflect, Inflect]:
    """Functions for the -ing form and the past tense; WordNet's list of exceptions comes first."""
    ing, past = {}, {}
    for line in (folder / "verb.exc").read_text(encoding="utf-8").splitlines():
        form, base = line.split()[:2]
        (ing if form.endswith("ing") else past).setdefault(base, form)

    def stem(verb: str) -> str:
        return verb[:-1] if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")) else verb

    def past_of(verb: str) -> str:
        ending = verb[:-1] + "i" if re.search(r"[^aeiou]y$", verb) else stem(verb)
        return past.get(verb, ending + "ed")

    return (lambda verb: ing.get(verb, stem(verb) + "ing")), past_of


def plural(noun: str) -> str:
    """The regular plural."""
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return noun + "es"
    return noun[:-1] + "ies" if re.search(r"[^aeiou]y$", noun) else noun + "s"


def compositions(folder: Path, count: int, rng: random.Random) -> Iterator[str]:
    """Made-up captions, headlines, questions and word lists: they teach how words add up that never meet in prose."""
    words = frequent(folder)
    things = [w for w, file in words["1"] if file in THINGS]
    beings = [w for w, file in words["1"] if file in BEINGS]
    ideas = [w for w, file in words["1"] if file in IDEAS]
    verbs, adjectives = [w for w, _ in words["2"]], [w for w, _ in words["3"]]
    anything = [w for group in words.values() for w, _ in group]
    ing, past = verb_forms(folder)
    one: Callable[[list[str]], str] = rng.choice
    makers: list[Callable[[], str]] = [
        lambda: f"A {one(beings)} is {ing(one(verbs))} a {one(things)}.",
        lambda: f"A {one(adjectives)} {one(beings)} {ing(one(verbs))} in the {one(things)}.",
        lambda: (
            f"Two {plural(one(beings))} are {ing(one(verbs))} near a {one(adjectives)} {one(things)}."
        ),
        lambda: f"The {one(beings)} {past(one(verbs))} the {one(adjectives)} {one(things)}.",
        lambda: f"The {one(beings)} is not {ing(one(verbs))} the {one(things)}.",
        lambda: f"{one(beings)} {past(one(verbs))} {one(things)} over {one(ideas)}",
        lambda: (
            f"{plural(one(ideas)).capitalize()} {one(verbs)} after {one(ideas)} in {one(things)}"
        ),
        lambda: f"How do you {one(verbs)} a {one(things)}?",
        lambda: f"What is the {one(ideas)} of the {one(adjectives)} {one(things)}?",
        lambda: f"{one(adjectives)} {one(ideas)} and {one(ideas)}",
        lambda: " ".join(rng.choices(anything, k=rng.randint(1, 6))),
    ]
    for _ in range(count):
        yield rng.choice(makers)()


def sample(texts: Iterable[str], limit: int, rng: random.Random) -> list[str]:
    """At most `limit` different clean texts. Texts that begin alike count as the same: registries are full of forks."""
    seen: dict[str, str] = {}
    for text in map(clean, texts):
        if len(text) <= 600 and is_english(text):
            seen.setdefault(re.sub(r"[^a-z]", "", text.lower())[:48], text)
    found = list(seen.values())
    return rng.sample(found, min(limit, len(found)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wordnet",
        type=Path,
        help="WordNet 3.0 database folder (data.noun, cntlist.rev, verb.exc)",
    )
    parser.add_argument(
        "--summaries",
        type=Path,
        nargs="*",
        default=[],
        help="package lists with a column `summary`",
    )
    parser.add_argument("--control", type=Path, help="Debian control file with descriptions")
    parser.add_argument(
        "--docs",
        type=Path,
        nargs="*",
        default=[],
        help="folders of HTML pages, man pages and texts",
    )
    parser.add_argument(
        "--limit", type=int, default=130_000, help="texts per source; WordNet is taken whole"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    sources: dict[str, Iterable[str]] = {
        "summaries": summaries(args.summaries),
        "control": control(args.control) if args.control else (),
        "documents": documents(args.docs, rng),
        "wordnet": glosses(args.wordnet) if args.wordnet else (),
        "compositions": compositions(args.wordnet, args.limit, rng) if args.wordnet else (),
    }
    texts: list[str] = []
    for name, source in sources.items():
        found = sample(source, args.limit if name != "wordnet" else sys.maxsize, rng)
        print(f"{name}: {len(found)} texts")
        texts += found
    texts = sorted(set(texts))
    rng.shuffle(texts)
    args.out.write_text("\n".join(texts) + "\n", encoding="utf-8")
    print(f"{len(texts)} texts in {args.out}")


if __name__ == "__main__":
    main()
