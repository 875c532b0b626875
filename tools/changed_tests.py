"""Prints the test files of what changed since BASE (default: main), for `make check`.

For a changed module `a/b.py` that is `tests/a/test_b.py` and `tests/a/test_b_*.py`, or all tests of the folder if it
has none of its own. For what tests share, such as a `conftest.py`, it is the tests of its folder. The documents are
always tested.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PACKAGE = "src/websearch_gateway/"


def changed(base: str) -> list[str]:
    """The paths that differ from `base`, committed or not."""
    since = _git("merge-base", base, "HEAD") or ["HEAD"]
    return [
        *_git("diff", "--name-only", since[0]),
        *_git("ls-files", "--others", "--exclude-standard"),
    ]


def tests_of(path: str) -> Iterator[str]:
    """The test files for one changed path."""
    name = PurePosixPath(path)
    if path.startswith("tests/") and name.name.startswith("test_") and (ROOT / path).is_file():
        yield path
    elif path.startswith(PACKAGE) and name.suffix == ".py":
        folder = Path("tests") / name.relative_to(PACKAGE).parent
        own = [
            found
            for found in _tests_in(folder)
            if re.fullmatch(rf"test_{name.stem}(_.*)?", Path(found).stem)
        ]
        yield from own or _tests_in(folder)
    elif path.startswith("tests/") and name.suffix == ".py" and not name.name.startswith("test_"):
        yield from _tests_in(Path(path).parent)


def _tests_in(folder: Path) -> Iterator[str]:
    """The test files of a folder, without its subfolders; none for tests/ itself, which would mean all tests."""
    if folder != Path("tests"):
        yield from (
            str(found.relative_to(ROOT)) for found in sorted((ROOT / folder).glob("test_*.py"))
        )


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


if __name__ == "__main__":
    found = {
        test
        for path in changed(sys.argv[1] if len(sys.argv) > 1 else "main")
        for test in tests_of(path)
    }
    print(*sorted(found | {"tests/test_docs.py"}))
