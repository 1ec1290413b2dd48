/*
 * The paste box: looks up what is typed or pasted into it, in the browser, as it changes.
 *
 * Nothing leaves the page. The catalogue is the site's own errors.json, read when the box is first
 * used. The build also makes lookup-box.js of this file and lookup.mjs, an ordinary script that
 * works in a site opened from a folder, where browsers refuse modules and fetch.
 */

import { lookup, preparations } from "./lookup.mjs";

const WAIT = 150;
const LONGEST_LINK = 1500;
const LONGEST_REPORT = 4000;
const SHOWN_LIKELY = 3;
const SHOWN_CAUSES = 8;
const HEADS = { match: "This page explains it", near: "Perhaps one of these" };

/** Fill every place of the page that a box belongs to. */
function start() {
  const script = document.querySelector('script[src*="lookup-box."]');
  const root = new URL("..", script ? script.src : document.baseURI);
  for (const place of document.querySelectorAll(".lookup-box")) new Box(place, root).open();
}

class Box {
  constructor(place, root) {
    this.place = place;
    this.root = root;
    this.catalogue = null;
    this.timer = 0;
    this.answer = null;
  }

  open() {
    const id = `lookup-${Math.random().toString(36).slice(2, 8)}`;
    this.input = element("textarea", {
      id, rows: "6", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
      placeholder: "RuntimeError: …", "aria-describedby": `${id}-help`,
    });
    this.status = element("p", { role: "status", class: "lookup-status" });
    this.results = element("div", { class: "lookup-results" });
    this.place.replaceChildren(
      element("label", { for: id }, "Paste the traceback, or say what you see"),
      this.input,
      element("p", { id: `${id}-help`, class: "lookup-help" },
        "Nothing you paste leaves this page. Ctrl+Enter goes to the answer, Escape empties the box."),
      this.status,
      this.results,
    );
    this.input.addEventListener("focus", () => this.load(), { once: true });
    this.input.addEventListener("input", () => this.later());
    this.input.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.readLink());
    this.readLink();
  }

  async key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      await this.look();
      this.results.querySelector("a")?.focus();
    } else if (event.key === "Escape" && this.input.value !== "") {
      this.input.value = "";
      this.look();
    }
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), WAIT);
  }

  /** Take the text that a link carries behind `#m=`. */
  readLink() {
    const found = /^#m=(.+)$/.exec(window.location.hash);
    if (!found) return;
    let text = found[1].replace(/\+/g, " ");
    try {
      text = decodeURIComponent(text);
    } catch {
      // a cut-off link: show what is there
    }
    this.input.value = text;
    this.look();
  }

  async load() {
    if (this.catalogue === null) {
      try {
        this.catalogue = await loadCatalogue(this.root);
        for (const step of preparations(this.catalogue)) setTimeout(step, 0);
      } catch {
        this.status.textContent = "The list of errors could not be loaded; it is printed below.";
      }
    }
    return this.catalogue;
  }

  async look() {
    clearTimeout(this.timer);
    const text = this.input.value;
    if (text.trim() === "") {
      this.answer = null;
      this.status.textContent = "";
      this.results.replaceChildren();
      return;
    }
    const catalogue = await this.load();
    if (catalogue === null || text !== this.input.value) return;
    this.answer = lookup(text, catalogue);
    this.status.textContent = announcement(this.answer);
    this.results.replaceChildren(...this.shown(this.answer, text));
  }

  shown(answer, text) {
    const parts = [];
    const [first, ...others] = answer.results;
    if (first) {
      if (answer.kind === "match") parts.push(this.best(first));
      else parts.push(...answer.results.map((result) => this.candidate(result)));
      const also = others.filter((result) => !result.why);
      if (answer.kind === "match" && also.length) {
        parts.push(element("h2", {}, "Also in this text"));
        parts.push(...also.map((result) => this.candidate(result)));
      }
      parts.push(element("p", { class: "lookup-link" }, this.linkTo(first.exact ? first.line : text)));
    }
    parts.push(this.report(text, answer.kind === "match"));
    return parts;
  }

  /** Return the page that owns the message: why it, the reader's numbers, causes, fixes. */
  best(result) {
    const likely = result.causes.filter((cause) => cause.likely);
    const causes = likely.length ? likely : result.causes.filter((cause) => cause.id !== result.id);
    const page = likely.length ? this.page(likely[0].id) : this.page(result.id);
    const box = element("article", { class: "lookup-best" }, heading(this.pageLink(result)));
    box.append(element("p", {}, plain(result.summary)));
    box.append(element("pre", { class: "lookup-line" }, result.line));
    if (result.releases) {
      box.append(element("p", {}, `This is the wording of PyTorch ${result.releases}.`));
    }
    if (result.explanation.length) box.append(list(result.explanation.map(plain)));
    if (causes.length) {
      const several = likely.length > 1 ? "Likely causes" : "Likely cause";
      box.append(heading(likely.length ? several : "Its causes; the text alone cannot tell which"));
      box.append(list(causes.slice(0, likely.length ? SHOWN_LIKELY : SHOWN_CAUSES).map((cause) => this.cause(cause))));
    }
    const fixes = (page.fixes || []).slice(0, 3);
    if (fixes.length) {
      box.append(heading("What to do"));
      box.append(list(fixes.map((fix) => element("a", { href: this.href(`${page.url}#${fix.anchor}`) }, plain(fix.title)))));
    }
    return box;
  }

  candidate(result) {
    const box = element("article", { class: "lookup-candidate" }, heading(this.pageLink(result)));
    box.append(element("p", {}, plain(result.summary)));
    if (result.explanation.length) box.append(list(result.explanation.map(plain)));
    const likely = result.causes.filter((cause) => cause.likely).slice(0, SHOWN_LIKELY);
    if (likely.length) box.append(list(likely.map((cause) => this.cause(cause))));
    return box;
  }

  cause(cause) {
    return element("span", {}, this.pageLink(cause), `: ${plain(cause.why)}`);
  }

  page(id) {
    return this.catalogue.pages.find((page) => page.id === id) || {};
  }

  pageLink({ url, title }) {
    return element("a", { href: this.href(url) }, plain(title));
  }

  href(url) {
    return new URL(url, this.root).href;
  }

  linkTo(text) {
    const url = new URL(window.location.href);
    url.hash = `m=${encodeURIComponent(wellFormed(text.slice(0, LONGEST_LINK)))}`;
    return element("a", { href: url.href }, "Link to this answer");
  }

  /** Return what opens a prefilled issue on a click; it takes the paste along only if asked to. */
  report(text, found) {
    const { repository } = this.place.dataset;
    if (!repository) return element("p", {});
    const box = element("p", { class: "lookup-report" });
    const agree = element("input", { type: "checkbox" });
    const button = element("button", { type: "button" }, found ? "Wrong page? Report it" : "Not found? Report it");
    button.addEventListener("click", () => {
      const url = new URL(`${repository}/issues/new`);
      const answer = this.answer.results.map((result) => result.id).join(", ") || "nothing";
      url.searchParams.set("template", "missing-error.yml");
      url.searchParams.set("title", found ? `Wrong answer: ${answer}` : "Missing: ");
      url.searchParams.set("expected", `The lookup answered: ${answer}`);
      if (agree.checked) {
        url.searchParams.set("message", wellFormed(text.slice(-LONGEST_REPORT)));
      }
      window.open(url.href, "_blank", "noopener");
    });
    box.append(button, " ", element("label", {}, agree, " with my text in it; the report is public"));
    return box;
  }
}

