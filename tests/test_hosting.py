"""What a host of the repository runs: parsed here, and linted where the linter is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from websearch_gateway.settings import Settings

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_bounded_jobs_and_few_permissions(workflow: Path) -> None:
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


def test_the_workflows_test_every_python_that_the_package_names() -> None:
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]["tests"]
    named = [line for line in (ROOT / "pyproject.toml").read_text().splitlines() if "Python :: 3." in line]
    assert len(named) == len(tests["strategy"]["matrix"]["python"])


def test_compose_sets_only_settings_that_exist() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert {name.lower() for name in services["gateway"]["environment"]} <= set(Settings.model_fields)
    assert set(services["gateway"]["depends_on"]) <= set(services)
