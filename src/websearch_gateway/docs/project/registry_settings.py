"""The indexes that settings of package managers name: those of the project, of the user, and in variables."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from websearch_gateway.docs.packages import table_of
from websearch_gateway.docs.project.files import (
    list_at,
    malformed,
    parse_yaml,
    repository,
    table_at,
    table_in,
    text_in,
)
from websearch_gateway.docs.project.origins import Origins

USER_FILES = (
    *("~/.pip/pip.conf", "~/.config/pip/pip.conf"),
    *("~/Library/Application Support/pip/pip.conf", "/etc/pip.conf"),
    *("~/.config/uv/uv.toml", "/etc/uv/uv.toml", "~/.config/pdm/config.toml"),
    *("/etc/xdg/pip/pip.conf", "/etc/xdg/uv/uv.toml"),
    *("~/.npmrc", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"),
    *("~/.yarnrc", "~/.yarnrc.yml", "~/.bunfig.toml"),
)
_FILE_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "PIP_CONFIG_FILE": ("pip.conf",),
    "UV_CONFIG_FILE": ("uv.toml",),
    "PDM_CONFIG_FILE": ("config.toml",),
    "NPM_CONFIG_USERCONFIG": (".npmrc",),
    "NPM_CONFIG_GLOBALCONFIG": (".npmrc",),
    "VIRTUAL_ENV": ("pip.conf",),
    "XDG_CONFIG_HOME": ("pip/pip.conf", "uv/uv.toml", "pdm/config.toml"),
}
"""Variables that name a file under any name, with its kind, or a folder of such files."""
_FOLDER_VARIABLES = ("VIRTUAL_ENV", "XDG_CONFIG_HOME")
_PROJECT_FILES = (
    *("pyproject.toml", "uv.toml", "pdm.toml", "Pipfile", "pip.conf", "pip.ini"),
    *(".venv/pip.conf", "venv/pip.conf"),
    *(".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", "bunfig.toml"),
)
# https://pip.pypa.io/en/stable/cli/pip_install/, https://docs.astral.sh/uv/reference/settings/
_INDEX_KEYS = (
    "index-url",
    "pypi-url",
    "extra-index-url",
    "default-index",
    "find-links",
    "no-index",
)
_INDEX_VARIABLE = re.compile(r"(?:PIP|UV|PDM|PIPENV)_\w*(?:INDEX|FIND_LINKS|PYPI)\w*")
_ADDED_BY = ("find-links", "extra-index-url")
"""Settings of pip for where it looks besides its index."""
_ON = ("true", "1", "yes", "on")
_ANY = "-"
"""In place of an address that cannot be read: it may be any index."""


def settings_of(folder: Path) -> Iterator[Path]:
    """The files that may name indexes for a project: its own, and those of the folders up to its repository's."""
    for place in repository(folder):
        for name in _PROJECT_FILES:
            yield place / name


def note_variable(variable: str, value: str, folder: Path, pypi: Origins, npm: Origins) -> None:
    """Note the indexes of a variable of the environment, or in the files that it names."""
    kinds = _FILE_VARIABLES.get(variable.upper(), ())  # npm reads its own in any case
    if kinds:
        place = folder / Path(value).expanduser()
        for kind in kinds:
            path = place / kind if variable in _FOLDER_VARIABLES else place
            note_file(path, pypi, npm, kind.rpartition("/")[2])
        return
    if variable.startswith("PIP_"):
        value = _without_added_folders(variable.removeprefix("PIP_"), value)
    origins = pypi if _INDEX_VARIABLE.fullmatch(variable) else npm
    origins.note_index(value, variable)


def note_file(path: Path, pypi: Origins, npm: Origins, kind: str = "") -> None:
    """Note the indexes in a file; its name says its kind, unless `kind` does."""
    name = kind or path.name
    if name in ("pip.conf", "pip.ini"):
        _note_pip_file(path, pypi)
    elif name in ("pyproject.toml", "uv.toml", "pdm.toml", "config.toml", "Pipfile"):
        _note_python(table_in(path, tomllib.loads), pypi, name)
    else:
        is_in_venv = path.parent.name in (".venv", "venv")
        shown = f"{path.parent.name}/{path.name}" if is_in_venv else path.name
        for scope, url in _npm_registries(path, name):
            if scope:
                npm.note_package(f"{scope}/", url, shown)
            else:
                npm.note_index(url, shown)


