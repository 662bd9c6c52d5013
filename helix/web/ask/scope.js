// What is asked: all documents, or some documents and labels. It stands in the address
// (#/ask?docs=7,8&tags=travel), so that a link keeps it.
//
//   scopeOf(route) -> { documents: [7, 8], tags: ["travel"] }
//   <${ScopeBar} scope=${scope} space=${3} onChange=${(scope) => …} />      space: what is asked is of this one, else of the page's
import { api } from "../api.js";
import { Button, Dialog, Icon, Notice, Spinner, announce, useDelayed } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { runs } from "../library/follow.js";
import { useSpaces } from "../shell/spaces.js";
import { useStore } from "../store.js";

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

const titles = new Map(); // document id -> its title as last read, or null where there is none

function useTitles(ids) {
  const [, redraw] = useState(0);
  const changes = useStore(runs, (now) => now.changes);
  useEffect(() => {
    let here = true;
    Promise.all(ids.map(async (id) => {
      try {
        titles.set(id, (await api.document(id, { text: false })).title);
      } catch (error) {
        if (error.status === 404) titles.set(id, null);
      }
    })).then(() => here && redraw((n) => n + 1));
    return () => { here = false; };
  }, [ids.join(), changes]);
  return (id) => titles.get(id) ?? (titles.get(id) === null ? `Document ${id} (gone)` : `Document ${id}`);
}

export function ScopeBar({ scope, space, onChange }) {
  const { list, several, now } = useSpaces();
  const within = several ? space === undefined ? now : list.find(({ id }) => id === space) : null;
  const [open, setOpen] = useState(false);
  const title = useTitles(scope.documents.slice(0, 6));
  const all = !scope.documents.length && !scope.tags.length;
  const without = (name, one) => onChange({ ...scope, [name]: scope[name].filter((other) => other !== one) });
  return html`<div class="scope" role="group" aria-label="Documents to ask">
    <button type="button" class="scope-open" onClick=${() => setOpen(true)} aria-haspopup="dialog">
      <${Icon} name="scope" /><span>${all ? within ? `All of ${within.name}` : "All documents" : "Asking only"}</span>
    </button>
    ${scope.documents.slice(0, 6).map((id) => html`<${Chosen} key=${id} label=${title(id)} onRemove=${() => without("documents", id)} />`)}
    ${scope.documents.length > 6 && html`<span class="scope-more">and ${scope.documents.length - 6} more</span>`}
    ${scope.tags.map((tag) => html`<${Chosen} key=${`#${tag}`} label=${tag} tag onRemove=${() => without("tags", tag)} />`)}
    ${!all && html`<button type="button" class="text-button" onClick=${() => onChange({ documents: [], tags: [] })}>Ask all</button>`}
    <${Dialog} title="Choose documents to ask" open=${open} onClose=${() => setOpen(false)}>
      <${Picker} scope=${scope} onChange=${onChange} onDone=${() => setOpen(false)} />
    </${Dialog}>
  </div>`;
}

function Chosen({ label, tag, onRemove }) {
  return html`<span class="chosen">${tag && html`<span class="hash" aria-hidden="true">#</span>`}<span class="chosen-name">${label}</span>
    <button type="button" aria-label=${`Remove ${label}`} onClick=${onRemove}><${Icon} name="close" /></button></span>`;
}

// Typing searches wherever the focus is; Enter in the search takes the first that was found, an
// empty one or a ticked box are done with it; arrows go up and down.
function Picker({ scope, onChange, onDone }) {
  const [search, setSearch] = useState("");
  const found = useDocuments(useDelayed(search, 200));
  const element = useRef(null);
  const toggle = (name, one) => {
    const chosen = scope[name].includes(one) ? scope[name].filter((other) => other !== one) : [...scope[name], one];
    onChange({ ...scope, [name]: chosen });
  };
  const taking = useTaking(search, found, (document) => {
    toggle("documents", document.id);
    announce(`${document.title} is ${scope.documents.includes(document.id) ? "removed" : "selected"}.`);
    setSearch("");
  });
  const onKeyDown = (event) => {
    const fields = [...element.current.querySelectorAll("input")];
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (move) fields[fields.indexOf(event.target) + move]?.focus();
    else if (event.key === "Enter" && event.target.matches("input")) search.trim() && event.target === fields[0] ? taking() : onDone();
    else return searches(event, fields[0]);
    event.preventDefault();
  };
  const tags = [...new Set([...scope.tags, ...found.documents.flatMap((document) => document.tags)])].sort();
  return html`<div class="picker" ref=${element} onKeyDown=${onKeyDown}>
    <label class="field">Search documents<input type="search" value=${search} aria-describedby="picker-keys" autocomplete="off" onInput=${(event) => setSearch(event.target.value)} /></label>
    <p class="hint" id="picker-keys">Type to search. Enter selects the first result; Enter again closes.</p>
    ${tags.length > 0 && html`<fieldset class="tags"><legend>Labels <span class="hint">documents with all of them</span></legend>
      ${tags.slice(0, 60).map((tag) => html`<label class="tag" key=${tag}><input type="checkbox" checked=${scope.tags.includes(tag)} onChange=${() => toggle("tags", tag)} /><span>${tag}</span></label>`)}</fieldset>`}
    <${Found} found=${found} chosen=${scope.documents} onToggle=${(id) => toggle("documents", id)} />
    <div class="form-end"><${Button} onClick=${() => onChange({ documents: [], tags: [] })}>All documents</><${Button} kind="main" onClick=${onDone}>Done</></div>
  </div>`;
}

function Found({ found, chosen, onToggle }) {
  return html`<fieldset class="picks"><legend>Documents ${found.total !== null && html`<span class="hint">${found.total.toLocaleString("en")} found</span>`}</legend>
    ${found.error && html`<${Notice} kind="error">${found.error}</>`}
    ${found.loading && html`<${Spinner} label="Searching" />`}
    ${!found.loading && !found.error && !found.documents.length && html`<p class="hint">No document found.</p>`}
    ${found.documents.map((document) => html`<label class="pick" key=${document.id}>
      <input type="checkbox" checked=${chosen.includes(document.id)} onChange=${() => onToggle(document.id)} />
      <span class="pick-name">${document.title}</span><span class="hint">${document.tags.join(", ")}</span></label>`)}
    ${found.total > found.documents.length && html`<p class="hint">The first ${found.documents.length} are shown: search for more.</p>`}
  </fieldset>`;
}

// A letter typed at a box goes to the search.
function searches(event, search) {
  const letter = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (letter && event.target !== search) search.focus();
}

// Takes the first document that fits what is typed, once it was found.
function useTaking(search, found, onTake) {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    if (!wanted || found.loading || found.q !== search) return;
    setWanted(false);
    if (found.documents.length) onTake(found.documents[0]);
  }, [wanted, found, search]);
  return () => setWanted(true);
}

function useDocuments(q) {
  const [state, setState] = useState({ q: null, documents: [], total: null, loading: true, error: "" });
  useEffect(() => {
    const controller = new AbortController();
    api.documents({ q, status: "ready", sort: "title", limit: 50 }, controller.signal).then(
      ({ documents, total }) => {
        for (const document of documents) titles.set(document.id, document.title);
        setState({ q, documents, total, loading: false, error: "" });
      },
      (error) => error.name !== "AbortError" && setState({ q, documents: [], total: null, loading: false, error: error.message }),
    );
    return () => controller.abort();
  }, [q]);
  return state;
}
