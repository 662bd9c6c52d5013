// What is asked: all documents, or some documents and labels. It stands in the address
// (#/ask?docs=7,8&tags=travel), so that a link keeps it.
//
//   scopeOf(route) -> { documents: [7, 8], tags: ["travel"] }
//   <${ScopeBar} scope=${scope} onChange=${(scope) => …} />
import { api } from "../api.js";
import { Button, Dialog, Icon, Notice, Spinner, useDelayed } from "../components.js";
import { html, useEffect, useState } from "../html.js";

const MOST = 1000;

export function scopeOf({ query }) {
  const documents = (query.docs || "").split(",").map(Number);
  const tags = (query.tags || "").split(",").map((tag) => decode(tag.trim())).filter(Boolean);
  return {
    documents: [...new Set(documents)].filter((id) => Number.isSafeInteger(id) && id > 0).slice(0, MOST),
    tags: [...new Set(tags)].slice(0, 50),
  };
}

export function queryOf({ documents, tags }) {
  // a label may have a comma in it
  return { docs: documents.join(","), tags: tags.map((tag) => tag.replace(/[%,]/g, encodeURIComponent)).join(",") };
}

function decode(tag) {
  try {
    return decodeURIComponent(tag);
  } catch {
    return tag;
  }
}

const titles = new Map(); // document id -> its title, or null where there is none

function useTitles(ids) {
  const [, redraw] = useState(0);
  useEffect(() => {
    let here = true;
    const wanted = ids.filter((id) => !titles.has(id)).slice(0, 20);
    Promise.all(wanted.map(async (id) => {
      try {
        titles.set(id, (await api.document(id, { text: false })).title);
      } catch (error) {
        if (error.status === 404) titles.set(id, null);
      }
    })).then(() => here && wanted.length && redraw((n) => n + 1));
    return () => { here = false; };
  }, [ids.join()]);
  return (id) => titles.get(id) ?? (titles.get(id) === null ? `Document ${id} (gone)` : `Document ${id}`);
}

export function ScopeBar({ scope, onChange }) {
  const [open, setOpen] = useState(false);
  const title = useTitles(scope.documents.slice(0, 6));
  const all = !scope.documents.length && !scope.tags.length;
  const without = (name, one) => onChange({ ...scope, [name]: scope[name].filter((other) => other !== one) });
  return html`<div class="scope" role="group" aria-label="What is asked">
    <button type="button" class="scope-open" onClick=${() => setOpen(true)} aria-haspopup="dialog">
      <${Icon} name="scope" /><span>${all ? "All documents" : "Asking only"}</span>
    </button>
    ${scope.documents.slice(0, 6).map((id) => html`<${Chosen} key=${id} label=${title(id)} onRemove=${() => without("documents", id)} />`)}
    ${scope.documents.length > 6 && html`<span class="scope-more">and ${scope.documents.length - 6} more</span>`}
    ${scope.tags.map((tag) => html`<${Chosen} key=${`#${tag}`} label=${tag} tag onRemove=${() => without("tags", tag)} />`)}
    ${!all && html`<button type="button" class="text-button" onClick=${() => onChange({ documents: [], tags: [] })}>Ask all</button>`}
    <${Dialog} title="What to ask" open=${open} onClose=${() => setOpen(false)}>
      <${Picker} scope=${scope} onChange=${onChange} onDone=${() => setOpen(false)} />
    </${Dialog}>
  </div>`;
}

function Chosen({ label, tag, onRemove }) {
  return html`<span class="chosen">${tag && html`<span class="hash" aria-hidden="true">#</span>`}<span class="chosen-name">${label}</span>
    <button type="button" aria-label=${`Leave out ${label}`} onClick=${onRemove}><${Icon} name="close" /></button></span>`;
}

function Picker({ scope, onChange, onDone }) {
  const [search, setSearch] = useState("");
  const found = useDocuments(useDelayed(search, 200));
  const toggle = (name, one) => {
    const chosen = scope[name].includes(one) ? scope[name].filter((other) => other !== one) : [...scope[name], one];
    onChange({ ...scope, [name]: chosen });
  };
  const tags = [...new Set([...scope.tags, ...found.documents.flatMap((document) => document.tags)])].sort();
  return html`<div class="picker">
    <label class="field">Search documents<input type="search" value=${search} onInput=${(event) => setSearch(event.target.value)} /></label>
    ${tags.length > 0 && html`<fieldset class="tags"><legend>Labels <span class="hint">documents that have all of them</span></legend>
      ${tags.slice(0, 60).map((tag) => html`<label class="tag" key=${tag}><input type="checkbox" checked=${scope.tags.includes(tag)} onChange=${() => toggle("tags", tag)} /><span>${tag}</span></label>`)}</fieldset>`}
    <fieldset class="picks"><legend>Documents ${found.total !== null && html`<span class="hint">${found.total.toLocaleString("en")} found</span>`}</legend>
      ${found.error && html`<${Notice} kind="error">${found.error}</>`}
      ${found.loading && html`<${Spinner} label="Searching" />`}
      ${!found.loading && !found.error && !found.documents.length && html`<p class="hint">No document of that name.</p>`}
      ${found.documents.map((document) => html`<label class="pick" key=${document.id}>
        <input type="checkbox" checked=${scope.documents.includes(document.id)} onChange=${() => toggle("documents", document.id)} />
        <span class="pick-name">${document.title}</span><span class="hint">${document.tags.join(", ")}</span></label>`)}
      ${found.total > found.documents.length && html`<p class="hint">The first ${found.documents.length} are shown: search for more.</p>`}
    </fieldset>
    <div class="form-end"><${Button} onClick=${() => onChange({ documents: [], tags: [] })}>All documents</><${Button} kind="main" onClick=${onDone}>Done</></div>
  </div>`;
}

function useDocuments(q) {
  const [state, setState] = useState({ documents: [], total: null, loading: true, error: "" });
  useEffect(() => {
    const controller = new AbortController();
    api.documents({ q, status: "ready", sort: "title", limit: 50 }, controller.signal).then(
      ({ documents, total }) => {
        for (const document of documents) titles.set(document.id, document.title);
        setState({ documents, total, loading: false, error: "" });
      },
      (error) => error.name !== "AbortError" && setState({ documents: [], total: null, loading: false, error: error.message }),
    );
    return () => controller.abort();
  }, [q]);
  return state;
}