def _npm_registries(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """The registries in a file, each with its scope, or "" for that of all packages."""
    if name.removeprefix(".") == "bunfig.toml":
        yield from _bun_registries(table_in(path, tomllib.loads))
    elif name in (".npmrc", "npmrc", ".yarnrc"):
        separator = " " if name == ".yarnrc" else "="
        for key, url in _npm_settings(text_in(path), separator):
            scope, _, setting = key.rpartition(":")
            if setting == "registry":
                yield scope, url
    else:
        yield from _yaml_registries(table_in(path, parse_yaml))


def _bun_registries(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    registry_of_all = table_at(settings, "install").get("registry")
    scopes = table_at(settings, "install", "scopes")
    for scope, registry in [("", registry_of_all), *scopes.items()]:
        url = registry.get("url") if isinstance(registry, dict) else registry
        if url:
            yield _scope(scope), url


def _npm_settings(text: str, separator: str) -> Iterator[tuple[str, str]]:
    """The keys and values of a .npmrc, or of a .yarnrc of Yarn 1."""
    for line in map(str.strip, text.splitlines()):
        if line.startswith(("#", ";", "[")):
            continue
        key, found, value = line.partition(separator)
        if not found and separator == "=":
            key, _, value = line.partition(" ")
        yield key.strip("\"' \t"), value.strip("\"' \t")


def _yaml_registries(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The registries of a .yarnrc.yml or pnpm-workspace.yaml. A table in place of an address may hold any index."""
    for key in ("npmRegistryServer", "registry"):
        if key in settings:
            yield "", _address(settings[key])
    for key in ("npmScopes", "registries"):
        table = settings.get(key)
        if table is not None and not isinstance(table, dict):
            yield "", _address(table)
        for scope, registry in table_of(table).items():
            is_yarn = key == "npmScopes"
            url = table_of(registry).get("npmRegistryServer") if is_yarn else registry
            if url is not None:
                yield "" if scope == "default" else _scope(scope), _address(url)


def _scope(name: object) -> str:
    return f"@{str(name).lstrip('@')}" if name else ""


def _address(url: Any) -> str:
    return url if isinstance(url, str) else _ANY


def _note_pip_file(path: Path, pypi: Origins) -> None:
    # https://pip.pypa.io/en/stable/topics/configuration/
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text_in(path))
    except configparser.Error as error:
        raise malformed(path) from error
    for section in parser.sections():
        for name, value in parser.items(section):
            key = name.replace("_", "-")
            if value and key in _INDEX_KEYS:
                _note_pip(pypi, key, _without_added_folders(key, value), path.name)


def _without_added_folders(key: str, value: str) -> str:
    """A setting of pip without the folders that it looks in besides its index, which it asks for every name anyway."""
    if key.lower().replace("_", "-") not in _ADDED_BY:
        return value
    places = value.split()
    return " ".join(
        place for place in places if "$" in place or re.match(r"(?!file:)[\w+.-]+://", place)
    )


def _note_pip(pypi: Origins, key: str, value: Any, file: str) -> None:
    if key != "no-index":
        pypi.note_index(value, file)
    elif str(value).lower() in _ON:
        pypi.note_index("--no-index", file)


def _note_python(manifest: Mapping[str, Any], pypi: Origins, file: str) -> None:
    """Note the indexes of a pyproject.toml, a uv.toml, a configuration of PDM or a Pipfile."""
    tool = table_at(manifest, "tool")
    uv = table_at(tool, "uv") if file == "pyproject.toml" else manifest
    for table in (uv, table_at(uv, "pip")):
        for key in _INDEX_KEYS:
            if key in table:
                _note_pip(pypi, key, table[key], file)
    sources = [
        *list_at(uv, "index"),
        *list_at(tool, "pdm", "source"),
        *list_at(manifest, "source"),
        *list_at(tool, "poetry", "source"),
        manifest.get("pypi"),
    ]
    for source in map(table_of, sources):
        # An explicit index serves only the packages for which the manifest names it.
        is_explicit = source.get("explicit") is True or source.get("priority") == "explicit"
        if source.get("url") and not is_explicit:
            pypi.note_index([source["url"]], file)
    for environment in table_at(tool, "hatch", "envs").values():
        for name, value in table_at(environment, "env-vars").items():
            if _INDEX_VARIABLE.fullmatch(name):
                pypi.note_index(value, file)
