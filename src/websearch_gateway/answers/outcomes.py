"""Warnings and errors that are the same for all answer engines."""

from __future__ import annotations

from collections.abc import Mapping

from websearch_gateway.errors import SearchProviderError, SearchProviderParseError, SearchValidationError

CUT_OFF = "The answer was cut off: it reached the maximum length."


class ModelGone(SearchProviderError):
    """The model does not exist, was shut down, or is not available to this key. The next one may be."""


class OptionRefused(SearchValidationError):
    """The model refuses an optional field of the request, which the engine leaves out from then on."""

    def __init__(self, vendor: str, option: str) -> None:
        super().__init__(f"{vendor} refused the request: its model does not accept {option}.")
        self.option = option


def declined() -> SearchValidationError:
    """The model will not answer this question.

    A refusal, so raw search does not step in: the question is at fault, not the upstream, and must not open its
    circuit.
    """
    return SearchValidationError("The answer engine declined to answer this question. Rephrase it.")


def not_searched(vendor: str) -> SearchProviderParseError:
    """The reply has an answer, but the model did not search for it."""
    return SearchProviderParseError(f"{vendor} answered without searching the web.")


def no_answer(vendor: str) -> SearchProviderParseError:
    """The reply has no text."""
    return SearchProviderParseError(f"The reply of {vendor} holds no answer.")


def lost_citations(count: int) -> str:
    """The warning about citations whose position in the text is unknown."""
    return f"Citations left out because they have no position in the text: {count}."


def applying(notes: Mapping[str, object]) -> tuple[str, ...]:
    """The notes whose condition is true."""
    return tuple(note for note, condition in notes.items() if condition)
