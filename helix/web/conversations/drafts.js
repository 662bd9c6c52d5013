// The draft of each conversation: its question while it is typed. The draft of a new conversation has
// the id "". All tabs share them.
//
//   const text = useDraft(id); draftOf(id); setDraft(id, text); keepDrafts() at once
import { createStore, useStore } from "../store.js";
import { keep, kept, onKept, onOther } from "./kept.js";

const WAITS = 150; // ms after the last key

export const drafts = createStore({ all: kept("drafts") });
let writing = 0;

export const useDraft = (id) => useStore(drafts).all[id ?? ""] ?? "";
export const draftOf = (id) => drafts.get().all[id ?? ""] ?? "";

export function setDraft(id, text) {
  const { [id ?? ""]: _, ...others } = drafts.get().all;
  drafts.set({ all: text ? { ...others, [id ?? ""]: text } : others });
  clearTimeout(writing);
  writing = setTimeout(keepDrafts, WAITS);
}

export function keepDrafts() {
  clearTimeout(writing);
  keep("drafts", drafts.get().all);
}

onOther(() => drafts.set({ all: kept("drafts") }));
onKept((name, value) => name === "drafts" && drafts.set({ all: value }));
window.addEventListener("pagehide", keepDrafts);
