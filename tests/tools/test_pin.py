from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tools.pin import IMAGES, WORKFLOWS, commit_of, pinned_actions, pinned_images

COMMIT, DIGEST = "0123456789" * 4, "sha256:" + "ab" * 32


def test_actions_name_the_commit_of_their_version_and_can_be_pinned_again() -> None:
    text = "      - uses: actions/checkout@v6\n      - uses: a/b/c@v1.2.3\n"
    pinned = pinned_actions(text, lambda name, version: COMMIT)
    assert (
        pinned
        == f"      - uses: actions/checkout@{COMMIT} # v6\n      - uses: a/b/c@{COMMIT} # v1.2.3\n"
    )
    assert pinned_actions(pinned, lambda name, version: COMMIT[::-1]) == pinned.replace(
        COMMIT, COMMIT[::-1]
    )


def test_images_name_their_digest_and_can_be_pinned_again() -> None:
    text = "FROM python:3.11-slim AS build\n    image: docker.io/x/y:1.2\n"
    pinned = pinned_images(text, lambda name, version: DIGEST)
    assert (
        pinned
        == f"FROM python:3.11-slim@{DIGEST} AS build\n    image: docker.io/x/y:1.2@{DIGEST}\n"
    )
    assert pinned_images(pinned, lambda name, version: DIGEST) == pinned


@pytest.mark.parametrize("found", ["", "main", COMMIT[:-1], f"{COMMIT}\n{COMMIT}"])
def test_nothing_is_written_that_is_no_commit_or_digest(found: str) -> None:
    with pytest.raises(ValueError, match="has no"):
        pinned_actions("uses: a/b@v1", lambda name, version: found)
    with pytest.raises(ValueError, match="has no"):
        pinned_images("FROM a:1", lambda name, version: found)


def test_the_commit_of_a_tag_is_that_of_the_repository(tmp_path: Path) -> None:
    def git(*command: str) -> str:
        named = ("-c", "user.name=x", "-c", "user.email=x@x.example")
        return subprocess.run(
            ["git", *named, "-C", str(tmp_path), *command],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("tag", "v1")
    git("tag", "-a", "v2", "-m", "y")
    head = git("rev-parse", "HEAD")
    assert [commit_of("", name, str(tmp_path)) for name in ("v1", "v2", "v3")] == [head, head, ""]


def test_actions_and_images_have_versions_and_no_names_that_move() -> None:
    for path in WORKFLOWS:
        for name in re.findall(r"uses: \S+@(?:[0-9a-f]{40} # )?(\S+)", path.read_text()):
            assert re.fullmatch(r"v\d[\w.]*", name), (path, name)
    for path in (*IMAGES, *WORKFLOWS):
        assert ":latest" not in path.read_text()


def test_a_job_that_may_publish_does_nothing_else_and_runs_nothing_that_it_downloads() -> None:
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            allowed = job.get("permissions", {})
            if not (
                {"id-token", "contents"} & {one for one, how in allowed.items() if how == "write"}
            ):
                continue
            assert "actions/checkout" not in str(job), name
            for step in job["steps"]:
                uses = step.get("uses", "pypa/gh-action-pypi-publish@")
                assert uses.startswith(
                    ("actions/download-artifact@", "pypa/gh-action-pypi-publish@")
                ), name
                assert step.get("run", "gh release create").startswith("gh release create"), name
            assert len(job["steps"]) == 2


def test_tools_of_the_workflows_are_installed_with_hashes_only() -> None:
    for path in WORKFLOWS:
        assert "pipx run" not in path.read_text()
        for line in re.findall(r"pip\"? install .*", path.read_text()):
            assert "--require-hashes" in line
