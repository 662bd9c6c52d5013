// The list of documents: search, sort, status; preview, read again, label, delete.
import { Button, Dialog, Icon, IconButton, Notice, Spinner, toast, useDelayed } from "../components.js";
import { html, useCallback, useEffect, useRef, useState } from "../html.js";
import { address, go } from "../router.js";
import { canReadAgain, isWeb, readAgain } from "./again.js";
import { Details, factsLine } from "./details.js";
import { Labels } from "./labels.js";
import { library } from "./library-api.js";

const PAGE = 50;
const MOST = 200; // of one request
const STATES = { "": "All", ready: "Ready", processing: "Being read", failed: "Failed" };
const MEDIA = { markdown: "md", text: "txt" };
const SORTS = { updated: "Newest first", title: "By title", size: "Largest first" };

export function Documents({ route, changed }) {
  const { q = "", sort = "updated", status = "" } = route.query;
  const [typed, setTyped] = useState(q);
  const late = useDelayed(typed, 250);
  const choose = (change) => go(address("library", [], { q: typed, sort: sort === "updated" ? "" : sort, status, ...change }), true);
  useEffect(() => { if (late !== q && late === typed) choose({ q: late }); }, [late]);
  const { documents, total, next, loading, error, more, again, drop, put } = usePages({ q, sort, status }, changed);
  const [deleting, setDeleting] = useState(null);
  const [editing, setEditing] = useState(null);
  // a row that was drawn is the same until its document is another: a thousand are not compared anew
  const drawn = useRef(new WeakMap()).current;
  const rowOf = (one) => {
    if (!drawn.has(one)) drawn.set(one, html`<${Row} key=${one.id} one=${one} onDelete=${setDeleting} onEdit=${setEditing} onChange=${put} />`);
    return drawn.get(one);
  };
  const narrowed = q || status;
  const empty = total === 0 && !loading && !error;
  return html`<section aria-label="Documents">
    ${(narrowed || total !== 0) && html`<div class="filters">
      <label class="field search">Search<input type="search" value=${typed} onInput=${(event) => setTyped(event.target.value)} placeholder="Title, file name or source" /></label>
      <${Choice} label="Status" value=${status} options=${STATES} onChange=${(value) => choose({ status: value })} />
      <${Choice} label="Order" value=${sort} options=${SORTS} onChange=${(value) => choose({ sort: value === "updated" ? "" : value })} />
    </div>`}
    <p class="hint" role="status">${total ? `${total.toLocaleString("en")} ${total === 1 ? "document" : "documents"}` : ""}</p>
    ${error && html`<${Notice} kind="error" title="The library could not be read."><p>${error}</p><${Button} icon="retry" onClick=${again}>Try again</></>`}
    ${empty && html`<${Notice} title=${narrowed ? "Nothing fits." : "Nothing is here yet."}><p>${narrowed ? "Search for less, or look at all." : "Drop a file above. It is read, split and stored on this server, and can then be asked."}</p></>`}
    <ul class="documents">${documents.map(rowOf)}</ul>
    ${loading && html`<p><${Spinner} label="Reading the list" /></p>`}
    ${next && !loading && !error && html`<${Edge} onSeen=${more} />`}
    <${Deleting} one=${deleting} onClose=${() => setDeleting(null)} onGone=${drop} />
    <${Details} one=${editing} onClose=${() => setEditing(null)} onChange=${(changed) => put({ ...editing, ...changed })} />
  </section>`;
}

function Choice({ label, value, options, onChange }) {
  return html`<label class="field">${label}<select value=${value} onChange=${(event) => onChange(event.target.value)}>
    ${Object.entries(options).map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}</select></label>`;
}

