// The caller's conversations, those used last first, for the sidebar and the palette.
//
//   const { list, next, total, q, state } = useStore(conversations)
//   search(q); readMore(); listChanged()          listChanged: one of them has changed, read it again
//   await rename(id, title)
//   remove(id); bringBack()                       deleted after a while, in which it can be undone
import { api } from "../api.js";
import { createStore, onOtherAsker } from "../store.js";
import { onTabs, tellTabs } from "./kept.js";

const PAGE = 50;
const UNDO = 20_000; // ms in which a deleted conversation can be brought back
const SOON = 250; // ms in which several changes are one

const NOTHING = { list: [], next: null, total: null, q: "", state: "loading", error: "", removed: null };
export const conversations = createStore(NOTHING);

let reading = null;
let wanted = false; // whether anything shows them
let timer = 0;

export async function readList() {
  wanted = true;
  reading?.abort();
  const controller = new AbortController();
  reading = controller;
  const { q, list } = conversations.get();
  try {
    const data = await api.conversations({ q, limit: Math.min(Math.max(PAGE, list.length), 200) }, controller.signal);
    conversations.set({ list: data.conversations, next: data.next, total: data.total, state: "ready", error: "" });
  } catch (error) {
    if (error.name !== "AbortError" && error.status !== 401) conversations.set({ state: "failed", error: error.message });
  }
}

export async function readMore() {
  const { q, list, next } = conversations.get();
  if (!next) return;
  const data = await api.conversations({ q, limit: PAGE, after: next });
  if (conversations.get().next !== next) return;
  conversations.set({ list: [...list, ...data.conversations], next: data.next });
}

export function search(q) {
  conversations.set({ q, next: null });
  readList();
}

export function listChanged() {
  if (!wanted) return;
  clearTimeout(timer);
  timer = setTimeout(readList, SOON);
}

export async function rename(id, title) {
  const data = await api.change(id, { title });
  conversations.set({ list: conversations.get().list.map((one) => (one.id === id ? data : one)) });
  tellTabs(id);
}

// The page hides it at once; the server deletes it when it cannot be brought back any more.
export function remove(one) {
  finish();
  const due = setTimeout(finish, UNDO);
  conversations.set({ removed: { ...one, due } });
}

export function bringBack() {
  const { removed } = conversations.get();
  clearTimeout(removed?.due);
  conversations.set({ removed: null });
  return removed;
}

async function finish(leaving = false) {
  const removed = bringBack();
  if (!removed) return;
  conversations.set({ list: conversations.get().list.filter(({ id }) => id !== removed.id) });
  try {
    await api.remove(removed.id, leaving === true);
  } catch {
    // it shows again with the list
  }
  tellTabs(removed.id);
  if (!leaving) listChanged();
}

onTabs(listChanged);
onOtherAsker(() => {
  bringBack(); // who asks now may not delete it
  conversations.set(NOTHING);
});
window.addEventListener("pagehide", () => finish(true));
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && listChanged());
