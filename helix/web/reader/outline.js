// The headings of a document; each leads to its place.
//
//   entriesOf(document)          [{ name, depth, start, page }], each heading once
//   <${Outline} entries=${…} current=${place} onGo=${(entry) => …} onClose=${f} />
import { html, useLayoutEffect, useRef } from "../html.js";

export function entriesOf({ outline }) {
  const entries = [];
  let before = [];
  for (const { heading_path: path = [], start, page } of outline) {
    const shared = path.findIndex((name, n) => name !== before[n]);
    if (shared >= 0) {
      path.slice(shared).forEach((name, n) => entries.push({ name, depth: Math.min(shared + n, 4), start, page }));
    }
    before = path;
  }
  return entries;
}

export function Outline({ entries, current, onGo, onClose }) {
  const list = useRef(null);
  useLayoutEffect(() => {
    const here = list.current.querySelector("[aria-current]") || list.current.querySelector("button");
    here?.focus({ preventScroll: true });
    here?.scrollIntoView({ block: "nearest" });
  }, []);
  const at = Math.max(entries.findLastIndex((entry) => entry.start <= current), 0);
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return html`<nav class="outline" aria-label="Outline" onKeyDown=${onKeyDown}><ol ref=${list}>
    ${entries.map((entry, n) => html`<li key=${n}><button type="button" class=${`depth-${entry.depth}`} aria-current=${n === at ? "true" : undefined} onClick=${() => onGo(entry)}>
      <span>${entry.name}</span>${entry.page && html`<span class="hint">${entry.page}</span>`}</button></li>`)}
  </ol></nav>`;
}
