"""Transcripts through the real library, over a transport that replays YouTube's replies."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import requests
from requests.adapters import BaseAdapter

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.sites.youtube import YouTube, new_session, transcript

VIDEO = "a-bcdefg_12"
WATCH = '<html>"INNERTUBE_API_KEY": "made-up"</html>'


def track(language: str, kind: str = "") -> dict[str, Any]:
    base = f"https://www.youtube.com/api/timedtext?lang={language}{kind}"
    return {
        "baseUrl": base,
        "name": {"runs": [{"text": language}]},
        "languageCode": language,
        "kind": kind,
    }


def player(*tracks: dict[str, Any], **status: str) -> str:
    captions = {"playerCaptionsTracklistRenderer": {"captionTracks": tracks}}
    return json.dumps({"playabilityStatus": {"status": "OK", **status}, "captions": captions})


def said(start: str, text: str) -> str:
    return f'<text start="{start}">{text}</text>'


class Plays(BaseAdapter):
    """Answers by the path of a request, and by its query where the path alone does not tell."""

    def __init__(self, replies: dict[str, str], status: int = 200) -> None:
        super().__init__()
        self._replies = replies
        self._status = status

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        path = request.path_url
        response = requests.Response()
        response.status_code = self._status
        response.url = request.url or ""
        response.request = request
        response.raw = io.BytesIO(
            next(body for part, body in self._replies.items() if part in path).encode()
        )
        return response

    def close(self) -> None:
        """Nothing to close."""


def playing(replies: dict[str, str], status: int = 200) -> requests.Session:
    session = new_session()
    session.mount("https://", Plays(replies, status))
    return session


def test_the_transcript_is_in_paragraphs_of_a_minute() -> None:
    spoken = [("0.5", "Two tides\na day."), ("59", "Why?"), ("121.9", "Moon.")]
    texts = f"<t>{''.join(said(start, text) for start, text in spoken)}</t>"
    replies = {"/watch": WATCH, "/player": player(track("en")), "/timedtext": texts}
    document = transcript(VIDEO, "Tides", playing(replies))
    assert (document.title, document.markdown) == (
        "Tides",
        "[0:00] Two tides a day. Why?\n\n[2:00] Moon.",
    )


def test_a_manual_transcript_in_the_spoken_language_is_preferred() -> None:
    tracks = player(track("en"), track("de"), track("de", "asr"))
    replies = {"/watch": WATCH, "/player": tracks, "lang=deasr": "<t/>", "lang=en": "<t/>"}
    replies |= {"lang=de": '<t><text start="0">Flut.</text></t>'}
    assert transcript(VIDEO, "", playing(replies)).markdown == "[0:00] Flut."


def test_a_video_without_a_transcript_is_an_error() -> None:
    replies = {"/watch": WATCH, "/player": json.dumps({"playabilityStatus": {"status": "OK"}})}
    with pytest.raises(SearchFetchError, match="TranscriptsDisabled"):
        transcript(VIDEO, "", playing(replies))


def test_youtube_is_paused_after_it_blocks_this_machine() -> None:
    document = transcript(VIDEO, "Tides", playing({"/watch": ""}, status=429))
    assert (document.markdown, document.pause_seconds) == ("", 3600)


def test_a_reply_cannot_direct_the_library_to_another_host() -> None:
    away = {**track("en"), "baseUrl": "https://youtube.com.evil.example/api/timedtext"}
    replies = {
        "/watch": WATCH,
        "/player": player(away),
        "/timedtext": '<t><text start="0">x</text></t>',
    }
    with pytest.raises(SearchFetchError, match="InvalidURL"):
        transcript(VIDEO, "", playing(replies))


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        (f"https://www.youtube.com/watch?v={VIDEO}&t=3", True),
        (f"https://m.youtube.com/shorts/{VIDEO}", True),
        (f"https://www.youtube-nocookie.com/embed/{VIDEO}", True),
        (f"https://youtube.com/live/{VIDEO}/", True),
        (f"https://youtu.be/{VIDEO}?si=x", True),
        (f"https://youtube.com.evil.example/watch?v={VIDEO}", False),
        (f"https://youtu.be/{VIDEO}x", False),
        ("https://www.youtube.com/watch?v=short", False),
        ("https://www.youtube.com/@channel", False),
        ("https://youtu.be/", False),
    ],
)
def test_only_videos_are_accepted(url: str, accepted: bool) -> None:
    assert YouTube().accepts(url) is accepted
