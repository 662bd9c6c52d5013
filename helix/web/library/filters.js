// What the list shows, and in which order, by its address:
// #/library?q=&tag=&status=&kind=&format=&when=&from=&to=&where=&sort=&order=
//
//   const wanted = wantedOf(route);              the parameters of GET /v1/documents
//   <${Filters} route=${route} counts=${counts} />
import { Icon, useDelayed } from "../components.js";
import { Conditions, whereOf } from "./conditions.js";
import { html, useEffect, useState } from "../html.js";
import { address, go } from "../router.js";

const STATES = { ready: "Ready", processing: "Processing", failed: "Failed" };
const FORMATS = {
  pdf: "PDF", docx: "Word", pptx: "PowerPoint", xlsx: "Excel", csv: "CSV", markdown: "Markdown",
  html: "Web pages", epub: "EPUB", text: "Text", eml: "Mail", ipynb: "Notebooks",
};
export const WHENS = { today: "Today", week: "Last 7 days", month: "Last 30 days", year: "This year", between: "Custom range" };
const SORTS = {
  "": "Newest first", "updated asc": "Oldest first", title: "Title, A to Z", "title desc": "Title, Z to A",
  kind: "Kind", status: "Status", size: "Largest first", "size asc": "Smallest first",
};
const NAMES = ["q", "tag", "status", "kind", "format", "when", "from", "to", "where", "sort", "order"];

export const narrowed = ({ query }) => ["q", "status", "kind", "format", "when", "where"].some((name) => query[name]);

export function wantedOf({ query }) {
  const { q = "", tag = "", status = "", kind = "", format = "", sort = "updated", order = "" } = query;
  return { q, tag, status, kind, format, where: whereOf(query.where), ...timesOf(query), sort, order };
}

// Of what a list is, without its order.
export function matchOf(route) {
  const { sort, order, ...match } = wantedOf(route);
  return match;
}

export function timesOf({ when, from, to }) {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  if (when === "between") return { since: startOf(from), until: endOf(to) };
  if (when === "week") day.setDate(day.getDate() - 6);
  else if (when === "month") day.setDate(day.getDate() - 29);
  else if (when === "year") day.setMonth(0, 1);
  else if (when !== "today") return { since: "", until: "" };
  return { since: day.toISOString(), until: "" };
}

const startOf = (text) => (isDay(text) ? new Date(`${text}T00:00:00`).toISOString() : "");
const endOf = (text) => (isDay(text) ? new Date(`${text}T23:59:59.999`).toISOString() : "");
const isDay = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(Date.parse(text));

export function Filters({ route, counts }) {
  const { query } = route;
  const [typed, setTyped] = useState(query.q || "");
  const late = useDelayed(typed, 250);
  const choose = (change) => {
    const next = { ...query, q: typed, ...change };
    go(address("library", [], Object.fromEntries(NAMES.map((name) => [name, next[name] || ""]))), true);
  };
  useEffect(() => { if (late !== (query.q || "") && late === typed) choose({ q: late }); }, [late]);
  useEffect(() => { if (!query.q) setTyped(""); }, [query.q, query.tag]);
  const kind = query.kind ? `kind ${query.kind}` : query.format ? `format ${query.format}` : "";
  const onKind = (value) => {
    const [name, ...rest] = value.split(" ");
    choose({ kind: "", format: "", ...(name ? { [name]: rest.join(" ") } : {}) });
  };
  const order = [query.sort && (query.sort !== "updated" || query.order) ? query.sort : "", query.order].filter(Boolean).join(" ");
  const onOrder = (value) => {
    const [sort = "", turned = ""] = value.split(" ");
    choose({ sort, order: turned });
  };
  return html`<div class="filters" role="search" aria-label="Documents">
    <label class="field search">Search<input type="search" data-focus value=${typed} onInput=${(event) => setTyped(event.target.value)} placeholder="Title, file name or source" /></label>
    <label class="field">Kind<select aria-label="Kind" value=${kind} onChange=${(event) => onKind(event.target.value)}>
      <option value="">All kinds</option>
      <${Group} label="Kind" name="kind" counts=${counts?.kinds} chosen=${query.kind} />
      <${Group} label="Format" name="format" counts=${counts?.formats} chosen=${query.format} said=${FORMATS} /></select></label>
    <label class="field">Status<select aria-label="Status" value=${query.status || ""} onChange=${(event) => choose({ status: event.target.value })}>
      <option value="">All</option>${Object.entries(STATES).map(([name, text]) => html`<option key=${name} value=${name}>${text}${counts ? ` (${counts.statuses[name] || 0})` : ""}</option>`)}</select></label>
    <label class="field">Added<select aria-label="Added" value=${query.when || ""} onChange=${(event) => choose({ when: event.target.value, from: "", to: "" })}>
      <option value="">Any time</option>${Object.entries(WHENS).map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}</select></label>
    <label class="field">Order<select aria-label="Order" value=${order} onChange=${(event) => onOrder(event.target.value)}>
      ${Object.entries(SORTS).map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}
      <${Keys} keys=${counts?.metadata} chosen=${query.sort} /></select></label>
    <${Conditions} where=${query.where} keys=${counts?.metadata} onChange=${(where) => choose({ where })} />
    ${query.when === "between" && html`<div class="between">
      <label class="field">From<input type="date" value=${query.from || ""} onChange=${(event) => choose({ from: event.target.value })} /></label>
      <label class="field">To<input type="date" value=${query.to || ""} onChange=${(event) => choose({ to: event.target.value })} /></label></div>`}
    ${narrowed(route) && html`<p class="filters-end"><button type="button" class="text-button" onClick=${() => { setTyped(""); choose({ q: "", status: "", kind: "", format: "", when: "", from: "", to: "", where: "" }); }}><${Icon} name="close" /><span>Clear filters</span></button></p>`}
  </div>`;
}

// The orders by a key of metadata; one that no document has any more stays while it is chosen.
function Keys({ keys = [], chosen = "" }) {
  const names = keys.map(({ name }) => `meta.${name}`);
  const all = chosen.startsWith("meta.") && !names.includes(chosen) ? [...names, chosen] : names;
  if (!all.length) return null;
  return html`<optgroup label="Metadata">${all.flatMap((name) => [["", "lowest first"], [" desc", "highest first"]].map(([turned, said]) => html`<option key=${name + turned} value=${name + turned}>${name.slice(5)}, ${said}</option>`))}</optgroup>`;
}

function Group({ label, name, counts = [], chosen, said = {} }) {
  const all = chosen && !counts.some((one) => one.name === chosen) ? [...counts, { name: chosen, count: 0 }] : counts;
  if (!all.length) return null;
  return html`<optgroup label=${label}>${all.map((one) => html`<option key=${one.name} value=${`${name} ${one.name}`}>${said[one.name] || one.name} (${one.count})</option>`)}</optgroup>`;
}
