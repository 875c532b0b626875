"""Writes the commits of actions and the digests of images beside their versions: `python tools/pin.py`.

For a maintainer with a network: it asks `git ls-remote` for the commit of each tag and `docker buildx imagetools` for
the digest of each image, and writes only what these print. What is pinned already is looked up by its version again.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKFLOWS = tuple(sorted((ROOT / ".github" / "workflows").glob("*.yml")))
IMAGES = (ROOT / "Dockerfile", ROOT / "compose.yaml")

_ACTION = re.compile(
    r"(?P<uses>uses: )(?P<name>[\w.-]+/[\w.-]+)(?P<inner>(?:/[\w.-]+)*)@(?:[0-9a-f]{40} # )?(?P<version>v[\w.-]+)"
)
_IMAGE = re.compile(
    r"(?P<uses>^FROM |^\s+image: )(?P<name>[\w./-]+):(?P<version>[\w.-]+)(?:@sha256:[0-9a-f]{64})?",
    re.M,
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

LookUp = Callable[[str, str], str]


def pinned_actions(text: str, look_up: LookUp) -> str:
    """A workflow whose actions name the commits that `look_up` gives for a repository and a version."""

    def pinned(use: re.Match[str]) -> str:
        commit = look_up(use["name"], use["version"])
        if not _COMMIT.fullmatch(commit):
            raise ValueError(f"{use['name']} {use['version']} has no commit: {commit!r}")
        return f"{use['uses']}{use['name']}{use['inner']}@{commit} # {use['version']}"

    return _ACTION.sub(pinned, text)


def pinned_images(text: str, look_up: LookUp) -> str:
    """A Dockerfile or compose file whose images name the digests that `look_up` gives for an image and a version."""

    def pinned(use: re.Match[str]) -> str:
        digest = look_up(use["name"], use["version"])
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{use['name']}:{use['version']} has no digest: {digest!r}")
        return f"{use['uses']}{use['name']}:{use['version']}@{digest}"

    return _IMAGE.sub(pinned, text)


def commit_of(repository: str, version: str, host: str = "https://github.com/") -> str:
    """The commit of a tag, also of an annotated one."""
    tags = (f"refs/tags/{version}", f"refs/tags/{version}^{{}}")
    listed = _run("git", "ls-remote", f"{host}{repository}", *tags)
    found = dict(reversed(line.split("\t")) for line in listed.splitlines())
    return found.get(tags[1]) or found.get(tags[0], "")


def digest_of(image: str, version: str) -> str:
    """The digest of an image for all its platforms."""
    return _run(
        "docker",
        "buildx",
        "imagetools",
        "inspect",
        f"{image}:{version}",
        "--format",
        "{{.Manifest.Digest}}",
    )


def _run(*command: str) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=120
    ).stdout.strip()


def main() -> None:
    """Pin everything; nothing is written unless all of it could be looked up."""
    written = {path: pinned_actions(path.read_text("utf-8"), commit_of) for path in WORKFLOWS}
    written |= {path: pinned_images(path.read_text("utf-8"), digest_of) for path in IMAGES}
    for path, text in written.items():
        path.write_text(text, "utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
