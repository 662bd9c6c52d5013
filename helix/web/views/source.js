// #/source/{document_id}?start=&end=: one document with a passage highlighted, as a link gives it.
import { SourceReader } from "../reader/source.js";
import { Notice } from "../components.js";
import { html } from "../html.js";
import { address } from "../router.js";

export default function Source({ route }) {
  const id = whole(route.rest[0]);
  if (id === null) {
    return html`<div class="page"><${Notice} kind="error" title="This link names no document."><a href=${address("ask")}>Ask a question</a></></div>`;
  }
  return html`<div class="page reading"><h1 class="unseen">Source</h1>
    <${SourceReader} documentId=${id} start=${whole(route.query.start)} end=${whole(route.query.end)} alone>
      <p class="page-end"><a href=${address("ask", [], { docs: id })}>Ask this document</a></p></></div>`;
}

function whole(text) {
  return /^\d{1,15}$/.test(text ?? "") ? Number(text) : null;
}
