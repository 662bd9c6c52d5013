// The list of documents: narrowed and in an order, each with its tools, and many at once.
import { Button, Dialog, Notice, Spinner, toast } from "../components.js";
import { Failure } from "../data.js";
import { html, useCallback, useEffect, useRef, useState } from "../html.js";
import { useChosen } from "./chosen.js";
import { Details } from "./details.js";
import { Filters, matchOf, narrowed, wantedOf } from "./filters.js";
import { library } from "./library-api.js";
import { changedHere } from "./live.js";
import { Many } from "./many.js";
import { usePages } from "./pages.js";
import { Row } from "./row.js";
import { isWeb } from "../text.js";
import { Sure } from "../work.js";

export function Documents({ route, changed, counts, edits }) {
  const { documents, total, next, loading, error, more, again, drop, put } = usePages(wantedOf(route), changed);
  const [deleting, setDeleting] = useState(null);
  const [editing, setEditing] = useState(null);
  const [doing, setDoing] = useState("");
  const picked = useChosen(documents, matchOf(route), () => edits && setDoing("delete"));
  const { chosen, choose, onKey } = picked;
  const change = useCallback((one) => { puts.current(one); changedHere(); }, []);
  const puts = useRef(put);
  puts.current = put;
  // a row that was drawn is the same until its document is another: a thousand are not compared anew
  const drawn = useRef(new WeakMap()).current;
  const rowOf = (one) => {
    const is = chosen.has(one.id);
    if (drawn.get(one)?.is !== is || drawn.get(one).edits !== edits) {
      drawn.set(one, { is, edits, row: html`<${Row} key=${one.id} one=${one} edits=${edits} chosen=${is} onChoose=${choose} onKey=${onKey} onDelete=${setDeleting} onEdit=${setEditing} onChange=${change} />` });
    }
    return drawn.get(one).row;
  };
  const few = narrowed(route);
  return html`<section aria-label="Documents">
    ${(few || total !== 0) && html`<${Filters} route=${route} counts=${counts} />`}
    <p class="list-head"><span class="hint" role="status">${total ? `${total.toLocaleString("en")} ${total === 1 ? "document" : "documents"}` : ""}</span>
      ${total > 1 && chosen.size === 0 && html`<button type="button" class="text-button" onClick=${picked.all}><span>Select all shown</span></button>`}</p>
    <${Many} shown=${documents} total=${total ?? 0} picked=${picked} doing=${doing} setDoing=${(name) => (name !== "delete" || chosen.size) && setDoing(name)} counts=${counts} edits=${edits} />
    ${error && html`<${Failure} error=${{ message: error, retry: again }} />`}
    ${total === 0 && !loading && !error && few && html`<${Notice} title="No documents match."><p>Change the search, or clear the filters.</p></>`}
    <ul class="documents">${documents.map(rowOf)}</ul>
    ${loading && html`<p><${Spinner} label="Loading the list" /></p>`}
    ${next && !loading && !error && html`<${Edge} onSeen=${more} />`}
    <${Deleting} one=${deleting} onClose=${() => setDeleting(null)} onGone=${(id) => { drop(id); choose(id, false); changedHere(); }} />
    <${Details} one=${editing} keys=${counts?.metadata} onClose=${() => setEditing(null)} onChange=${(reply) => change({ ...editing, ...reply })} />
  </section>`;
}

function Deleting({ one, onClose, onGone }) {
  const remove = async () => {
    await library.remove(one.id);
    onGone(one.id);
    toast("Deleted");
  };
  return html`<${Dialog} title="Delete this document?" open=${one !== null} onClose=${onClose}>
    ${one && html`<${Sure} action="Delete" onConfirm=${remove} onClose=${onClose}><p class="deleted-title"><strong>${one.title}</strong></p>
    <p>${goes(one)}</p><p class="hint">${stays(one)}</p></>`}
  </${Dialog}>`;
}

const goes = ({ file }) => `This permanently deletes its text${file ? ", the uploaded file" : ""} and its quotes in saved answers.`;

function stays({ file, source_uri: source }) {
  if (isWeb(source)) return "The web page itself is not changed.";
  return file ? "Your own copy is not changed." : "The file it was read from is not changed.";
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
