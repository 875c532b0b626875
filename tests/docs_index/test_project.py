"""The direct dependencies of a project, and the versions that its lock files give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from websearch_gateway.docs_index.packages import MAX_FILE_BYTES, read_project

UV_LOCK = """
version = 1
[[package]]
name = "heron"
version = "1.0"
[[package]]
name = "not-direct"
version = "9"
"""


def project(tmp_path: Path, **files: str) -> dict[tuple[str, str], str]:
    """The version of each direct dependency; `a_toml` is the file `a.toml`."""
    for name, text in files.items():
        head, _, ending = name.rpartition("_")
        (tmp_path / f"{head.replace('__', '-')}.{ending}").write_text(text)
    read = read_project(str(tmp_path))
    assert read["problem"] == ""
    return {(ecosystem, name): version for ecosystem, name, version in read["direct"]}


def test_a_project_of_python_has_the_versions_of_its_lock_file(tmp_path: Path) -> None:
    manifest = """
    [project]
    name = "Me"
    dependencies = ["Heron[tides]>=1; python_version > '3'", "gull_kit==2.5", "plain", "me[extra]", "x @ https://e.org/x"]
    [project.optional-dependencies]
    more = ["tern~=1.2"]
    [dependency-groups]
    dev = ["auk", {include-group = "test"}]
    """
    assert project(tmp_path, pyproject_toml=manifest, uv_lock=UV_LOCK) == {
        ("pypi", "heron"): "1.0",
        ("pypi", "gull-kit"): "2.5",
        ("pypi", "plain"): "",
        ("pypi", "tern"): "",
        ("pypi", "auk"): "",
    }


def test_poetry_names_its_dependencies_in_tables(tmp_path: Path) -> None:
    manifest = """
    [tool.poetry.dependencies]
    python = "^3.11"
    heron = "^1.0"
    gull = {version = "2.5", extras = ["x"]}
    [tool.poetry.group.dev.dependencies]
    auk = "*"
    """
    found = project(tmp_path, pyproject_toml=manifest, poetry_lock=UV_LOCK)
    assert found == {("pypi", "heron"): "1.0", ("pypi", "gull"): "2.5", ("pypi", "auk"): ""}


def test_requirements_are_dependencies_where_nothing_else_is_and_pin_versions_otherwise(tmp_path: Path) -> None:
    text = "# tools\n-r other.txt\n--hash=x\nheron==1.0 --hash=sha256:0 \\\n\nGull >= 2 ; os_name == 'nt'\nhttps://e.org/x.whl\n"
    found = project(tmp_path, requirements_txt=text, constraints_txt="gull==2.7\nnobody==1\n")
    assert {name: version for (_, name), version in found.items()}["gull"] == "2.7"
    assert set(found) == {("pypi", "heron"), ("pypi", "gull")}
    pinned = project(
        tmp_path, pyproject_toml='[project]\ndependencies = ["gull"]', requirements_txt="gull==2.8\nauk==1"
    )
    assert pinned == {("pypi", "gull"): "2.8"} or pinned == {("pypi", "gull"): "2.7"}


@pytest.mark.parametrize(
    "manifest",
    [
        '[tool.poetry.dependencies]\nacme = {path = "../acme"}',
        '[tool.poetry.group.dev.dependencies]\nacme = {git = "https://e.org/acme"}',
        '[tool.poetry.dependencies]\nacme = [{url = "https://e.org/acme.whl"}, {version = "1"}]',
        '[project]\ndependencies = ["Acme"]\n[tool.poetry.dependencies]\nacme = {version = "1", source = "ours"}',
        '[project]\ndependencies = ["acme @ file:///srv/acme"]',
        '[project]\ndependencies = ["acme[x] @ git+https://e.org/acme"]',
        '[project]\ndependencies = ["acme"]\n[tool.uv.sources]\nacme = {workspace = true}',
        '[project]\ndependencies = ["acme"]\n[tool.uv.sources]\nacme = [{index = "ours", marker = "x"}]',
    ],
)
def test_a_package_that_does_not_come_from_pypi_is_not_asked_of_it(tmp_path: Path, manifest: str) -> None:
    assert project(tmp_path, pyproject_toml=manifest, requirements_txt="acme==1") == {}


def test_a_path_among_requirements_is_no_package(tmp_path: Path) -> None:
    lines = ["vendor/acme.whl", "acme-1.0-py3-none-any.whl", "./x", "C:\\x", "-e .", "-e git+https://e.org/a#egg=a"]
    assert project(
        tmp_path, requirements_txt="\n".join([*lines, "heron (>=1)", "gull --hash=sha256:0", "auk # x"])
    ) == {
        ("pypi", "heron"): "",
        ("pypi", "gull"): "",
        ("pypi", "auk"): "",
    }


@pytest.mark.parametrize("indent", ["", "    "])
def test_an_older_lock_file_of_pnpm_names_its_peers_and_what_the_project_asked_for(tmp_path: Path, indent: str) -> None:
    text = "specifiers:\n  vite: 5.0.0\n  old: npm:heron@^2\n\ndependencies:\n  vite: 5.4.2_react@18.2.0\n"
    lock = "".join(f"{indent}{line}\n" for line in text.splitlines())
    manifest = json.dumps({"dependencies": {"vite": "^5.0.0"}})
    found = project(tmp_path, package_json=manifest, pnpm__lock_yaml=f"lockfileVersion: 5.4\n{lock}packages:\n")
    assert found == {("npm", "vite"): "5.4.2"}


PACKAGE = json.dumps(
    {
        "dependencies": {"vite": "^5.0.0", "@vue/core": "~3.4.0", "own": "workspace:*", "near": "file:../near"},
        "devDependencies": {"old": "npm:heron@^2", "exact": "1.2.3", "code": "a/b", "git": "git+https://e.org/x.git"},
    }
)
WANTED = {"vite": "5.4.2", "@vue/core": "3.4.1", "heron": "2.0.0", "exact": "1.2.3"}
LOCKS = {
    "package__lock_json": json.dumps(
        {
            "packages": {
                "": {"version": "0"},
                **{
                    f"node_modules/{name}": {"version": WANTED["heron" if name == "old" else name]}
                    for name in ("vite", "old", "@vue/core")
                },
                "node_modules/vite/node_modules/@vue/core": {"version": "9.9.9"},
            }
        }
    ),
    "pnpm__lock_yaml": (
        "lockfileVersion: '9.0'\nimporters:\n\n  .:\n    dependencies:\n      '@vue/core':\n        specifier: ~3.4.0\n"
        "        version: 3.4.1(x@1)\n      vite:\n        specifier: ^5.0.0\n        version: 5.4.2(@types/node@20)\n"
        "      old:\n        specifier: npm:heron@^2\n        version: 2.0.0\n"
        "packages:\n\n  vite@9.9.9:\n    version: 9.9.9\n"
    ),
    "yarn_lock": (
        '# yarn lockfile v1\n\n"@vue/core@~3.4.0":\n  version "3.4.1"\n\n'
        'vite@^4.0.0:\n  version "4.0.0"\n\nvite@>=5, vite@^5.0.0:\n  version "5.4.2"\n\n'
        '"old@npm:heron@^2":\n  version "2.0.0"\n'
    ),
}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_project_of_javascript_has_the_versions_of_each_kind_of_lock_file(tmp_path: Path, lock: str) -> None:
    found = project(tmp_path, package_json=PACKAGE, **{lock: LOCKS[lock]})
    assert found == {("npm", name): version for name, version in WANTED.items()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", b"[project"),
        ("uv.lock", b"\xff\xfe"),
        ("package.json", b"{"),
        ("package.json", b"[" * 100_000),
        ("pyproject.toml", b"x = " + b"[" * 20_000),
        ("package-lock.json", b" " * (MAX_FILE_BYTES + 1)),
        ("requirements.txt", b"a" * (MAX_FILE_BYTES + 1)),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, name: str, text: bytes) -> None:
    (tmp_path / name).write_bytes(text)
    problem = read_project(str(tmp_path))["problem"]
    assert problem.startswith(name)
    assert len(problem) < 200


@pytest.mark.parametrize("text", ["[]", "7", '{"dependencies": [], "devDependencies": {"x": 7, "../y": "1"}}', '""'])
def test_values_of_other_types_are_no_dependencies(tmp_path: Path, text: str) -> None:
    assert project(tmp_path, package_json=text) == {}


@pytest.mark.parametrize("folder", ["", "nowhere", "a\0b", "~nobody-of-that-name/x"])
def test_a_folder_without_a_project_is_a_problem(tmp_path: Path, folder: str) -> None:
    place = folder if folder.startswith("~") else str(tmp_path / folder)
    assert read_project(place)["problem"]
