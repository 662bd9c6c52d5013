// What an answer rests on, below it: a card for each source, with every passage of it that the answer
// quotes; and the same as text, to be pasted elsewhere.
//
//   <${Sources} turn=${turn} onOpen=${(panel) => …} />
//   asText(turn)
import { Icon } from "../components.js";
import { html } from "../html.js";
import { address } from "../router.js";
import { shortened } from "../text.js";
import { isOfTool, panelOf, quotesOf } from "./cited.js";

export function Sources({ turn, onOpen }) {
  if (!turn.citations.length) return html`<p class="support-note"><${Icon} name="warn" /><span>This answer cites no source.</span></p>`;
  const all = turn.citations.flatMap((citation) => quotesOf(turn, citation));
  return html`<section class="sources" aria-label="Sources of the answer"><h3>Sources</h3>
    <ol>${turn.citations.map((citation) => html`<${Card} key=${citation.n} turn=${turn} citation=${citation} onOpen=${(passage, opener) => onOpen(panelOf(passage, opener, all))} />`)}</ol></section>`;
}

function Card({ turn, citation, onOpen }) {
  const { n, title, snippet } = citation;
  const isTool = citation.document_id === null;
  return html`<li class="card"><p class="card-head"><span class="passage-number" aria-label=${`Source ${n}`}>${n}</span><span class="passage-title">${title}</span>${isTool && html` <span class="tool-chip">${turn.imported ? "Imported" : "Tool"}</span>`}</p>
    <ul class="quotes">${quotesOf(turn, citation).map((passage) => html`<li key=${`${passage.chunkId} ${passage.start}`}>
      ${isOfTool(passage) ? html`<span class="passage-text">${passage.quote || snippet || ""}</span>`
        : html`<button type="button" class="passage" onClick=${(event) => onOpen(passage, event.currentTarget)}>
        <span class="passage-text">${shortened(passage.quote || snippet || "", 220)}</span>
        ${passage.place && html`<span class="hint">${passage.place}</span>`}</button>`}</li>`)}</ul></li>`;
}

export function asText(turn) {
  const sources = turn.citations.map((citation) => [`[${citation.n}] ${citation.title}`, ...quotesOf(turn, citation).map(quoted)].join("\n"));
  const shown = turn.images.map(({ name }) => name).join(", ");
  const asked = shown ? `${turn.question} (about ${shown})` : turn.question;
  return [asked, "", turn.text, ...(sources.length ? ["", "Sources", ...sources] : [])].join("\n");
}

function quoted(passage) {
  const { documentId, start, end, quote, place } = passage;
  if (isOfTool(passage)) return `    ${quote}`;
  const at = new URL(address("source", [documentId], { start, end }), location.href).href;
  const text = [place, quote && `“${shortened(quote, 300)}”`].filter(Boolean).join(": ");
  return [text, at].filter(Boolean).map((line) => `    ${line}`).join("\n");
}
