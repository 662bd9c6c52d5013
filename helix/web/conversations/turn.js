// One question with its answer. A turn goes
//   waiting -> streaming -> done | stopped | cut | failed
// and keeps its text.
//
// A turn: { id, local, key, parent, siblings, question, scope: { documents, tags }, state, text,
// citations, leftOut, abstained, reason, reasonText, clarifying, closest, suggested, answerId, traceId, support, verdict,
// judged, debug, error, stale, steps, memory, understood, imported,
// turnType, fromHistory, isEmptied, rating, note, asked, images, model }. `model` is the one that answered:
// { asked, routed, title, input_tokens, output_tokens, cost_usd }, null where none was called.
// `id` is the message's, null until the server told it; `local` its name in this tab; `away`: the server does not
// answer now; `key` is that of all siblings; `images` are those that it is about: [{ id, name }].
import { titleOf } from "../shell/about.js";

const STATES = { answering: "waiting", done: "done", failed: "failed", stopped: "stopped", interrupted: "cut" };
const BROKEN = new Set(["failed", "interrupted"]); // of which the message has no words, and its events have
export const awayOf = ({ id }) => `The server does not answer. ${id === null ? "Your question is saved, and will be sent as soon as it does." : "Trying again…"}`;
export const INTERRUPTED = "The server stopped while it was answering.";

export const isRunning = (turn) => turn.state === "waiting" || turn.state === "streaming";
export const lacksWords = (turn) => (turn.state === "failed" || turn.state === "cut") && turn.id !== null && !turn.text;
const newLocal = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
export const isOfImages = (turn) => turn.images.length > 0 || turn.turnType === "image";
export const keyBelow = (parent) => `under-${parent ?? "none"}`;

export function blank() {
  return {
    state: "waiting", away: false, text: "", citations: [], names: [], leftOut: 0, abstained: false, reason: null, reasonText: "", clarifying: null, closest: null, suggested: [],
    answerId: null, traceId: null, support: null, verdict: null, judged: false, debug: null, error: "", rating: null, note: "",
    stale: [], steps: null, memory: null, understood: null, turnType: null, fromHistory: [], isEmptied: false, images: [], model: null,
  };
}

export function newTurn(question, scope, parent, siblings, images) {
  return {
    ...blank(), id: null, local: newLocal(), key: keyBelow(parent), parent, siblings, question, scope, images,
    asked: new Date().toISOString(),
  };
}

// An agent's calls and sources, as a finished answer has them: without its thinking.
function stepsOf(agent) {
  if (!agent) return null;
  const calls = agent.calls.map(({ seconds, chunk_ids: ids, ...call }) => ({ ...call, passages: ids.length, milliseconds: seconds * 1000 }));
  return { thinking: "", calls, sources: [] };
}

// A message of the server as a turn; `known` is the page's present turn of it.
export function turnOf(message, known) {
  const response = message.response || {};
  return {
    ...blank(), ...outcome(response), id: message.id, local: known?.local ?? `m${message.id}`, key: keyBelow(message.parent_id),
    parent: message.parent_id, siblings: message.siblings, question: message.question, scope: scopeOfStored(message.scope),
    state: STATES[message.status], text: response.answer ?? (BROKEN.has(message.status) ? known?.text ?? "" : ""), isEmptied: message.status === "done" && !response.answer,
    images: message.attachments, model: modelOf(response, message.model), judged: Boolean(response.verdict), answerId: message.answer_id, asked: message.created_at, stale: message.stale,
    imported: message.imported, steps: known?.steps ?? stepsOf(response.agent), error: message.status === "interrupted" ? INTERRUPTED : message.error || "", rating: message.rating ?? null, note: known?.note ?? "",
  };
}

export function outcome(data) {
  return {
    state: "done",
    citations: data.citations || [],
    names: data.names || [],
    abstained: Boolean(data.abstained),
    reason: data.reason ?? null,
    reasonText: data.reason_text || "",
    clarifying: data.clarifying_question ?? null,
    closest: data.closest || null,
    suggested: data.suggested_scope || [],
    answerId: data.answer_id ?? null,
    traceId: data.trace_id ?? null,
    support: data.support || null,
    verdict: data.verdict || null,
    leftOut: data.left_out ?? 0,
    debug: data.debug || null,
    memory: data.turn?.memory ?? null,
    understood: data.turn?.understood_as ?? null,
    turnType: data.turn?.type ?? null,
    fromHistory: data.turn?.from_history ?? [],
    model: data.model ?? null,
  };
}

// What an answer says of its model; one of an earlier version says nothing, and is told by the model's identity.
function modelOf({ model, abstained, answer }, identity) {
  if (model !== undefined || abstained || !answer || !identity) return model ?? null;
  return { asked: identity, title: titleOf(identity) };
}

export function fromReceipt(receipt) {
  const { document_ids: documents, tags } = receipt.scope || {};
  return {
    ...blank(),
    ...outcome(receipt),
    id: -1,
    local: "receipt",
    key: "receipt",
    siblings: [],
    question: receipt.question,
    text: receipt.answer,
    model: modelOf(receipt, receipt.models?.llm),
    scope: { documents: documents || [], tags: tags || [] },
    asked: receipt.created_at,
    rating: receipt.feedback?.at(-1)?.rating ?? null,
    removedAt: receipt.removed[0]?.removed_at ?? null,
  };
}

// A scope as the server stores it with conversations and messages, and back.
export const scopeOfStored = (stored) => ({ documents: stored?.document_ids ?? [], tags: stored?.filters?.tags ?? [] });

export const storedScope = ({ documents, tags }) => ({
  document_ids: documents.length ? documents : null, filters: tags.length ? { tags } : null,
});

export const isSameScope = (one, other) => JSON.stringify(one) === JSON.stringify(other);
