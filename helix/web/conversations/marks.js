// Notes on an answer in its conversation: how a question that follows others was understood, where
// that is a question of its own and not this one with something behind it; which statements rest on
// earlier answers alone, and whether a cited document has changed.
//
//   <${Understood} turn=${turn} />   <${FromHistory} turn=${turn} />   <${Stale} turn=${turn} onRetry=${f} />
import { Button, Icon, Notice } from "../components.js";
import { dateOf } from "../dates.js";
import { html } from "../html.js";
import { shortened, sliceOf } from "../text.js";

export const Imported = () => html`<p class="support-note"><${Icon} name="warn" /><span>Imported: not proven by Helix.</span></p>`;

export function Understood({ turn }) {
  if (turn.turnType !== "dependent" || !turn.understood || turn.understood.startsWith(turn.question)) return null;
  return html`<p class="understood"><span class="hint">Understood as:</span> ${turn.understood}</p>`;
}

export function FromHistory({ turn }) {
  if (!turn.fromHistory.length) return null;
  return html`<div class="from-history"><p><${Icon} name="retry" /><span>From an earlier answer, not from the sources found now:</span></p>
    <ul>${turn.fromHistory.map((one) => html`<li key=${one.start}>“${shortened(sliceOf(turn.text, one.start, one.end), 160)}” <span class="hint">${backOf(one.turns_before)}${citedBy(one)}</span></li>`)}</ul></div>`;
}

const backOf = (turns) => (turns === 1 ? "in the answer before" : `${turns} answers ago`);

function citedBy({ citations }) {
  const titles = [...new Set((citations || []).map(({ title }) => title).filter(Boolean))];
  return titles.length ? `, from ${titles.join(", ")}` : "";
}

export function Stale({ turn, onRetry }) {
  if (!turn.stale.length) return null;
  const gone = turn.isEmptied;
  return html`<div class="stale"><${Notice} kind="warn" title=${gone ? "This answer is no longer shown." : "This answer may be out of date."}>
    <ul>${turn.stale.map((one) => html`<li key=${one.document_id}>${saidOf(one)}</li>`)}</ul>
    <${Button} icon="retry" onClick=${onRetry}>Ask again</></></div>`;
}

// without a day it may be there, and not for this reader
export const removedOn = (at) => (at ? `A source of this answer was removed on ${dateOf(at, { dateStyle: "long" })}.` : "A source of this answer is not available any more.");

function saidOf({ document_id: id, title, change, quotes_hold: hold, removed_at: at }) {
  if (change === "deleted") return removedOn(at);
  return `${title || `Document ${id}`} has changed since; ${hold ? "the quotes are still in it." : "the quotes are no longer in it."}`;
}