/** Return errors.json with the fixes, or errors.js where the browser does not allow `fetch`. */
async function loadCatalogue(root) {
  if (window.autogradErrors) return window.autogradErrors;
  if (root.protocol !== "file:") {
    try {
      const files = ["errors.json", "fixes.json"].map((name) => fetch(new URL(name, root)));
      const [catalogue, fixes] = await Promise.all(files.map(async (file) => (await file).json()));
      for (const page of catalogue.pages) page.fixes = fixes[page.id];
      return catalogue;
    } catch {
      // as below
    }
  }
  await new Promise((resolve, reject) => {
    const script = element("script", { src: new URL("errors.js", root).href });
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
  return window.autogradErrors;
}

/** Return one sentence for screen readers, which also stands above the results. */
function announcement(answer) {
  const [first] = answer.results;
  if (!first) return answer.hint;
  if (answer.kind !== "match") return `${HEADS.near}. ${answer.hint}`;
  const likely = Math.min(first.causes.filter((cause) => cause.likely).length, SHOWN_LIKELY);
  const causes = likely ? ` ${likely === 1 ? "One likely cause" : `${likely} likely causes`}.` : "";
  return `${HEADS.match}: ${plain(first.title)}.${causes}`;
}

function plain(text) {
  return String(text ?? "").replace(/`/g, "");
}

/** Replace halves of characters, which no address can hold. */
function wellFormed(text) {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(^|[^\ud800-\udbff])[\udc00-\udfff]/g, "$1\ufffd");
}

function heading(content) {
  return element("h2", {}, content);
}

function list(items) {
  return element("ul", {}, ...items.map((item) => element("li", {}, item)));
}

/** Return a new element; text is always text, never markup. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

if (typeof document !== "undefined") {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
}
