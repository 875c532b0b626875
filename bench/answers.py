"""The answers of `llm` with a model that is right in 70% of cases: `python -m bench.answers FILE [--questions N]`.

FILE has the format of `bench.questions`. Each question with a known answer is asked over its article and three others,
read like pages. The model is a stand-in (`bench.drafts`): it finds the sentence with the known answer among the
passages of its prompt, and writes it in other words or invents. After that every kind of sentence, true and invented,
is made of each right one and checked. No request leaves the process.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.drafts import BORROWED, FOREIGN, MORE_TURNED, PARAPHRASES, TURNED
from websearch_gateway.answers.draft import check
from websearch_gateway.answers.drafted_claims import Cite, Claim, claims_of
from websearch_gateway.answers.llm import REPLY_FORM, Chat, messages
from websearch_gateway.answers.prompt_passages import NumberedPassage, numbered_passages
from websearch_gateway.base.dates import utc_now
from websearch_gateway.base.markdown import split_sentences
from websearch_gateway.base.net.client import create_client
from websearch_gateway.base.tokenization import estimate_tokens
from websearch_gateway.models import Deadline, Hit, Page, SearchQuery

RIGHT = 0.7
OTHERS = 3
BUDGET = 6000
_MERGED = "merged"


@dataclass
class Figures:
    """The counts. Times are CPU seconds."""

    asked: int = 0
    found: int = 0
    hold_gold: int = 0
    prompt_tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    made: Counter[str] = field(default_factory=Counter)
    served: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    every_made: Counter[str] = field(default_factory=Counter)
    every_served: Counter[str] = field(default_factory=Counter)

    def try_every_kind(
        self, sentence: str, passage: NumberedPassage, others: Sequence[str]
    ) -> None:
        """Check every rewriting and invention that can be made of a right sentence."""
        chance = random.Random(len(sentence))
        rewrites = PARAPHRASES | FOREIGN | MORE_TURNED
        written = {kind: rewrite(sentence, chance) for kind, rewrite in rewrites.items()}
        written |= {kind: borrow(sentence, chance, others) for kind, borrow in BORROWED.items()}
        for kind, text in written.items():
            if kind == "copied" or text != sentence:
                self.every_made[kind] += 1
                claim = Claim(text, (Cite(passage.number),))
                self.every_served[kind] += bool(check([claim], [passage]).spans)

    def every_kind(self) -> str:
        """How many of each kind pass."""
        rows = [
            f"    {kind:<16}{made:>5} made{self.every_served[kind]:>6} pass"
            for kind, made in self.every_made.items()
        ]
        for name, kinds in (
            ("true", PARAPHRASES.keys()),
            ("invented", self.every_made.keys() - PARAPHRASES.keys()),
        ):
            made, passed = (
                sum(counts[kind] for kind in kinds)
                for counts in (self.every_made, self.every_served)
            )
            rows.append(
                f"    all {name:<12}{made:>5} made{passed:>6} pass ({passed / max(1, made):.4f})"
            )
        return "\n".join(["every kind of each right sentence", *rows])

    def rows(self, kinds: Mapping[str, Any]) -> str:
        """Made and served, by kind."""
        return "\n".join(
            f"    {kind:<14}{self.made[kind]:>5} made{self.served[kind]:>6} served"
            for kind in kinds
            if self.made[kind]
        )

    def shown(self) -> str:
        """The report."""
        true = [*PARAPHRASES, _MERGED]
        right, kept = sum(self.made[kind] for kind in true), sum(self.served[kind] for kind in true)
        foreign = sum(self.served[kind] for kind in FOREIGN)
        turned = sum(self.served[kind] for kind in TURNED)
        milliseconds = sorted(1000 * seconds for seconds in self.seconds)
        served = kept + foreign + turned
        return "\n".join(
            [
                f"questions                                {self.asked}",
                f"passages hold the known answer           {self.found / self.asked:.3f}",
                f"answers that hold the known answer       {self.hold_gold / self.asked:.3f}",
                f"served sentences that their page holds   {kept / max(1, served):.3f}",
                f"foreign numbers, names, dates served     {foreign} of {sum(self.made[kind] for kind in FOREIGN)}",
                self.rows(FOREIGN),
                f"inventions in own words served           {turned} of {sum(self.made[kind] for kind in TURNED)}",
                self.rows(TURNED),
                f"true sentences dropped                   {right - kept} of {right} ({1 - kept / max(1, right):.3f})",
                self.rows(dict.fromkeys(true)),
                f"CPU ms of checking: mean, p95, most      {sum(milliseconds) / len(milliseconds):.1f} "
                f"{milliseconds[int(0.95 * len(milliseconds))]:.1f} {milliseconds[-1]:.1f}",
                f"prompt tokens per question: mean, most   {sum(self.prompt_tokens) / self.asked:.0f} "
                f"{max(self.prompt_tokens)}",
                self.every_kind(),
            ]
        )


@dataclass
class Draft:
    """The stand-in's answer to one prompt: each sentence with the number of the cited passage and its kind."""

    sentences: list[tuple[str, int, str]]

    def reply(self, as_json: bool) -> str:
        """The answer as JSON or as text."""
        if as_json:
            return json.dumps(
                {"sentences": [{"text": text, "passages": [n]} for text, n, _ in self.sentences]}
            )
        return " ".join(f"{text.rstrip('.')} [{n}]." for text, n, _ in self.sentences)


