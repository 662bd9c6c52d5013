// The panel beside the answers: null, { kind: "source", documentId, start, end, … } or
// { kind: "why", id }. It is a step of the history of its own, so that Back closes it and Forward opens
// it again, and it is there again when the page is loaded anew.
//
//   openPanel(panel); const { panel } = useStore(panels)
//   await closePanel()      the focus goes back to what opened it
import { backFrom, go, stateOf } from "../router.js";
import { createStore } from "../store.js";
import { hidePreview } from "./preview.js";

export const panels = createStore({ panel: stateOf().panel ?? null });

export function openPanel({ opener, stays, ...panel }) {
  hidePreview();
  const before = panels.get().panel;
  history.scrollRestoration = "manual"; // the answer stays where it is when the panel closes
  go(location.hash || "#/", before !== null, before ? { ...stateOf(), panel } : { panel });
  panels.set({ panel: { ...panel, opener, stays } });
}

export async function closePanel() {
  if (!panels.get().panel) return;
  put(null);
  await backFrom();
}

function put(panel) {
  const before = panels.get().panel;
  if (same(before, panel)) return;
  const inside = document.activeElement === document.body || document.activeElement.closest(".panel");
  panels.set({ panel: panel && { ...panel, opener: before?.opener } });
  if (panel || !inside || !before.opener?.isConnected) return;
  before.opener.focus({ preventScroll: true });
  hidePreview(); // which the focus would show
}

function same(before, panel) {
  if (!before || !panel) return before === panel;
  const { opener, stays, ...kept } = before;
  return JSON.stringify(kept) === JSON.stringify(panel);
}

for (const name of ["popstate", "hashchange"]) {
  window.addEventListener(name, () => put(stateOf().panel ?? null));
}
