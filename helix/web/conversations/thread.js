// The conversation that is open: its active path as turns, oldest first.
//
//   const { id, isStored, state, scope, list, earlier } = useStore(thread)
//       `id` is null before the first question; `isStored`: the server has it. `state` is "loading",
//       "ready", "gone" (there is none of this id) or "failed" with `error`. `earlier`: there is more above
//   open(id); close()            show another, or none: a running answer goes on on the server
//   begin(newId(), scope)        a new one; await store() creates it on the server
//   openHere(scope)              the id of the open one; begins one where none is, with the draft
//   await refresh()              read it again; a turn that runs here keeps its state
//   await readEarlier()          the turns above
//   await reach(message)         show the path that a message is on
//   await setScope(scope)        the documents that its questions are about
//   await setModel(name)         the model that answers them
//   update(local, patch)         change a turn; find(id or local)
//   changedHere()                this tab has changed it: a response still under way is outdated
import { api, isAway } from "../api.js";
import { address, go } from "../router.js";
import { createStore, onOtherAsker, openNow, session } from "../store.js";
import { draftOf, moveDraft } from "./drafts.js";
import { keep, kept, onTabs, tellTabs } from "./kept.js";
import { isRunning, isSameScope, keyBelow, lacksWords, scopeOfStored, storedScope, turnOf } from "./turn.js";

const ALL = { documents: [], tags: [] };
const NOTHING = { id: null, isStored: false, state: "ready", error: "", title: "", scope: ALL, space: null, model: null, list: [], earlier: null };
const RETRIES = 3000; // ms until a server that is away is tried again
const PAGE = 20; // turns read at once above those that are shown
const FAR = 200; // the same on the way to one that was linked to
const MOST = 1000; // turns that the server gives at once

export const thread = createStore(NOTHING);

let saving = Promise.resolve(); // changes of the conversation that are on their way
let followUp = () => {}; // set by following.js: follows what is being answered
let fill = () => {}; // set there too: finds the words of a broken answer
let leave = () => {};
export const onAnswering = (...given) => { [followUp, fill, leave] = given; };

export function find(which) {
  return thread.get().list.find((turn) => turn.local === which || turn.id === which);
}

export function update(local, patch) {
  thread.set({ list: thread.get().list.map((turn) => (turn.local === local ? { ...turn, ...patch } : turn)) });
}

export function close() {
  leave();
  thread.set(NOTHING);
  openNow.set({ id: null });
  keep("last", "");
}

export async function open(id) {
  if (thread.get().id === id && thread.get().state === "ready") return refresh();
  leave();
  thread.set({ ...NOTHING, id, state: "loading" });
  opened(id);
  return refresh();
}

export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A new conversation, which the server does not have yet.
export function begin(id, scope) {
  const { id: before, model } = thread.get();
  thread.set({ ...NOTHING, id, scope, space: session.get().space, model: before ? null : model }); // a new one has the model that was chosen for it
  opened(id);
}

export function openHere(scope) {
  const { id } = thread.get();
  if (id) return id;
  const made = newId();
  moveDraft(made);
  begin(made, scope);
  go(address("c", [made]), true);
  return made;
}

// The conversation that the page opens with, and that its navigation returns to.
function opened(id) {
  openNow.set({ id });
  keep("last", id);
}

// Resolves when the server has the conversation.
export async function store() {
  const { id, scope, model, isStored } = thread.get();
  if (isStored) return saving;
  try {
    await api.begin({ id, ...storedScope(scope), ...(model ? { model } : {}) });
  } catch (error) {
    if (error.status !== 409) throw error; // another tab was first
  }
  if (thread.get().id === id) thread.set({ isStored: true });
  return undefined;
}

let reading = 0;
let changes = 0;

export const changedHere = () => { changes += 1; };

