// The list of documents: search, sort, status; preview, read again, label, delete.
import { Button, Dialog, Icon, IconButton, Notice, Spinner, toast, useDelayed } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { address, go } from "../router.js";
import { follow } from "./follow.js";
import { library } from "./library-api.js";

const PAGE = 50;
const STATES = { "": "All", ready: "Ready", processing: "Being read", failed: "Failed" };
const SORTS = { updated: "Newest first", title: "By title", size: "Largest first" };

export function Documents({ route, changed }) {
  const { q = "", sort = "updated", status = "" } = route.query;
  const [typed, setTyped] = useState(q);
  const late = useDelayed(typed, 250);
  const choose = (change) => go(address("library", [], { q: late, sort, status, ...change }), true);
  useEffect(() => { if (late !== q) choose({ q: late }); }, [late]);
  const { documents, total, next, loading, error, more, drop } = usePages({ q, sort, status }, changed);
  const [deleting, setDeleting] = useState(null);
  return html`<section aria-label="Documents">
    <div class="filters">
      <label class="field search"><span>Search</span><input type="search" value=${typed} onInput=${(event) => setTyped(event.target.value)} placeholder="Title or source" /></label>
      <${Choice} label="Status" value=${status} options=${STATES} onChange=${(value) => choose({ status: value })} />
      <${Choice} label="Order" value=${sort} options=${SORTS} onChange=${(value) => choose({ sort: value })} />
    </div>
    <p class="hint" role="status">${total === null ? "" : `${total.toLocaleString("en")} ${total === 1 ? "document" : "documents"}`}</p>
    ${error && html`<${Notice} kind="error" title="The library could not be read."><p>${error}</p></>`}
    ${total === 0 && !loading && !error && html`<${Notice} title=${q || status ? "Nothing fits." : "Nothing is here yet."}><p>${q || status ? "Search for less, or look at all." : "Drop a file above. It is read, split and stored, and can then be asked."}</p></>`}
    <ul class="documents">${documents.map((one) => html`<${Row} key=${one.id} one=${one} onDelete=${setDeleting} />`)}</ul>
    ${loading && html`<p><${Spinner} label="Reading the list" /></p>`}
    ${next && !loading && html`<${Edge} onSeen=${more} />`}
    <${Deleting} one=${deleting} onClose=${() => setDeleting(null)} onGone=${drop} />
  </section>`;
}

function Choice({ label, value, options, onChange }) {
  return html`<label class="field">${label}<select value=${value} onChange=${(event) => onChange(event.target.value)}>
    ${Object.entries(options).map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}</select></label>`;
}

function Row({ one, onDelete }) {
  const ready = one.status === "ready";
  const read = async () => {
    try {
      follow((await library.reread(one.id)).run_id);
    } catch (error) {
      toast(error.message);
    }
  };
  return html`<li class="document">
    <${Icon} name="document" />
    <div class="document-main">
      <p class="document-title">${ready ? html`<a href=${address("source", [one.id])}>${one.title}</a>` : one.title}
        ${!ready && html`<span class=${`state ${one.status}`}>${STATES[one.status] || one.status}</span>`}</p>
      <p class="hint">${facts(one)}</p>
      ${one.tags.length > 0 && html`<p class="labels">${one.tags.map((tag) => html`<a key=${tag} class="label" href=${address("ask", [], { tags: tag })}>#${tag}</a>`)}</p>`}
      ${one.status === "failed" && html`<p class="reason">${one.error} ${one.file && html`<${Button} icon="retry" onClick=${read}>Try again</>`}</p>`}
      ${one.warnings.length > 0 && html`<p class="hint warned">${one.warnings.join("; ")}</p>`}
    </div>
    <div class="document-tools">
      ${ready && html`<a class="icon-button" href=${address("ask", [], { docs: one.id })} aria-label=${`Ask ${one.title}`} title="Ask this document"><${Icon} name="ask" /></a>`}
      ${one.file && html`<${IconButton} icon="retry" label=${`Read ${one.title} again`} onClick=${read} />`}
      <${IconButton} icon="close" label=${`Delete ${one.title}`} onClick=${() => onDelete(one)} />
    </div>
  </li>`;
}

function facts(one) {
  const when = new Date(one.updated_at).toLocaleDateString(undefined, { dateStyle: "medium" });
  const pages = one.pages ? `${one.pages} ${one.pages === 1 ? "page" : "pages"}` : "";
  const chunks = `${one.chunks.toLocaleString("en")} ${one.chunks === 1 ? "passage" : "passages"}`;
  return [one.media.toUpperCase(), bytes(one.size), pages, chunks, when].filter(Boolean).join(" · ");
}

export function bytes(count) {
  if (count < 1000) return `${count} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = count / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

function Deleting({ one, onClose, onGone }) {
  const [state, setState] = useState({ busy: false, error: "" });
  useEffect(() => setState({ busy: false, error: "" }), [one]);
  const remove = async () => {
    setState({ busy: true, error: "" });
    try {
      await library.remove(one.id);
      onGone(one.id);
      onClose();
      toast("Deleted");
    } catch (error) {
      setState({ busy: false, error: error.message });
    }
  };
  return html`<${Dialog} title="Delete this document?" open=${one !== null} onClose=${onClose}>
    ${one && html`<p><strong>${one.title}</strong></p>
    <p>What goes, at once and for good: its text, its ${one.chunks.toLocaleString("en")} passages with their vectors${one.file ? ", the file as it was uploaded" : ""}, and the quotes that answers kept of it. ${one.file ? "" : "The file on its own disk stays where it is."}</p>
    ${state.error && html`<${Notice} kind="error">${state.error}</>`}
    <div class="form-end"><${Button} onClick=${onClose}>Keep it</><${Button} kind="danger" disabled=${state.busy} onClick=${remove}>Delete</></div>`}
  </${Dialog}>`;
}

// More is read when the end of the list comes near; a button for whom it never does.
function Edge({ onSeen }) {
  const edge = useRef(null);
  useEffect(() => {
    const seen = new IntersectionObserver(([entry]) => entry.isIntersecting && onSeen(), { rootMargin: "600px" });
    seen.observe(edge.current);
    return () => seen.disconnect();
  }, [onSeen]);
  return html`<p ref=${edge}><${Button} onClick=${onSeen}>Show more</></p>`;
}

const EMPTY = { documents: [], total: null, next: null, loading: true, error: "" };

function usePages(wanted, changed) {
  const [state, setState] = useState(EMPTY);
  const asked = useRef(0);
  const key = JSON.stringify(wanted);
  const load = async (after, before) => {
    const turn = (asked.current += 1);
    try {
      const page = await library.list({ ...wanted, limit: PAGE, after });
      if (turn !== asked.current) return;
      setState({ documents: [...before, ...page.documents], total: page.total, next: page.next, loading: false, error: "" });
    } catch (error) {
      if (turn === asked.current) setState((now) => ({ ...now, loading: false, error: error.message }));
    }
  };
  useEffect(() => {
    setState((now) => ({ ...now, loading: now.total === null }));
    load(undefined, []);
  }, [key, changed]);
  const more = () => {
    if (state.loading) return;
    setState({ ...state, loading: true });
    load(state.next, state.documents);
  };
  const drop = (id) => setState((now) => ({
    ...now, documents: now.documents.filter((one) => one.id !== id), total: Math.max(now.total - 1, 0),
  }));
  return { ...state, more, drop };
}
