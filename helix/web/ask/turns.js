// The questions of this tab and what became of them. A turn goes
//   waiting -> streaming -> done | stopped | cut | failed
// and keeps what came, however it ended. One runs at a time: a new question stops the one before.
//
// A turn: { id, question, scope: { documents, tags }, state, text, citations, abstained, reason,
// reasonText, clarifying, closest, suggested, answerId, support, verdict, judged, debug, error, rating, note, asked, picture }. `text` grows
// without telling every component: `listen(id, f)` calls f at each token. `picture` is null, or the
// { file, name, url } that was asked about; of a turn that was kept it is the name alone.
import { api, ApiError } from "../api.js";
import { createStore, recall, remember, session } from "../store.js";
import { formOf, saidOf } from "./picture.js";

const CUT = "The connection broke off before the answer had ended. What came is kept here.";
const KEPT = 40;
const LARGEST = 1_000_000; // characters of sessionStorage that answers may take

export const turns = createStore({ list: restore(), panel: null });
const listeners = new Map();
let running = null; // { id, controller }
let nextId = Math.max(0, ...turns.get().list.map((turn) => turn.id)) + 1;

// Another tenant or another key is somebody else's conversation.
let asking = who(session.get());
session.subscribe((state) => {
  if (who(state) === asking) return;
  asking = who(state);
  forget();
});

function who({ tenant, key }) {
  return `${tenant} ${key}`;
}

export function find(id) {
  return turns.get().list.find((turn) => turn.id === id);
}

export function listen(id, listener) {
  listeners.set(id, listener);
  return () => listeners.get(id) === listener && listeners.delete(id);
}

export function update(id, patch) {
  turns.set({ list: turns.get().list.map((turn) => (turn.id === id ? { ...turn, ...patch } : turn)) });
}

export function forget() {
  stop();
  for (const { picture } of turns.get().list) if (picture?.url) URL.revokeObjectURL(picture.url);
  turns.set({ list: [], panel: null });
  keep();
}

export function stop() {
  if (!running) return false;
  const { id, controller } = running;
  running = null;
  controller.abort();
  update(id, { state: "stopped", text: textOf(id) });
  texts.delete(id);
  keep();
  return true;
}

// The panel beside the answers: null, { kind: "source", documentId, start, end, … } or
// { kind: "why", id }.
export function openPanel(panel) {
  turns.set({ panel });
}

const texts = new Map(); // of the running turn, by id

export function textOf(id) {
  return texts.get(id) ?? find(id)?.text ?? "";
}

export function ask(question, scope, picture = null) {
  stop();
  const id = nextId++;
  const turn = { ...blank(), id, question, scope, picture, asked: new Date().toISOString() };
  turns.set({ list: [...turns.get().list, turn] });
  run(id);
  return id;
}

export function retry(id) {
  stop();
  update(id, blank());
  run(id);
}

function blank() {
  return {
    state: "waiting", text: "", citations: [], abstained: false, reason: null, reasonText: "", clarifying: null, closest: null, suggested: [],
    answerId: null, support: null, verdict: null, judged: false, debug: null, error: "", rating: null, note: "",
  };
}

async function run(id) {
  const controller = new AbortController();
  running = { id, controller };
  texts.set(id, "");
  const mine = () => running?.controller === controller;
  try {
    await (find(id).picture ? look : follow)(id, controller.signal, mine);
  } catch (error) {
    if (mine()) update(id, { ...failed(error, textOf(id)), text: textOf(id) });
  }
  if (!mine()) return; // stopped, and perhaps asked again already
  running = null;
  texts.delete(id);
  keep();
}

async function follow(id, signal, mine) {
  const { question, scope } = find(id);
  let end = null;
  const seen = {};
  for await (const { event, data } of api.query(requestOf(question, scope), signal)) {
    if (!mine()) return;
    if (event === "token") {
      if (!texts.get(id)) update(id, { state: "streaming" });
      texts.set(id, texts.get(id) + data.t);
      listeners.get(id)?.(texts.get(id));
    } else if (event === "error") {
      throw new ApiError(502, data.error);
    } else if (event === "done") {
      end = data;
    } else {
      seen[event] = data; // citations, verdict
    }
  }
  if (!end) throw new ApiError(0, CUT);
  if (mine()) update(id, { ...ended({ ...seen, ...end }), judged: "verdict" in seen, text: textOf(id) });
}

// A question about an image: the whole answer at once, nothing cited, no receipt.
async function look(id, signal, mine) {
  const { question, picture } = find(id);
  try {
    const { text } = await api.askImage(formOf(picture, question), signal);
    if (mine()) update(id, { state: "done", text });
  } catch (error) {
    if (mine()) update(id, { state: "failed", error: saidOf(error) });
  }
}

function requestOf(question, scope) {
  const { tenant, key, judge } = session.get();
  const body = { question, debug: true };
  if (tenant && !key) body.tenant_id = tenant;
  if (scope.documents.length) body.document_ids = scope.documents;
  if (scope.tags.length) body.filters = { tags: scope.tags };
  if (judge) body.verdict = true;
  return body;
}

// What is known of an answer: the end of a stream, or a receipt.
export function ended(told) {
  return {
    state: "done",
    citations: told.citations || [],
    abstained: told.abstained,
    reason: told.reason,
    reasonText: told.reason_text || "",
    clarifying: told.clarifying_question,
    closest: told.closest || null,
    suggested: told.suggested_scope || [],
    answerId: told.answer_id,
    support: told.support || null,
    verdict: told.verdict || null,
    debug: told.debug || null,
  };
}

export function fromReceipt(receipt) {
  const { document_ids: documents, tags } = receipt.scope || {};
  return {
    ...blank(),
    ...ended(receipt),
    id: -1,
    question: receipt.question,
    text: receipt.answer,
    scope: { documents: documents || [], tags: tags || [] },
    asked: receipt.created_at,
    rating: receipt.feedback?.at(-1)?.rating ?? null,
  };
}

function failed(error, text) {
  if (error instanceof ApiError && error.status) return { state: "failed", error: error.message };
  // anything else that ends a stream is the connection
  const cut = text !== "" || !(error instanceof ApiError);
  return cut ? { state: "cut", error: CUT } : { state: "failed", error: error.message };
}

function keep() {
  const list = turns.get().list
    .filter((turn) => turn.state !== "waiting" && turn.state !== "streaming")
    .slice(-KEPT)
    .map((turn) => (turn.picture ? { ...turn, picture: { name: turn.picture.name } } : turn));
  while (list.length && JSON.stringify(list).length > LARGEST) list.shift();
  remember("turns", list.length ? JSON.stringify(list) : null);
}

function restore() {
  try {
    const list = JSON.parse(recall("turns") || "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

export function rate(id, rating, note) {
  update(id, { rating, note });
  keep();
}
