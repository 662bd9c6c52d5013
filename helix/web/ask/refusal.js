// A refusal: what is known, what may have been meant, the agent where none was asked, and the
// passages that came closest; and, under any answer, the documents that the question names, to ask
// them alone.
//
//   <${Refusal} turn=${turn} onOpen=${f} onAsk=${(question, scope) => …} />
//   <${SuggestedScope} turn=${turn} onAsk=${…} />
import { Icon } from "../components.js";
import { html } from "../html.js";
import { Slice } from "../reader/marks.js";
import { useAbout } from "../shell/about.js";
import { chooseMode } from "../store.js";
import { placeOf, shortened, unitsOf } from "../text.js";
import { panelOf, passageOf } from "./cited.js";

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
  const meant = meantOf(turn);
  const hasModes = useAbout().mode;
  const askAgent = () => {
    chooseMode("agent");
    onAsk(turn.question, turn.scope);
  };
  return html`<div class="refusal" role="group" aria-label="No answer">
    <p class="refusal-title">${turn.text}</p>
    <div class="outside">${OUTSIDE[turn.reason] && html`<${Icon} name="document" />`}<p>${OUTSIDE[turn.reason] && html`<strong>${OUTSIDE[turn.reason]}.</strong> `}${turn.reasonText || REASONS[turn.reason] || "The documents do not answer this."}</p></div>
    ${turn.clarifying && (meant.length
      ? html`<button type="button" class="meant" onClick=${() => onAsk(turn.question, { ...turn.scope, documents: meant })}><${Icon} name="ask" /><span>${turn.clarifying}</span></button>`
      : html`<p class="which">${turn.clarifying}</p>`)}
    ${hasModes && !turn.steps && OUTSIDE[turn.reason] && html` <button type="button" class="meant" title="It may search again, read, list, compare and calculate" onClick=${askAgent}><${Icon} name="retry" /><span>Ask the agent</span></button>`}
    ${turn.closest && html`<${Told} turn=${turn} onOpen=${onOpen} />`}
  </div>`;
}

// The documents that `Do you mean something in "Port"?` names, to ask them the same; none where they
// are those that were asked. `Which actor do you mean?` is replied to.
function meantOf({ clarifying, closest, scope }) {
  const named = (closest || []).filter(({ title }) => clarifying?.includes(`"${title}"`));
  return [...new Set(named.map((one) => one.document_id))].filter((id) => !scope.documents.includes(id));
}

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

function Closest({ title = NO_ANSWER, children }) {
  return html`<section class="closest" aria-label=${title}><h3>${title}</h3><ul>${children}</ul></section>`;
}

function Passage({ one, onOpen, children }) {
  return html`<button type="button" class="passage" onClick=${onOpen}><span class="passage-title">${one.title}</span> <span class="hint">${placeOf(one, one.title)}</span>${children}</button>`;
}

export function SuggestedScope({ turn, onAsk }) {
  const documents = (turn.suggested || []).filter(({ document_id: id }) => !turn.scope.documents.includes(id));
  if (!documents.length) return null;
  const only = (ids) => onAsk(turn.question, { ...turn.scope, documents: ids });
  return html`<div class="suggested" role="group" aria-label="Ask fewer documents"><span class="hint">Ask only</span>
    ${documents.slice(0, 4).map(({ document_id: id, title }) => html`<button key=${id} type="button" class="suggested-chip" onClick=${() => only([id])}><${Icon} name="scope" /><span>${shortened(title, 70)}</span></button>`)}</div>`;
}
