"""Transcripts of YouTube videos. Needs the extra `youtube`; without it the plain page is read.

https://github.com/jdepoix/youtube-transcript-api, and https://oembed.com for the title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.sites.api import (
    ApiRequest,
    Document,
    Source,
    address,
    json_of,
    segments,
)

if TYPE_CHECKING:
    from requests import Session

_HOSTS = (
    "youtube.com",
    "www.youtube.com",
    "m.youtube.com",
    "music.youtube.com",
    "www.youtube-nocookie.com",
)
_VIDEO = re.compile(r"[\w-]{11}", re.ASCII)
_BLOCKED_SECONDS = 3_600.0
_TIMEOUT_SECONDS = 5.0
_PARAGRAPH_SECONDS = 60


@dataclass(frozen=True)
class YouTube(Source):
    """`/watch?v=`, `/shorts/`, `/embed/`, `/live/` and `youtu.be/`. YouTube often blocks data centres."""

    api: str = "https://www.youtube.com"
    name: str = "youtube"
    busy: Sequence[int] = (429,)

    @staticmethod
    def place(url: str) -> str | None:
        """The id of a video."""
        parts = address(url)
        path = segments(url, "youtu.be", *_HOSTS) or []
        video = ""
        if parts is None:
            return None
        if parts.hostname == "youtu.be":
            if len(path) == 1:
                video = path[0]
        elif path == ["watch"]:
            video = parse_qs(parts.query).get("v", [""])[0]
        elif len(path) == 2 and path[0] in ("shorts", "embed", "live"):
            video = path[1]
        return video if _VIDEO.fullmatch(video) else None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the title of the video."""
        watch = f"https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{self.place(url)}"
        return [ApiRequest(f"{self.api}/oembed?format=json&url={watch}", may_be_missing=True)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The transcript, a paragraph for each minute.

        Not pure: the library calls YouTube itself. It runs in a worker process, which limits its time and memory.
        """
        about = json_of(bodies[0]) if bodies[0] else {}
        return transcript(YouTube.place(url) or "", str(about.get("title", "")), new_session())


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
        transcripts = list(YouTubeTranscriptApi(http_client=session).list(video))
        spoken = [track.language_code for track in transcripts if track.is_generated]
        best = min(
            transcripts, key=lambda track: (track.language_code not in spoken, track.is_generated)
        )
        snippets = best.fetch()
    except (IpBlocked, RequestBlocked):
        return Document(title, "", pause_seconds=_BLOCKED_SECONDS)
    except (YouTubeTranscriptApiException, RequestException, ValueError) as error:
        raise SearchFetchError(
            f"YouTube provides no transcript ({type(error).__name__})."
        ) from None
    minutes: dict[int, list[str]] = {}
    for snippet in snippets:
        minute = int(snippet.start) // _PARAGRAPH_SECONDS
        words = " ".join(snippet.text.split())
        minutes.setdefault(minute, []).append(words)
    paragraphs = [f"[{minute}:00] {' '.join(minutes[minute])}" for minute in sorted(minutes)]
    text = "\n\n".join(paragraphs)
    return Document(title or f"YouTube video {video}", text)


def new_session() -> Session:
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
