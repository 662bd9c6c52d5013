// Search within a document: the places of a phrase in its text, whatever its case and white space.
//
//   found("net  sales", text)     [{ start, end }], the first 2,000 of them
//   <${Find} text=${text} from=${place} onFound=${(hits, now) => …} onClose=${f} />
import { IconButton, useDelayed } from "../components.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";

const MOST = 2000;

export function found(phrase, text) {
  const words = phrase.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+"), "giu");
  const hits = [];
  for (const match of text.matchAll(pattern)) {
    hits.push({ start: match.index, end: match.index + match[0].length });
    if (hits.length === MOST) break;
  }
  return hits;
}

export function Find({ text, from, onFound, onClose }) {
  const [phrase, setPhrase] = useState("");
  const late = useDelayed(phrase, 150);
  const hits = useMemo(() => found(late, text), [late, text]);
  const [now, setNow] = useState(0);
  const input = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    input.current.focus({ preventScroll: true });
    return () => before.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    // from where one is, as one reads
    setNow(Math.max(hits.findIndex((hit) => hit.start >= from()), 0));
  }, [hits]);
  useEffect(() => onFound(hits, hits[now] || null), [hits, now]);
  const step = (by) => hits.length && setNow((now + by + hits.length) % hits.length);
  const onKeyDown = (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onClose();
    }
  };
  const position = !late.trim() ? "" : hits.length ? `${now + 1} of ${hits.length === MOST ? `${MOST} or more` : hits.length}` : "Not found";
  return html`<div class="find" role="search">
    <input ref=${input} type="search" aria-label="Search within the document" placeholder="Search within" value=${phrase}
      onInput=${(event) => setPhrase(event.target.value)} onKeyDown=${onKeyDown} autocomplete="off" spellcheck=${false} />
    <span class="hint" role="status">${position}</span>
    <div class="pair"><${IconButton} icon="before" label="Previous match" disabled=${!hits.length} onClick=${() => step(-1)} />
    <${IconButton} icon="after" label="Next match" disabled=${!hits.length} onClick=${() => step(1)} />
    <${IconButton} icon="close" label="Close the search" onClick=${onClose} /></div>
  </div>`;
}
