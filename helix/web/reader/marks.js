// A piece of a document's text with the marks that lie in it.
//
//   <${Slice} text=${text} start=${0} end=${48} marks=${[{ start, end, kind }]} />
import { html } from "../html.js";

const RANK = { hit: 0, quote: 1, now: 2 };

// text[start:end] with its marks; where two overlap, the one of the higher rank is seen.
export function Slice({ text, start, end, marks }) {
  const inside = marks.filter((mark) => mark.start < end && start < mark.end);
  if (!inside.length) return text.slice(start, end);
  const cuts = [start, end, ...inside.flatMap((mark) => [mark.start, mark.end])]
    .filter((cut) => cut >= start && cut <= end).sort((a, b) => a - b);
  const places = [...new Set(cuts)];
  return places.slice(0, -1).map((from, n) => {
    const to = places[n + 1];
    const over = inside.filter((mark) => mark.start <= from && to <= mark.end).sort((a, b) => RANK[b.kind] - RANK[a.kind]);
    const content = text.slice(from, to);
    return over.length ? html`<mark key=${from} class=${over[0].kind}>${content}</mark>` : content;
  });
}