function Row({ one, onDelete, onEdit, onChange }) {
  const ready = one.status === "ready";
  const again = canReadAgain(one);
  return html`<li class=${`document ${one.status}`}>
    <span class="media" aria-hidden="true">${MEDIA[one.media] || one.media.slice(0, 5) || "…"}</span>
    <div class="document-main">
      <p class="document-title">${ready ? html`<a href=${address("source", [one.id])}>${one.title}</a>` : html`<span>${one.title}</span>`}
        ${named(one) && html`<span class="document-file hint">${named(one)}</span>`}
        ${!ready && html`<span class=${`state ${one.status}`}>${STATES[one.status] || one.status}</span>`}</p>
      ${factsLine(one) && html`<p class="hint">${factsLine(one)}</p>`}
      <div class="document-facts"><p class="hint">${facts(one)}</p>${ready && html`<${Labels} one=${one} onTags=${(tags) => onChange({ ...one, tags })} />`}</div>
      ${one.status === "failed" && html`<p class="reason">${one.error} ${again && html`<${Button} icon="retry" onClick=${() => readAgain(one)}>Try again</>`}</p>`}
      ${one.warnings.length > 0 && html`<p class="hint warned">${one.warnings.join("; ")}</p>`}
    </div>
    <div class="document-tools">
      ${ready && html`<a class="icon-button" href=${address("ask", [], { docs: one.id })} aria-label=${`Ask ${one.title}`} title="Ask this document"><${Icon} name="ask" /></a>`}
      ${ready && again && html`<${IconButton} icon="retry" label=${`Read ${one.title} again`} onClick=${() => readAgain(one)} />`}
      ${ready && one.facts && html`<${IconButton} icon="edit" label=${`Edit title, file name and facts of ${one.title}`} onClick=${() => onEdit(one)} />`}
      <${IconButton} icon="bin" label=${`Delete ${one.title}`} onClick=${() => onDelete(one)} />
    </div>
  </li>`;
}

// the file's name, where the title does not say it already
const named = ({ file_name: name, title }) => (name && name !== title ? name : "");

function facts(one) {
  const when = new Date(one.updated_at).toLocaleDateString(undefined, { dateStyle: "medium" });
  const pages = one.pages ? `${one.pages} ${one.pages === 1 ? "page" : "pages"}` : "";
  const chunks = `${one.chunks.toLocaleString("en")} ${one.chunks === 1 ? "passage" : "passages"}`;
  return [bytes(one.size), pages, one.status === "ready" ? chunks : "", when].filter(Boolean).join(" · ");
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
    ${one && html`<p class="deleted-title"><strong>${one.title}</strong></p>
    <p>${goes(one)}</p><p class="hint">${stays(one)}</p>
    ${state.error && html`<${Notice} kind="error">${state.error}</>`}
    <div class="form-end"><${Button} onClick=${onClose}>Keep it</><${Button} kind="danger" disabled=${state.busy} onClick=${remove}>Delete</></div>`}
  </${Dialog}>`;
}

function goes({ chunks, file }) {
  const passages = chunks ? `, its ${chunks.toLocaleString("en")} ${chunks === 1 ? "passage" : "passages"} with their vectors` : "";
  return `What goes, at once and for good: its text${passages}${file ? ", the uploaded file itself" : ""}, and what answers that were kept quote of it.`;
}

function stays({ file, source_uri: source }) {
  if (isWeb(source)) return "The page on the web stays where it is.";
  return file ? "A copy of your own stays where it is." : "The file it was read from stays where it is.";
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
  const [asked, ask] = useState(0);
  const turn = useRef(0);
  const now = useRef(state);
  now.current = state;
  const load = async (after, limit) => {
    const mine = (turn.current += 1);
    try {
      const page = await library.list({ ...wanted, limit, after });
      if (mine !== turn.current) return;
      const documents = after ? [...now.current.documents, ...page.documents] : page.documents;
      setState({ documents, total: page.total, next: page.next, loading: false, error: "" });
    } catch (error) {
      if (mine === turn.current) setState({ ...now.current, loading: false, error: error.message });
    }
  };
  useEffect(() => {
    setState({ ...now.current, loading: now.current.total === null, error: "" });
    // where something changed, as many as are shown, so that nobody is thrown back to the top
    load(undefined, Math.min(Math.max(PAGE, now.current.documents.length), MOST));
  }, [JSON.stringify(wanted), changed, asked]);
  const more = useCallback(() => {
    if (now.current.loading || !now.current.next) return;
    setState({ ...now.current, loading: true });
    load(now.current.next, PAGE);
  }, [JSON.stringify(wanted)]);
  const drop = (id) => setState({
    ...now.current, documents: now.current.documents.filter((one) => one.id !== id),
    total: Math.max(now.current.total - 1, 0),
  });
  const put = (changedOne) => setState({
    ...now.current, documents: now.current.documents.map((one) => (one.id === changedOne.id ? changedOne : one)),
  });
  return { ...state, more, drop, put, again: () => ask((n) => n + 1) };
}
