"""The pages of Heron's documentation."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

STABLE, NEXT, OLD = "2.0", "3.0b1", "1.0"


@dataclass(frozen=True, slots=True)
class Document:
    """A page: its title, the names that it defines with their anchors, and its body as HTML."""

    title: str
    body: str
    names: tuple[str, ...] = ()


def _function(name: str, arguments: str, text: str) -> str:
    return f'<dl><dt class="sig" id="{name}">{name}({arguments})</dt><dd>{text}</dd></dl>'


def _option(names: str, text: str) -> str:
    return f"<dl><dt>{names}</dt><dd><p>{text}</p></dd></dl>"


_FORECAST = _function("heron.forecast", "name, days=7", "High waters of the coming days.")


def documents(version: str) -> Mapping[str, Document]:
    """The pages of a version by their paths below it. Versions differ in a number and in their newest names."""
    seconds = {OLD: 5, STABLE: 10, NEXT: 15}[version]
    return {**_start(version), **_guide(seconds), **_reference(version, seconds), **_help()}


def _start(version: str) -> Mapping[str, Document]:
    return {
        "": Document(
            f"Heron {version}",
            "<p>Heron reads tide tables and answers when the water is high. It runs on one machine, needs no "
            "account, "
            "and keeps what it has read in a single file.</p><h2 id='first-steps'>First steps</h2>"
            "<p>Install the package, name a harbour, and ask for the next high water.</p>"
            "<pre><code class='language-python'>import heron\n\nharbour = heron.open('Gull Harbour')\n"
            "print(harbour.next_high())</code></pre>",
        ),
        "install.html": Document(
            "Installation",
            "<p>Heron needs Python 3.9 or newer and about four megabytes of disk.</p><h2 "
            "id='from-a-package'>From a package"
            "</h2><p>The package carries the tables of two hundred harbours, so that it works without a network.</p>"
            f"<pre><code class='language-shell'>pip install heron=={version}</code></pre>"
            "<h2 id='behind-a-proxy'>Behind a proxy</h2><p>Set the variable HERON_PROXY to the address of the proxy. "
            "Without it the tables of further harbours cannot be fetched.</p>",
        ),
    }


def _guide(seconds: int) -> Mapping[str, Document]:
    return {
        "guide/timeouts.html": Document(
            "Timeouts and retries",
            f"<p>A harbour that does not answer is given up after {seconds} seconds. Two more attempts follow, "
            f"each after a "
            "longer pause, and then the last table that was read is used.</p><h2 id='give-up-sooner'>Give up "
            "sooner</h2>"
            "<p>Pass a number of seconds to <code>heron.open</code>. A smaller number suits programs that "
            "people wait "
            "for.</p><pre><code class='language-python'>harbour = heron.open('Gull Harbour', "
            "timeout=2.5)</code></pre>"
            "<h2 id='never-give-up'>Never give up</h2><p>The value <code>None</code> waits for as long as it "
            "takes.</p>",
        ),
    }


def _reference(version: str, seconds: int) -> Mapping[str, Document]:
    return {
        "api.html": Document(
            "API reference",
            "<p>Everything that programs use is in the module <code>heron</code>.</p><h2 "
            "id='functions'>Functions</h2>"
            + _function(
                "heron.open", "name, timeout=None", f"Find a harbour by its name and wait at most {seconds} seconds."
            )
            + _function(
                "heron.Harbour.next_high", "", "The time of the next high water, in the harbour's own time zone."
            )
            + _function(
                "heron.Harbour.levels", "start, end", "The water levels between two times, one every ten minutes."
            )
            + (_FORECAST if version != OLD else ""),
            (
                "heron.open",
                "heron.Harbour.next_high",
                "heron.Harbour.levels",
                *(("heron.forecast",) if version != OLD else ()),
            ),
        ),
        "cli.html": Document(
            "The command heron",
            "<p>The command prints tables for people, and JSON for programs.</p><h2 id='options'>Options</h2>"
            + _option("--json", "Print JSON, one object for each high water.")
            + _option("-d, --days=DAYS", "How many days to print. The default is one.")
            + _option(
                "--[no-]colour", "Whether to mark spring tides in colour. It is on when a terminal reads the output."
            ),
        ),
    }


def _help() -> Mapping[str, Document]:
    return {
        "faq.html": Document(
            "Questions and answers",
            "<h2 id='wrong-by-an-hour'>Why is every time wrong by an hour?</h2><p>The clock of the machine is "
            "set to summer "
            "time and the table is not. Set the time zone of the harbour, and the times agree again.</p>"
            "<h2 id='disk-full'>What happens when the disk is full?</h2><p>Heron stops writing, says so once, "
            "and goes on "
            "to answer from the tables that it has.</p>",
        ),
    }


def inventory(version: str) -> bytes:
    """An objects.inv of version 2, as Sphinx writes it (https://sphobjinv.readthedocs.io/en/stable/syntax.html)."""
    lines = [
        f"{name} py:function 1 {path}#$ -" for path, document in documents(version).items() for name in document.names
    ]
    head = f"# Sphinx inventory version 2\n# Project: Heron\n# Version: {version}\n"
    note = "# The remainder of this file is compressed using zlib.\n"
    return (head + note).encode() + zlib.compress("\n".join(lines).encode() + b"\n")
