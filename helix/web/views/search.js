// #/search?q=&tag=&kind=&when=&from=&to=: passages as one types, what was hit marked; each opens in the
// reader at its sentence.
import { Button, Spinner, useDelayed } from "../components.js";
import { Failure, useData } from "../data.js";
import { html, useEffect, useState } from "../html.js";
import { WHENS, timesOf } from "../library/filters.js";
import { library } from "../library/library-api.js";
import { address, go } from "../router.js";
import { Marked, findPassages, leadTo } from "../search/passages.js";
import { placeOf } from "../text.js";

const NAMES = ["q", "tag", "kind", "when", "from", "to"];
const [FIRST, MOST] = [20, 50];

export default function Search({ route }) {
  const { query } = route;
  const [typed, setTyped] = useState(query.q || "");
  const late = useDelayed(typed.trim(), 250);
  const { data: counts } = useData(library.counts, []);
  const choose = (change) => {
    const next = { ...query, q: typed.trim(), ...change };
    go(address("search", [], Object.fromEntries(NAMES.map((name) => [name, next[name] || ""]))), true);
  };
  useEffect(() => { if (late !== (query.q || "") && late === typed.trim()) choose({ q: late }); }, [late]);
  useEffect(() => { if (query.q !== undefined && query.q !== typed.trim()) setTyped(query.q); }, [query.q]);
  return html`<div class="page search-page"><h1>Search</h1>
    <form class="search-form" role="search" aria-label="Passages" onSubmit=${(event) => { event.preventDefault(); choose({}); }}>
      <label class="unseen" for="search">Search for</label>
      <input id="search" type="search" data-focus value=${typed} maxlength="500" placeholder="Search in all documents" autocomplete="off" onInput=${(event) => setTyped(event.target.value)} />
      <${Pick} label="Label" name="tag" all="All labels" chosen=${query.tag} list=${counts?.labels} onChoose=${choose} />
      <${Pick} label="Kind" name="kind" all="All kinds" chosen=${query.kind} list=${counts?.kinds} onChoose=${choose} />
      <label class="field">Added<select aria-label="Added" value=${query.when || ""} onChange=${(event) => choose({ when: event.target.value })}>
        <option value="">Any time</option>${Object.entries(WHENS).filter(([name]) => name !== "between").map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}</select></label>
    </form>
    <${Found} key=${JSON.stringify(query)} query=${query} />
  </div>`;
}

function Pick({ label, name, all, chosen = "", list = [], onChoose }) {
  if (!list.length && !chosen) return null;
  const names = list.some((one) => one.name === chosen) || !chosen ? list : [...list, { name: chosen }];
  return html`<label class="field">${label}<select aria-label=${label} value=${chosen} onChange=${(event) => onChoose({ [name]: event.target.value })}>
    <option value="">${all}</option>${names.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}</select></label>`;
}

function Found({ query }) {
  const { q = "", tag = "", kind = "" } = query;
  const [most, setMost] = useState(FIRST);
  const { data: found, error } = useData(async (signal) => q && findPassages(q, { tag, kind, ...timesOf(query), top_k: most }, signal), [most]);
  if (!q) return html`<p class="hint">Type words, a name or a question. Each result opens at its place in the document.</p>`;
  if (error) return html`<${Failure} error=${error} />`;
  if (!found) return html`<p><${Spinner} label="Searching" /></p>`;
  const { near_enough: near, results } = found;
  const narrowed = NAMES.some((name) => name !== "q" && query[name]);
  return html`<p class="hint" role="status">${results.length === 0 ? `No results${narrowed ? ": clear the filters to search all documents" : ""}.` : near ? `${results.length} ${results.length === 1 ? "passage" : "passages"}, best first` : "No good match. The nearest passages:"}</p>
    <ol class="found">${results.map((one) => html`<li key=${one.chunk_id}><a href=${leadTo(one)}>
      <span class="found-place"><b>${one.title}</b>${placeOf(one, one.title) && html`<span class="hint">${placeOf(one, one.title)}</span>`}</span>
      <span class="found-text"><${Marked} text=${one.snippet} marks=${one.marks} /></span></a></li>`)}</ol>
    <p class="found-end">${results.length === most && most < MOST && html`<${Button} onClick=${() => setMost(MOST)}>Show more</>`}
      <${Button} icon="ask" onClick=${() => askInstead(q, tag)}>Ask this as a question</></p>`;
}

async function askInstead(question, tag) {
  const { askAnew } = await import("../conversations/asking.js");
  askAnew(question, { documents: [], tags: tag ? [tag] : [] });
}
