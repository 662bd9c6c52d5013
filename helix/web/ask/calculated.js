// The calculations of an answer's numbers: each expression with its result, and its operands, which
// open at their place in the document.
//
//   <${Calculated} turn=${turn} onOpen=${(panel) => …} />      nothing where nothing was calculated
import { html } from "../html.js";
import { panelOf, passageOf } from "./cited.js";

const FIRST = 6; // operands that are not folded

export function Calculated({ turn, onOpen }) {
  const found = (turn.support?.statements || []).flatMap(({ calculation }) => calculation ?? []);
  if (!found.length) return null;
  const titleOf = (id) => turn.citations.find((one) => one.document_id === id)?.title ?? "";
  const list = (operands) => operands.map((one) => html` <${Operand} key=${`${one.chunk_id} ${one.start}`} one=${{ ...one, title: titleOf(one.document_id) }} onOpen=${onOpen} />`);
  return html`<section class="sources calculated" aria-label="Calculations of the answer"><h3>Calculated</h3>
    <ul class="quotes">${found.map(({ expression, said, operands }, n) => html`<li key=${n}><p>${expression} = ${said}</p>
      <${Operands} all=${operands.filter(Boolean)} list=${list} /></li>`)}</ul></section>`;
}

function Operands({ all, list }) {
  const rest = all.slice(FIRST);
  return html`<div class="hint">from ${list(all.slice(0, FIRST))}
    ${rest.length > 0 && html`<details><summary>${rest.length} more</summary>${list(rest)}</details>`}</div>`;
}

function Operand({ one, onOpen }) {
  const place = [one.row, one.column].filter(Boolean).join(", ");
  return html`<button type="button" class="text-button" title=${place || one.title} onClick=${(event) => onOpen(panelOf(passageOf(one), event.currentTarget))}>${one.quote}${place && ` (${place})`}</button>`;
}
