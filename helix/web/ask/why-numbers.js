// The numbers behind an answer, for who wants them: the gate as a picture, the candidates, the time.
//
//   <${Numbers} turn=${turn} debug=${debug} receipt=${receipt} onOpen=${(chunk) => …} />
import { html, useState } from "../html.js";
import { placeOf, shortened } from "../text.js";
import { useChunks } from "./passages.js";
import { SentenceNumbers } from "./why-sentences.js";

const STAGES = [["rewrite", "Rewriting"], ["embed", "Embedding"], ["search", "Searching"], ["rerank", "Reranking"], ["model", "Writing"]];
const COUNTED = { input_tokens: "Input tokens, counted by the model", output_tokens: "Output tokens", cost_usd: "Cost in US dollars" };
const SHOWN = 8;
const OPENING = 60; // characters of a passage that has no place to be known by

export function Numbers({ turn, debug, receipt, onOpen }) {
  return html`<details class="numbers"><summary>Scores and timings</summary>
    ${!turn.abstained && html`<${SentenceNumbers} turn=${turn} />`}
    <${Gate} gate=${debug.gate} near=${debug.candidates.near} />
    <${Candidates} debug=${debug} onOpen=${onOpen} />
    <${Timings} seconds=${debug.seconds} />
    <${Facts} debug=${debug} receipt=${receipt} turn=${turn} /></details>`;
}

// The cosine distance of the nearest passages on one line, the gate's ceiling across it.
function Gate({ gate, near }) {
  const { ceiling, best, by_name: byName, by_evidence: byEvidence } = gate;
  const distances = near.map((one) => one.distance).filter((distance) => distance !== null);
  const largest = Math.max(ceiling * 1.35, best ?? 0, ...distances.slice(0, 20), 0.1);
  const x = (distance) => 16 + (Math.min(distance, largest) / largest) * 328;
  const passed = best !== null && best <= ceiling;
  const otherwise = byEvidence ? "an attached document probably answers" : byName ? "a name in the question matches exactly" : "";
  const label = best === null
    ? "Nothing was found to compare the question with."
    : `The nearest passage is ${best.toFixed(3)} away; the gate lets through up to ${ceiling.toFixed(3)}.${!passed && otherwise ? ` It passed nevertheless: ${otherwise}.` : ""}`;
  return html`<figure class="gate">
    <svg viewBox="0 0 360 84" role="img" aria-label=${label}>
      <rect class="gate-inside" x="16" y="38" width=${x(ceiling) - 16} height="8" rx="4" />
      <rect class="gate-outside" x=${x(ceiling)} y="38" width=${344 - x(ceiling)} height="8" rx="4" />
      ${distances.slice(0, 20).map((distance, n) => html`<circle key=${n} class="gate-other" cx=${x(distance)} cy="42" r="3" />`)}
      <line class="gate-line" x1=${x(ceiling)} x2=${x(ceiling)} y1="24" y2="60" />
      <text class="gate-label" x=${clamp(x(ceiling))} y="76" text-anchor="middle">gate ${ceiling.toFixed(2)}</text>
      ${best !== null && html`<circle class=${passed || otherwise ? "gate-best" : "gate-best out"} cx=${x(best)} cy="42" r="7" />
        <text class="gate-label strong" x=${clamp(x(best))} y="22" text-anchor="middle">nearest ${best.toFixed(2)}</text>`}
    </svg>
    <figcaption>${label} <span class="hint">0 is the same meaning; farther right is less alike.</span></figcaption>
  </figure>`;
}

function clamp(x) {
  return Math.min(Math.max(x, 44), 316);
}

function Candidates({ debug, onOpen }) {
  const { near, lexical, fused } = debug.candidates;
  const [all, setAll] = useState(false);
  const chunks = useChunks(fused.slice(0, SHOWN).map((one) => one.chunk_id));
  const distance = new Map(near.map((one) => [one.chunk_id, one]));
  const score = new Map(lexical.map((one) => [one.chunk_id, one]));
  const given = new Map(debug.sources.flatMap((source) => source.chunk_ids.map((id) => [id, source.n])));
  const rows = all ? fused : fused.slice(0, SHOWN);
  if (!fused.length) return null;
  return html`<h3>Candidates</h3><div class="table-scroll" tabindex="0" role="region" aria-label="Candidates"><table class="table">
    <thead><tr><th scope="col">#</th><th scope="col">Passage</th><th scope="col" class="number">Distance</th><th scope="col" class="number">Word score</th><th scope="col" class="number">Source</th></tr></thead>
    <tbody>${rows.map((one) => {
      const chunk = chunks.get(one.chunk_id);
      return html`<tr key=${one.chunk_id}><td class="number">${one.rank}</td>
        <td>${chunk ? html`<button type="button" class="text-button" onClick=${() => onOpen(chunk)}>${chunk.title}</button><span class="hint block">${placeOf(chunk, chunk.title) || shortened(chunk.content, OPENING)}</span>` : `Passage ${one.chunk_id}`}</td>
        <td class="number">${figure(distance.get(one.chunk_id)?.distance)}</td>
        <td class="number">${figure(score.get(one.chunk_id)?.score, 2)}</td>
        <td class="number">${given.has(one.chunk_id) ? `[${given.get(one.chunk_id)}]` : "–"}</td></tr>`;
    })}</tbody></table></div>
    ${fused.length > rows.length && html`<p><button type="button" class="text-button" onClick=${() => setAll(true)}>Show all ${fused.length}</button></p>`}`;
}

function Timings({ seconds }) {
  const largest = Math.max(...STAGES.map(([name]) => seconds[name] || 0), 1e-9);
  return html`<h3>Time</h3><dl class="bars">${STAGES.filter(([name]) => seconds[name] > 0).map(([name, label]) => html`<div key=${name}>
    <dt>${label}</dt><dd><span class="bar" style=${{ inlineSize: `${Math.max(1.5, (seconds[name] / largest) * 100)}%` }}></span><span class="number">${milliseconds(seconds[name])}</span></dd></div>`)}
    <div><dt>Total</dt><dd><span class="bar none"></span><span class="number">${milliseconds(seconds.total)}</span></dd></div></dl>`;
}

function Facts({ debug, receipt, turn }) {
  const models = Object.entries(receipt?.models || {}).filter(([, name]) => name);
  const title = turn.model?.title;
  return html`<h3>Details</h3><dl class="facts">
    <div><dt>Tokens of context</dt><dd>${debug.tokens.context.toLocaleString("en")}</dd></div>
    <div><dt>Tokens of the answer</dt><dd>${debug.tokens.answer.toLocaleString("en")}</dd></div>
    ${Object.entries(COUNTED).map(([key, label]) => typeof turn.model?.[key] === "number" && html`<div key=${key}><dt>${label}</dt><dd>${turn.model[key].toLocaleString("en", { maximumFractionDigits: 6 })}</dd></div>`)}
    ${models.map(([role, name]) => html`<div key=${role}><dt>${role}</dt><dd>${role === "llm" && title ? `${title} (${name})` : String(name)}</dd></div>`)}
    ${turn.answerId && html`<div><dt>Answer</dt><dd><code>${turn.answerId}</code></dd></div>`}</dl>`;
}

function figure(value, digits = 3) {
  return typeof value === "number" ? value.toFixed(digits) : "–";
}

function milliseconds(value) {
  return value >= 1 ? `${value.toFixed(2)} s` : `${(value * 1000).toFixed(1)} ms`;
}
