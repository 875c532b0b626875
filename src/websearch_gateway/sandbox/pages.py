"""The pages of the small web: data files in `pages/`, each a few `name: value` lines, `---`, and a piece of HTML.

Front matter: `title`, `site` (the name in the banner), `topics`; and either `date` (ISO 8601), or `age` (`6h`, `3d`:
always that old, so that freshness filters find the page on any day), or neither. `language` defaults to `en`; `region`
is an ISO 3166-1 alpha-2 code. A page with the topic `news` is found by news search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from string import Template

_BLOCKS = frozenset({"p", "li", "h2", "h3", "h4", "tr", "pre", "blockquote", "figcaption", "dt", "dd", "caption"})
_PROSE = frozenset({"p", "li", "blockquote", "dd"})
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"“„«¿¡(]?[A-Z0-9ÄÖÜÁÉÍÓÚÑ])|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Page:
    """One written page. `blocks` are its paragraphs, list items, rows as plain text, `sentences` its prose."""

    slug: str
    title: str
    site: str
    language: str
    region: str | None
    topics: tuple[str, ...]
    date: datetime | None
    age: timedelta | None
    html: str
    blocks: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path of the page at the sandbox."""
        return f"/pages/{self.slug}"

    @property
    def text(self) -> str:
        """The whole page as plain text, a block per paragraph."""
        return "\n\n".join(self.blocks)

    def published(self, now: datetime) -> datetime | None:
        """The publication date of the page, in UTC; None for an undated page."""
        return now - self.age if self.age is not None else self.date


class _Blocks(HTMLParser):
    """Collects the text of each innermost block element; table cells are joined by a bar."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._tag = ""
        self._words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self._flush()
            self._tag = tag
        elif tag in {"td", "th"} and self._words:
            self._words.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._flush()

    def handle_data(self, data: str) -> None:
        if self._tag:
            self._words.append(data)

    def _flush(self) -> None:
        text = "".join(self._words)
        text = text.strip() if self._tag == "pre" else " ".join(text.split())
        if text:
            self.found.append((self._tag, text))
        self._tag, self._words = "", []


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; recognises Latin and Japanese full stops."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def _age(value: str) -> timedelta:
    number, unit = int(value[:-1]), value[-1]
    return timedelta(hours=number) if unit == "h" else timedelta(days=number)


def _parse(slug: str, source: str) -> Page:
    head, _, html = source.partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    collector = _Blocks()
    collector.feed(html)
    prose = [text for tag, text in collector.found if tag in _PROSE]
    return Page(
        slug=slug,
        title=fields["title"],
        site=fields["site"],
        language=fields.get("language", "en"),
        region=fields.get("region"),
        topics=tuple(topic.strip() for topic in fields["topics"].split(",")),
        date=datetime.fromisoformat(fields["date"]).replace(tzinfo=UTC) if "date" in fields else None,
        age=_age(fields["age"]) if "age" in fields else None,
        html=html.strip(),
        blocks=tuple(text for _, text in collector.found),
        sentences=tuple(sentence for text in prose for sentence in split_sentences(text)),
    )


@cache
def library() -> dict[str, Page]:
    """Every page by its slug, in alphabetical order. Read once per process."""
    folder = files(__package__).joinpath("pages")
    sources = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".html")), key=lambda e: e.name)
    slugs = ((entry.name.removesuffix(".html"), entry) for entry in sources)
    return {slug: _parse(slug, entry.read_text("utf-8")) for slug, entry in slugs}


@cache
def _template() -> Template:
    return Template(files(__package__).joinpath("template.txt").read_text("utf-8"))


def render(page: Page, now: datetime) -> str:
    """The page as a whole HTML document, with the banner, menu and footer that real pages have."""
    published = page.published(now)
    moment = published.isoformat(timespec="seconds") if published else ""
    siblings = [other for other in library().values() if other is not page and set(other.topics) & set(page.topics)]
    return _template().substitute(
        language=page.language,
        title=escape(page.title),
        site=escape(page.site),
        path=page.path,
        description=escape(page.sentences[0] if page.sentences else page.title),
        published=f'<meta property="article:published_time" content="{moment}">' if moment else "",
        byline=f'<p class="byline">Published <time datetime="{moment}">{moment[:10]}</time></p>' if moment else "",
        body=page.html,
        related="".join(f'<li><a href="{other.path}">{escape(other.title)}</a></li>' for other in siblings[:3]),
    )
