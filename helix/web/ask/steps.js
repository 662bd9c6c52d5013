// The agent's steps before an answer: its thinking, and each call of a tool with the passages that it
// found. Folded; while the agent runs, the line shows the current step.
//
//   stepped(steps, event, data)      steps after an event of the stream: thinking, tool or source
//   <${Steps} turn=${turn} onOpen=${(panel) => …} />      turn.steps: { thinking, calls, sources } or null
import { Icon } from "../components.js";
import { html } from "../html.js";
import { placeOf, shortened } from "../text.js";
import { panelOf, passageOf } from "./cited.js";

const NONE = { thinking: "", calls: [], sources: [] };

const DOING = {
  search_library: "Searching", read_document: "Reading", list_documents: "Listing the documents", outline: "Reading the outline",
  analyze_document: "Analyzing", compare_documents: "Comparing", query_table: "Querying a table", calculator: "Calculating",
  current_time: "Checking the time", fetch_page: "Fetching",
};

export function stepped(steps, event, data) {
  const { thinking, calls, sources } = steps ?? NONE;
  if (event === "thinking") return { thinking: thinking + data.t, calls, sources };
  if (event === "source") return { thinking, calls, sources: [...sources.filter(({ n }) => n !== data.n), data] };
  const others = calls.filter(({ call }) => call !== data.call);
  return { thinking, calls: [...others, data].sort((one, other) => one.call - other.call), sources };
}

export function Steps({ turn, onOpen }) {
  const { thinking, calls, sources } = turn.steps;
  const waits = turn.state === "waiting";
  return html`<details class="steps"><summary>${waits ? html`<span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>` : html`<${Icon} name="scope" />`}
      <span role="status">${waits ? nowOf(turn.steps) : sumOf(turn.steps)}</span></summary>
    ${thinking && html`<p class="thought">${thinking.trim()}</p>`}
    <ol>${calls.map((call) => html`<${Call} key=${call.call} call=${call} sources=${sources.filter((one) => one.call === call.call)} onOpen=${onOpen} />`)}</ol></details>`;
}

function Call({ call, sources, onOpen }) {
  const { failure, passages, milliseconds } = call;
  const isDone = milliseconds !== undefined;
  return html`<li><span>${saidOf(call)}</span> <span class="hint">${isDone ? [failure || counted(passages, "passage"), `${Math.round(milliseconds)} ms`].join(", ") : "…"}</span>
    ${sources.length > 0 && html`<ul>${sources.map((one) => html`<li key=${one.n}>${one.document_id === null ? one.title : html`<button type="button" class="text-button" onClick=${(event) => onOpen(panelOf(passageOf(one), event.currentTarget))}>${one.title}</button>`} <span class="hint">${placeOf(one, one.title)}</span></li>`)}</ul>`}</li>`;
}

function nowOf({ calls, sources }) {
  const open = calls.findLast(({ milliseconds }) => milliseconds === undefined);
  if (open) return `${saidOf(open)}…`;
  if (!calls.length) return "Thinking…";
  return sources.length ? `${counted(sources.length, "passage")} so far…` : "Thinking…";
}

function sumOf({ calls }) {
  if (!calls.length) return "Thoughts";
  const passages = calls.reduce((sum, call) => sum + (call.passages ?? 0), 0);
  return [counted(calls.length, "step"), counted(passages, "passage")].join(", ");
}

// A call in words, with its main argument.
function saidOf({ name, arguments: given }) {
  const about = Object.values(given ?? {}).find((value) => typeof value === "string" && value);
  return `${DOING[name] ?? name}${about ? ` “${shortened(about, 80)}”` : ""}`;
}

const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
