"""Make `functions/venv`, as Google's build would: the predeploy step of firebase.json, then requirements.txt alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "functions"


def predeploy() -> None:
    """Run the commands that the Firebase CLI runs before it uploads the folder, in the same environment."""
    (codebase,) = json.loads((ROOT / "firebase.json").read_text())["functions"]
    for command in codebase["predeploy"]:
        where = {**os.environ, "RESOURCE_DIR": str(SOURCE), "PROJECT_DIR": str(ROOT)}
        subprocess.run(command, shell=True, check=True, cwd=ROOT, env=where)


def install() -> None:
    """Install into the environment that the emulator looks for."""
    if not (SOURCE / "venv").is_dir():
        venv.create(SOURCE / "venv", with_pip=True)
    python = SOURCE / "venv/bin/python"
    uv = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--python", python]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # uv is faster; pip does it where uv knows no registry.
    fast = (
        subprocess.run(
            [*uv, "--requirement", "requirements.txt"], check=False, cwd=SOURCE
        ).returncode
        == 0
    )
    if not fast:
        subprocess.run([*pip, "--requirement", "requirements.txt"], check=True, cwd=SOURCE)
    # Without --force-reinstall a changed package with the same version would not be installed.
    (wheel,) = (SOURCE / "package").glob("*.whl")
    subprocess.run([*(uv if fast else pip), "--no-deps", "--force-reinstall", wheel], check=True)


if __name__ == "__main__":
    predeploy()
    install()
