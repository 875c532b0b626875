"""Values of arguments: what they must be, and the one error for a value that is something else."""

from __future__ import annotations

from typing import TypeVar

from websearch_gateway.base import country_code, language_code
from websearch_gateway.errors import SearchValidationError

T = TypeVar("T")


def invalid(field: str, demand: str, allowed: str) -> SearchValidationError:
    """The error of a parameter that must be something else."""
    return SearchValidationError(
        f"`{field}` must be {demand}.", details={"field": field, "allowed": allowed}
    )


def whole_number(field: str, value: int, most: int, least: int = 1) -> int:
    """`value`, given as the parameter `field`. Raises SearchValidationError unless it is in its range."""
    # A bool is an int to Python, and "5" is a mistake that a caller should see.
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise invalid(field, f"a whole number from {least} to {most}", f"{least}-{most}")
    return value


def up_to(field: str, value: int, most: int, least: int = 1) -> tuple[int, tuple[str, ...]]:
    """`value`, or `most` with a warning if it is larger: to ask for more than there is has only one meaning.

    Raises:
        SearchValidationError: `value`, given as the parameter `field`, is not a whole number from `least` on.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > most:
        return most, (f"`{field}` is at most {most}: {most} is used.",)
    return whole_number(field, value, most, least), ()


def flag(field: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise invalid(field, "true or false", "true, false")
    return value


def one_of(field: str, value: T, allowed: tuple[T, ...]) -> T:
    if value not in allowed:
        listed = ", ".join(map(str, allowed))
        raise invalid(field, f"one of {listed}", listed)
    return value


_CODES = {
    "region": (country_code, "ISO 3166-1 alpha-2", " code such as GB, or a country's English name"),
    "language": (language_code, "ISO 639-1", " code such as en"),
}


def code(field: str, value: object, name: str | None = None) -> str:
    """The code of a region or a language, whichever `field` is; `name` is what the caller knows it by, if not `field`.

    Raises:
        SearchValidationError: the value names none.
    """
    code_of, standard, example = _CODES[field]
    if not isinstance(value, str) or (code := code_of(value)) is None:
        raise invalid(name or field, f"an {standard}{example}", standard)
    return code
