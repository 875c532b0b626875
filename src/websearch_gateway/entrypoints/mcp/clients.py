"""The MCP clients that say who they are: what their model is shown of a reply, and how much of it.

A result has two forms, a text and structured data. Some agents show their model the data in place of the text or beside
it: they get the text alone, since it is shorter and marks what comes from the web. Programs get both.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

from mcp.server import ServerRequestContext

from websearch_gateway.entrypoints.reply.sizes import BYTES_PER_TOKEN
from websearch_gateway.settings.loading import Settings

Context = ServerRequestContext[Any, Any]

Shows = Literal["text", "data", "both", "unknown"]
"""What reaches the model of a reply with a text and data."""

USUAL = 40_000
"""Characters of a reply for a client whose limit nobody knows. Most show so many."""

LONGEST_NAME = 100
"""Characters of the name or `User-Agent` of a client, by which it is told: all known ones are shorter."""

FRAME = 300
"""Characters of a client's own around a reply: a fence, the time that the call took, the JSON of a content block."""


@dataclass(frozen=True, slots=True)
class Client:
    """An MCP client.

    Attributes:
        name: its `clientInfo.name`; one that ends with `*` begins so. Empty if it shares its name with others.
        shows: what it shows its model.
        characters: of a reply, which it shows uncut; None if it showed the longest that was tried.
        evidence: `run`: a real one was run with a model that records what it gets; `read`: its source was read.
        user_agent: the beginning of its `User-Agent`; empty if others begin so too.
    """

    name: str
    shows: Shows
    characters: int | None
    evidence: Literal["run", "read"]
    user_agent: str = ""

    def is_named(self, name: str) -> bool:
        """Whether a client of this `clientInfo.name` is this one."""
        if self.name.endswith("*"):
            return name.startswith(self.name[:-1])
        return bool(name) and name == self.name

    def sends(self, user_agent: str) -> bool:
        """Whether a client with this `User-Agent` is this one."""
        return bool(self.user_agent) and user_agent.startswith(self.user_agent)


CLIENTS: tuple[Client, ...] = (
    Client("claude-code", "data", 48_128, "run", "claude-code/"),
    # Directly it shows its model the data, in code mode the whole result.
    Client("codex-mcp-client", "both", 40_000, "run", "codex-mcp-client/"),
    Client("copilot-cli", "both", 20_480, "run", "copilot-cli/"),
    Client("@cline/core", "both", 8_000, "run"),
    Client("fast-agent-mcp", "data", 16_200, "run"),
    Client("google-adk", "both", None, "run"),
    Client("", "data", 16_000, "run", "MistralAI-VibeCLI/"),
    Client("Visual Studio Code", "data", USUAL, "read", "Visual Studio Code/"),
    Client(
        "Visual Studio Code - Insiders", "data", USUAL, "read", "Visual Studio Code - Insiders/"
    ),
    Client("Code - OSS", "data", USUAL, "read", "Code - OSS/"),
    Client("opencode", "text", 51_200, "run", "opencode/"),
    Client("kilo", "text", 51_200, "run"),
    Client("gemini-cli-mcp-client", "text", 40_000, "run"),
    Client("qwen-cli-mcp-client-*", "text", 25_000, "run"),
    Client("continue-cli-client", "text", None, "run"),
    Client("ai-sdk-mcp-client", "text", None, "run"),
    Client("mcp-use", "text", None, "run"),
)

UNKNOWN = Client("", "unknown", USUAL, "read")
"""Every other client: programs, and agents that share a name such as `mcp`."""


@dataclass(frozen=True, slots=True)
class View:
    """How a client gets results: with or without data, and the most bytes of each form (see `reply.sizes`)."""

    has_data: bool
    room: int


def view_of(context: Context, settings: Settings) -> View:
    """How the client of a request gets results, the same for the list of tools and for calls: what is listed with a
    schema is answered with data.
    """
    client = client_of(context)
    has_data = sends_data(settings.structured_output, client)
    return View(has_data, room_of(client, settings, has_data=has_data))


def client_of(context: Context) -> Client:
    """The client of a request. It gives its name at the beginning of a connection, or with each request of protocol
    2026-07-28; requests over HTTP in earlier versions are independent, and have only their `User-Agent`.
    """
    introduced = context.session.client_params
    name = introduced.client_info.name if introduced else ""
    user_agent = "" if context.request is None else context.request.headers.get("user-agent", "")
    return _client(name[:LONGEST_NAME], user_agent[:LONGEST_NAME])


@functools.lru_cache(maxsize=128)  # a client asks often
def _client(name: str, user_agent: str) -> Client:
    for client in CLIENTS:
        if client.is_named(name) or (not name and client.sends(user_agent)):
            return client
    return UNKNOWN


def sends_data(setting: Literal["auto", "on", "off"], client: Client) -> bool:
    """Whether results for a client have structured data beside their text."""
    if setting == "auto":
        return client.shows not in ("data", "both")
    return setting == "on"


def room_of(client: Client, settings: Settings, *, has_data: bool) -> int:
    """The most bytes of a text, and of data: together within MAX_REPLY_TOKENS, and what the client shows of them within
    its limit. An operator who sets MAX_REPLY_TOKENS knows better than `UNKNOWN`.
    """
    whole = settings.max_reply_tokens * BYTES_PER_TOKEN
    room = whole // 2 if has_data else whole
    is_set = "max_reply_tokens" in settings.model_fields_set
    if client.characters is None or (client is UNKNOWN and is_set):
        return room
    shown = client.characters - FRAME
    if has_data and client.shows == "both":
        shown //= 2
    return min(room, shown)
