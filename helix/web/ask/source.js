// A document's text with a passage of it highlighted: the panel beside an answer, and a page of
// its own at #/source/{document_id}?start=&end= (offsets in code points, as the server has them).
//
//   <${SourceReader} documentId=${7} start=${0} end=${48} chunkId=${42} onClose=${f} />
//
// The text stands as it is stored, so that what is in <mark> is text[start:end] to the character.
// Of a long document only what is around the passage is drawn; more of it comes on request.
import { api } from "../api.js";
import { Button, IconButton, Notice, Spinner, copyText, toast } from "../components.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { address } from "../router.js";
import { countOf, placeOf, sliceOf } from "../text.js";

const AROUND = 4000; // characters drawn before and after the passage
const cache = new Map(); // document id -> the promise of it; the last few
const KEPT = 6;

function load(id) {
  if (!cache.has(id)) {
    if (cache.size >= KEPT) cache.delete(cache.keys().next().value);
    const loading = api.document(id);
    cache.set(id, loading);
    loading.catch(() => cache.delete(id));
  }
  return cache.get(id);
}

export function SourceReader({ documentId, start, end, chunkId, quote, onClose, alone }) {
  const [state, setState] = useState({ document: null, error: null });
  const [place, setPlace] = useState({ start, end, chunkId });
  useEffect(() => setPlace({ start, end, chunkId }), [documentId, start, end, chunkId]);
  const reload = () => {
    cache.delete(documentId);
    setState({ document: null, error: null });
    fetchInto(documentId, setState);
  };
  useEffect(() => fetchInto(documentId, setState), [documentId]);
  const { document, error } = state;
  const ready = document && document.id === documentId;
  return html`<section class=${alone ? "source alone" : "source"} aria-label="Source">
    <header class="source-head">
      <div class="source-title"><p class="eyebrow">Source</p><h2 tabindex="-1">${ready ? document.title : "…"}</h2></div>
      ${onClose && html`<${IconButton} icon="close" label="Close the source" onClick=${onClose} />`}
    </header>
    ${error && html`<${Failure} error=${error} onRetry=${reload} />`}
    ${!ready && !error && html`<div class="source-body"><${Spinner} label="Opening the document" /></div>`}
    ${ready && html`<${Reader} document=${document} place=${place} quote=${quote} onPlace=${setPlace} alone=${alone} />`}
  </section>`;
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
  return html`<div class="source-body"><${Notice} kind="error" title=${gone ? "This document is not there any more." : "The document could not be opened."}>
    <p>${gone ? "It was deleted, or belongs to somebody else." : error.message}</p>
    ${!gone && html`<${Button} icon="retry" onClick=${onRetry}>Try again</>`}</></div>`;
}

function Reader({ document, place, quote, onPlace, alone }) {
  const chunks = document.chunks;
  const current = chunkAt(chunks, place);
  const span = spanOf(place, chunks[current]);
  const section = (document.outline || []).find((one) => span && one.start <= span.start && span.start < one.end);
  const step = (chunk) => chunk && onPlace({ start: chunk.start, end: chunk.end, chunkId: chunk.id });
  const link = address("source", [document.id], span ? { start: span.start, end: span.end } : {});
  const copyLink = async () => toast((await copyText(new URL(link, location.href).href)) ? "Link copied" : "The link could not be copied");
  const where = placeOf(section || chunks[current] || {}, document.title);
  const changed = quote && span && place.start !== null && sliceOf(document.text || "", span.start, span.end) !== quote && isFirst(place, span);
  return html`<div class="source-tools">
      <div class="pair"><${IconButton} icon="before" label="Previous passage" disabled=${current <= 0} onClick=${() => step(chunks[current - 1])} />
      <${IconButton} icon="after" label="Next passage" disabled=${current < 0 || current >= chunks.length - 1} onClick=${() => step(chunks[current + 1])} /></div>
      <p class="source-place" role="status">${where || (current >= 0 ? `Passage ${current + 1} of ${chunks.length}` : "")}</p>
      <div class="pair"><${IconButton} icon="link" label="Copy a link to this passage" onClick=${copyLink} />
      ${!alone && html`<a class="icon-button" href=${link} aria-label="Open the source on its own" title="Open the source on its own"><${OpenIcon} /></a>`}</div>
    </div>
    ${changed && html`<${Notice} kind="warn" title="The document has changed since it was cited."><p>The highlighted passage may not be the quoted one.</p></>`}
    ${document.text ? html`<${Text} key=${document.id} document=${document} span=${span} />` : html`<div class="source-body"><p class="hint">This document has no text.</p></div>`}`;
}

