"""Transcripts of YouTube videos. Needs the extra `youtube`; without it the plain page is read.

https://github.com/jdepoix/youtube-transcript-api, and https://oembed.com for the title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.sites.api_reader import ApiRequest, Document, address, json_of, segments

if TYPE_CHECKING:
    from requests import Session

_HOSTS = ("youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "www.youtube-nocookie.com")
_VIDEO = re.compile(r"[\w-]{11}", re.ASCII)
_BLOCKED_SECONDS = 3_600.0
_TIMEOUT_SECONDS = 5.0
_PARAGRAPH_SECONDS = 60


@dataclass(frozen=True, slots=True)
class YouTube:
    """`/watch?v=`, `/shorts/`, `/embed/`, `/live/` and `youtu.be/`. YouTube often blocks data centres."""

    api: str = "https://www.youtube.com"
    name: str = "youtube"
    busy: tuple[int, ...] = (429,)
    pace: None = None

    def accepts(self, url: str) -> bool:
        """Whether `url` is a video."""
        return _video(url) is not None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the title of the video."""
        watch = f"https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{_video(url)}"
        return [ApiRequest(f"{self.api}/oembed?format=json&url={watch}", may_be_missing=True)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The transcript, a paragraph for each minute.

        Not pure: the library calls YouTube itself. It runs in a worker process, which limits its time and memory.
        """
        about = json_of(bodies[0]) if bodies[0] else {}
        return transcript(_video(url) or "", str(about.get("title", "")), _session())


def transcript(video: str, title: str, session: Session) -> Document:
    """The transcript of a video in its spoken language if available, else in any language.

    If YouTube blocks this machine, the document has no text and sets `pause_seconds`.

    Raises:
        SearchFetchError: the video has no transcript, or it cannot be fetched.
    """
    from requests import RequestException
    from youtube_transcript_api import (
        IpBlocked,
        RequestBlocked,
        YouTubeTranscriptApi,
        YouTubeTranscriptApiException,
    )

    try:
        found = list(YouTubeTranscriptApi(http_client=session).list(video))
        spoken = [one.language_code for one in found if one.is_generated]
        best = min(found, key=lambda one: (one.language_code not in spoken, one.is_generated))
        snippets = best.fetch()
    except (IpBlocked, RequestBlocked):
        return Document(title, "", pause_seconds=_BLOCKED_SECONDS)
    except (YouTubeTranscriptApiException, RequestException, ValueError) as error:
        raise SearchFetchError(f"YouTube provides no transcript ({type(error).__name__}).") from None
    return Document(title or f"YouTube video {video}", _paragraphs(snippets))


def _video(url: str) -> str | None:
    parts = address(url)
    if parts is None:
        return None
    if parts.hostname == "youtu.be":
        path = segments(url, "youtu.be") or []
        found = path[0] if len(path) == 1 else ""
    else:
        path = segments(url, *_HOSTS) or []
        if path == ["watch"]:
            found = parse_qs(parts.query).get("v", [""])[0]
        else:
            found = path[1] if len(path) == 2 and path[0] in ("shorts", "embed", "live") else ""
    return found if _VIDEO.fullmatch(found) else None


def _session() -> Session:
    """A session that connects only to YouTube, even if its replies name other hosts."""
    try:
        import requests
        import youtube_transcript_api  # noqa: F401 - checks that it is installed
    except ImportError:
        raise SearchFetchError("Transcripts need the extra `youtube` of this package.") from None

    class YouTubeSession(requests.Session):
        def send(self, request: Any, **options: Any) -> Any:
            parts = urlsplit(request.url)
            if parts.scheme != "https" or not f".{parts.hostname}".endswith(".youtube.com"):
                raise requests.exceptions.InvalidURL("not an address of YouTube")
            return super().send(request, **{**options, "timeout": _TIMEOUT_SECONDS})

    session = YouTubeSession()
    session.trust_env = False
    return session


def _paragraphs(snippets: Iterable[Any]) -> str:
    minutes: dict[int, list[str]] = {}
    for snippet in snippets:
        minutes.setdefault(int(snippet.start) // _PARAGRAPH_SECONDS, []).append(" ".join(snippet.text.split()))
    return "\n\n".join(f"[{minute}:00] {' '.join(texts)}" for minute, texts in sorted(minutes.items()))
