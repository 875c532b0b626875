// The page /play: posts a form, and shows the events of the reply as they come.
// Texts from the web become text nodes, never HTML, and only http(s) addresses become links.
"use strict";
(() => {
  const base = document.currentScript.src.replace(/play\.js$/, ""); // a proxy may serve us under a path
  let token = ""; // in this page's memory only

  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, value);
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
  };
  const isWeb = (url) => {
    try { return ["http:", "https:"].includes(new URL(url).protocol); } catch { return false; }
  };
  const outside = { rel: "noopener noreferrer nofollow", target: "_blank", referrerpolicy: "no-referrer" };
  const link = (url, text) => isWeb(url) ? make("a", { href: url, ...outside }, text || url) : make("span", {}, text || url);
  // An answer is Markdown: its links become links, its other marks stay as they are.
  const prose = (text) => text.split(/(\[[^\]]+\]\(https?:\/\/[^()\s]+\))/).map((piece, at) => {
    if (at % 2 === 0) return piece;
    const [name, url] = piece.slice(1, -1).split("](");
    return link(url, name);
  });
  const host = (url) => isWeb(url) ? new URL(url).hostname : "";
  // A citation has one link: to the quote on its page where it has one.
  const best = (one) => isWeb(one.quoteUrl) ? one.quoteUrl : one.url;
  const named = (url, title) => link(url, title && title !== host(url) ? title : `${host(url)}${isWeb(url) ? new URL(url).pathname : ""}`);
  const seconds = (value) => value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`;
  const dollars = (value) => value === 0 ? "$0" : `$${value.toFixed(value < 0.01 ? 4 : 2)}`;
  const count = (items, one) => `${items.length} ${one}${items.length === 1 ? "" : "s"}`;
  const joined = (...parts) => parts.filter(Boolean).join(" · ");
  const article = (head, about, ...body) => make("article", {}, make("h2", {}, head), make("small", {}, about), ...body);
  const titled = (title, ...nodes) => make("div", { class: "part" }, make("h2", {}, title), ...nodes);
  const listed = (title, items) => items.length ? [titled(title, make("ul", {}, ...items.map((item) => make("li", {}, item))))] : [];
  const table = (title, heads, rows) => make("table", {},
    make("caption", {}, title),
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows.map(([first, ...rest]) => make("tr", {},
      make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell))))));

  const SUPPORT = {
    verbatim: "the page says this word for word",
    quoted: "these words of the page stand beside it",
    differs: "the page has another number, date, unit or name",
    not_found: "the page has no sentence about this",
    unread: "the page could not be read in time",
  };
  const quoted = (one) => {
    const said = one.support ? SUPPORT[one.support] : "not checked: the engine named this page";
    return [one.quote ? make("q", {}, one.quote) : null, make("small", {}, said)];
  };

  // Where a cited stretch of the answer ends, its numbers follow; pointing at it or focusing one shows the quotes.
  const answerText = (panel, result) => {
    const isMark = (stretch) => {
      const [, url] = stretch.match(/^\s*\(?\[[^\]]*\]\((\S+?)\)\)?\s*$/) || [];
      return /^\s*\[\d+\]\s*$/.test(stretch) || result.citations.some((one) => url && [one.url, one.quoteUrl].includes(url));
    };
    const points = Array.from(result.text); // the offsets count characters, not UTF-16 units
    const ends = new Map();
    result.citations.forEach((citation, place) => citation.spans.forEach((span) => {
      const at = ends.get(span.endIndex) || { start: span.startIndex, cited: [] };
      at.start = Math.min(at.start, span.startIndex);
      at.cited.push({ ...span, number: place + 1 });
      ends.set(span.endIndex, at);
    }));
    const text = make("p", { class: "answer" });
    let told = 0;
    [...ends].sort(([a], [b]) => a - b).forEach(([end, { start, cited }], place) => {
      const from = Math.max(told, start);
      text.append(...prose(points.slice(told, from).join("")));
      const box = make("span", { class: "quotes", role: "tooltip" });
      const marks = cited.map((one, each) => {
        const id = `${panel.id}-quote-${place}-${each}`;
        box.append(make("span", { id }, make("b", {}, `${one.number}`), " ", ...quoted(one)));
        const to = `${panel.id}-source-${one.number}`;
        return make("a", { href: `#${to}`, "aria-describedby": id, "aria-label": `Citation ${one.number}` }, `${one.number}`);
      });
      const stretch = points.slice(from, end).join("");
      const own = isMark(stretch) ? [] : prose(stretch); // the text's own mark or link would stand beside ours
      text.append(make("span", { class: "cited" }, ...own, make("sup", {}, ...marks), box));
      told = end;
    });
    text.append(...prose(points.slice(told).join("")));
    return text;
  };

  const facts = (pairs) => make("dl", { class: "facts" }, ...pairs.filter(([, value]) => value)
    .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  const cached = (result) => result.cache === undefined ? "" : result.cache === "miss" ? "no: asked now"
    : `${result.cache}, ${Math.round(result.ageSeconds)} s old`;
  const foldable = (title, text) => text ? make("details", {}, make("summary", {}, title), make("pre", {}, text)) : null;

  // HTML that the search engine wants shown as it is: in a frame that can do nothing to this page.
  const suggestions = (html) => {
    const frame = make("iframe", { src: `${base}play/suggestions`, class: "suggestions", title: "Search suggestions",
      sandbox: "allow-scripts allow-popups allow-popups-to-escape-sandbox" });
    frame.addEventListener("load", () => frame.contentWindow.postMessage(html, "*"), { once: true }); // it has no origin
    return frame;
  };

  const found = (_, result) => result.results.map((one) => article(
    link(one.link, one.title), joined(host(one.link), one.provider, one.published_date),
    make("p", {}, one.snippet), foldable("Text of the page", one.page_content)));
  const VERDICTS = {
    verbatim: "a page says this word for word",
    differs: "a page says something else",
    found: "words near to it, which prove nothing by themselves",
    not_found: "no page says this",
    unread: "no page could be read",
    supported: "supported by a quote",
    contradicted: "contradicted by a quote",
    unclear: "the quotes do not decide it",
  };

  const RENDER = {
    search_web: (panel, result) => [
      answerText(panel, result),
      ...(result.searchSuggestions ? [suggestions(result.searchSuggestions)] : []),
      ...(result.citations.length ? [titled("Citations", make("ol", { class: "sources" }, ...result.citations.map((one, place) =>
        make("li", { id: `${panel.id}-source-${place + 1}`, tabindex: "-1" }, link(best(one), one.title || one.url),
          make("small", {}, joined(host(one.url), one.publishedAt, one.page && `page ${one.page}`)),
          ...quoted(one)))))] : []),
      ...listed("Found, but not cited", result.sources.map((one) => named(one.url, one.title))),
    ],
    web_search: found,
    search_news: found,
    check_claims: (_, result) => result.claims.map((one) => article(
      one.claim, joined(VERDICTS[one.verdict] || one.verdict, one.judge === "model" && "judged by a model"),
      ...listed("What differs", one.differences.map((each) => `${each.kind}: the sentence has ${each.claim}, the page ${each.page}`)),
      ...one.quotes.map((each) => make("blockquote", {}, make("q", {}, each.text), make("small", {}, link(best(each), host(each.url))))))),
    read_from_page: (_, result) => [
      make("p", {}, link(result.url, result.title)),
      ...result.queries.flatMap((query) => query.results.length ? query.results : [query.nearest].filter(Boolean)).map((one) => article(
        one.sectionPath.join(" › ") || "Passage", joined(`score ${one.score.toFixed(2)}`, one.page && `page ${one.page}`),
        make("pre", {}, one.text))),
    ],
    search_docs: (_, result) => result.results.map((one) => article(
      link(one.url, one.heading_path.join(" › ") || one.page_title), joined(`${one.site_name} ${one.site_version}`, one.page_title),
      make("pre", {}, one.content))),
  };
  const COUNTED = {
    search_web: (result) => count(result.citations, "citation"),
    web_search: (result) => count(result.results, "result"),
    search_news: (result) => count(result.results, "result"),
    check_claims: (result) => count(result.claims.flatMap((one) => one.quotes), "quote"),
    read_from_page: (result) => count(result.queries.flatMap((query) => query.results), "passage"),
    search_docs: (result) => count(result.results, "section"),
  };

  const spent = (one) => [one.name, one.outcome === "ok" ? "answered" : one.outcome === "CANCELLED" ? "no longer needed"
    : one.outcome || (one.calls ? "still asked" : "paid"), one.calls ? seconds(one.seconds) : "–", dollars(one.usd)];

  const show = (panel, event) => {
    const { result, error, why, upstreams } = event;
    const asked = upstreams.length
      ? table("Upstreams asked", ["Upstream", "Outcome", "Time", "Cost"], upstreams.map(spent))
      : make("p", {}, "No upstream was asked.");
    const state = panel.querySelector(".outcome");
    const shown = panel.querySelector(".result");
    if (error) {
      state.textContent = `Failed after ${seconds(event.seconds)}.`;
      const wait = error.retryAfterSeconds ? ` Try again in ${error.retryAfterSeconds} s.` : "";
      panel.querySelector(".alert").textContent = `${error.code}: ${error.message}${wait}`;
      return shown.replaceChildren(asked);
    }
    const fallback = result.fallback ? `from ${result.fallback.from}: ${result.fallback.reason}` : "";
    const parts = RENDER[panel.dataset.tool](panel, result);
    state.textContent = `${COUNTED[panel.dataset.tool](result)} in ${seconds(event.seconds)}.`;
    shown.replaceChildren(
      ...(why ? [titled("Why there is nothing", make("p", { class: "why" }, why))] : []), ...parts,
      ...listed("Warnings", result.warnings || []),
      titled("How it came about", facts([["Answered by", result.provider], ["Model", result.model], ["Cache", cached(result)],
        ["Fallback", fallback], ["Time", seconds(event.seconds)],
        ["Cost", result.costUsd === undefined ? "" : dollars(result.costUsd)]]), asked),
      foldable("The result as JSON", JSON.stringify(result, null, 2)));
  };

  const argumentsOf = (panel) => {
    const found = {};
    for (const field of panel.querySelectorAll("[data-argument]")) {
      if (field.type === "checkbox") found[field.dataset.argument] = field.checked;
      else if (field.value.trim()) found[field.dataset.argument] = field.value.trim();
    }
    if (panel.dataset.tool !== "check_claims") return found;
    return { claims: [{ claim: found.claim, ...(found.urls ? { urls: [found.urls] } : {}) }] };
  };

  async function* lines(body) {
    let rest = "";
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const whole = (rest + part.value).split("\n");
      rest = whole.pop();
      for (const line of whole) yield JSON.parse(line);
    }
  }

  const refused = async (reply) => {
    const { error } = await reply.json().catch(() => ({ error: { code: reply.status, message: reply.statusText } }));
    const field = document.getElementById("token");
    if (reply.status === 401 && field) { forget("The token was not accepted, or there is none."); field.focus(); }
    return `${error.code}: ${error.message}`;
  };

  const note = (panel, event) => {
    const stages = panel.querySelector(".stages");
    const line = (text) => stages.append(make("li", {}, make("small", {}, seconds(event.seconds)), text));
    if (event.stage) line(event.stage);
    else if (event.upstream && event.upstream.outcome) line(`${spent(event.upstream).slice(0, 2).join(": ")}`);
    else if (event.upstream) line(`Asking ${event.upstream.name}`);
    else show(panel, event);
  };

  const ask = async (panel, signal) => {
    const reply = await fetch(`${base}play/ask`, {
      method: "POST", signal, mode: "same-origin", credentials: "same-origin", cache: "no-store", redirect: "error",
      referrerPolicy: "no-referrer",
      headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify({ tool: panel.dataset.tool, arguments: argumentsOf(panel) }),
    });
    if (!reply.ok) throw new Error(await refused(reply));
    for await (const event of lines(reply.body)) note(panel, event);
    if (!panel.querySelector(".outcome").textContent) throw new Error("The server ended the reply early.");
  };

  for (const panel of document.querySelectorAll("[role=tabpanel]")) {
    const [form, stop] = [panel.querySelector("form"), panel.querySelector(".stop")];
    let work = null;
    const end = (text) => { panel.querySelector(".alert").textContent = text; };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (work) return;
      const mine = work = new AbortController();
      for (const name of ["stages", "outcome", "alert", "result"]) panel.querySelector(`.${name}`).replaceChildren();
      stop.hidden = false;
      panel.setAttribute("aria-busy", "true");
      try {
        await ask(panel, mine.signal);
      } catch (error) {
        end(mine.signal.aborted ? "You stopped it." : error.message);
      }
      if (document.activeElement === stop) form.querySelector("[type=submit]").focus();
      stop.hidden = true;
      panel.removeAttribute("aria-busy");
      work = null;
    });
    stop.addEventListener("click", () => work && work.abort());
  }

  const tabs = [...document.querySelectorAll("[role=tab]")];
  const select = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
    chosen.focus();
  };
  const STEPS = { ArrowRight: (at) => at + 1, ArrowLeft: (at) => at - 1, Home: () => 0, End: () => -1 };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS)) return;
      event.preventDefault();
      select(tabs.at(STEPS[event.key](at) % tabs.length));
    });
  });
  // WCAG 2.2, 1.4.13: Escape closes a box without moving the pointer or the focus.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const one of document.querySelectorAll(".cited:hover, .cited:focus-within")) one.classList.add("closed");
  });
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const at = event.target.closest(".cited");
      for (const one of document.querySelectorAll(".closed")) if (one !== at) one.classList.remove("closed");
    });
  }

  const tokenForm = document.getElementById("token-form");
  const forget = (text) => {
    token = "";
    document.getElementById("forget").hidden = true;
    document.getElementById("token-state").textContent = text;
  };
  if (tokenForm) {
    const field = document.getElementById("token");
    tokenForm.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!field.value.trim()) return;
      token = field.value.trim();
      field.value = "";
      document.getElementById("forget").hidden = false;
      document.getElementById("token-state").textContent = "The page holds a token.";
    });
    document.getElementById("forget").addEventListener("click", () => { forget("The token is forgotten."); field.focus(); });
  }
})();
