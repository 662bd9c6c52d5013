// Collections: what has a label is one, with a page of its own (#/library?tag=travel).
import { Button, Dialog, Icon, Notice } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { address, go } from "../router.js";
import { queryOf } from "../ask/scope.js";
import { count } from "./intake.js";
import { labelsOf } from "./labels.js";
import { library } from "./library-api.js";
import { useBatch } from "./many.js";

const collectionOf = (tag) => address("library", [], { tag });

export function Collections({ counts, tag }) {
  if (!counts || (!counts.labels.length && !tag)) return null;
  return html`<nav class="collections" aria-label="Collections"><h2 class="eyebrow">Collections</h2><ul>
    <li><a href=${address("library")} aria-current=${tag ? undefined : "page"}><span>All documents</span> <span class="hint">${counts.total.toLocaleString("en")}</span></a></li>
    ${counts.labels.map((one) => html`<li key=${one.name}><a href=${collectionOf(one.name)} aria-current=${tag === one.name ? "page" : undefined}><${Icon} name="label" /><span>${one.name}</span> <span class="hint">${one.count.toLocaleString("en")}</span></a></li>`)}</ul></nav>`;
}

export function CollectionHead({ tag, counts }) {
  const [doing, setDoing] = useState("");
  const size = counts?.labels.find((one) => one.name === tag)?.count ?? 0;
  return html`<header class="collection-head">
    <p class="eyebrow"><a href=${address("library")}>Library</a></p>
    <h1>${tag}</h1>
    ${counts && html`<p class="hint">${count(size, "document has", "documents have")} this label. Documents added here get it too.</p>`}
    ${size > 0 && html`<div class="collection-tools"><a class="button main" href=${address("ask", [], queryOf({ documents: [], tags: [tag] }))}><${Icon} name="ask" /><span>Ask this collection</span></a>
      <${Button} icon="edit" onClick=${() => setDoing("rename")}>Rename</><${Button} onClick=${() => setDoing("dissolve")}>Delete label</></div>`}
    <${Dialog} title="Rename the collection" open=${doing === "rename"} onClose=${() => setDoing("")}><${Relabel} tag=${tag} rename onDone=${() => setDoing("")} /></${Dialog}>
    <${Dialog} title="Delete the label?" open=${doing === "dissolve"} onClose=${() => setDoing("")}><${Relabel} tag=${tag} onDone=${() => setDoing("")} /></${Dialog}>
  </header>`;
}

// Another label in place of this one, or none, for all that have it.
function Relabel({ tag, rename, onDone }) {
  const [ids, setIds] = useState(null);
  const [error, setError] = useState("");
  const [next, setNext] = useState("");
  useEffect(() => { library.ids({ tag }).then((data) => setIds(data.ids), (problem) => setError(problem.message)); }, [tag]);
  const [name, ...more] = labelsOf(next); // none where the label is deleted
  const leave = () => {
    onDone();
    go(name ? collectionOf(name) : address("library"));
  };
  const { send, busy, report } = useBatch({ ids: ids || [], known: [], onDone: leave });
  const submit = (event) => {
    event.preventDefault();
    const isOne = !rename || (name && !more.length);
    setError(isOne ? "" : "Type one name, without commas.");
    if (isOne) send({ action: "label", remove: [tag], add: name ? [name] : [] }, rename ? "relabelled" : "without the label now");
  };
  return html`<form class="form" onSubmit=${submit}>
    ${rename ? html`<label class="field">Name<input defaultValue=${tag} maxlength="100" autocomplete="off" onInput=${(event) => setNext(event.target.value.trim())} /></label>`
      : html`<p>The label “${tag}” is removed from ${count(ids?.length ?? 0, "document", "documents")}. The documents stay.</p>`}
    ${error && html`<${Notice} kind="error">${error}</>`}${report}
    <div class="form-end"><${Button} onClick=${onDone}>Cancel</><button class="button main" disabled=${busy || !ids?.length || (rename && (!next || name === tag))}><span>${rename ? "Rename" : "Delete label"}</span></button></div>
  </form>`;
}
