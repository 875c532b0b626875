"""The workflows and the Compose file: parsed here, and linted where the linter is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

from websearch_gateway.settings import Settings

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_jobs_with_time_limits_and_few_permissions(workflow: Path) -> None:
    read = yaml.safe_load(workflow.read_text())
    assert read["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 40 for job in read["jobs"].values())


def test_a_linter_accepts_the_workflows() -> None:
    linter = shutil.which("actionlint", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("actionlint is not installed")
    command = [linter, "-shellcheck=", "-pyflakes=", *map(str, WORKFLOWS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout


def test_the_workflows_test_every_python_version_that_the_package_names() -> None:
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]["tests"]
    named = [line for line in (ROOT / "pyproject.toml").read_text().splitlines() if "Python :: 3." in line]
    assert len(named) == len(tests["strategy"]["matrix"]["python"])


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return read


def is_valid(compose: Path) -> bool:
    """Check with the schema of the Compose specification, which the checker includes."""
    done = CliRunner().invoke(check_jsonschema, ["--builtin-schema", "vendor.compose-spec", str(compose)])
    return done.exit_code == 0


def test_compose_follows_the_schema_of_its_specification(tmp_path: Path) -> None:
    assert is_valid(ROOT / "compose.yaml")
    (tmp_path / "compose.yaml").write_text("services:\n  gateway:\n    imag: misspelt\n")
    assert not is_valid(tmp_path / "compose.yaml")


def test_compose_sets_only_settings_that_exist(services: dict[str, Any]) -> None:
    assert {name.lower() for name in services["gateway"]["environment"]} <= set(Settings.model_fields)
    assert set(services["gateway"]["depends_on"]) <= set(services)


def test_every_service_of_compose_has_a_health_check(services: dict[str, Any]) -> None:
    assert set(services) == {"gateway", "searxng", "postgres"}
    for name, service in services.items():
        check = service["healthcheck"]
        assert check["test"][0] == "CMD", name
        assert {"interval", "timeout", "retries"} <= set(check), name
    waits = services["gateway"]["depends_on"]
    assert waits["postgres"] == {"condition": "service_healthy"}, "it does not start without its state"


def test_compose_holds_no_secret(services: dict[str, Any]) -> None:
    """Secrets come from the environment and have no default."""
    secrets = {name.upper() for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
    secrets |= {"AUTH_TOKENS", "SEARXNG_SECRET", "POSTGRES_PASSWORD"}
    for service in services.values():
        for name in secrets & set(service["environment"]):
            outside = re.sub(r"\$\{\w+(:\?[^}]*|:-)\}", "$", service["environment"][name])
            assert outside in ("$", "postgresql://gateway:$@postgres/gateway"), name