function OpenIcon() {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="M14 4h6v6M20 4l-9 9M18 14v6H4V6h6" /></svg>`;
}

function isFirst(place, span) {
  return place.start === span.start && place.end === span.end;
}

function chunkAt(chunks, { start, chunkId }) {
  const named = chunks.findIndex((chunk) => chunk.id === chunkId);
  if (named >= 0 || start === null) return named;
  return chunks.findLastIndex((chunk) => chunk.start !== null && chunk.start <= start);
}

function spanOf({ start, end }, chunk) {
  if (start !== null && end !== null && end > start) return { start, end };
  return chunk && chunk.start !== null ? { start: chunk.start, end: chunk.end } : null;
}

function Text({ document, span }) {
  const { text } = document;
  const length = useMemo(() => countOf(text), [text]);
  const at = span || { start: 0, end: 0 };
  const near = { from: snap(document, Math.max(0, at.start - AROUND)), to: Math.min(length, at.end + AROUND) };
  const [more, setMore] = useState(near);
  const mark = useRef(null);
  useEffect(() => setMore(near), [at.start, at.end]);
  const from = Math.min(more.from, near.from);
  const to = Math.max(more.to, near.to);
  useLayoutEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [at.start, at.end]);
  const pieces = piecesOf(document, from, to, span);
  return html`<div class="source-body" tabindex="0" role="region" aria-label="Text of the document">
    ${from > 0 && html`<${Button} onClick=${() => setMore({ from: Math.max(0, from - 4 * AROUND), to })}>Show what is before</>`}
    <div class="document-text">${pieces.map((piece) => html`<${Piece} key=${piece.key} piece=${piece} text=${text} mark=${mark} />`)}</div>
    ${to < length && html`<${Button} onClick=${() => setMore({ from, to: Math.min(length, to + 4 * AROUND) })}>Show what follows</>`}
  </div>`;
}

function Piece({ piece, text, mark }) {
  if (piece.page) return html`<div class="page-mark"><span>Page ${piece.page}</span></div>`;
  const content = sliceOf(text, piece.start, piece.end);
  return piece.marked ? html`<mark ref=${mark} id="quote">${content}</mark>` : content;
}

// Where a section begins that `place` is in, if that is not far: no page begins in a sentence.
function snap({ outline }, place) {
  const section = (outline || []).find((one) => one.start <= place && place < one.end);
  return section && place - section.start < AROUND ? section.start : place;
}

// What is drawn, in order: text, the passage, and a line where a page begins. A page's line never
// stands within the passage, whose text is to be exact.
function piecesOf({ outline }, from, to, span) {
  const cuts = [{ at: from }, { at: to }];
  if (span) cuts.push({ at: span.start }, { at: span.end });
  const pages = new Map();
  let before = null;
  for (const section of outline || []) {
    const inside = span && section.start > span.start && section.start < span.end;
    if (section.page && section.page !== before && !inside && section.start >= from && section.start < to) {
      pages.set(section.start, section.page);
      cuts.push({ at: section.start });
    }
    before = section.page ?? before;
  }
  const places = [...new Set(cuts.map(({ at }) => Math.min(Math.max(at, from), to)))].sort((a, b) => a - b);
  const pieces = [];
  places.slice(0, -1).forEach((start, n) => {
    if (pages.has(start)) pieces.push({ key: `page ${pages.get(start)} ${start}`, page: pages.get(start) });
    const end = places[n + 1];
    pieces.push({ key: `${start}`, start, end, marked: Boolean(span) && start >= span.start && end <= span.end });
  });
  return pieces;
}
