// The questions of the open conversation, and their answers as they stream. One question is answered
// at a time: a new one stops the one before. When the page is left or the connection breaks, the answer
// goes on on the server; the page then continues the stream after the last event that it had.
//
//   ask(question, scope, picture)      the turn; begins a conversation where none is open
//   edit(turn, question)               ask another question in its place
//   again(turn)                        ask the same question again
//   await stop()
//   rate(turn, rating, note)
//   listen(local, f)                   f(text) at each token, without telling every component
import { api } from "../api.js";
import { formOf, saidOf } from "../ask/picture.js";
import { stepped } from "../ask/steps.js";
import { session } from "../store.js";
import { draftOf, keepDrafts, setDraft } from "./drafts.js";
import { listChanged } from "./list.js";
import { troubleOf, unbroken } from "./stream.js";
import { tellTabs } from "./tabs.js";
import { begin, changedHere, find, newId, onAnswering, pictures, refresh, setPictures, setScope, store, thread, update } from "./thread.js";
import { INTERRUPTED, blank, ended, isRunning, newLocal, newTurn, storedScope } from "./turn.js";

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const STEPS = new Set(["thinking", "tool", "source"]);
const ENDINGS = { error: "failed", stopped: "stopped", interrupted: "cut" };
const listeners = new Map();
const texts = new Map(); // of the turn that runs, by its local name
const begins = new Map(); // how a turn that the server never had was to be begun
const asked = []; // questions since the page was loaded
let running = null; // { local, controller, conversation, isHeard, isStopped }

export function listen(local, listener) {
  listeners.set(local, listener);
  return () => listeners.get(local) === listener && listeners.delete(local);
}

export const textOf = (turn) => texts.get(turn.local) ?? turn.text;

// The questions that the arrow up brings back, the last first.
export function askedBefore() {
  const shown = thread.get().list.map(({ question }) => question);
  return (shown.length ? shown : asked).toReversed();
}

export function ask(question, scope, picture = null) {
  const ending = stop();
  if (!thread.get().id) begin(newId(), scope);
  asked.push(question);
  if (picture) return askPicture(question, scope, picture);
  setScope(scope).catch(() => {});
  const last = thread.get().list.findLast((turn) => turn.id !== null);
  const conversation = thread.get().id;
  const turn = newTurn(question, scope, last?.id ?? null);
  settleKeys();
  thread.set({ list: [...thread.get().list, turn] });
  start(turn.local, async function* begun(signal) {
    await ending;
    await store();
    yield* api.askIn(conversation, { ...options(), ...narrowed(scope), question, wait: true }, signal);
  });
  return turn;
}

export const edit = (turn, question) => replace(turn, question, (conversation, body, signal) =>
  api.edit(conversation, turn.id, { ...body, question }, signal));

export function again(turn) {
  if (turn.picture) return lookAgain(turn);
  if (turn.id === null) return once(turn);
  return replace(turn, turn.question, (conversation, body, signal) => api.regenerate(conversation, turn.id, body, signal));
}

// A sibling takes the turn's place; the turns below the old one stay below it.
function replace(turn, question, send) {
  const ending = stop();
  const conversation = thread.get().id;
  const made = newTurn(question, turn.scope, turn.parent, turn.siblings);
  const { list } = thread.get();
  thread.set({ list: [...list.slice(0, list.findIndex((one) => one.local === turn.local)), made] });
  start(made.local, async function* begun(signal) {
    await ending;
    yield* send(conversation, { ...options(), wait: true }, signal);
  });
  return made;
}

// A turn that the server never received is begun again in the same way.
function once(turn) {
  const begun = begins.get(turn.local);
  if (!begun) return ask(turn.question, turn.scope);
  stop();
  update(turn.local, blank());
  start(turn.local, begun);
  return turn;
}

// Turns that the server never received get keys of their own: their parent gets another child now.
function settleKeys() {
  thread.set({ list: thread.get().list.map((turn) => (turn.id === null ? { ...turn, key: turn.local } : turn)) });
}

function options() {
  const { judge, mode } = session.get();
  return { debug: true, stream: true, ...(judge ? { verdict: true } : {}), ...(mode ? { mode, time_zone: ZONE } : {}) };
}

// Without the keys of a scope of all documents: then the conversation's own scope holds.
function narrowed(scope) {
  return Object.fromEntries(Object.entries(storedScope(scope)).filter(([, value]) => value !== null));
}

async function start(local, begun) {
  halt();
  changedHere();
  const controller = new AbortController();
  const own = { local, controller, conversation: thread.get().id, isHeard: find(local)?.id != null, isStopped: false };
  running = own;
  texts.set(local, "");
  begins.set(local, begun);
  try {
    await follow(own, begun);
  } catch (error) {
    const text = texts.get(local) ?? "";
    if (running === own) update(local, { ...troubleOf(error, text), text });
    if (running === own && find(local)?.id === null) setTimeout(refresh); // the server may have it all the same
  }
  if (running === own) running = null;
  if (!own.isStopped) texts.delete(local);
  changed(own.conversation);
}

function changed(conversation) {
  changedHere();
  tellTabs(conversation);
  listChanged();
}

