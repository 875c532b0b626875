"""What a deployment would send, and what Firebase would read in it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.functions.conftest import FUNCTION, PROJECT, ROOT
from websearch_gateway import __version__
from websearch_gateway.entrypoints.http.app import STATE_DATABASE
from websearch_gateway.settings.loading import Settings

PARAMETERS = {"MIN_INSTANCES", "MAX_INSTANCES"}


def names_set_in(path: Path) -> Iterator[str]:
    return (
        line.partition("=")[0]
        for line in path.read_text().splitlines()
        if line and not line.startswith("#")
    )


def test_the_requirements_want_the_wheel_of_this_version() -> None:
    assert f"./package/websearch_gateway-{__version__}-py3-none-any.whl[functions]" in (
        (FUNCTION / "requirements.txt").read_text()
    )


def test_everything_that_is_installed_is_pinned(environment: Path) -> None:
    """Else tomorrow's deployment is not what was tested today."""
    pins = {canonical(line) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    (packages,) = environment.glob("lib/python*/site-packages")
    installed = {
        canonical(f"{found.name}=={found.version}") for found in distributions(path=[str(packages)])
    }
    brought_along = {
        line
        for line in installed
        if line.startswith(("pip==", "setuptools==", "websearch-gateway=="))
    }
    assert installed - brought_along <= pins


def canonical(pin: str) -> str:
    name, _, version = pin.partition("==")
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"


def test_firebase_reads_one_function_with_its_secret_and_its_parameters(environment: Path) -> None:
    program = "from firebase_functions.private.serving import *; print(functions_as_yaml(get_functions()))"
    described = subprocess.run(
        [environment / "bin/python", "-c", program],
        cwd=FUNCTION,
        env={"GCLOUD_PROJECT": PROJECT},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for line in (
        "entryPoint: gateway",
        "- key: OPENAI_API_KEY",
        "minInstances: '{{ params.MIN_INSTANCES }}'",
        "maxInstances: '{{ params.MAX_INSTANCES }}'",
        "concurrency: 32",
        "timeoutSeconds: 60",
    ):
        assert line in described
    assert described.count("entryPoint:") == 1


def test_the_example_sets_what_may_be_set() -> None:
    """Names that begin with FIREBASE_ are refused by the Firebase CLI, unknown ones would go unnoticed."""
    known = {name.upper() for name in Settings.model_fields} | PARAMETERS
    named = set(names_set_in(FUNCTION / ".env.example"))
    assert named <= known
    assert not any(name.startswith("FIREBASE_") for name in named)
    assert named >= PARAMETERS


def test_a_deployment_touches_no_database_that_an_app_may_use() -> None:
    """As the Firebase CLI itself reads the file; `(default)` is what it takes where none is named."""
    config = json.loads((ROOT / "firebase.json").read_text())
    program = (
        "const { getFirestoreConfig } = require('firebase-tools/lib/firestore/fsConfig');"
        "const src = JSON.parse(process.argv[1]);"
        "console.log(JSON.stringify(getFirestoreConfig('demo-x', { config: { src }, only: process.argv[2] })));"
    )
    folder = ROOT / "tests" / "functions"
    if not (folder / "node_modules" / "firebase-tools").is_dir():
        pytest.skip("firebase-tools is not installed: npm install --prefix tests/functions")
    for only in ("", "firestore", "firestore:rules", "firestore:indexes"):
        command = ["node", "-e", program, json.dumps(config), only]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        assert [one["database"] for one in json.loads(done.stdout)] == [STATE_DATABASE]
    assert config["firestore"]["location"] == "us-central1"
    assert 'region="us-central1"' in (FUNCTION / "main.py").read_text().replace("'", '"')
