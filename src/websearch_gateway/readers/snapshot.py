"""What is asked of a rendered page, in its own language."""

TEXT_SIZE = "() => document.body ? document.body.innerText.length : 0"

SNAPSHOT = """most => {
  // What a component keeps to itself is seen like the rest: put it where it is seen.
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
  // Style sheets say what is hidden; most of them are files, or were written by scripts.
  const rules = sheet => {
    try { return [...sheet.cssRules].map(rule => rule.cssText).join("\\n"); } catch { return ""; }
  };
  const css = [...document.styleSheets, ...document.adoptedStyleSheets].map(rules).join("\\n");
  open(document);
  // Scripts have run, so what stands there for want of them is not seen.
  for (const element of document.querySelectorAll("script, noscript, style, link[rel~=stylesheet]")) element.remove();
  const style = document.createElement("style");
  style.textContent = css.length > most / 5 ? "" : css;
  document.head.append(style);
  const html = document.documentElement.outerHTML;
  return html.length > most ? null : "<!doctype html>" + html;
}"""
"""The page as it is seen, as HTML; null when it is longer than the argument."""
