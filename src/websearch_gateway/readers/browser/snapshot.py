"""JavaScript that reads a rendered page.

It runs in an isolated world: it shares the document with the page's scripts, but none of their functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_WORLD = "reader"
# Not `innerText`, which forces a layout on each call.
_TEXT_SIZE = """document.body ? [...document.body.querySelectorAll("script, style, noscript, template")].reduce(
  (size, unseen) => size - unseen.textContent.length, document.body.textContent.length) : 0"""
_SNAPSHOT = """(most => {
  // Record which elements are hidden: computed styles are the most reliable, style sheets give the reason.
  const concealing = [["display", "none"], ["visibility", "hidden"], ["opacity", "0"]];
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    for (const [name, value] of concealing)
      if (style[name] === value && element.style) element.style.setProperty(name, value, "important");
  }
  const rules = sheet => {
    try { return [...sheet.cssRules].map(rule => rule.cssText).join("\\n"); } catch { return ""; }
  };
  const css = [...document.styleSheets, ...document.adoptedStyleSheets].map(rules).join("\\n");
  // Readers see the shadow tree of a component like the rest of the page: move it into the document.
  const open = root => {
    for (const host of root.querySelectorAll("*")) {
      const shadow = host.shadowRoot;
      if (!shadow) continue;
      open(shadow);
      for (const slot of shadow.querySelectorAll("slot")) {
        const assigned = slot.assignedNodes();
        slot.replaceWith(...(assigned.length ? assigned : slot.childNodes));
      }
      host.replaceChildren(...shadow.childNodes);
    }
  };
  open(document);
  // Scripts are enabled, so the content of `noscript` is not visible.
  for (const element of document.querySelectorAll("script, noscript, style, link[rel~=stylesheet]")) element.remove();
  const style = document.createElement("style");
  style.textContent = css.length > most / 5 ? "" : css;
  (document.head || document.documentElement).append(style);
  const html = document.documentElement.outerHTML;
  return html.length > most ? null : "<!doctype html>" + html;
})(%d)"""


async def text_size(page: CDPSession) -> int:
    """The approximate number of visible characters of the page."""
    return int(await _evaluate(page, _TEXT_SIZE))


async def snapshot(page: CDPSession, most: int) -> str | None:
    """The visible page as HTML; None if it has more than `most` characters. The page is unusable afterwards."""
    html: str | None = await _evaluate(page, _SNAPSHOT % most)
    return html


async def _evaluate(page: CDPSession, expression: str) -> Any:
    from playwright.async_api import Error

    try:
        return await _evaluate_once(page, expression)
    except Error:  # the page may have navigated to another document meanwhile
        return await _evaluate_once(page, expression)


async def _evaluate_once(page: CDPSession, expression: str) -> Any:
    frame = (await page.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await page.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": _WORLD})
    parameters = {"expression": expression, "contextId": world["executionContextId"], "returnByValue": True}
    return (await page.send("Runtime.evaluate", parameters))["result"].get("value")
