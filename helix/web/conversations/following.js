// The answer that runs in this tab, event by event; one at a time. It goes on on the server when the page
// is left or the connection breaks, and the page continues after the last event that it had.
//
//   start(local, open)          follows open(signal), a stream of events, into the turn of that name
//   await stop()                 ends the model's work too
//   openOf(local)               how a turn that the server never had was opened, or undefined
//   listen(local, f)             f(text) at each token, without telling every component
//   textOf(turn)                 its words so far
import { api } from "../api.js";
import { stepped } from "../ask/steps.js";
import { announce } from "../components.js";
import { listChanged } from "./list.js";
import { troubleOf, unbroken } from "./stream.js";
import { tellTabs } from "./kept.js";
import { changedHere, find, onAnswering, refresh, thread, update } from "./thread.js";
import { INTERRUPTED, awayOf, isRunning, outcome } from "./turn.js";

const STEPS = new Set(["thinking", "tool", "source"]);
const ENDINGS = { error: "failed", stopped: "stopped", interrupted: "cut" };
const listeners = new Map();
const texts = new Map(); // of the turn that runs, by its local name
const opens = new Map();
let ending = Promise.resolve(); // or the next is stopped in its place
let running = null; // { local, controller, conversation, isHeard, isStopped, over }

export function listen(local, listener) {
  listeners.set(local, listener);
  return () => listeners.get(local) === listener && listeners.delete(local);
}

export const textOf = (turn) => texts.get(turn.local) ?? turn.text;
export const openOf = (local) => opens.get(local);

export async function start(local, open) {
  halt();
  changedHere();
  const controller = new AbortController();
  const own = { local, controller, conversation: thread.get().id, isHeard: find(local)?.id != null, isStopped: false };
  running = own;
  texts.set(local, "");
  opens.set(local, open);
  try {
    await (own.over = follow(own, open));
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

async function follow(own, open) {
  const { local, controller, conversation } = own;
  const seen = {};
  const again = (last, signal) => {
    const message = running === own ? find(local)?.id ?? null : null;
    return message === null ? null : api.events(conversation, message, last, signal);
  };
  let isFirst = true;
  // What the server had before it was away is not asked again.
  const begin = async function* begun(signal) {
    if (!isFirst) await refresh();
    isFirst = false;
    if (running === own) yield* again(0, signal) ?? open(signal);
    else controller.abort();
  };
  const onAway = () => {
    if (running !== own || find(local)?.away) return;
    update(local, { away: true });
    announce(awayOf(find(local)));
  };
  for await (const { event, data } of unbroken(begin, again, controller.signal, onAway)) {
    if (event === "message") await heard(own, data);
    if (running !== own) return;
    if (find(local)?.away) {
      update(local, { away: false });
      announce("The server answers again."); // else the same said a second time would not be read out
    }
    take(local, event, data, seen);
  }
}

// The server has the question: the turn gets its id, other tabs may follow.
async function heard(own, { message_id: id, parent_id: parent, answer_id: answerId, conversation_id: conversation }) {
  if (own.isStopped) await api.stop(conversation, id).catch(() => {});
  const turn = find(own.local);
  if (own.isHeard || !turn) return;
  own.isHeard = true;
  update(own.local, { id, answerId, siblings: [...new Set([...turn.siblings, id])] });
  opens.delete(own.local);
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
    const end = outcome({ ...seen, ...data });
    update(local, { ...end, memory: end.memory ?? memory, judged: "verdict" in seen, text });
  } else if (event in ENDINGS) {
    update(local, { state: ENDINGS[event], error: event === "interrupted" ? INTERRUPTED : data.error ?? "", text });
  } else {
    seen[event] = data; // citations, verdict
  }
}

// Stop following, without a request: the answer goes on.
function halt() {
  running?.controller.abort();
  running = null;
}

export function stop() {
  if (!running) return ending;
  const own = running;
  const turn = find(own.local);
  running = null;
  own.isStopped = true;
  changedHere();
  update(own.local, { state: "stopped", away: false, text: texts.get(own.local) ?? "" });
  texts.delete(own.local);
  ending = end(own, turn);
  return ending;
}

async function end({ conversation, controller, over }, turn) {
  try {
    const message = turn?.id ?? (await api.conversation(conversation, { limit: 1 })).answering;
    if (message !== null) {
      await api.stop(conversation, message);
      controller.abort();
    }
  } catch {
    // it had ended, or is not there
  }
  if (turn?.id === null) { // heard() stops it; until then the next could arrive first
    await Promise.race([over.catch(() => {}), new Promise((resolve) => setTimeout(resolve, 5000))]);
    if (thread.get().id === conversation) await refresh();
  }
  changed(conversation);
}

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
  const conversation = thread.get().id;
  if (!turn || running?.conversation === conversation || !isRunning(turn)) return;
  start(local, (signal) => api.events(conversation, turn.id, 0, signal));
}

onAnswering(followUp, fill, halt);
