// The head of the reader: the document's title, its file, and what is known of it.
import { IconButton, toast } from "../components.js";
import { handOut } from "../file.js";
import { html, useState } from "../html.js";
import { Details, factsLine } from "../library/details.js";
import { address } from "../router.js";
import { isWeb } from "../text.js";
import { fileOf } from "./documents.js";

export function Heading({ document, onChange }) {
  const [editing, setEditing] = useState(false);
  if (!document) return html`<div class="source-title"><p class="eyebrow">Source</p><h2 tabindex="-1">…</h2></div>`;
  const named = document.file_name && document.file_name !== document.title ? document.file_name : "";
  const facts = factsLine(document);
  const opens = document.file && document.media === "pdf" && !document.isAttached;
  return html`<div class="source-title"><p class="eyebrow">Source</p>
    <div class="source-name"><h2 tabindex="-1">${document.title}</h2>
      ${document.facts && html`<${IconButton} icon="edit" label="Edit title, facts and metadata" onClick=${() => setEditing(true)} />`}</div>
    ${document.source && html`<${From} source=${document.source} />`}
    ${(named || facts) && html`<p class="source-facts hint">${named && (opens
      ? html`<button type="button" class="text-button" title="Open the original" onClick=${() => openFile(document)}>${named}</button>`
      : html`<span>${named}</span>`)}
      ${facts && html`<span>${facts}</span>`}</p>`}
    <${Details} one=${editing ? document : null} onClose=${() => setEditing(false)} onChange=${onChange} />
  </div>`;
}

// Where it comes from, and the place where it can be opened there.
function From({ source: { id, name, key, url } }) {
  return html`<p class="source-facts hint"><span>from <a href=${address("sources", [id])} title=${key}>${name}</a></span>
    ${isWeb(url) && html`<a href=${url} target="_blank" rel="noopener noreferrer">Open it there</a>`}</p>`;
}

// A blob of this page's own origin: only a PDF is opened, which runs nothing there.
const openFile = (document) => handed(document, { target: "_blank" });

export const saveFile = (document) => handed(document, { download: document.file_name || document.title });

async function handed(document, as) {
  try {
    handOut(await fileOf(document.id), as);
  } catch (error) {
    toast(error.message);
  }
}
