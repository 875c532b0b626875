"""The workflows, the image and the Compose file: linted, and done here as far as it goes without Docker."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from tests.entrypoints.http.status.samples import HEALTHY
from tests.patience import PATIENCE
from websearch_gateway.entrypoints.http.metrics import exposition
from websearch_gateway.entrypoints.http.readiness import READY_SECONDS
from websearch_gateway.entrypoints.http.server import CLOSE_SECONDS
from websearch_gateway.settings.loading import Settings

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_jobs_with_time_limits_and_few_permissions(workflow: Path) -> None:
    read = yaml.safe_load(workflow.read_text())
    assert read["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 40 for job in read["jobs"].values())


def test_no_package_is_published_under_a_name_that_is_not_ours() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    publishing = [name for name, job in jobs.items() if "gh-action-pypi-publish" in str(job)]
    assert publishing == ["package"]
    assert jobs["package"]["if"] == "vars.PACKAGE_NAME_IS_OURS == 'true'"
    assert "needs.package.result != 'failure'" in jobs["announce"]["if"]


def test_a_linter_accepts_the_workflows() -> None:
    linter = shutil.which("actionlint", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("actionlint is not installed")
    command = [linter, "-shellcheck=", "-pyflakes=", *map(str, WORKFLOWS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout


def test_the_workflows_test_every_python_version_that_the_package_names() -> None:
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"][
        "tests"
    ]
    named = [
        line
        for line in (ROOT / "pyproject.toml").read_text().splitlines()
        if "Python :: 3." in line
    ]
    assert len(named) == len(tests["strategy"]["matrix"]["python"])


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return read


def is_valid(compose: Path) -> bool:
    """Check with the schema of the Compose specification, which the checker includes."""
    done = CliRunner().invoke(
        check_jsonschema, ["--builtin-schema", "vendor.compose-spec", str(compose)]
    )
    return done.exit_code == 0


def test_compose_follows_the_schema_of_its_specification(tmp_path: Path) -> None:
    assert is_valid(ROOT / "compose.yaml")
    (tmp_path / "compose.yaml").write_text("services:\n  gateway:\n    imag: misspelt\n")
    assert not is_valid(tmp_path / "compose.yaml")


def test_compose_sets_only_settings_that_exist(services: dict[str, Any]) -> None:
    assert {name.lower() for name in services["gateway"]["environment"]} <= set(
        Settings.model_fields
    )
    assert services["gateway"]["env_file"] == [{"path": "gateway.env", "required": False}]
    assert set(services["gateway"]["depends_on"]) <= set(services)


def test_every_service_of_compose_has_a_health_check(services: dict[str, Any]) -> None:
    assert set(services) == {"gateway", "searxng", "postgres"}
    for name, service in services.items():
        check = service["healthcheck"]
        assert check["test"][0] == "CMD", name
        assert {"interval", "timeout", "retries"} <= set(check), name
    waits = services["gateway"]["depends_on"]
    assert waits["postgres"] == {"condition": "service_healthy"}, (
        "it does not start without its state"
    )


def test_compose_holds_no_secret(services: dict[str, Any]) -> None:
    """Secrets come from the environment and have no default."""
    secrets = {
        name.upper()
        for name, field in Settings.model_fields.items()
        if "SecretStr" in str(field.annotation)
    }
    secrets |= {"AUTH_TOKENS", "SEARXNG_SECRET", "POSTGRES_PASSWORD"}
    for service in services.values():
        for name in secrets & set(service["environment"]):
            outside = re.sub(r"\$\{\w+(:\?[^}]*|:-)\}", "$", service["environment"][name])
            assert outside in ("$", "postgresql://gateway:$@postgres/gateway"), name


def test_every_image_of_compose_is_named_by_its_version(services: dict[str, Any]) -> None:
    images = [service["image"] for service in services.values() if "image" in service]
    assert len(images) == 2
    assert [image for image in images if not re.search(r":\d+\.\d+", image)] == []


MANIFEST = [*yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text())]


@pytest.mark.parametrize("document", MANIFEST, ids=lambda document: document["kind"])
def test_the_manifest_follows_the_schemas_of_kubernetes(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, "1.31", strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**document, "metdata": {}}, "1.31", strict=True)


def test_the_manifest_stops_gracefully_and_asks_what_the_server_answers() -> None:
    config, deployment, service, budget = MANIFEST
    assert {name.lower() for name in config["data"]} <= set(Settings.model_fields)
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    search = Settings.model_fields["search_deadline_seconds"].default
    assert pod["terminationGracePeriodSeconds"] > pause + search + CLOSE_SECONDS
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in ("/readyz", "/healthz")
        (host,) = container[probe]["httpGet"]["httpHeaders"]
        assert host == {"name": "Host", "value": "localhost:8080"}, "another one gets 421"
        assert container[probe]["timeoutSeconds"] > 2 * READY_SECONDS
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == labels == budget["spec"]["selector"]["matchLabels"]
    assert 0 < budget["spec"]["minAvailable"] < deployment["spec"]["replicas"]


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (ROOT / "deploy" / "websearch-gateway.service").read_text()
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert seconds
    assert (
        int(seconds[1]) > Settings.model_fields["search_deadline_seconds"].default + CLOSE_SECONDS
    )
    program = Path(sys.executable).with_name("websearch-gateway")
    copy = tmp_path / "websearch-gateway.service"
    for text, accepted in (
        (unit, True),
        (unit.replace("Restart=on-failure", "Restart=maybe"), False),
    ):
        copy.write_text(text.replace("/opt/websearch-gateway/bin/websearch-gateway", str(program)))
        command = ["systemd-analyze", "verify", "--man=no", str(copy)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (done.stderr == "") == accepted, done.stderr


def test_the_grafana_board_asks_for_metrics_that_exist() -> None:
    board = json.loads((ROOT / "deploy" / "grafana.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked = {
        name
        for expression in expressions
        for name in re.findall(r"websearch_gateway_\w+", expression)
    }
    text, _ = exposition(HEALTHY, 0.0, "")
    families = list(text_string_to_metric_families(text.decode()))
    offered = {sample.name for family in families for sample in family.samples} | {
        f"{family.name}{suffix}" for family in families for suffix in SUFFIXES[family.type]
    }
    assert asked <= offered, asked - offered
    named = {
        name
        for name in offered
        if name.startswith("websearch_gateway_") and not name.endswith(UNASKED)
    }
    assert {re.sub("_bucket$", "", name) for name in asked} == named - {
        f"{name}_bucket" for name in named
    }
    labels = {
        label for expression in expressions for label in re.findall(r"(\w+)(?:!?=~?)\"", expression)
    }
    assert labels <= {"tool", "result", "state"}
    assert len(
        {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]}
    ) == len(board["panels"])


SUFFIXES = {
    "counter": ("_total",),
    "histogram": ("_bucket", ""),
    "gauge": ("",),
    "unknown": (),
    "untyped": (),
}
UNASKED = ("_created", "_sum", "_count", "_bucket")


DOCKERFILE = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())


def instructions(name: str) -> list[str]:
    """The arguments of each instruction of that name in the Dockerfile."""
    return re.findall(rf"^{name} +(.+)$", DOCKERFILE, re.MULTILINE)


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """A folder with what the build copies out of its context."""
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for line in instructions("COPY"):
        *sources, target = [word for word in line.split() if not word.startswith("--")]
        for source in sources if "--from" not in line else ():
            assert f"!{source}" in ignored, (
                "everything that is not named there stays out of the context"
            )
            where = tmp_path / target
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, where, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, where / source if target.endswith("/") else where)
    return tmp_path


def test_the_image_is_built_from_the_files_that_it_copies(context: Path, tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed: pip install uv")
    (install,) = [line for line in instructions("RUN") if "pip install" in line]
    match = re.search(r'--constraint (\S+) "\.\[([\w,]+)\]"', install)
    assert match
    assert (context / match[1]).exists()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert set(match[2].split(",")) <= set(extras)
    command = [
        uv,
        "build",
        "--quiet",
        "--wheel",
        "--python",
        sys.executable,
        "--out-dir",
        tmp_path / "dist",
        context,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


def test_the_image_has_a_python_that_the_package_supports() -> None:
    stages = [
        re.fullmatch(r"python:3\.(\d+)-slim(?: AS \w+)?", line) for line in instructions("FROM")
    ]
    versions = {int(stage[1]) for stage in stages if stage}
    assert len(stages) == 2
    assert len(versions) == 1
    assert f"Python :: 3.{versions.pop()}" in (ROOT / "pyproject.toml").read_text()
    assert instructions("USER") == ["10001"], "nobody with rights"


@pytest.mark.parametrize("place", ["Dockerfile", "compose.yaml"])
def test_a_server_that_the_image_starts_is_healthy(
    place: str, services: dict[str, Any], tmp_path: Path
) -> None:
    (line,) = re.findall(r"^HEALTHCHECK .*CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    check = (
        json.loads(line)
        if place == "Dockerfile"
        else services["gateway"]["healthcheck"]["test"][1:]
    )
    (started,) = instructions("CMD")
    command = ["0" if word == "8080" else word for word in json.loads(started)]
    settings = {
        "AUTH_MODE": "secret",
        "AUTH_SECRET": "a-secret-of-more-than-32-characters",
        "DATA_DIR": str(tmp_path),
    }
    settings |= {"PUBLIC_URL": "https://search.example.com", "STATE_URL": "memory://"}
    script = Path(sys.executable).with_name(command[0])
    process = subprocess.Popen(
        [script, *command[1:]], env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True
    )
    with process as server:
        try:
            assert server.stderr is not None
            port = next(
                found[1] for line in server.stderr if (found := re.search(r":(\d+)/mcp", line))
            )
            code = check[-1].replace(":8080/", f":{port}/")
            assert code != check[-1]
            subprocess.run([sys.executable, *check[1:-1], code], check=True, timeout=PATIENCE)
        finally:
            server.terminate()
