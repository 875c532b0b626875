"""How often the passages, and the quoted answer, hold the known answer: `python -m bench.questions FILE [--size N]`.

FILE is gzipped JSON: a list of articles, each `{"title", "paragraphs": [{"text", "questions": [{"q", "answers"}],
"impossible": ["a question that no page answers"]}]}`; the last is optional, and questions without answers are left out.
A loopback server serves each article as a page, and the gateway reads it like any page. For the last of these figures
all paragraphs are ranked in groups of forty. The figures of `bench.quotes` follow, beside their goals.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import html
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.quotes import quotes
from websearch_gateway.answers.extractive import compose
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.base.tokenization import query_terms, tokens_of_each
from websearch_gateway.cache.pages import Similarity, Subject
from websearch_gateway.evidence.embedders.local import StaticEmbedder, encode
from websearch_gateway.evidence.passages import ANSWERS, bm25, cut_passages, select
from websearch_gateway.models import Deadline, Hit, PassagesRequest, SearchQuery
from websearch_gateway.settings.loading import load_settings

PLACES = (1, 3, 8)
GROUP = 40


async def measure(articles: list[dict[str, Any]], size: int) -> str:
    """A line per figure."""
    async with _site(articles) as site:
        with tempfile.TemporaryDirectory() as folder:
            settings = load_settings(
                data_dir=Path(folder),
                fetch_allow_private_hosts=(site,),
                log_level="ERROR",
                embedding_tokens_size=size,
                search_deadline_seconds=60.0,
                read_rate_limit="none",
            )
            async with open_gateway(settings) as gateway:
                counted: Counter[str] = Counter()
                for number, article in enumerate(articles):
                    url, stranger = (
                        f"http://{site}/{(number + step) % len(articles)}" for step in (0, 1)
                    )
                    for question, answers in _questions(article):
                        counted += await _asked(gateway, url, stranger, question, answers, size)
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    for start in range(0, len(paragraphs), GROUP):
        counted[f"right paragraph of {GROUP} first"] += await _found_first(
            paragraphs[start : start + GROUP]
        )
    total = counted.pop("questions")
    return "\n".join(f"{name:<40}{count / total:>8.3f}" for name, count in sorted(counted.items()))


async def _asked(
    gateway: Gateway, url: str, stranger: str, question: str, answers: list[str], size: int
) -> Counter[str]:
    counted = Counter(["questions"])

    def holds(text: str) -> bool:
        return any(answer in text for answer in answers)

    page = await gateway.reading.page_cache.read(url, Deadline.after(10))
    found = await gateway.reading.passages(PassagesRequest(url, (question,)))
    results = found.queries[0].results
    for place in PLACES:
        counted[f"answer in the first {place}"] += any(
            holds(passage.text) for passage in results[:place]
        )
    texts = [
        "\n".join((*one.section_path, one.text))
        for one in cut_passages(page.markdown, size).passages
    ]
    by_words = bm25(query_terms(question), tokens_of_each(texts))
    counted["answer in the first by BM25 alone"] += holds(texts[by_words.index(max(by_words))])
    counted["passages shown"] += len(results)
    counted["said to be answered on its page"] += bool(results) and results[0].score >= ANSWERS
    other = (
        (await gateway.reading.passages(PassagesRequest(stranger, (question,)))).queries[0].results
    )
    counted["said to be answered on another page"] += bool(other) and other[0].score >= ANSWERS
    quoted = compose(
        SearchQuery(question), [Hit(url, page.title, "", "bench")], {url: page}, encode=encode
    )
    counted["answer in the quoted text"] += holds(quoted.text)
    return counted


async def _found_first(paragraphs: list[dict[str, Any]]) -> int:
    """The number of questions whose right paragraph is ranked first."""
    similarity = Similarity(StaticEmbedder())
    texts = {str(place): paragraph["text"] for place, paragraph in enumerate(paragraphs)}
    tokens = tokens_of_each(texts.values())
    asked = [
        (place, q)
        for place, one in enumerate(paragraphs)
        for q, _ in _questions({"paragraphs": [one]})
    ]
    near = (
        await similarity.compare(Subject(texts), [q for _, q in asked], Deadline.after(60))
    ).similarities
    return sum(
        select(
            query_terms(q),
            tokens,
            [near[q].get(one) for one in texts],
            weight=similarity.weight,
            most=1,
        )[0][0]
        == place
        for place, q in asked
    )


def _questions(article: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for paragraph in article["paragraphs"]:
        for question in paragraph["questions"]:
            if question["answers"]:
                yield question["q"], question["answers"]


@asynccontextmanager
async def _site(articles: list[dict[str, Any]]) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        number = head.split(" ")[1].strip("/")
        body = _page(articles[int(number)]) if number.isdigit() else b""
        status = "200 OK" if body else "404 Not Found"
        lines = f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(lines.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


def _page(article: dict[str, Any]) -> bytes:
    title = html.escape(article["title"].replace("_", " "))
    text = "".join(
        f"<p>{html.escape(paragraph['text'])}</p>" for paragraph in article["paragraphs"]
    )
    return f"<!doctype html><title>{title}</title><main><article><h1>{title}</h1>{text}</article></main>".encode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--size", type=int, default=512, help="tokens in a passage")
    arguments = parser.parse_args()
    asked = json.loads(gzip.decompress(arguments.file.read_bytes()))
    print(asyncio.run(measure(asked, arguments.size)))
    print(quotes(asked))
