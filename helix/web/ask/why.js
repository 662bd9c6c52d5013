// Why an answer is what it is, in words: what was found, what it rests on, what was read for it. The
// numbers stand behind a fold.
//
//   <${Why} turn=${turn} onClose=${f} onOpen=${(chunk) => …} />
import { api } from "../api.js";
import { Icon, IconButton, Notice, Spinner } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { isOffline } from "../shell/about.js";
import { placeOf, shortened } from "../text.js";
import { useChunks } from "./passages.js";
import { Numbers } from "./why-numbers.js";
import { Sentences, isQuoted, isSure } from "./why-sentences.js";

const OPENING = 80; // characters of a passage that it is known by
const READ = 12; // passages shown of what the model was given

export function Why({ turn, onClose, onOpen }) {
  const { receipt, error } = useReceipt(turn);
  const debug = turn.debug || receipt?.debug;
  return html`<section class="source why" aria-label="Why this answer">
    <header class="source-head"><div class="source-title"><p class="eyebrow">Why this answer</p><h2 tabindex="-1">${shortened(turn.question, 90)}</h2></div>
      <${IconButton} icon="close" label="Close" onClick=${onClose} /></header>
    <div class="source-body" tabindex="0" role="region" aria-label="Origin of the answer">
      ${!debug && !error && html`<${Spinner} label="Loading the receipt" />`}
      ${!debug && error && html`<${Notice} kind="warn" title="There is no receipt of this answer."><p>${error}</p></>`}
      ${debug && html`<${Checks} turn=${turn} debug=${debug} />
        ${!turn.abstained && html`<${Sentences} turn=${turn} />`}
        ${turn.verdict && html`<${Verdict} verdict=${turn.verdict} />`}
        ${turn.judged && !turn.verdict && html`<h3>Verdict</h3><p>None: there was nothing to judge, or the judge failed.</p>`}
        <${Read} debug=${debug} hasModel=${hasModel(turn, receipt)} onOpen=${onOpen} />
        <${Numbers} turn=${turn} debug=${debug} receipt=${receipt} onOpen=${onOpen} />`}
    </div>
  </section>`;
}

function useReceipt({ answerId }) {
  const [state, setState] = useState({ receipt: null, error: "" });
  useEffect(() => {
    if (!answerId) return undefined;
    const controller = new AbortController();
    setState({ receipt: null, error: "" });
    api.receipt(answerId, controller.signal).then(
      (receipt) => setState({ receipt, error: "" }),
      (error) => error.name !== "AbortError" && setState({ receipt: null, error: error.message }),
    );
    return () => controller.abort();
  }, [answerId]);
  return state;
}

function Checks({ turn, debug }) {
  const checks = [close(debug.gate), ...(turn.abstained ? [] : [borneOut(turn.support), toThePoint(turn.support)])];
  return html`<ul class="checks">${checks.filter(Boolean).map(({ asked, value, good, more }) => html`<li key=${asked} class=${good ? "good" : "poor"}>
    <${Icon} name=${good ? "check" : "warn"} /><div><p><span>${asked}: </span><strong>${value}</strong></p><p class="hint">${more}</p></div></li>`)}</ul>`;
}

function close({ ceiling, best, by_name: byName, by_evidence: byEvidence }) {
  const asked = "Passage close enough";
  if (best === null) return { asked, value: "no", good: false, more: "Nothing was found to compare the question with." };
  if (best <= ceiling) return { asked, value: "yes", good: true, more: "A passage is near enough in meaning to the question to answer from." };
  if (byEvidence) return { asked, value: "yes, by an attached document", good: true, more: "No passage is near in meaning, but an attached document probably answers." };
  return byName
    ? { asked, value: "yes, by name", good: true, more: "No passage is near in meaning, but a name or number in the question stands in one." }
    : { asked, value: "no", good: false, more: "No passage is near enough in meaning to the question to answer from." };
}

function borneOut(support) {
  const { statements = [], ratio = null } = support || {};
  if (!statements.length || ratio === null) return null;
  const good = statements.filter((statement) => statement.supported).length;
  const asked = "Supported by a passage";
  if (good < statements.length) return {
    asked, good: false, value: `${good} of ${statements.length} ${statements.length === 1 ? "sentence" : "sentences"}`,
    more: "The others are marked in the answer: no passage that they cite says so.",
  };
  if (!statements.every(isSure)) return { asked, good: false, value: "probably", more: "Some of it says in other words what it cites: see which below." };
  return { asked, good: true, value: "yes", more: statements.every(isQuoted) ? "Each sentence is quoted word for word." : "Each sentence rests on words of a passage that it cites." };
}

function toThePoint(support) {
  const known = (support?.statements || []).filter((statement) => statement.supported && typeof statement.relevant === "boolean");
  if (!known.length) return null;
  const aside = known.filter((statement) => statement.reason).length;
  const asked = "Answers the question";
  if (aside) return {
    asked, good: false, value: `${known.length - aside} of ${known.length}`,
    more: `${aside === 1 ? "One sentence is" : `${aside} sentences are`} quoted word for word, but about something else.`,
  };
  const { probability = null, likely = true } = support.answers || {};
  if (probability === null) return { asked, good: true, value: "yes", more: "The cited passage fits the question." };
  return likely
    ? { asked, good: true, value: "likely answers", more: "The cited passage fits the question." }
    : { asked, good: false, value: "may answer", more: "The documents say this, but it may not be what was asked: open the passage to check." };
}

function Verdict({ verdict }) {
  const claims = verdict.unsupported_claims || [];
  return html`<h3>Verdict</h3><ul class="plain-list">
    <li>${verdict.grounded ? "The sources support the answer." : "The sources do not support the whole answer."}</li>
    <li>${verdict.citations_correct ? "The citations are right." : "Not every citation is right."}</li>
    <li>${verdict.relevant ? "It answers the question." : "It may not answer the question."}</li>
    ${claims.map((claim) => html`<li class="claim" key=${claim}>Not supported: ${shortened(claim, 200)}</li>`)}</ul>`;
}

// Without a model rules have read the passages; so it is told where neither answer nor receipt says.
function hasModel({ model }, receipt) {
  return !isOffline(model?.asked ?? receipt?.models?.llm ?? "offline");
}

function byDocument(chunks) {
  const found = new Map();
  for (const chunk of chunks) found.set(chunk.document_id, [...(found.get(chunk.document_id) ?? []), chunk]);
  return [...found];
}

// What was read for the answer, by document in its order, each by its first words; each opens.
function Read({ debug, hasModel: read, onOpen }) {
  const given = debug.sources.map((source) => ({ n: source.n, id: source.chunk_ids[0] })).slice(0, READ);
  const chunks = useChunks(given.map(({ id }) => id));
  const count = debug.sources.length;
  if (!count) return null;
  return html`<h3>${read ? "Read by the model" : "Searched for a quote"}: ${count} ${count === 1 ? "passage" : "passages"}</h3>
    <ul class="read">${byDocument(given.map(({ id }) => chunks.get(id)).filter(Boolean)).map(([id, its]) => html`<li key=${id}><p class="passage-title">${its[0].title}</p>
      <ul>${its.map((chunk) => html`<li key=${chunk.id}><button type="button" class="text-button" onClick=${() => onOpen(chunk)}><span>${shortened(chunk.content, OPENING)}</span></button>
        <span class="hint">${placeOf(chunk, chunk.title)}</span></li>`)}</ul></li>`)}</ul>
    ${count > given.length && html`<p class="hint">and ${count - given.length} more</p>`}`;
}