class Model:
    """The stand-in, as a transport under the real client of chat servers."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.gold: Sequence[str] = ()
        self.passages: Sequence[NumberedPassage] = ()
        self.draft = Draft([])
        self.right: tuple[str, NumberedPassage, list[str]] | None = None

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """One chat completion."""
        body = json.loads(request.content)
        self.draft = self._draft()
        text = self.draft.reply(as_json=self.chance.random() < 0.5)
        tokens = sum(estimate_tokens(message["content"]) for message in body["messages"])
        reply = {
            "choices": [
                {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            ]
        }
        content = json.dumps(
            reply | {"usage": {"prompt_tokens": tokens, "completion_tokens": len(text) // 4}}
        )
        headers = {"content-type": "application/json"}
        return httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(content.encode()))

    def _draft(self) -> Draft:
        told = [
            (passage.text[start:end], passage)
            for passage in self.passages
            for start, end in split_sentences(passage.text)
            if 20 < end - start < 400
        ]
        right = [one for one in told if any(answer in one[0] for answer in self.gold)]
        self.right = None
        if not right:
            return Draft([])
        sentence, passage = right[0]
        sentence = " ".join(re.sub(r"\[\d+\]", "", sentence).split())
        others = [
            " ".join(text.split())
            for text, where in told
            if where is passage and text != right[0][0]
        ]
        self.right = (sentence, passage, others)
        if self.chance.random() >= RIGHT:
            return Draft([self._invented(sentence, passage.number)])
        kind = self.chance.choice([*PARAPHRASES, _MERGED])
        if kind == _MERGED:
            if not others:
                kind = "copied"
            else:
                other = self.chance.choice(others).rstrip(".")
                return Draft([(f"{sentence.rstrip('.')}, and {other}.", passage.number, kind)])
        return Draft([(PARAPHRASES[kind](sentence, self.chance), passage.number, kind)])

    def _invented(self, sentence: str, number: int) -> tuple[str, int, str]:
        inventions = list((FOREIGN | TURNED).items())
        self.chance.shuffle(inventions)
        for kind, rewrite in inventions:
            if (written := rewrite(sentence, self.chance)) != sentence:
                return written, number, kind
        return sentence, number, "copied"


async def measure(articles: list[dict[str, Any]], questions: int, examples: int) -> str:
    """The figures, one per line."""
    chance, figures = random.Random(7), Figures()
    pages = [_page(place, article) for place, article in enumerate(articles)]
    asked = [
        (place, one["q"], one["answers"])
        for place, article in enumerate(articles)
        for paragraph in article["paragraphs"]
        for one in paragraph["questions"]
        if one["answers"]
    ]
    model = Model(seed=11)
    async with create_client(httpx2.MockTransport(model.answer)) as client:
        chat = Chat(client, "http://stand-in", "stand-in")
        for place, question, gold in chance.sample(asked, min(questions, len(asked))):
            others = chance.sample(
                [page for page in pages if page is not pages[place]], min(OTHERS, len(pages) - 1)
            )
            await _ask(chat, model, question, gold, [pages[place], *others], figures)
    shown = [
        f"{kind}: {text}" for kind, texts in figures.examples.items() for text in texts[:examples]
    ]
    return "\n".join([figures.shown(), *shown])


async def _ask(
    chat: Chat,
    model: Model,
    question: str,
    gold: Sequence[str],
    pages: Sequence[Page],
    figures: Figures,
) -> None:
    query = SearchQuery(question)
    hits = [Hit(page.url, page.title, "", "bench") for page in pages]
    passages = numbered_passages(query, hits, {page.url: page for page in pages}, BUDGET)
    model.gold, model.passages = gold, passages
    written = await chat.write(
        messages(query, passages, utc_now(), "mark"), REPLY_FORM, Deadline.after(60)
    )
    before = time.process_time()
    checked = check(claims_of(written.text), passages, question)
    figures.seconds.append(time.process_time() - before)
    figures.asked += 1
    figures.found += bool(model.draft.sentences)
    figures.hold_gold += any(answer in checked.text for answer in gold)
    figures.prompt_tokens.append(written.prompt_tokens)
    if model.right:
        figures.try_every_kind(*model.right)
    for text, _, kind in model.draft.sentences:
        figures.made[kind] += 1
        figures.served[kind] += bool(checked.spans)
        if bool(checked.spans) == (kind in FOREIGN or kind in TURNED):
            figures.examples[kind].append(text)


def _page(place: int, article: Mapping[str, Any]) -> Page:
    url = f"https://{place}.example/"
    title = article["title"].replace("_", " ")
    return Page(
        url, url, title, "\n\n".join(paragraph["text"] for paragraph in article["paragraphs"])
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument(
        "--examples", type=int, default=0, help="how many wrong verdicts of each kind to show"
    )
    arguments = parser.parse_args()
    loaded = json.loads(gzip.decompress(arguments.file.read_bytes()))
    print(asyncio.run(measure(loaded, arguments.questions, arguments.examples)))
