"""The direct dependencies of a project, and the versions that its lock files give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from websearch_gateway.docs.project.origins import PUBLIC, Origins
from websearch_gateway.docs.project.reading import read_project

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
    """The version of each direct dependency that may be asked for; `a_toml` is the file `a.toml`."""
    for name, text in files.items():
        head, _, ending = name.rpartition("_")
        (tmp_path / f"{head.replace('__', '-')}.{ending}").write_text(text)
    read = read_project(str(tmp_path))
    assert read["problem"] == ""
    origins = {ecosystem: Origins(**one) for ecosystem, one in read["origins"].items()}
    rows = [row for row in read["direct"] if not origins[row[0]].withheld(row[1])]
    return {(ecosystem, name): version for ecosystem, name, version in rows}


def withheld(folder: Path, **arguments: object) -> dict[str, str]:
    """The direct dependencies that no public registry is asked for, and why."""
    read = read_project(str(folder), **arguments)
    assert read["problem"] == ""
    origins = {ecosystem: Origins(**one) for ecosystem, one in read["origins"].items()}
    return {
        name: reason for eco, name, _ in read["direct"] if (reason := origins[eco].withheld(name))
    }


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


def test_requirements_are_dependencies_where_nothing_else_is_and_pin_versions_otherwise(
    tmp_path: Path,
) -> None:
    text = "# tools\n-r other.txt\n--hash=x\nheron==1.0 --hash=sha256:0 \\\n\nGull >= 2 ; os_name == 'nt'\nhttps://e.org/x.whl\n"
    found = project(tmp_path, requirements_txt=text, constraints_txt="gull==2.7\nnobody==1\n")
    assert {name: version for (_, name), version in found.items()}["gull"] == "2.7"
    assert set(found) == {("pypi", "heron"), ("pypi", "gull")}
    pinned = project(
        tmp_path,
        pyproject_toml='[project]\ndependencies = ["gull"]',
        requirements_txt="gull==2.8\nauk==1",
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
def test_a_package_that_does_not_come_from_pypi_is_not_asked_of_it(
    tmp_path: Path, manifest: str
) -> None:
    assert project(tmp_path, pyproject_toml=manifest, requirements_txt="acme==1") == {}


def test_a_path_among_requirements_is_no_package(tmp_path: Path) -> None:
    lines = [
        "vendor/acme.whl",
        "acme-1.0-py3-none-any.whl",
        "./x",
        "C:\\x",
        "-e .",
        "-e git+https://e.org/a#egg=a",
    ]
    assert project(
        tmp_path,
        requirements_txt="\n".join([*lines, "heron (>=1)", "gull --hash=sha256:0", "auk # x"]),
    ) == {
        ("pypi", "heron"): "",
        ("pypi", "gull"): "",
        ("pypi", "auk"): "",
    }


@pytest.mark.parametrize("indent", ["", "    "])
def test_an_older_lock_file_of_pnpm_names_its_peers_and_what_the_project_asked_for(
    tmp_path: Path, indent: str
) -> None:
    text = "specifiers:\n  vite: 5.0.0\n  old: npm:heron@^2\n\ndependencies:\n  vite: 5.4.2_react@18.2.0\n"
    lock = "".join(f"{indent}{line}\n" for line in text.splitlines())
    manifest = json.dumps({"dependencies": {"vite": "^5.0.0"}})
    found = project(
        tmp_path, package_json=manifest, pnpm__lock_yaml=f"lockfileVersion: 5.4\n{lock}packages:\n"
    )
    assert found == {("npm", "vite"): "5.4.2"}


PACKAGE = json.dumps(
    {
        "dependencies": {
            "vite": "^5.0.0",
            "@vue/core": "~3.4.0",
            "own": "workspace:*",
            "near": "file:../near",
        },
        "devDependencies": {
            "old": "npm:heron@^2",
            "exact": "1.2.3",
            "code": "a/b",
            "git": "git+https://e.org/x.git",
        },
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
def test_a_project_of_javascript_has_the_versions_of_each_kind_of_lock_file(
    tmp_path: Path, lock: str
) -> None:
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
        ("package-lock.json", b" " * 8_000_001),
        ("requirements.txt", b"a" * 8_000_001),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, name: str, text: bytes) -> None:
    (tmp_path / name).write_bytes(text)
    problem = read_project(str(tmp_path))["problem"]
    assert problem.startswith(name)
    assert len(problem) < 200


@pytest.mark.parametrize(
    "text", ["[]", "7", '{"dependencies": [], "devDependencies": {"x": 7, "../y": "1"}}', '""']
)
def test_values_of_other_types_are_no_dependencies(tmp_path: Path, text: str) -> None:
    assert project(tmp_path, package_json=text) == {}


@pytest.mark.parametrize("folder", ["", "nowhere", "a\0b", "~nobody-of-that-name/x"])
def test_a_folder_without_a_project_is_a_problem(tmp_path: Path, folder: str) -> None:
    place = folder if folder.startswith("~") else str(tmp_path / folder)
    assert read_project(place)["problem"]


PYTHON = '[project]\nname = "me"\ndependencies = ["acme", "heron"]\n'
NODE = json.dumps({"dependencies": {"acme": "1.0.0", "@acme/kit": "1.0.0", "@vue/core": "3.0.0"}})
CORP = "https://me:secret@pkg.corp.example/simple/"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", f'{PYTHON}[[tool.uv.index]]\nname = "corp"\nurl = "{CORP}"'),
        ("pyproject.toml", f'{PYTHON}[tool.uv]\nextra-index-url = ["{CORP}"]'),
        ("pyproject.toml", f'{PYTHON}[tool.uv.pip]\nindex-url = "{CORP}"'),
        (
            "pyproject.toml",
            f'{PYTHON}[[tool.poetry.source]]\nname = "corp"\nurl = "{CORP}"\npriority = "supplemental"',
        ),
        ("pyproject.toml", f'{PYTHON}[[tool.pdm.source]]\nname = "corp"\nurl = "{CORP}"'),
        (
            "pyproject.toml",
            f'{PYTHON}[tool.hatch.envs.default.env-vars]\nPIP_EXTRA_INDEX_URL = "{CORP}"',
        ),
        ("uv.toml", f'[[index]]\nurl = "{CORP}"'),
        ("pdm.toml", f'[pypi]\nurl = "{CORP}"'),
        ("Pipfile", f'[[source]]\nname = "corp"\nurl = "{CORP}"'),
        ("requirements.txt", f"--index-url {CORP}\n"),
        ("requirements.txt", f"-i {CORP}\n"),
        ("requirements-dev.txt", f"--extra-index-url={CORP}\n"),
        ("requirements.txt", "--find-links ./wheels\n"),
        ("requirements.txt", "--no-index\n"),
        ("requirements.txt", "-i $INDEX\n"),
        ("requirements.in", f"--extra-index-url {CORP}\n"),
        ("pip.conf", f"[global]\nextra-index-url =\n    https://pypi.org/simple\n    {CORP}\n"),
        ("pip.ini", f"[install]\nindex_url = {CORP}\n"),
        (".venv/pip.conf", f"[global]\nindex-url: {CORP}\n"),
        ("venv/pip.conf", f"[global]\nindex-url: {CORP}\n"),
    ],
)
def test_beside_a_private_index_only_what_a_lock_file_calls_public_is_asked_for(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert set(reasons := withheld(tmp_path)) == {"acme", "heron"}
    assert Path(name).name in reasons["acme"]
    assert "secret" not in reasons["acme"]
    lock = '[[package]]\nname = "heron"\nversion = "1"\nsource = { registry = "https://pypi.org/simple" }\n'
    (tmp_path / "uv.lock").write_text(lock)
    assert set(withheld(tmp_path)) == {"acme"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "uv.lock",
            f'[[package]]\nname = "acme"\nversion = "1"\nsource = {{ registry = "{CORP}" }}\n',
        ),
        ("pylock.toml", f'[[packages]]\nname = "acme"\nversion = "1"\nindex = "{CORP}"\n'),
        (
            "pdm.lock",
            f'[[package]]\nname = "acme"\nversion = "1"\nfiles = [{{url = "{CORP}acme.whl"}}]\n',
        ),
        (
            "poetry.lock",
            f'[[package]]\nname = "Acme"\nversion = "1"\n[package.source]\ntype = "legacy"\nurl = "{CORP}"',
        ),
        (
            "pyproject.toml",
            f'{PYTHON}[tool.uv.sources]\nAcme = {{index = "corp"}}\n'
            f'[[tool.uv.index]]\nname = "corp"\nurl = "{CORP}"\nexplicit = true',
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\nacme = {version = "1", source = "corp"}\nheron = "1"\n'
            f'[[tool.poetry.source]]\nname = "corp"\nurl = "{CORP}"\npriority = "explicit"',
        ),
    ],
)
def test_a_package_of_another_index_is_withheld_and_the_others_are_not(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON)
    (tmp_path / name).write_text(text)
    assert {name: "pkg.corp.example" in reason for name, reason in withheld(tmp_path).items()} == {
        "acme": True
    }


def test_poetry_names_no_source_for_a_package_of_pypi(tmp_path: Path) -> None:
    source = f'[[tool.poetry.source]]\nname = "corp"\nurl = "{CORP}"'
    (tmp_path / "pyproject.toml").write_text(f"{PYTHON}{source}")
    (tmp_path / "poetry.lock").write_text('[[package]]\nname = "heron"\nversion = "1"')
    assert set(withheld(tmp_path)) == {"acme"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".npmrc", "//npm.corp.example/:_authToken=x\nregistry=https://npm.corp.example/\n"),
        (".npmrc", "registry = ${REGISTRY}\n"),
        (".yarnrc", 'registry "https://npm.corp.example"\n'),
        (".yarnrc.yml", "nodeLinker: pnp\nnpmRegistryServer: 'https://npm.corp.example'\n"),
        ("bunfig.toml", '[install]\nregistry = {url = "https://npm.corp.example", token = "x"}'),
        (
            "pnpm-workspace.yaml",
            "packages:\n  - a\nregistries:\n  default: https://npm.corp.example/\n",
        ),
    ],
)
@pytest.mark.parametrize(
    ("lock", "locked"),
    [
        (
            "yarn.lock",
            '"@vue/core@3.0.0":\n  version "3.0.0"\n  resolved "https://registry.yarnpkg.com/a.tgz#1"\n',
        ),
        (
            "package-lock.json",
            json.dumps(
                {
                    "packages": {
                        "node_modules/@vue/core": {"resolved": "https://registry.npmjs.org/a.tgz"}
                    }
                }
            ),
        ),
    ],
)
def test_a_private_registry_of_npm_may_have_any_package(
    tmp_path: Path, name: str, text: str, lock: str, locked: str
) -> None:
    (tmp_path / "package.json").write_text(NODE)
    (tmp_path / name).write_text(text)
    assert set(withheld(tmp_path)) == {"acme", "@acme/kit", "@vue/core"}
    (tmp_path / lock).write_text(locked)
    assert set(withheld(tmp_path)) == {"acme", "@acme/kit"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".npmrc", "@acme:registry=https://npm.corp.example/\n"),
        (".yarnrc", '"@acme:registry" "https://npm.corp.example"\n'),
        (".yarnrc.yml", "npmScopes:\n  acme:\n    npmRegistryServer: https://npm.corp.example\n"),
        ("bunfig.toml", '[install.scopes]\nacme = "https://npm.corp.example"'),
        ("pnpm-workspace.yaml", "registries:\n  '@acme': https://npm.corp.example/\n"),
        (
            "package-lock.json",
            json.dumps(
                {"packages": {"node_modules/@acme/kit": {"resolved": "https://npm.corp.example/k"}}}
            ),
        ),
        (
            "package-lock.json",
            json.dumps({"dependencies": {"@acme/kit": {"resolved": "https://npm.corp.example/k"}}}),
        ),
        (
            "yarn.lock",
            '"@acme/kit@1.0.0":\n  version "1.0.0"\n  resolved "https://npm.corp.example/k.tgz#1"\n',
        ),
        (
            "yarn.lock",
            '"@acme/kit@npm:1.0.0":\n  version: 1.0.0\n'
            '  resolution: "@acme/kit@npm:1.0.0::__archiveUrl=https%3A%2F%2Fnpm.corp.example%2Fk.tgz"\n',
        ),
        (
            "pnpm-lock.yaml",
            "importers:\n\npackages:\n\n  '@acme/kit@1.0.0':\n"
            "    resolution: {integrity: x, tarball: https://npm.corp.example/k.tgz}\n",
        ),
        (
            "bun.lock",
            '{"packages": {\n  "@acme/kit": ["@acme/kit@1.0.0", "https://npm.corp.example/k.tgz", {}]}}',
        ),
    ],
)
def test_a_scope_or_package_of_another_registry_is_withheld(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "package.json").write_text(NODE)
    (tmp_path / name).write_text(text)
    reasons = withheld(tmp_path)
    assert {name: "npm.corp.example" in reason for name, reason in reasons.items()} == {
        "@acme/kit": True
    }


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        (
            "pnpm-workspace.yaml",
            "registries: {default: https://npm.corp.example/}",
            {"acme", "@acme/kit", "@vue/core"},
        ),
        (
            ".yarnrc.yml",
            "npmScopes: {acme: {npmRegistryServer: 'https://npm.corp.example'}}",
            {"@acme/kit"},
        ),
        (
            ".yarnrc.yml",
            "npmRegistryServer : https://npm.corp.example/",
            {"acme", "@acme/kit", "@vue/core"},
        ),
        (
            ".yarnrc.yml",
            "? npmRegistryServer\n: >-\n  https://npm.corp.example/",
            {"acme", "@acme/kit", "@vue/core"},
        ),
        (
            ".yarnrc.yml",
            "{npmRegistryServer: &x https://npm.corp.example/}",
            {"acme", "@acme/kit", "@vue/core"},
        ),
        (
            ".yarnrc.yml",
            '"npmRegistry\\x53erver": "https://npm.corp.example/"',
            {"acme", "@acme/kit", "@vue/core"},
        ),
        (
            ".yarnrc.yml",
            "npmRegistryServer: [https://registry.npmjs.org]",
            {"acme", "@acme/kit", "@vue/core"},
        ),
        (".npmrc", "registry  =  https://npm.corp.example/", {"acme", "@acme/kit", "@vue/core"}),
        (".npmrc", '"@acme:registry"="https://npm.corp.example/"', {"@acme/kit"}),
        (".yarnrc", 'registry   "https://npm.corp.example/"', {"acme", "@acme/kit", "@vue/core"}),
        (".yarnrc", '"@acme:registry" "https://npm.corp.example/"', {"@acme/kit"}),
    ],
)
def test_a_registry_is_found_in_every_form_that_its_format_has(
    tmp_path: Path, name: str, text: str, names: set[str]
) -> None:
    (tmp_path / "package.json").write_text(NODE)
    (tmp_path / name).write_text(text)
    assert set(withheld(tmp_path)) == names


@pytest.mark.parametrize(
    "line",
    [
        "--pre --extra-index-url https://pypi.corp.example/simple",
        "--extra-index https://pypi.corp.example/simple",
        "--index=https://pypi.corp.example/simple",
        "--pypi-url https://pypi.corp.example/simple",
        "--pypi https://pypi.corp.example/simple",
        "-ihttps://pypi.corp.example/simple",
        "--trusted-host pypi.corp.example --find https://pypi.corp.example/files",
        "--pre \\\n  --extra-index-url \\\n  https://pypi.corp.example/simple",
        "heron==1 --hash=sha256:0 -i https://pypi.corp.example/simple",
        "--extra-index-url 'https://pypi.corp.example/simple'  # ours",
        "--no-such-option https://pypi.corp.example/simple",
        "--extra-index-url ${CORP}",
        "--no-index",
    ],
)
def test_an_index_is_found_wherever_pip_takes_one(tmp_path: Path, line: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"{line}\nacme==1.0\n")
    assert "acme" in withheld(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "--pre",
        "--trusted-host x",
        "-r other.txt",
        "# --extra-index-url https://x",
        "--index-url https://pypi.org/simple",
    ],
)
def test_other_options_of_pip_withhold_nothing(tmp_path: Path, line: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"{line}\nacme==1.0\n")
    assert withheld(tmp_path) == {}


@pytest.mark.parametrize(
    "said",
    [
        *(
            "git@git.corp.example:team/repo.git",
            "bitbucket:corp/repo",
            "gitlab:corp/repo",
            "gist:11081aaa281",
        ),
        *(
            "ssh://git@git.corp.example/x.git",
            "git+ssh://x/y",
            "https://x/y.tgz",
            "file:../x",
            "link:x",
            "portal:x",
        ),
        *(
            "../libs/up",
            "./x",
            "..",
            ".",
            "/srv/abs",
            "~/home",
            "C:\\x",
            "corp-1.0.tgz",
            "x.tar.gz",
            "X.TAR",
            "corp/repo",
        ),
        *(
            "corp/repo#main",
            "workspace:*",
            "workspace:^1",
            "patch:x@1#y",
            "exec:./x",
            "jsr:@corp/x",
            "catalog:",
            "catalog:x",
        ),
        *("npm:@corp/x@../y", "npm:acme@git@x:y", " ../x", "%2e%2e", "x\\y", "npm:"),
    ],
)
def test_what_is_no_version_range_or_tag_is_no_package_of_a_registry(
    tmp_path: Path, said: str
) -> None:
    assert project(tmp_path, package_json=json.dumps({"dependencies": {"acme": said}})) == {}


@pytest.mark.parametrize(
    "said",
    [
        "1.0.0",
        "^1.2",
        "~1",
        "*",
        "",
        "latest",
        "next-14",
        ">=1 <2",
        "1.x || 2",
        "=1.0.0",
        "1 - 2",
        "v1.2.3+b",
        "npm:heron@^1",
    ],
)
def test_versions_ranges_tags_and_aliases_are_asked_for(tmp_path: Path, said: str) -> None:
    assert len(project(tmp_path, package_json=json.dumps({"dependencies": {"acme": said}}))) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", {"workspaces": ["libs/*"]}),
        ("package.json", {"workspaces": {"packages": ["./libs/acme"]}}),
        ("package.json", {"workspaces": ["**"]}),
        ("pnpm-workspace.yaml", "packages: ['libs/**']"),
        ("lerna.json", '{"packages": ["*/*"]}'),
        (
            "package-lock.json",
            '{"packages": {"libs/acme": {}, "node_modules/acme": {"resolved": "libs/acme", "link": true}}}',
        ),
        (
            "package-lock.json",
            '{"packages": {"node_modules/acme": {"resolved": "../acme", "link": true}}}',
        ),
        ("package-lock.json", '{"packages": {"elsewhere": {"name": "acme", "version": "1.0.0"}}}'),
        (
            "yarn.lock",
            '"acme@workspace:libs/acme":\n  version: 0.0.0\n  resolution: "acme@workspace:libs/acme"\n',
        ),
        ("yarn.lock", '"acme@^1, acme@link:../acme":\n  version: 0.0.0\n'),
        ("bun.lock", '{"packages": {\n  "acme": ["acme@workspace:libs/acme"],\n}}'),
    ],
)
def test_a_package_of_the_projects_own_workspace_is_not_asked_for(
    tmp_path: Path, name: str, text: object
) -> None:
    manifest = {
        "dependencies": {"acme": "^1.0.0", "heron": "1"},
        **(text if isinstance(text, dict) else {}),
    }
    (tmp_path / "libs/acme").mkdir(parents=True)
    (tmp_path / "libs/acme/package.json").write_text('{"name": "acme"}')
    (tmp_path / "package.json").write_text(json.dumps(manifest))
    if isinstance(text, str):
        (tmp_path / name).write_text(text)
    read = read_project(str(tmp_path))
    assert [row[1] for row in read["direct"]] == ["heron"]


def test_a_member_of_a_workspace_does_not_ask_for_its_siblings(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "package.json").write_text('{"workspaces": ["apps/*", "libs/*"]}')
    for place, text in (
        ("apps/web", {"dependencies": {"acme": "*", "heron": "1"}}),
        ("libs/acme", {"name": "acme"}),
    ):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "package.json").write_text(json.dumps(text))
    assert [row[1] for row in read_project(str(tmp_path / "apps/web"))["direct"]] == ["heron"]


def test_a_catalog_of_pnpm_gives_the_versions_of_what_names_it(tmp_path: Path) -> None:
    manifest = {
        "dependencies": {
            "heron": "catalog:",
            "gull": "catalog:old",
            "acme": "catalog:none",
            "auk": "catalog:",
        }
    }
    workspace = "catalog: {heron: 1.2.3, auk: 'workspace:*'}\ncatalogs:\n  old:\n    gull: 2.0.0\n"
    found = project(tmp_path, package_json=json.dumps(manifest), pnpm__workspace_yaml=workspace)
    assert found == {("npm", "heron"): "1.2.3", ("npm", "gull"): "2.0.0"}


@pytest.mark.parametrize(
    "source",
    [
        '{editable = "../x"}',
        '{directory = "../x"}',
        '{path = "x.whl"}',
        '{git = "https://e.org/x"}',
    ],
)
def test_a_lock_file_of_uv_tells_which_packages_are_local(tmp_path: Path, source: str) -> None:
    lock = f'[[package]]\nname = "acme"\nversion = "1"\nsource = {source}\n'
    assert (
        project(tmp_path, pyproject_toml='[project]\ndependencies = ["acme"]', uv_lock=lock) == {}
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", " " * 200_000 + "--x"),
        ("requirements.txt", "-i" + " =" * 100_000),
        (".npmrc", "registry" + " " * 200_000 + "x"),
        (".npmrc", "@" * 200_000),
        ("bun.lock", "\n" * 200_000 + '"'),
        ("bun.lock", '"' + "a" * 200_000),
        ("yarn.lock", "a" * 200_000 + "@"),
        (".yarnrc.yml", "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(2_000))),
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_file_of_a_project_is_read_in_linear_time(
    tmp_path: Path, name: str, text: str
) -> None:
    """Each would take minutes if the work grew faster than the file."""
    (tmp_path / "package.json").write_text(NODE)
    (tmp_path / name).write_text(text)
    read_project(str(tmp_path))


def test_indexes_are_found_in_the_repository_in_included_files_in_the_home_and_in_variables(
    tmp_path: Path,
) -> None:
    inner = tmp_path / "packages" / "it"
    inner.mkdir(parents=True)
    (inner / "pyproject.toml").write_text(PYTHON)
    assert withheld(inner) == {}
    variable = {"PIP_EXTRA_INDEX_URL": CORP}
    assert "PIP_EXTRA_INDEX_URL" in withheld(inner, variables=variable)["acme"]
    (tmp_path / "user.npmrc").mkdir()
    (tmp_path / "user.npmrc" / "pip.conf").write_text(f"[global]\nindex-url = {CORP}\n")
    assert set(withheld(inner, files=[str(tmp_path / "user.npmrc" / "pip.conf")])) == {
        "acme",
        "heron",
    }
    (tmp_path / ".git").mkdir()
    (tmp_path / "uv.toml").write_text(f'index-url = "{CORP}"')
    assert set(withheld(inner)) == {"acme", "heron"}
    (tmp_path / "uv.toml").unlink()
    (inner / "requirements.txt").write_text("-r ../base.txt\n")
    (inner.parent / "base.txt").write_text(f"-r base.txt\n--extra-index-url {CORP}\n")
    assert "base.txt" in withheld(inner)["acme"]


def test_a_file_of_requirements_that_is_not_read_may_name_any_index(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON)
    for number in range(50):
        (tmp_path / f"requirements-{number:02}.txt").write_text("-r requirements-00.txt\n" * 1_000)
    assert withheld(tmp_path) == {}
    (tmp_path / "requirements.txt").write_text(f"-i {CORP}\n")
    assert set(withheld(tmp_path)) == {"acme", "heron"}


@pytest.mark.parametrize(
    ("variable", "file", "text", "found"),
    [
        ("PIP_CONFIG_FILE", "corp", f"[global]\nextra-index-url = {CORP}\n", {"acme", "heron"}),
        ("UV_CONFIG_FILE", "pyproject.toml", f'extra-index-url = ["{CORP}"]', {"acme", "heron"}),
        ("PDM_CONFIG_FILE", "corp", f'[pypi]\nurl = "{CORP}"', {"acme", "heron"}),
        ("VIRTUAL_ENV", "pip.conf", f"[global]\nindex-url = {CORP}\n", {"acme", "heron"}),
        ("XDG_CONFIG_HOME", "pip/pip.conf", f"[global]\nindex-url = {CORP}\n", {"acme", "heron"}),
        ("npm_config_userconfig", "corp", f"@acme:registry={CORP}\n", {"@acme/kit"}),
        ("NPM_CONFIG_GLOBALCONFIG", "corp", f"@acme:registry={CORP}\n", {"@acme/kit"}),
    ],
)
def test_a_file_of_settings_that_a_variable_names_is_read(
    tmp_path: Path, variable: str, file: str, text: str, found: set[str]
) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "pyproject.toml").write_text(PYTHON)
    (tmp_path / "it" / "package.json").write_text(NODE)
    place = tmp_path / "settings" / file
    place.parent.mkdir(parents=True)
    place.write_text(text)
    value = str(tmp_path / "settings" if variable in ("VIRTUAL_ENV", "XDG_CONFIG_HOME") else place)
    assert (
        withheld(tmp_path / "it", variables={variable: value}).keys()
        & {"acme", "heron", "@acme/kit"}
        == found
    )
    assert withheld(tmp_path / "it", variables={variable: str(tmp_path / "missing")}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "[global]\nindex-url = https://pypi.org/simple\n",
        "[global]\nindex-url = https://PyPI.org:443/simple/\ntimeout = 5\n",
        "[global]\nindex-url = http://127.0.0.1:9/simple\n",
        "[global]\nno-index = false\n",
    ],
)
def test_the_public_registry_and_the_one_of_the_settings_are_asked(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON)
    (tmp_path / "pip.conf").write_text(text)
    assert withheld(tmp_path, public={**PUBLIC, "pypi": (*PUBLIC["pypi"], "127.0.0.1:9")}) == {}


@pytest.mark.parametrize(
    ("key", "value", "is_withheld"),
    [
        ("find-links", "/opt/wheels", False),
        ("extra-index-url", "file:///opt/simple ./more", False),
        ("extra-index-url", f"file:///opt/simple {CORP}", True),
        ("find-links", "https://pkg.corp.example/wheels", True),
        ("extra-index-url", "$INDEX", True),
        ("index-url", "file:///opt/simple", True),
        ("no-index", "true", True),
    ],
)
def test_folders_that_pip_looks_in_besides_its_index_withhold_nothing(
    tmp_path: Path, key: str, value: str, is_withheld: bool
) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "pyproject.toml").write_text(PYTHON)
    (tmp_path / "pip.conf").write_text(f"[global]\n{key} = {value}\n")
    variable = {f"PIP_{key.upper().replace('-', '_')}": value}
    for read in ({"files": [str(tmp_path / "pip.conf")]}, {"variables": variable}):
        assert bool(withheld(tmp_path / "it", **read)) is is_withheld


def test_a_malformed_setting_is_named_and_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON)
    (tmp_path / "pip.conf").write_text("index-url without a section")
    assert read_project(str(tmp_path))["problem"].startswith("pip.conf is malformed")


def test_a_file_of_eight_million_bytes_is_read(tmp_path: Path) -> None:
    text = b'{"dependencies": {"tern": "1.0.0"}}'
    (tmp_path / "package.json").write_bytes(text.ljust(8_000_000))
    assert read_project(str(tmp_path))["direct"] == [("npm", "tern", "1.0.0")]


@pytest.mark.parametrize(("between", "is_found"), [(7, True), (8, False)])
def test_the_repository_of_a_project_is_up_to_eight_folders_above_it(
    tmp_path: Path, between: int, is_found: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".npmrc").write_text(f"@acme:registry={CORP}\n")
    inner = tmp_path.joinpath(*"abcdefghi"[: between + 1])
    inner.mkdir(parents=True)
    (inner / "package.json").write_text('{"dependencies": {"@acme/kit": "1.0.0"}}')
    assert bool(withheld(inner)) is is_found


def test_a_project_has_at_most_five_hundred_dependencies(tmp_path: Path) -> None:
    names = {f"gull-{number}": "1.0.0" for number in range(600)}
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": names}))
    assert len(read_project(str(tmp_path))["direct"]) == 500
