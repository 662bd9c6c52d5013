// #/evals: the last report of `python -m evals.run` on this machine, else the one that came with
// Helix: totals, plots, cases, and how to make one's own.
import { dateOf, momentOf } from "../dates.js";
import { api, call } from "../api.js";
import { Icon, Notice, Spinner } from "../components.js";
import { Failure, useData } from "../data.js";
import { html, useEffect, useState } from "../html.js";
import { Distances, Forest } from "../evals/plots.js";

export default function Evals() {
  const { data: report, error } = useData((signal) => call("GET /v1/evals/last", { signal }), []);
  return html`<div class="page evals"><h1>How often Helix is right</h1>
    ${!report && !error && html`<${Spinner} label="Loading the report" />`}
    ${error && html`<${Failure} error=${error} />`}
    ${report && html`<${Report} report=${report} />`}
  </div>`;
}

// Said where the numbers are not this machine's.
function Origin({ report }) {
  return report.packaged && html`<${Notice} title="This report came with Helix."><p>It is of ${dateOf(report.created_at)}, over the sample documents with the models that run offline. Nothing was measured on this machine yet.</p></>`;
}

const NAMED = 8; // documents that are named and looked for

// Documents measured, and how many of them are in the library that is asked here.
function Measured({ cases }) {
  const sources = [...new Set(cases.flatMap((one) => one.cited))].sort();
  const present = usePresent(sources.slice(0, NAMED));
  if (!sources.length) return null;
  const more = sources.length - NAMED;
  return html`<section class="measured" aria-labelledby="measured"><h2 id="measured">Documents measured</h2>
    <p>Answers cited ${sources.length === 1 ? "one document" : `${sources.length} documents`}: ${sources.slice(0, NAMED).map(fileNameOf).join(", ")}${more > 0 ? ` and ${more} more` : ""}.</p>
    ${present === 0 && html`<${Notice} kind="warn" title="None of them is in this library."><p>The figures say how Helix does with those documents, and nothing of yours.</p></>`}
    ${present > 0 && html`<p class="hint">${present} of ${Math.min(sources.length, NAMED)} are in this library. The figures say nothing of its other documents.</p>`}</section>`;
}

const fileNameOf = (source) => source.split("/").at(-1);

// How many of the sources are in the library; null: not known.
function usePresent(sources) {
  const [present, setPresent] = useState(null);
  useEffect(() => {
    const controller = new AbortController();
    Promise.all(sources.map((source) => isPresent(source, controller.signal))).then((found) => setPresent(found.filter(Boolean).length), () => {});
    return () => controller.abort();
  }, [sources.join()]);
  return present;
}

async function isPresent(source, signal) {
  const name = fileNameOf(source);
  const { documents } = await api.documents({ q: name, limit: 5 }, signal);
  return documents.some((one) => [one.source_uri, one.file_name].some((its) => its && fileNameOf(its) === name));
}

function OwnReport() {
  return html`<details class="own-report"><summary>Measure your own documents</summary>
      <ol><li>In a checkout of Helix, <code>python -m evals.run</code> asks the questions about the samples of the models that you have set, and shows here when it is done.</li>
        <li>Rate answers with the thumbs below them, and <code>python -m evals.from_feedback --out mine.json</code> makes questions of your votes.</li>
        <li><code>python -m evals.run --cases mine.json</code> asks them of your own documents.</li></ol></details>`;
}

function Report({ report }) {
  return html`<${Origin} report=${report} /><p class="lead">${report.cases.length > 0 ? `${report.cases.length} questions` : "A run"} of the set “${report.suite}”, ${momentOf(report.created_at)}, judged by ${report.judges.join(" and ")}.</p>
    ${report.failed.length > 0
      ? html`<${Notice} kind="error" title="Below the required minimum"><ul>${report.failed.map((line) => html`<li key=${line}>${line}</li>`)}</ul></>`
      : html`<div class="seal"><${Icon} name="check" /><div><p class="seal-title">Every required minimum was reached.</p>
        <p class="hint">At least ${Object.entries(report.minima).map(([name, value]) => `${value} for ${name.replace("MIN_", "").toLowerCase()}`).join(", ")}.</p></div></div>`}
    <${Measured} cases=${report.cases} />
    <${OwnReport} />
    <section aria-labelledby="totals"><h2 id="totals">Totals</h2>
      <p class="hint">Each measure with its 95% interval.</p>
      <div class="table-scroll" tabindex="0" role="group" aria-label="Plot of the totals"><${Forest} rows=${report.totals} /></div><${Totals} rows=${report.totals} /></section>
    ${report.cases.length > 0 && html`<section aria-labelledby="near"><h2 id="near">Distance of the best passage</h2>
      <p class="hint">Each dot is a question, placed by the distance of its nearest passage. The gate refuses those right of the line. Red: the answer had a fault.</p>
      <div class="table-scroll" tabindex="0" role="group" aria-label="Plot of the distances"><${Distances} cases=${report.cases} ceiling=${report.ceiling} /></div></section>
    <section aria-labelledby="cases"><h2 id="cases">Questions</h2><${Cases} cases=${report.cases} /></section>`}
    <p class="hint page-end">${Object.entries(report.settings).map(([name, value]) => `${name}: ${value}`).join(" · ")}</p>`;
}

function Totals({ rows }) {
  return html`<details><summary>Show as a table</summary><div class="table-scroll" tabindex="0" role="group" aria-label="Totals"><table class="table"><thead><tr><th>Measure</th><th class="number">Value</th><th class="number">95% interval</th><th class="number">Questions</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.name}><th scope="row">${row.name}</th><td class="number">${row.value.toFixed(3)}</td><td class="number">${row.low.toFixed(3)} to ${row.high.toFixed(3)}</td><td class="number">${row.n}</td></tr>`)}</tbody></table></div></details>`;
}

function Cases({ cases }) {
  const [only, setOnly] = useState(false);
  const shown = only ? cases.filter((one) => one.faults.length) : cases;
  return html`<label class="check"><input type="checkbox" checked=${only} onChange=${() => setOnly(!only)} /> Only questions with a fault</label>
    <ol class="cases">${shown.map((one) => html`<li key=${one.id} class=${one.faults.length ? "case faulty" : "case"}>
      <p class="case-question">${one.question}</p>
      <p class=${one.refused ? "case-answer refused" : "case-answer"}>${one.answer}</p>
      <p class="hint">${[one.tags.join(", "), one.cited.length ? `cites ${one.cited.join(", ")}` : "", one.distance === null ? "" : `distance ${one.distance.toFixed(3)}`].filter(Boolean).join(" · ")}</p>
      ${one.faults.length > 0 && html`<p class="reason">${one.faults.join(", ")}</p>`}
    </li>`)}</ol>
    ${!shown.length && html`<p class="hint">None.</p>`}`;
}
