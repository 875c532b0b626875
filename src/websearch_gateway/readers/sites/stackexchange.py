"""Stack Exchange questions with their answers, the accepted one first, then by score.

https://api.stackexchange.com/docs/questions-by-ids, https://api.stackexchange.com/docs/answers-on-questions,
https://api.stackexchange.com/docs/questions-by-answer-ids, https://api.stackexchange.com/docs/throttle
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from websearch_gateway.readers.formats.rendering import to_markdown
from websearch_gateway.readers.sites.api_reader import ApiRequest, Document, address, json_of, section, segments
from websearch_gateway.text.markdown import as_user_text

_OWN_HOSTS = {
    "stackoverflow.com",
    "serverfault.com",
    "superuser.com",
    "askubuntu.com",
    "mathoverflow.net",
    "stackapps.com",
}
_NETWORK = re.compile(r"(?:[a-z0-9-]{2,30}\.){1,2}stackexchange\.com|[a-z]{2}\.stackoverflow\.com")
_KINDS = {"questions": "questions", "q": "questions", "a": "answers"}
_ANSWERS = 10
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class StackExchange:
    """`/questions/ID`, `/q/ID` and `/a/ID` of every site. Without a key: 300 requests a day per IP address."""

    api: str = "https://api.stackexchange.com"
    name: str = "stackexchange"
    # Stack Exchange reports throttling with status 400.
    busy: tuple[int, ...] = (400, 403, 429, 502, 503)
    pace: None = None

    def accepts(self, url: str) -> bool:
        """Whether `url` is a question or an answer."""
        return _post(url) is not None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The requests for the question and its answers; for the URL of an answer, only for that answer."""
        site, kind, number = _post(url) or ("", "", "")
        base, parameters = f"{self.api}/2.3/{kind}/{number}", f"site={site}&filter=withbody"
        if kind == "answers":
            return [ApiRequest(f"{base}/questions?{parameters}"), ApiRequest(f"{base}?{parameters}")]
        best = f"order=desc&sort=votes&pagesize={_ANSWERS}"
        return [ApiRequest(f"{base}?{parameters}"), ApiRequest(f"{base}/answers?{parameters}&{best}")]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The question with its scores, then up to ten answers."""
        questions, replies = (json_of(body) for body in bodies)
        question = questions["items"][0]
        answers = sorted(replies["items"], key=lambda answer: not answer.get("is_accepted", False))
        tags = ", ".join(question.get("tags", ()))
        head = f"Score {question['score']}, {question['answer_count']} answers. Tags: {tags or 'none'}."
        parts = [head, as_user_text(to_markdown(question["body"], url)), *(_answer(answer, url) for answer in answers)]
        return Document(
            html.unescape(question["title"]),
            "\n\n".join(parts),
            datetime.fromtimestamp(question["creation_date"], UTC).date().isoformat(),
            pause_seconds=max(_pause(questions), _pause(replies)),
        )


def _post(url: str) -> tuple[str, str, str] | None:
    """The site and the kind of post, in the API's names, and the id of the post at `url`."""
    parts = address(url)
    host = (parts.hostname or "").removeprefix("www.") if parts else ""
    if parts is None or not (host in _OWN_HOSTS or _NETWORK.fullmatch(host)):
        return None
    path = segments(url, parts.hostname or "") or []
    kind = _KINDS.get(path[0]) if len(path) > 1 else None
    if kind is None or not re.fullmatch(r"[0-9]{1,12}", path[1]):
        return None
    site = host.removesuffix(".com") if host in _OWN_HOSTS else host
    return site, kind, path[1]


def _answer(answer: Mapping[str, Any], url: str) -> str:
    accepted = "Accepted answer" if answer.get("is_accepted") else "Answer"
    author = html.unescape((answer.get("owner") or {}).get("display_name", "somebody"))
    body = as_user_text(to_markdown(answer["body"], url))
    return section(f"{accepted} by {author} (score {answer['score']})", body)


def _pause(reply: Mapping[str, Any]) -> float:
    """The seconds for which the API must not be called."""
    # The quota resets at midnight UTC, so after a day at most.
    until_reset = _DAY_SECONDS if reply.get("quota_remaining") == 0 else 0.0
    return max(float(reply.get("backoff", 0)), until_reset)
