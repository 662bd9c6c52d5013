// What shows that each sentence of an answer holds: in words, and as numbers for behind the fold.
//
//   <${Sentences} turn=${turn} />          nothing where all are quotes: one line above says that
//   <${SentenceNumbers} turn=${turn} />
//   isSure(statement)                      whether it is exact, or read with the least probability
import { html } from "../html.js";
import { shortened, sliceOf } from "../text.js";

const SURE = 0.9; // of 100 such sentences as many hold, at least
const LIKELY = 0.7;
const LENGTH = 160; // characters of a sentence that it is known by
const MARKERS = /\s?\[\s*\d[\d\s,]*\]/g;
const OPEN = {
  "in doubt": "Nothing that it cites clearly says so.",
  contradicted: "What it cites says something else: another number or name, or a denial.",
  "nothing cited": "It cites nothing.",
};

export function isSure({ supported, probability = null }) {
  return supported && (probability === null || probability >= SURE);
}

export function isQuoted({ status }) {
  return status === "quoted";
}

function relationOf(statement) {
  const { supported, status, probability = null, calculation } = statement;
  if (!supported) return OPEN[status] ?? OPEN["in doubt"];
  if (isQuoted(statement)) return "Quoted word for word.";
  if (calculation) return "Calculated from numbers that it cites.";
  if (probability === null) return "What it cites says so.";
  if (probability >= SURE) return "In other words than what it cites, which very likely says so.";
  return probability >= LIKELY ? "In other words than what it cites, which likely says so."
    : "In other words than what it cites, which may say so: open the passage to check.";
}

const statementsOf = ({ support }) => support?.statements || [];
const textOf = ({ text }, { start, end }) => shortened(sliceOf(text, start, end).replace(MARKERS, ""), LENGTH);

export function Sentences({ turn }) {
  const statements = statementsOf(turn);
  if (statements.every(isQuoted)) return null;
  return html`<h3>Sentence by sentence</h3><ul class="plain-list sentences">${statements.map((one) => html`<li key=${one.start}>
    <p>${textOf(turn, one)}</p><p class="hint">${relationOf(one)}</p></li>`)}</ul>`;
}

export function SentenceNumbers({ turn }) {
  const statements = statementsOf(turn);
  const answers = turn.support?.answers?.probability ?? null;
  if (!statements.length) return null;
  return html`<h3>Sentences</h3>
    ${answers !== null && html`<p>Of 100 answers like this one about ${Math.round(answers * 100)} are what was asked.</p>`}
    <div class="table-scroll" tabindex="0" role="region" aria-label="Sentences"><table class="table">
    <thead><tr><th scope="col">Sentence</th><th scope="col">Found</th><th scope="col" class="number">Of 100 such, right</th></tr></thead>
    <tbody>${statements.map((one) => html`<tr key=${one.start}><td>${textOf(turn, one)}</td><td>${one.status ?? "–"}</td>
      <td class="number">${one.probability == null ? "–" : Math.round(one.probability * 100)}</td></tr>`)}</tbody></table></div>`;
}
