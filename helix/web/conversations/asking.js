// The questions of the open conversation. One is answered at a time: a new one stops the one before.
//
//   ask(question, scope, images)       the turn; begins a conversation where none is open. `images` are
//                                      those of the conversation that it is about: [{ id, name }]
//   await resume(id)                   show a conversation, and ask in it what waited for the server
//   askAnew(question, scope)           the same in a conversation that begins with it, wherever the page is
//   edit(turn, question)               ask another question in its place, about the same images
//   again(turn)                        ask the same question again
//   askedBefore()                      what was asked, the last first
//   fits(question)                     false of one that is too long, and says so
import { api } from "../api.js";
import { toast } from "../components.js";
import { address, go } from "../router.js";
import { session } from "../store.js";
import { draftOf, keepDrafts, setDraft } from "./drafts.js";
import { openOf, start, stop } from "./following.js";
import { keep, kept, tellTabs } from "./kept.js";
import { begin, close, newId, open, setScope, store, thread, update } from "./thread.js";
import { blank, newTurn, storedScope } from "./turn.js";

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const LONGEST = 4000; // characters; a server may say less
const asked = []; // questions since the page was loaded

export function askedBefore() {
  const shown = thread.get().list.map(({ question }) => question);
  return (shown.length ? shown : asked).toReversed();
}

export function fits({ length }) {
  return length <= LONGEST || toast(`A question has ${LONGEST} characters at most, not ${length}.`);
}

export function ask(question, scope, images = []) {
  const ending = stop();
  if (!thread.get().id) begin(newId(), scope);
  asked.push(question);
  setScope(scope).catch(() => {});
  const last = thread.get().list.findLast((turn) => turn.id !== null);
  const conversation = thread.get().id;
  const turn = newTurn(question, scope, last?.id ?? null, [], images);
  const about = images.length ? { images: images.map(({ id }) => id) } : {};
  settleKeys();
  thread.set({ list: [...thread.get().list, turn] });
  start(turn.local, async function* open(signal) {
    await ending;
    await store();
    yield* api.askIn(conversation, { ...options(), ...narrowed(scope), ...about, question, wait: true }, signal);
  });
  return turn;
}

export function askAnew(question, scope) {
  close();
  ask(question, scope);
  go(address("c", [thread.get().id]));
}

export const edit = (turn, question) => replace(turn, question, (conversation, body, signal) =>
  api.edit(conversation, turn.id, { ...body, question }, signal));

export function again(turn) {
  if (turn.id === null) return once(turn);
  return replace(turn, turn.question, (conversation, body, signal) => api.regenerate(conversation, turn.id, body, signal));
}

// A sibling takes the turn's place; the turns below the old one stay below it.
function replace(turn, question, send) {
  const ending = stop();
  const conversation = thread.get().id;
  const made = newTurn(question, turn.scope, turn.parent, turn.siblings, turn.images);
  const { list } = thread.get();
  thread.set({ list: [...list.slice(0, list.findIndex((one) => one.local === turn.local)), made] });
  start(made.local, async function* open(signal) {
    await ending;
    await store();
    yield* send(conversation, { ...options(), wait: true }, signal);
  });
  return made;
}

// A turn that the server never received is begun again in the same way.
function once(turn) {
  const open = openOf(turn.local);
  if (!open) return ask(turn.question, turn.scope, turn.images);
  stop();
  update(turn.local, { ...blank(), images: turn.images });
  start(turn.local, open);
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

export function rate(turn, rating, note) {
  update(turn.local, { rating, note });
  tellTabs(thread.get().id);
}

export async function resume(id) {
  await open(id);
  const { [id]: unsent, ...others } = kept("unsent");
  if (!unsent || thread.get().id !== id || thread.get().state !== "ready") return;
  keep("unsent", others);
  if (thread.get().list.some((turn) => turn.id > unsent.after && turn.question === unsent.question)) return;
  ask(unsent.question, unsent.scope, unsent.images);
}

// A question that waits for the server is asked when the page is back; one that it did not take becomes
// the draft, where there is none.
window.addEventListener("pagehide", () => {
  const { id, list } = thread.get();
  const unheard = list.findLast((turn) => turn.id === null && (turn.away || turn.state === "failed" || turn.state === "cut"));
  if (!unheard) return;
  const { question, scope, images } = unheard;
  const after = Math.max(...list.map((turn) => turn.id)); // null is 0
  if (unheard.away) keep("unsent", { ...kept("unsent"), [id]: { question, scope, images, after } });
  if (unheard.away || draftOf(id)) return;
  setDraft(id, unheard.question);
  keepDrafts();
});
