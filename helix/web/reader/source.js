// A document with a passage of it marked: the panel beside an answer, and a page of its own at
// #/source/{document_id}?start=&end= (offsets in code points, as the server has them).
//
//   <${SourceReader} documentId=${7} start=${0} end=${48} chunkId=${42} quote=${null} onClose=${f}
//      among=${[…]} at=${0} onSource=${(n) => …} alone=${false}>what is below a document</>
//
// `among` are the sources that this one is one of, `at` its place among them.
import { Button, IconButton, Notice, Spinner } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { api } from "../api.js";
import { runs } from "../library/follow.js";
import { useStore } from "../store.js";
import { useTitle } from "../shell/title.js";
import { forget, load } from "./documents.js";
import { Heading } from "./heading.js";
import { Reader } from "./reader.js";

export function SourceReader({ documentId, onClose, alone, children, ...place }) {
  const section = useRef(null);
  const [state, setState] = useState({ document: null, error: null });
  const reload = () => {
    forget(documentId);
    setState({ document: null, error: null });
    fetchInto(documentId, setState);
  };
  useEffect(() => fetchInto(documentId, setState), [documentId]);
  useStillThere(state.document, (error) => setState({ document: null, error }));
  const { document, error } = state;
  const ready = document && document.id === documentId;
  useEffect(() => {
    // a reader that was drawn anew, for another document, has taken the focus with it
    if (ready && window.document.activeElement.matches("body, #main")) section.current.querySelector("h2").focus({ preventScroll: true });
  }, [ready]);
  const put = (changed) => {
    forget(documentId);
    setState({ document: { ...document, ...changed }, error: null });
  };
  return html`<section ref=${section} class=${alone ? "source alone" : "source"} aria-label="Source">
    <header class="source-head">
      <${Heading} document=${ready ? document : null} onChange=${put} />
      ${onClose && html`<${IconButton} icon="close" label="Close the source" onClick=${onClose} />`}
    </header>
    ${error && html`<${Failure} error=${error} onRetry=${reload} />`}
    ${!ready && !error && html`<div class="source-body"><${Spinner} label="Opening the document" /></div>`}
    ${ready && alone && html`<${Titled} text=${document.title} />`}
    ${ready && html`<${Reader} key=${document.id} document=${document} place=${place} alone=${alone} />`}
  </section>${ready && children}`;
}

// A document that was deleted, or may not be read any more, goes from the screen too.
function useStillThere(document, onGone) {
  const changes = useStore(runs, (now) => now.changes);
  const first = useRef(changes);
  useEffect(() => {
    if (changes === first.current || !document || document.isAttached) return;
    api.document(document.id, { text: false }).catch((error) => {
      if (error.status !== 404) return;
      forget(document.id);
      onGone(error);
    });
  }, [changes]);
}

// On its own it gives the browser's tab its name.
function Titled({ text }) {
  useTitle(text);
  return null;
}

function fetchInto(documentId, setState) {
  let here = true;
  load(documentId).then(
    (document) => here && setState({ document, error: null }),
    (error) => here && setState({ document: null, error }),
  );
  return () => { here = false; };
}

function Failure({ error, onRetry }) {
  const gone = error.status === 404;
  return html`<div class="source-body"><${Notice} kind="error" title=${gone ? "This document no longer exists." : "The document could not be opened."}>
    <p>${gone ? "It was deleted, or you may not read it." : error.message}</p>
    ${!gone && html`<${Button} icon="retry" onClick=${onRetry}>Try again</>`}</></div>`;
}