export async function refresh() {
  const { id, list, state } = thread.get();
  if (!id || (state === "ready" && !thread.get().isStored)) return;
  const mine = ++reading;
  const before = changes;
  const isCurrent = () => mine === reading && thread.get().id === id;
  try {
    const data = await api.conversation(id, { limit: Math.min(Math.max(list.length, 10), MOST) });
    if (isCurrent() && changes !== before) await refresh();
    else if (isCurrent()) take(data);
  } catch (error) {
    if (!isCurrent() || error.status === 401) return;
    if (error.status === 404) lose(id);
    else if (thread.get().state !== "ready") fail(id, error);
  }
}

function fail(id, error) {
  thread.set({ state: "failed", error: error.message });
  const isStill = () => thread.get().id === id && thread.get().state === "failed";
  if (isAway(error)) setTimeout(() => isStill() && refresh(), RETRIES);
}

function lose(id) {
  leave();
  const unsent = kept("unsent")[id];
  if (unsent || draftOf(id)) return begin(id, unsent?.scope ?? ALL); // its first question never came there
  thread.set({ ...NOTHING, id, state: "gone" });
  openNow.set({ id: null });
  keep("last", "");
  return undefined;
}

function take(data) {
  const before = thread.get().list;
  const path = data.path.map((message) => merged(message, before));
  const fresh = before.filter((turn) => turn.id === null && !path.some((one) => one.local === turn.local));
  thread.set({
    isStored: true, state: "ready", error: "", title: data.title, scope: scopeOfStored(data.scope), space: data.scope.space ?? null, model: data.model, earlier: data.earlier,
    list: [...path, ...fresh],
  });
  const answering = path.find((turn) => turn.id === data.answering);
  if (answering) followUp(answering.local);
  path.filter(lacksWords).forEach(fill);
}

// A turn that runs in this tab is newer than the server's row; one without an id yet is matched by its
// question.
function merged(message, before) {
  const known = before.find((turn) => turn.id === message.id)
    ?? before.find((turn) => turn.id === null && turn.parent === message.parent_id && turn.question === message.question);
  if (!known || message.status !== "answering" || !isRunning(known)) return turnOf(message, known);
  const { id, answer_id: answerId, siblings, parent_id: parent } = message;
  return { ...known, id, answerId, siblings, parent, key: keyBelow(parent) };
}

export async function readEarlier(limit = PAGE) {
  const { id, earlier } = thread.get();
  if (earlier === null) return;
  const data = await api.conversation(id, { before: earlier, limit });
  if (thread.get().id !== id || thread.get().earlier !== earlier) return;
  const path = data.path.map((message) => turnOf(message));
  thread.set({ list: [...path, ...thread.get().list], earlier: data.earlier });
  path.filter(lacksWords).forEach(fill);
}

export async function reach(message) {
  const { id } = thread.get();
  while (!find(message) && thread.get().earlier !== null && thread.get().id === id) await readEarlier(FAR);
  if (find(message) || thread.get().id !== id) return;
  await choosePath(message);
  while (!find(message) && thread.get().earlier !== null && thread.get().id === id) await readEarlier(FAR);
}

export async function choosePath(message) {
  const { id } = thread.get();
  await api.change(id, { active: message });
  tellTabs(id);
  if (thread.get().id === id) await refresh();
}

export function setScope(scope) {
  const { scope: before } = thread.get();
  return isSameScope(scope, before) ? saving : save({ scope }, { scope: before }, storedScope(scope));
}

export const setModel = (model) => save({ model }, { model: thread.get().model }, { model });

// What is shown is changed at once, and as it was `before` where the server does not take the change.
function save(now, before, change) {
  const { id, isStored } = thread.get();
  thread.set(now);
  changedHere();
  if (!isStored) return saving;
  saving = saving.then(() => api.change(id, change)).then(() => {
    changedHere();
    tellTabs(id);
  });
  saving.catch(() => thread.get().id === id && thread.set(before));
  const asked = saving;
  saving = saving.catch(() => {});
  return asked;
}

onTabs((id) => id === thread.get().id && refresh());
onOtherAsker(() => {
  leave();
  thread.set(NOTHING);
  openNow.set({ id: null });
});
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh());