async function follow(own, begun) {
  const { local, controller, conversation } = own;
  const seen = {};
  const again = (last, signal) => {
    const message = running === own ? find(local)?.id ?? null : null;
    return message === null ? null : api.events(conversation, message, last, signal);
  };
  for await (const { event, data } of unbroken(begun, again, controller.signal)) {
    if (event === "message") heard(own, data);
    if (running !== own) return;
    take(local, event, data, seen);
  }
}

// The server has the question: the turn gets its id, and other tabs may follow it.
function heard(own, { message_id: id, parent_id: parent, answer_id: answerId, conversation_id: conversation }) {
  if (own.isStopped) api.stop(conversation, id).catch(() => {});
  const turn = find(own.local);
  if (own.isHeard || !turn) return;
  own.isHeard = true;
  update(own.local, { id, answerId, siblings: [...new Set([...turn.siblings, id])] });
  begins.delete(own.local);
  changed(own.conversation);
  if (turn.parent !== parent) refresh(); // another client was there in between
}

function take(local, event, data, seen) {
  const text = texts.get(local);
  if (event === "token") {
    if (!text) update(local, { state: "streaming" });
    texts.set(local, text + data.t);
    listeners.get(local)?.(texts.get(local));
  } else if (STEPS.has(event)) {
    update(local, { steps: stepped(find(local)?.steps, event, data) });
  } else if (event === "memory") {
    update(local, { memory: data });
  } else if (event === "done") {
    const { memory } = find(local) ?? {};
    const end = ended({ ...seen, ...data });
    update(local, { ...end, memory: end.memory ?? memory, judged: "verdict" in seen, text });
  } else if (event in ENDINGS) {
    update(local, { state: ENDINGS[event], error: event === "interrupted" ? INTERRUPTED : data.error ?? "", text });
  } else {
    seen[event] = data; // citations, verdict
  }
}

// Stop following, without a request: the answer goes on, except that to an image, which has no events.
function halt() {
  const own = running;
  running = null;
  own?.controller.abort();
  if (own && find(own.local)?.picture) update(own.local, { state: "stopped" });
}

export function stop() {
  if (!running) return Promise.resolve(false);
  const own = running;
  const turn = find(own.local);
  running = null;
  own.isStopped = true;
  changedHere();
  update(own.local, { state: "stopped", text: texts.get(own.local) ?? "" });
  texts.delete(own.local);
  return turn?.picture ? own.controller.abort() : end(own, turn);
}

async function end({ conversation, controller }, turn) {
  try {
    const message = turn?.id ?? (await api.conversation(conversation, { limit: 1 })).answering;
    if (message === null) return; // where the server hears of it later, heard() stops it
    await api.stop(conversation, message);
    controller.abort();
  } catch {
    // it had ended
  }
  if (turn?.id === null && thread.get().id === conversation) await refresh();
  changed(conversation);
}

// A question about an image: the whole answer at once, nothing cited, no receipt, no conversation.
function askPicture(question, scope, picture) {
  const { id: conversation, list } = thread.get();
  const local = newLocal();
  const after = list.findLast((turn) => turn.id !== null)?.id ?? null;
  const turn = {
    ...blank(), id: local, local, key: local, parent: null, siblings: [], conversation, after, question, scope, picture,
    asked: new Date().toISOString(),
  };
  setPictures([...pictures.get().list, turn]);
  look(turn);
  return turn;
}

function lookAgain(turn) {
  stop();
  update(turn.local, { ...blank(), picture: turn.picture });
  look(turn);
  return turn;
}

async function look({ local, question, picture }) {
  halt();
  const controller = new AbortController();
  const own = { local, controller };
  running = own;
  try {
    const { text } = await api.askImage(formOf(picture, question), controller.signal);
    if (running === own) update(local, { state: "done", text });
  } catch (error) {
    if (running === own) update(local, { state: "failed", error: saidOf(error) });
  }
  if (running === own) running = null;
}

export function rate(turn, rating, note) {
  update(turn.local, { rating, note });
  tellTabs(thread.get().id);
}

// A question that never reached the server becomes the draft, if there is no other draft.
window.addEventListener("pagehide", () => {
  const { id, list } = thread.get();
  const unheard = list.findLast((turn) => turn.id === null && (turn.state === "failed" || turn.state === "cut"));
  if (!unheard || draftOf(id)) return;
  setDraft(id, unheard.question);
  keepDrafts();
});

// The text of an interrupted answer is only in its events.
const broken = new Map(); // message -> its words

async function fill({ id, local }) {
  if (!broken.has(id)) broken.set(id, wordsOf(thread.get().id, id));
  const text = await broken.get(id);
  if (text) update(local, { text });
}

async function wordsOf(conversation, message) {
  let text = "";
  try {
    for await (const { event, data } of api.events(conversation, message, 0)) if (event === "token") text += data.t;
  } catch {
    // events are kept for some days
  }
  return text;
}

function followUp(local) {
  const turn = find(local);
  if (!turn || running?.local === local || !isRunning(turn)) return;
  const conversation = thread.get().id;
  start(local, (signal) => api.events(conversation, turn.id, 0, signal));
}

onAnswering(followUp, fill, halt);
