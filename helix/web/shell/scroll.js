// How far down each step of the history was: a step back or forward comes there again, once what it shows
// has come, and a new step begins at its top. A browser without the Navigation API does as it likes.
const tops = new Map();
const stepNow = () => window.navigation?.currentEntry.key;
const WAIT = 5000; // ms for what is shown to be as high again
const OWN = ["wheel", "touchstart", "pointerdown", "keydown"]; // whoever scrolls meanwhile is left alone

let step = stepNow();
let leave = () => {};

window.addEventListener("scroll", () => tops.set(stepNow(), window.scrollY), { passive: true });
window.addEventListener("hashchange", () => {
  if (step === stepNow()) return;
  step = stepNow();
  leave();
  comeTo(tops.get(step) ?? 0);
});

function comeTo(top) {
  window.scrollTo(0, top);
  if (!top) return;
  const controller = new AbortController();
  const { signal } = controller;
  leave = () => controller.abort();
  const seen = new ResizeObserver(() => {
    window.scrollTo(0, top);
    if (window.scrollY >= top - 1) leave();
  });
  signal.addEventListener("abort", () => seen.disconnect());
  for (const name of OWN) window.addEventListener(name, leave, { signal, passive: true });
  setTimeout(leave, WAIT);
  requestAnimationFrame(() => seen.observe(document.getElementById("app"))); // once the view before is gone
}
