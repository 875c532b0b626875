"""Reads a project, in a worker process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from websearch_gateway.docs.packages import Ecosystem, package_of
from websearch_gateway.docs.project.files import Specifiers, UnusableFile, Versions
from websearch_gateway.docs.project.javascript import javascript_dependencies
from websearch_gateway.docs.project.origins import PUBLIC, Origins
from websearch_gateway.docs.project.python import python_dependencies
from websearch_gateway.docs.project.registry_settings import note_file, note_variable, settings_of
from websearch_gateway.errors import SearchValidationError

MOST_DEPENDENCIES = 500
MANIFESTS = ("pyproject.toml", "requirements*.txt", "package.json")


def read_project(
    root: str,
    public: Mapping[str, Sequence[str]] = PUBLIC,
    variables: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """The direct dependencies of the project in a folder: `direct`, a list of ecosystem, name and version ("" if no
    file says it); `versions`, the versions of all packages by ecosystem; `origins`, the arguments of `Origins` by
    ecosystem; `problem`, why there are none, or "".

    A version is that of a lock file, else of a constraint, else an exact one of the manifest.

    Args:
        public: the hosts of the public registries by ecosystem.
        variables: the variables of the environment that name indexes, or files that do.
        files: settings of package managers outside the project.
    """
    pypi, npm = Origins(public["pypi"]), Origins(public["npm"])
    try:
        folder = Path(root).expanduser()
        for name, value in (variables or {}).items():
            note_variable(name, value, folder, pypi, npm)
        for path in chain(settings_of(folder), map(Path, files)):
            note_file(path, pypi, npm)
        python, python_versions = python_dependencies(folder, pypi)
        javascript, javascript_versions = javascript_dependencies(folder, npm)
        is_project = any(any(folder.glob(name)) for name in MANIFESTS)
    # Also no home folder, a null character.
    except (UnusableFile, OSError, ValueError, RuntimeError) as error:
        return _unreadable(str(error))
    if not is_project:
        manifests = ", ".join(MANIFESTS)
        return _unreadable(f"The folder holds none of {manifests}. Name the folder of a project.")
    direct = [
        *_rows("pypi", python, python_versions),
        *_rows("npm", javascript, javascript_versions),
    ]
    return {
        "direct": direct[:MOST_DEPENDENCIES],
        "versions": {"pypi": python_versions, "npm": javascript_versions},
        "origins": {"pypi": pypi.as_json(), "npm": npm.as_json()},
        "problem": "",
    }


def _unreadable(problem: str) -> dict[str, Any]:
    return {"direct": [], "versions": {}, "origins": {}, "problem": problem}


def _rows(
    ecosystem: Ecosystem, direct: Specifiers, versions: Versions
) -> Iterator[tuple[str, str, str]]:
    for name in direct:
        version = versions.get(name, "")
        try:
            package = package_of(ecosystem, name, version)
        except SearchValidationError:  # no registry has it
            continue
        yield ecosystem, package.name, version
