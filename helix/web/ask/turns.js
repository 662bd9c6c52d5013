// The questions of whoever asks and what became of them. A turn goes
//   waiting -> streaming -> done | stopped | cut | failed
// and keeps what came, however it ended. One runs at a time: a new question stops the one before. One
// that another tab asks is "elsewhere" until that tab tells its end.
//
// A turn: { id, question, scope: { documents, tags }, state, text, citations, abstained, reason,
// reasonText, clarifying, closest, suggested, answerId, support, verdict, judged, debug, error, rating, note, asked, picture }. `text` grows
// without telling every component: `listen(id, f)` calls f at each token. `picture` is null, or the
// { file, name, url } that was asked about; of a turn that was kept it is the name alone. `cleared` are
// the turns that may be brought back.
import { api, ApiError } from "../api.js";
import { createStore, session } from "../store.js";
import { keepDraft, keepList, kept, listenToTabs, onOther } from "./keep.js";
import { formOf, saidOf } from "./picture.js";

const CUT = "The connection broke off before the answer had ended. What came is kept here.";
const LEFT = "The page was closed or loaded again before the answer had ended.";
const RUNNING = new Set(["waiting", "streaming", "elsewhere"]);
const DRAFT_WAITS = 150; // ms after the last key

export const isRunning = (turn) => turn.state === "waiting" || turn.state === "streaming";

export const turns = createStore({ list: restored(), cleared: [] });
export const draft = createStore({ text: kept().draft });
const listeners = new Map();
let running = null; // { id, controller }

// One that ran when the page was left, in this tab or in another, has no end.
function restored() {
  return kept().list.map((turn) => (RUNNING.has(turn.state) ? { ...turn, state: "cut", error: LEFT } : turn));
}

onOther(() => {
  halt();
  turns.set({ list: restored(), cleared: [] });
  draft.set({ text: kept().draft });
});

listenToTabs({
  onList(list, cleared) {
    const mine = running && !cleared ? find(running.id) : null;
    if (!mine) halt();
    const told = list.map((turn) => (RUNNING.has(turn.state) ? { ...turn, state: "elsewhere" } : turn));
    const at = mine ? told.findIndex((turn) => turn.id === mine.id) : -1;
    if (at >= 0) told[at] = mine;
    turns.set({ list: mine && at < 0 ? [...told, mine] : told.map(withPicture) });
  },
  onDraft: (text) => draft.set({ text }),
  onHello: () => (turns.get().list.length || draft.get().text) && keepNow(),
});

// Another tab has the name of an image, and this one may have the image.
function withPicture(turn) {
  return turn.picture ? { ...turn, picture: find(turn.id)?.picture ?? turn.picture } : turn;
}

let writing = 0;

export function setDraft(text) {
  draft.set({ text });
  clearTimeout(writing);
  writing = setTimeout(() => keepDraft(text), DRAFT_WAITS);
}

function keepNow() {
  clearTimeout(writing);
  keepDraft(draft.get().text);
  keep();
}

window.addEventListener("pagehide", () => {
  if (running) {
    const { id } = running;
    halt();
    update(id, { state: "cut", error: LEFT, text: textOf(id) });
    texts.delete(id);
  }
  keepNow();
});

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

// Until the next question they can be brought back, from this tab's memory alone.
export function clear() {
  stop();
  turns.set({ list: [], cleared: turns.get().list });
  keep(true);
}

export function unclear() {
  turns.set({ list: [...turns.get().cleared, ...turns.get().list], cleared: [] });
  keep();
}

function forgetCleared() {
  for (const { picture } of turns.get().cleared) if (picture?.url) URL.revokeObjectURL(picture.url);
  turns.set({ cleared: [] });
}

// End what runs, without a word of it.
function halt() {
  running?.controller.abort();
  running = null;
}

export function stop() {
  if (!running) return false;
  const { id } = running;
  halt();
  update(id, { state: "stopped", text: textOf(id) });
  texts.delete(id);
  keep();
  return true;
}

const texts = new Map(); // of the running turn, by id

export function textOf(id) {
  return texts.get(id) ?? find(id)?.text ?? "";
}

export function ask(question, scope, picture = null) {
  stop();
  forgetCleared();
  // one of its own in all tabs
  const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
  const turn = { ...blank(), id, question, scope, picture, asked: new Date().toISOString() };
  turns.set({ list: [...turns.get().list, turn] });
  run(id);
  keep();
  return id;
}

// The new answer takes the place of the one that was cut.
export function retry(id) {
  stop();
  update(id, blank());
  run(id);
  keep();
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

const keep = (cleared = false) => keepList(turns.get().list, cleared);

export function rate(id, rating, note) {
  update(id, { rating, note });
  keep();
}
