"""`/_sandbox`: sets faults and reads the counters over HTTP, and a page that does so for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.sandbox.board import TRANSPORT_KINDS, Board, Fault, kinds_of
from websearch_gateway.sandbox.keys import engines, environment
from websearch_gateway.sandbox.small_web import library
from websearch_gateway.sandbox.vendor import VendorRefusal, json_object, origin


def control_routes(board: Board, vendors: Sequence[str]) -> list[BaseRoute]:
    """The routes that control `board`.

    `GET /_sandbox/` is a page for people, with the faults of the pages and of `vendors` as buttons.
    `POST /_sandbox/faults` takes `{"target", "fault", ...options}` and answers 204, or 400 with `{"error"}`.
    `DELETE /_sandbox/faults` clears them; `DELETE /_sandbox/calls` zeroes the counters.
    `GET /_sandbox/calls` answers `{PATH: {"calls": n, "cancelled": n}}`.
    """

    async def front(request: Request) -> HTMLResponse:
        return HTMLResponse(front_page(origin(request), vendors))

    async def add(request: Request) -> Response:
        options = await json_object(request, VendorRefusal(400, {"error": "Send a JSON object."}))
        try:
            board.add(Fault(kind=options.pop("fault"), **options))
        except (KeyError, TypeError, ValueError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return Response(status_code=204)

    async def clear_faults(_: Request) -> Response:
        board.clear_faults()
        return Response(status_code=204)

    async def count(_: Request) -> JSONResponse:
        calls = board.calls()
        total = Counter(call.path for call in calls)
        cancelled = Counter(call.path for call in calls if call.cancelled)
        return JSONResponse({path: {"calls": total[path], "cancelled": cancelled[path]} for path in sorted(total)})

    async def clear_calls(_: Request) -> Response:
        board.clear_calls()
        return Response(status_code=204)

    return [
        Route("/_sandbox/", front),
        Route("/_sandbox/faults", add, methods=["POST"]),
        Route("/_sandbox/faults", clear_faults, methods=["DELETE"]),
        Route("/_sandbox/calls", count, methods=["GET"]),
        Route("/_sandbox/calls", clear_calls, methods=["DELETE"]),
    ]


_STATUSES = {
    400: "the request is invalid",
    401: "the key is wrong",
    402: "the credit is spent",
    403: "the key lacks the permission",
    404: "not found",
    429: "too many requests",
    500: "an internal error",
    502: "a bad gateway",
    503: "overloaded",
    504: "a gateway timeout",
}
"""What the menu of each target offers, and what the status means."""

_DELAY_SECONDS = 5

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow: auto; padding: .75rem; border: 1px solid #8888; border-radius: .4rem; font-size: .85rem }
table { border-collapse: collapse } th { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0 }
th { overflow-wrap: anywhere } td { padding: .2rem 0 } select { max-width: 14rem }
button, select { margin: .15rem; padding: .2rem .6rem; font: inherit; font-size: .85rem }
dt { font-weight: bold } dd { margin: 0 0 .4rem 1rem }
"""
_SCRIPT = """
const said = document.querySelector("output");
const tell = async (reply, done) => { said.textContent = reply.ok ? done : (await reply.json()).error; };
const set = async (fault, done) => tell(
  await fetch("faults", {method: "POST", body: JSON.stringify(fault)}), `From now on ${fault.target} ${done}.`);
for (const button of document.querySelectorAll("button[data-fault]")) button.onclick = () => {
  const {target, fault, seconds} = button.dataset;
  return set({target, fault, ...(seconds && {seconds: Number(seconds)})}, button.title);
};
for (const menu of document.querySelectorAll("select[data-target]")) menu.onchange = async () => {
  const status = Number(menu.value);
  menu.value = "";
  await set({target: menu.dataset.target, fault: "status", status}, `answers with HTTP ${status}`);
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
    server = {"command": "websearch-gateway", "args": ["start-mcp-server"], "env": settings}
    configuration = json.dumps({"mcpServers": {"websearch": server}}, indent=2)
    targets = (*sorted(vendors), "pages")
    rows = "".join(map(_row, targets))
    meanings = TRANSPORT_KINDS | {kind: text for target in targets for kind, text in kinds_of(target).items()}
    legend = "".join(f"<dt>{kind}</dt><dd>It {escape(text)}.</dd>" for kind, text in meanings.items())
    pages = "".join(f'<li><a href="{escape(page.path)}">{escape(page.title)}</a></li>' for page in library().values())
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sandbox</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>
<h1>Sandbox</h1><p>The outside world of websearch-gateway on one port: search vendors, answer engines and a small web.
Nothing here costs anything.</p>
<h2>Point an agent at it</h2><p>In a shell, before <code>websearch-gateway</code>:</p><pre>{escape(exports(url))}</pre>
<p>In the configuration of an MCP client:</p><pre>{escape(configuration)}</pre>
<h2>Break something</h2><p>A button breaks its target for every request until you clear all faults.
<button id="clear">Clear all faults</button></p><p><output aria-live="polite">Everything works.</output></p>
<table>{rows}</table><details><summary>What each button does</summary><dl>{legend}</dl></details>
<h2>Calls</h2><p><button id="count">Count the calls</button></p><pre id="calls">{{}}</pre>
<h2>Pages</h2><ul>{pages}</ul><script>{_SCRIPT}</script></body></html>"""


def exports(url: str) -> str:
    """The settings as lines of a shell; those of the other answer engines are comments."""
    lines = [f"export {name}={value}" for name, value in environment(url).items()]
    lines += ["# Other answer engines: each answers when the one before it fails. ANSWER_ENGINES changes their order."]
    lines += [f"# export {name}={value}" for one in engines(url).values() for name, value in one.items()]
    return "\n".join(lines)


def _row(target: str) -> str:
    codes = "".join(f'<option value="{code}">{code}: {text}</option>' for code, text in _STATUSES.items())
    menu = f'<select data-target="{target}" aria-label="status"><option value="">status …</option>{codes}</select>'
    kinds = sorted((TRANSPORT_KINDS | kinds_of(target)).items())
    buttons = "".join(_button(target, kind, text) for kind, text in kinds if kind != "status")  # which has the menu
    return f"<tr><th>{target}</th><td>{menu}{buttons}</td></tr>"


def _button(target: str, kind: str, text: str) -> str:
    late = f' data-seconds="{_DELAY_SECONDS}"' if kind == "delay" else ""
    return f'<button data-target="{target}" data-fault="{kind}" title="{escape(text)}"{late}>{kind}</button>'
