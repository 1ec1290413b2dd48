/*
 * The site's search: a message goes through the lookup, all else through a small full-text index
 * over what errors.json says of each page, over the glossary, and over titles of other pages.
 *
 * Words of Latin script are compared by their stems, Chinese by pairs of characters, since it
 * writes no spaces; a Chinese word of glossary/zh.tsv also counts as its English term.
 */

import { lookup } from "./lookup.mjs";

const SHOWN = 20;
const HAN = /\p{Script=Han}+/gu;
const IN_PLACE = /\bin[- ]place\b/g;
// A number in the query stands for a hole of a message.
const HOLE = /<[a-z_]+>|\d+/g;
const WORD = /[a-z0-9_]+/g;
const UNSEARCHED = new Set(
  "a an and are as at be but by can do does for from has have how i in is it its me my of on or that the this to was what when which while with you your".split(" "),
);
const WEIGHTS = { name: 5, title: 3, symptom: 3, message: 2, node: 4, id: 2, summary: 1.5, terms: 0.7, fixes: 0.7, text: 0.7 };
const SATURATION = 1.2;
const TRANSLATED = 0.5;
const EXACT = 1000;
const PHRASE = 1;
const indexes = new WeakMap();

/** Return what *text* finds, best first: `{url, title, summary}`. */
export function search(text, catalogue, extra) {
  const found = new Map();
  const query = text.trim();
  if (query === "") return [];
  const answer = lookup(query, catalogue);
  if (answer.kind === "match") {
    for (const { url, title } of answer.results) add(found, { url, title, ...pageAt(catalogue, url) });
  }
  for (const entry of ranked(query, searchIndex(catalogue, extra))) add(found, entry);
  return [...found.values()].slice(0, SHOWN);
}

function add(found, { url, title, summary }) {
  if (!found.has(url)) found.set(url, { url, title, summary });
}

function pageAt(catalogue, url) {
  return catalogue.pages.find((page) => page.url === url);
}

function ranked(query, index) {
  const wanted = new Map(tokens(query).map((token) => [token, 1]));
  const plain = normal(query);
  for (const [word, name] of index.translations) {
    if (!query.includes(word)) continue;
    for (const token of tokens(name)) if (!wanted.has(token)) wanted.set(token, TRANSLATED);
  }
  const scored = [];
  for (const entry of index.entries) {
    let score = entry.names.has(plain) ? EXACT : 0;
    for (const [token, share] of wanted) {
      const weight = entry.weights.get(token);
      if (weight) score += share * index.rarity.get(token) * (weight / (weight + SATURATION)) * entry.scale;
    }
    if (score > 0 && plain.length > 3 && entry.all.includes(plain)) score *= 1 + PHRASE;
    if (score > 0) scored.push({ ...entry, score });
  }
  return scored.sort((a, b) => b.score - a.score || (a.url < b.url ? -1 : 1));
}

/** Return the index of *catalogue* and *extra*, made once. */
function searchIndex(catalogue, extra) {
  let index = indexes.get(catalogue);
  if (index) return index;
  const entries = [...catalogue.pages.map(ofPage), ...extra.terms.map(ofTerm), ...extra.pages.map(ofOther)];
  const frequency = new Map();
  for (const { weights } of entries) {
    for (const token of weights.keys()) frequency.set(token, (frequency.get(token) || 0) + 1);
  }
  const rarity = new Map([...frequency].map(([token, n]) => [token, Math.log(1 + entries.length / n)]));
  const translations = extra.terms.flatMap(({ name, zh }) => zh.map((word) => [word, name]));
  index = { entries, rarity, translations };
  indexes.set(catalogue, index);
  return index;
}

function ofPage(page) {
  return entry(page, [], 1, {
    title: page.title, summary: page.summary, id: page.id.replace(/-/g, " "),
    symptom: `${page.symptom ?? ""} ${page.symptom_zh ?? ""}`,
    message: page.errors.flatMap(({ message, formerly }) => [message, ...formerly.map((f) => f.message)]).join("\n"),
    node: (page.when.node ?? "").replace(/[^\w|]/g, "").replace(/\|/g, " "),
    terms: page.terms.join(" "), fixes: (page.fixes ?? []).map(({ title }) => title).join(" "),
  });
}

function ofTerm({ name, names, zh, url, text }) {
  const shown = { url, title: `Glossary: ${name}`, summary: text };
  return entry(shown, [name, ...names, ...zh], 0.8, { name: [name, ...names, ...zh].join(" "), text });
}

function ofOther({ title, url }) {
  return entry({ url, title, summary: "" }, [], 0.8, { title });
}

function entry({ url, title, summary }, names, scale, fields) {
  const weights = new Map();
  for (const [field, text] of Object.entries(fields)) {
    for (const token of new Set(tokens(text))) weights.set(token, (weights.get(token) || 0) + WEIGHTS[field]);
  }
  const all = normal(Object.values(fields).join("\n"));
  return { url, title, summary, names: new Set(names.map(normal)), scale, weights, all };
}

function normal(text) {
  const plain = text.toLowerCase().replace(/[`"']/g, "").replace(IN_PLACE, "inplace");
  return plain.replace(HOLE, "0").replace(/\s+/g, " ").trim();
}

/** Return what is compared: stems of words and pairs of Chinese characters. */
function tokens(text) {
  const lower = text.toLowerCase().replace(IN_PLACE, "inplace");
  const words = (lower.match(WORD) || []).flatMap((word) => [word, ...word.split("_")]);
  const found = words.filter((word) => word && !UNSEARCHED.has(word)).map(searchStem);
  for (const run of lower.match(HAN) || []) {
    for (let at = 0; at + 1 < run.length; at += 1) found.push(run.slice(at, at + 2));
  }
  return found;
}

function searchStem(word) {
  const short = word === "backward" ? word : word.replace(/backward0?$/, "");
  if (short.length < 5) return short.replace(/(?<=[a-z]{3})s$/, "");
  return short.replace(/(?:ies|y)$/, "i").replace(/(?:ations?|ing|ed|es|s|e)$/, "");
}
