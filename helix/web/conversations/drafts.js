// The draft of each conversation: its question while it is typed, and the images that were chosen for
// it. The draft of a new conversation has the id "". All tabs share the questions; images stay in the
// memory of their tab until they are asked about.
//
//   const text = useDraft(id); draftOf(id); setDraft(id, text); keepDrafts() at once
//   const images = useDraftImages(id); draftImagesOf(id); setDraftImages(id, images)
//   moveDraft(id)               that of the new conversation becomes that of `id`
import { createStore, onOtherAsker, useStore } from "../store.js";
import { keep, kept, onKept } from "./kept.js";

const WAITS = 150; // ms after the last key
const NONE = [];

export const drafts = createStore({ all: kept("drafts"), images: {} });
let writing = 0;

export const useDraft = (id) => useStore(drafts).all[id ?? ""] ?? "";
export const draftOf = (id) => drafts.get().all[id ?? ""] ?? "";
export const useDraftImages = (id) => useStore(drafts).images[id ?? ""] ?? NONE;
export const draftImagesOf = (id) => drafts.get().images[id ?? ""] ?? NONE;

export function setDraft(id, text) {
  drafts.set({ all: put(drafts.get().all, id, text) });
  clearTimeout(writing);
  writing = setTimeout(keepDrafts, WAITS);
}

export function setDraftImages(id, images) {
  drafts.set({ images: put(drafts.get().images, id, images.length ? images : null) });
}

// The values of all with this one instead; without it where it is empty. It stands last: it is kept longest.
function put(all, id, value) {
  const { [id ?? ""]: _, ...others } = all;
  return value ? { ...others, [id ?? ""]: value } : others;
}

export function moveDraft(id) {
  setDraftImages(id, draftImagesOf(null));
  setDraftImages(null, NONE);
  setDraft(id, draftOf(null));
  setDraft(null, "");
}

export function keepDrafts() {
  clearTimeout(writing);
  keep("drafts", drafts.get().all);
}

onOtherAsker(() => drafts.set({ all: kept("drafts"), images: {} }));
onKept((name, value) => name === "drafts" && drafts.set({ all: value }));
window.addEventListener("pagehide", keepDrafts);
