// What shows that each sentence of an answer holds: in words, and as numbers for behind the fold.
//
//   <${Sentences} turn=${turn} />          nothing where all are quotes: one line above says that
//   <${SentenceNumbers} turn=${turn} />
//   isSure(statement)                      true if it is exact, or read with at least SURE
//   problemOf(statement)                   why it is unsupported
import { html } from "../html.js";
import { shortened, sliceOf } from "../text.js";

const SURE = 0.9; // of 100 such sentences as many hold, at least
const LIKELY = 0.7;
const LENGTH = 160; // characters of a sentence that it is known by
const MARKERS = /\s?\[\s*\d[\d\s,]*\]/g;
const PROBLEMS = {
  "no marker": "It cites nothing.",
  number: "What it cites has another number there, or none.",
  name: "What it cites has another name there, or none.",
  negation: "It denies what it cites, or the other way round.",
  claim: "What it cites has another amount, duty or condition.",
};

export function problemOf({ status, problem, spans: [span] = [] }) {
  if (span && status === "misattributed") return `Source ${span.n} has its very words; the model named another.`;
  return PROBLEMS[problem] ?? "Nothing that it cites clearly says so.";
}

export function isSure({ supported, probability = null }) {
  return supported && (probability === null || probability >= SURE);
}

export function isQuoted({ status }) {
  return status === "quoted";
}

function relationOf(statement) {
  const { supported, probability = null, calculation } = statement;
  if (!supported) return problemOf(statement);
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
