// One question with its answer, as the page has it. A turn goes
//   waiting -> streaming -> done | stopped | cut | failed
// and keeps its text, however it ended.
//
// A turn: { id, local, key, parent, siblings, question, scope: { documents, tags }, state, text,
// citations, abstained, reason, reasonText, clarifying, closest, suggested, answerId, support, verdict,
// judged, debug, error, stale, steps, memory, understood,
// turnType, fromHistory, isEmptied, rating, note, asked, images }.
// `id` is the message's, null until the server told it; `local` names the turn in this tab from its
// beginning; `key` is the same for all siblings, so that one takes another's place. `images` are
// those of the conversation that it is about: [{ id, name }].
const STATES = { answering: "waiting", done: "done", failed: "failed", stopped: "stopped", interrupted: "cut" };
const BROKEN = new Set(["failed", "interrupted"]); // of which the message has no words, and its events have
export const INTERRUPTED = "The server stopped while it was answering.";

export const isRunning = (turn) => turn.state === "waiting" || turn.state === "streaming";
export const lacksWords = (turn) => (turn.state === "failed" || turn.state === "cut") && turn.id !== null && !turn.text;
const newLocal = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
export const isOfImages = (turn) => turn.images.length > 0 || turn.turnType === "image";
export const keyBelow = (parent) => `under-${parent ?? "none"}`;

export function blank() {
  return {
    state: "waiting", text: "", citations: [], abstained: false, reason: null, reasonText: "", clarifying: null, closest: null, suggested: [],
    answerId: null, support: null, verdict: null, judged: false, debug: null, error: "", rating: null, note: "",
    stale: [], steps: null, memory: null, understood: null, turnType: null, fromHistory: [], isEmptied: false, images: [],
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
  const calls = agent.calls.map(({ seconds, sources, ...call }) => ({ ...call, passages: sources.length, milliseconds: seconds * 1000 }));
  return { thinking: "", calls, sources: [] };
}

// A message of the server as a turn; `known` is the page's present turn of it.
export function turnOf(message, known) {
  const response = message.response || {};
  return {
    ...blank(), ...outcome(response), id: message.id, local: known?.local ?? `m${message.id}`, key: keyBelow(message.parent_id),
    parent: message.parent_id, siblings: message.siblings, question: message.question, scope: scopeOfStored(message.scope),
    state: STATES[message.status], text: response.answer ?? (BROKEN.has(message.status) ? known?.text ?? "" : ""), isEmptied: message.status === "done" && !response.answer,
    images: message.attachments, judged: Boolean(response.verdict), answerId: message.answer_id, asked: message.created_at, stale: message.stale,
    steps: known?.steps ?? stepsOf(response.agent), error: message.status === "interrupted" ? INTERRUPTED : message.error || "", rating: message.rating ?? null, note: known?.note ?? "",
  };
}

// The fields of an answer, from the end of a stream, a message's response, or a receipt.
export function outcome(data) {
  return {
    state: "done",
    citations: data.citations || [],
    abstained: Boolean(data.abstained),
    reason: data.reason ?? null,
    reasonText: data.reason_text || "",
    clarifying: data.clarifying_question ?? null,
    closest: data.closest || null,
    suggested: data.suggested_scope || [],
    answerId: data.answer_id ?? null,
    support: data.support || null,
    verdict: data.verdict || null,
    debug: data.debug || null,
    memory: data.turn?.memory ?? null,
    understood: data.turn?.understood_as ?? null,
    turnType: data.turn?.type ?? null,
    fromHistory: data.turn?.from_history ?? [],
  };
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
    scope: { documents: documents || [], tags: tags || [] },
    asked: receipt.created_at,
    rating: receipt.feedback?.at(-1)?.rating ?? null,
  };
}

// A scope as the server stores it with conversations and messages, and back.
export const scopeOfStored = (stored) => ({ documents: stored?.document_ids ?? [], tags: stored?.filters?.tags ?? [] });

export const storedScope = ({ documents, tags }) => ({
  document_ids: documents.length ? documents : null, filters: tags.length ? { tags } : null,
});

export const isSameScope = (one, other) => JSON.stringify(one) === JSON.stringify(other);
