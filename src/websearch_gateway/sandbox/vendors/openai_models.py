"""The models of the stand-in for OpenAI, and the reasoning tokens that each uses.

Efforts and dates follow https://platform.openai.com/docs/models and /docs/deprecations as of November 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_LUNA_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")

REASONING_TOKENS = {"none": 0, "minimal": 0, "low": 640, "medium": 1408, "high": 4096, "xhigh": 8192, "max": 16384}
"""Output tokens that an answer's reasoning uses, by effort. Even at `low` it is more than 600."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model. `efforts` is empty for one that does not reason; `dimensions` is 0 unless it embeds."""

    id: str
    created: int
    efforts: tuple[str, ...] = ()
    shutdown_date: str | None = None
    dimensions: int = 0
    may_shorten: bool = False

    def listing(self) -> dict[str, Any]:
        """The entry in `GET /v1/models`."""
        return {
            "id": self.id,
            "object": "model",
            "created": self.created,
            "owned_by": "system",
            "shutdown_date": self.shutdown_date,
        }


_GPT_5_NANO = ("minimal", "low", "medium", "high")

MODELS = {
    model.id: model
    for model in (
        Model("gpt-5-nano", 1754426384, _GPT_5_NANO, "2026-12-11"),
        Model("gpt-5-nano-2025-08-07", 1754426303, _GPT_5_NANO, "2026-12-11"),
        Model("gpt-5.4-nano", 1773014400, ("none", "low", "medium", "high", "xhigh")),
        Model("gpt-5.6-luna", 1782777600, _LUNA_EFFORTS),
        Model("gpt-6-luna", 1790035200, _LUNA_EFFORTS),
        Model("text-embedding-3-small", 1705948997, dimensions=1536, may_shorten=True),
        Model("text-embedding-3-large", 1705953180, dimensions=3072, may_shorten=True),
        Model("text-embedding-ada-002", 1671217299, dimensions=1536),
    )
}
