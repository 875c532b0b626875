"""`/_sandbox/` for people: how to point an agent here, buttons for faults, and the pages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape

from websearch_gateway.sandbox.board import ENGINE_KINDS, OPENAI_KINDS, PAGE_KINDS, TRANSPORT_KINDS
from websearch_gateway.sandbox.keys import environment
from websearch_gateway.sandbox.pages import library

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow: auto; padding: .75rem; border: 1px solid #8888; border-radius: .4rem; font-size: .85rem }
table { border-collapse: collapse } th { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0 }
td { padding: .2rem 0 } button { margin: .15rem; padding: .2rem .6rem; font: inherit; font-size: .85rem }
"""
_SCRIPT = """
const said = document.querySelector("output");
const tell = async (reply, done) => { said.textContent = reply.ok ? done : (await reply.json()).error; };
for (const button of document.querySelectorAll("button[data-fault]")) button.onclick = async () => {
  const {target, fault} = button.dataset;
  const options = {method: "POST", body: JSON.stringify({target, fault})};
  await tell(await fetch("faults", options), `From now on ${target}: ${fault}.`);
};
document.querySelector("#clear").onclick = async () =>
  tell(await fetch("faults", {method: "DELETE"}), "Everything works again.");
document.querySelector("#count").onclick = async () => {
  const calls = await (await fetch("calls")).json();
  document.querySelector("#calls").textContent = JSON.stringify(calls, null, 1);
};
"""


def front_page(url: str, vendors: Iterable[str]) -> str:
    """The page as HTML. It loads nothing.

    Args:
        url: the sandbox's address as its reader knows it.
        vendors: the names of the stand-ins.
    """
    settings = environment(url)
    exports = "\n".join(f"export {name}={value}" for name, value in settings.items())
    server = {"command": "websearch-gateway", "args": ["start-mcp-server"], "env": settings}
    configuration = json.dumps({"mcpServers": {"websearch": server}}, indent=2)
    rows = "".join(_row(target, sorted(_kinds(target))) for target in (*sorted(vendors), "pages"))
    pages = "".join(f'<li><a href="{escape(page.path)}">{escape(page.title)}</a></li>' for page in library().values())
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sandbox</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>
<h1>Sandbox</h1><p>The outside world of websearch-gateway on one port: search vendors, answer engines and a small web.
Nothing here costs anything.</p>
<h2>Point an agent at it</h2><p>In a shell, before <code>websearch-gateway</code>:</p><pre>{escape(exports)}</pre>
<p>In the configuration of an MCP client:</p><pre>{escape(configuration)}</pre>
<h2>Break something</h2><p><output aria-live="polite">Everything works.</output></p>
<p><button id="clear">Clear all faults</button></p><table>{rows}</table>
<h2>Calls</h2><p><button id="count">Count the calls</button></p><pre id="calls">{{}}</pre>
<h2>Pages</h2><ul>{pages}</ul><script>{_SCRIPT}</script></body></html>"""


def _row(target: str, kinds: Iterable[str]) -> str:
    buttons = "".join(f'<button data-target="{target}" data-fault="{kind}">{kind}</button>' for kind in kinds)
    return f"<tr><th>{target}</th><td>{buttons}</td></tr>"


def _kinds(target: str) -> frozenset[str]:
    own = {"openai": OPENAI_KINDS, "pages": PAGE_KINDS, **ENGINE_KINDS}
    return TRANSPORT_KINDS | own.get(target, frozenset())
