/* The search page: shows what `search` finds for the address's `q`. Runs with files opened locally. */

import { search } from "./search.mjs";

function showSearch() {
  const place = document.getElementById("search-results");
  if (place === null) return;
  const query = new URLSearchParams(window.location.search).get("q") ?? "";
  for (const input of document.querySelectorAll("input[name=q]")) input.value = query;
  const found = search(query, window.autogradErrors, window.autogradSearch);
  const status = made("p", query.trim() === "" ? "" : summary(found.length));
  status.setAttribute("role", "status");
  const list = made("ul");
  list.className = "search";
  for (const { url, title, summary: text } of found) {
    const link = made("a", title.replace(/`/g, ""));
    link.href = url;
    const item = made("li");
    item.append(link, made("p", text.replace(/`/g, "")));
    list.append(item);
  }
  place.replaceChildren(status, list);
  place.dataset.done = "";
}

function summary(count) {
  if (count === 0) return "Nothing fits. Try the words of the message, or fewer words.";
  return count === 1 ? "One result." : `${count} results, best first.`;
}

function made(name, text = "") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

showSearch();
