"""Answer engines, one file each, in the order of `table`.

`http_engine` runs every engine that is an HTTP API. To add one: docs/adding-an-engine.md. The extractive composer,
which quotes without a model, is here too: its code runs in worker processes, and this process does not load it.

This file imports nothing at first: worker processes compose and check answers, and do without the settings.
"""

from typing import Any


def compose(*arguments: Any, **options: Any) -> Any:
    """`extractive.compose`; a `ports.Composer`."""
    from websearch_gateway.answers import extractive

    return extractive.compose(*arguments, **options)


def shortlist(*arguments: Any, **options: Any) -> Any:
    """`extractive.shortlist`; a `ports.Shortlist`."""
    from websearch_gateway.answers import extractive

    return extractive.shortlist(*arguments, **options)
