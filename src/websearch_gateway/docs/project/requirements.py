"""Files of requirements, as pip reads them."""

from __future__ import annotations

import optparse
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NoReturn

from websearch_gateway.docs.project.files import text_in
from websearch_gateway.docs.project.origins import Origins

MOST_REQUIREMENTS = 50
"""The most files `requirements*.txt` and `constraints*.txt` of a project."""
LONGEST_LINE = 20_000
"""The longest line with options of pip that is read; one with fifty hashes has some 4,000 characters."""

ANY_INDEX = "-i"
"""Noted where something names an index that cannot be told."""

# https://packaging.python.org/en/latest/specifications/dependency-specifiers/#names
_REQUIREMENT = re.compile(
    r"\s*([A-Z0-9][A-Z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)", re.IGNORECASE | re.ASCII
)
_SPECIFIED = re.compile(r"[<>=!~(\\]|--|$")
"""What may follow a name: anything else is a path or an address."""
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar(?:\.\w+)?|tgz)$", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


def requirement(line: str) -> tuple[str, str]:
    """The name and the specifier of a requirement; empty for options, comments, paths and addresses."""
    match = _REQUIREMENT.match(line)
    if match is None or _ARCHIVE.search(match[1]) or not _SPECIFIED.match(match[2]):
        return "", ""
    return spelt(match[1]), match[2].strip()


def spelt(name: str) -> str:
    """A name of PyPI in the one spelling of the registry."""
    return re.sub(r"[-_.]+", "-", name).lower()


def note_requirement_indexes(files: Iterable[Path], pypi: Origins) -> None:
    """Note the indexes that files of requirements name, and the files that these include."""
    waiting = dict.fromkeys(files)
    seen: set[Path] = set()
    while waiting:
        file = next(iter(waiting))
        del waiting[file]
        if file in seen:
            continue
        if len(seen) == MOST_REQUIREMENTS:
            pypi.note_index(ANY_INDEX, file.name)  # a file that is not read may name any index
            break
        seen.add(file)
        for included in _included(file, pypi):
            waiting[Path(os.path.normpath(file.parent / included))] = None


def _included(file: Path, pypi: Origins) -> Iterator[str]:
    """The files that one includes. Notes the indexes that it names."""
    for line in _logical_lines(text_in(file)):
        options = _pip_options(line)
        if options is None:  # pip would refuse the line: it may mean any index
            pypi.note_index(ANY_INDEX, file.name)
            continue
        urls = [
            options.index_url,
            *(options.extra_index_url or ()),
            *(options.find_links or ()),
        ]
        pypi.note_index([url for url in urls if url], file.name)
        if options.no_index:
            pypi.note_index("--no-index", file.name)
        for included in (*(options.requirement or ()), *(options.constraint or ())):
            if "://" not in included:
                yield included


def _logical_lines(text: str) -> Iterator[str]:
    """The lines of a file of requirements as pip reads them: joined at a backslash, and without comments."""
    pending = ""
    for line in text.splitlines():
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            pending += line[:-1] + " "
            continue
        whole, pending = pending + line, ""
        yield _COMMENT.sub("", whole).strip()
    if pending.strip():
        yield _COMMENT.sub("", pending).strip()


class _PipParser(optparse.OptionParser):
    """pip reads the options of a line with `optparse`, which also takes the beginnings of their names."""

    def error(self, msg: str) -> NoReturn:
        raise ValueError(msg)


_REPEATED_OPTIONS = (
    ("--extra-index-url",),
    ("-f", "--find-links"),
    ("-r", "--requirement"),
    ("-c", "--constraint"),
    ("-e", "--editable"),
    ("--no-binary",),
    ("--only-binary",),
    ("--trusted-host",),
    ("--use-feature",),
    ("--global-option",),
    ("--config-settings", "--config-setting", "-C"),
    ("--hash",),
)
_FLAGS = ("--no-index", "--prefer-binary", "--require-hashes", "--pre")
_NO_OPTIONS = optparse.Values(
    dict.fromkeys(
        ("index_url", "extra_index_url", "find_links", "no_index", "requirement", "constraint")
    )
)


@cache
def _pip_parser() -> optparse.OptionParser:
    """The options that pip takes in a file of requirements
    (https://pip.pypa.io/en/stable/reference/requirements-file-format/#supported-options)."""
    parser = _PipParser(add_help_option=False)
    parser.add_option("-i", "--index-url", "--pypi-url", dest="index_url")
    for names in _REPEATED_OPTIONS:
        parser.add_option(*names, action="append")
    for name in _FLAGS:
        parser.add_option(name, action="store_true")
    return parser


@lru_cache(maxsize=1_000)
def _pip_options(line: str) -> optparse.Values | None:
    """The options of a line; None if pip would refuse it."""
    words = line.split()
    first = next((place for place, word in enumerate(words) if word.startswith("-")), None)
    if first is None:
        return _NO_OPTIONS
    if len(line) > LONGEST_LINE:
        return None
    try:
        return _pip_parser().parse_args(shlex.split(" ".join(words[first:])))[0]
    except ValueError:
        return None
