"""A bot challenge is not a page, and a page about bot challenges is not a challenge."""

from __future__ import annotations

import pytest

from websearch_gateway.text.bot_challenge import LONGEST_CHALLENGE, is_bot_challenge


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment...", ""),
        ("Attention Required! | Cloudflare", "Please enable cookies. Sorry, you have been blocked"),
        ("shop.example", "Verify you are human by completing the action below."),
        ("Robot Check", "Enter the characters you see below. Sorry, we just need to make sure you're not a robot."),
        ("", "Our systems have detected unusual traffic from your computer network."),
        ("news.example", "Please enable JavaScript and cookies to continue"),
        ("Access to this page has been denied", "Press & Hold to confirm you are a human (and not a bot)."),
        ("Making sure you're not a bot!", "Loading... Making sure you’re not a bot!"),
    ],
)
def test_a_bot_challenge_is_recognised(title: str, text: str) -> None:
    assert is_bot_challenge(title, text)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("CAPTCHA", "A captcha asks you to prove that you are human. " * (LONGEST_CHALLENGE // 40)),
        ("Tides", "There are two high tides a day."),
        ("Just a moment in history", "The treaty was signed in a hall. " * 20),
        ("How robots walk", "Are robots human? No."),
        ("", ""),
    ],
)
def test_an_ordinary_page_is_not_a_bot_challenge(title: str, text: str) -> None:
    assert not is_bot_challenge(title, text)
