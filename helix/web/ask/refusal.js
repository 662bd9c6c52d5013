// A refusal: what is known, what may have been meant, and the passages that came closest; and, under
// any answer, the documents that the question names, to ask them alone.
//
//   <${Refusal} turn=${turn} onOpen=${f} onAsk=${(question, scope) => …} />
//   <${SuggestedScope} turn=${turn} onAsk=${…} />
import { api } from "../api.js";
import { Icon } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { Slice } from "../reader/marks.js";
import { placeOf, shortened, unitsOf } from "../text.js";
import { panelOf, passageOf } from "./cited.js";
import { useChunks } from "./passages.js";

const REASONS = {
  no_documents: "The library is empty: there is nothing to answer from.",
  filtered_empty: "No document matches your selection. Ask all documents, or select others.",
  underspecified: "The question refers to something that the conversation has not named.",
  below_gate: "The closest passages are about something else.",
  model_refused: "Passages were found, but none of them contains the answer.",
};
const OUTSIDE = { below_gate: "Nothing near enough was found", model_refused: "The documents do not say" };
const CLOSEST = 3;
const NO_ANSWER = "Closest, but not an answer";
const LIKELY = "This may still answer it";

export function Refusal({ turn, onOpen, onAsk }) {
  return html`<div class="refusal" role="group" aria-label="No answer">
    <p class="refusal-title">${turn.text}</p>
    <div class="outside">${OUTSIDE[turn.reason] && html`<${Icon} name="document" />`}<p>${OUTSIDE[turn.reason] && html`<strong>${OUTSIDE[turn.reason]}.</strong> `}${turn.reasonText || REASONS[turn.reason] || "The documents do not answer this."}</p></div>
    ${turn.clarifying && !offersDocuments(turn) && html`<p class="which">${turn.clarifying}</p>`}
    ${offersDocuments(turn) && html`<button type="button" class="meant" onClick=${() => onAsk(turn.clarifying, turn.scope)}><${Icon} name="ask" /><span>${turn.clarifying}</span></button>`}
    ${turn.closest ? html`<${Told} turn=${turn} onOpen=${onOpen} />` : html`<${Looked} turn=${turn} onOpen=${onOpen} />`}
  </div>`;
}

// `Do you mean something in …?` is asked as it stands; `Which actor do you mean?` is replied to.
const offersDocuments = ({ clarifying }) => clarifying?.startsWith("Do you mean");

// The passages that the model was given, in its order, with the question's words marked. One that
// probably answers after all stands ahead, under a heading that says so.
function Told({ turn, onOpen }) {
  const likely = turn.closest.filter((one) => one.likely).slice(0, CLOSEST);
  const shown = [...likely, ...turn.closest.filter((one) => !one.likely)].slice(0, CLOSEST);
  const list = (found) => found.map((one) => html`<li key=${one.chunk_id}>
    <${Passage} one=${one} onOpen=${(event) => onOpen(panelOf(passageOf(one), event.currentTarget, shown.map(passageOf)))}>
      <span class="passage-text"><${Slice} text=${one.text} start=${headingSigns(one.text)} end=${one.text.length} marks=${wordsOf(one)} /></span></></li>`);
  const others = shown.slice(likely.length);
  return html`${likely.length > 0 && html`<${Closest} title=${LIKELY}>${list(likely)}</>`}
    ${others.length > 0 && html`<${Closest}>${list(others)}</>`}`;
}

// the signs of a Markdown heading say nothing in a line
const headingSigns = (text) => text.match(/^#{1,6} /)?.[0].length ?? 0;

function wordsOf({ text, marks = [] }) {
  const places = [...new Set(marks.flat())].sort((a, b) => a - b);
  const units = unitsOf(text, places);
  const at = new Map(places.map((place, n) => [place, units[n]]));
  return marks.map(([start, end]) => ({ start: at.get(start), end: at.get(end), kind: "word" }));
}

// Of an answer that was given before refusals told them: the nearest, by their distance.
function Looked({ turn, onOpen }) {
  const ids = useNear(turn).slice(0, CLOSEST).map((one) => one.chunk_id);
  const chunks = useChunks(ids);
  const found = ids.map((id) => chunks.get(id)).filter(Boolean).map((chunk) => ({ ...chunk, chunk_id: chunk.id }));
  if (!found.length) return null;
  return html`<${Closest}>${found.map((chunk) => html`<li key=${chunk.id}>
    <${Passage} one=${chunk} onOpen=${(event) => onOpen(panelOf(passageOf(chunk), event.currentTarget, found.map(passageOf)))}>
      <span class="passage-text">${shortened(chunk.content, 180)}</span></></li>`)}</>`;
}

function Closest({ title = NO_ANSWER, children }) {
  return html`<section class="closest" aria-label=${title}><h3>${title}</h3><ul>${children}</ul></section>`;
}

function Passage({ one, onOpen, children }) {
  return html`<button type="button" class="passage" onClick=${onOpen}><span class="passage-title">${one.title}</span> <span class="hint">${placeOf(one, one.title)}</span>${children}</button>`;
}

// The nearest passages: told with the answer, else by its receipt.
function useNear({ debug, answerId }) {
  const [near, setNear] = useState(debug?.candidates.near || []);
  useEffect(() => {
    if (debug || !answerId) return undefined;
    const controller = new AbortController();
    api.receipt(answerId, controller.signal).then((receipt) => setNear(receipt.debug?.candidates.near || []), () => {});
    return () => controller.abort();
  }, [answerId]);
  return near;
}

export function SuggestedScope({ turn, onAsk }) {
  const documents = (turn.suggested || []).filter(({ document_id: id }) => !turn.scope.documents.includes(id));
  if (!documents.length) return null;
  const only = (ids) => onAsk(turn.question, { ...turn.scope, documents: ids });
  return html`<div class="suggested" role="group" aria-label="Ask fewer documents"><span class="hint">Ask only</span>
    ${documents.slice(0, 4).map(({ document_id: id, title }) => html`<button key=${id} type="button" class="suggested-chip" onClick=${() => only([id])}><${Icon} name="scope" /><span>${shortened(title, 70)}</span></button>`)}</div>`;
}
