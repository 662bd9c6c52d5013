// The text of a document as it reads: headings, lists, code, tables, slides, with marks in it.
//
//   <${Writing} document=${document} marks=${[{ start, end, kind }]} goal=${goal} onTop=${…} />
//
// A mark's kind is "quote" (what was cited), "now" (the search is at it) or "hit"; places are UTF-16
// units. What stands in <mark class="quote"> is the text of the document, to the character.
import { html, useLayoutEffect, useMemo, useRef } from "../html.js";
import { literalOf, wrap } from "../markdown.js";
import { blocksOf, leavesOf } from "./blocks.js";
import { Leaves } from "./leaves.js";
import { Slice } from "./marks.js";
import { Grid, TableBlock } from "./tables.js";

export function useLeaves(document) {
  return useMemo(() => leavesOf(blocksOf(document), document), [document]);
}

// The leaf that a place of the text is in.
export function leafAt(leaves, place) {
  return Math.max(leaves.findLastIndex((leaf) => leaf.start <= place), 0);
}

export function Writing({ document, leaves, marks, goal, onTop, labels, size }) {
  const draw = (leaf) => {
    const inside = marks.filter((mark) => mark.start < leaf.end && leaf.start < mark.end);
    return html`<${Leaf} leaf=${leaf} document=${document} marks=${inside} labels=${labels} />`;
  };
  return html`<${Leaves} leaves=${leaves} draw=${draw} goal=${goal} onTop=${onTop} label="Text of the document" className=${`document-text ${document.media} size-${size}`} />`;
}

function Leaf({ leaf, document, marks, labels }) {
  const { text, media } = document;
  const drawn = together(leaf.blocks).map((blocks) => html`<${Block} key=${`${blocks[0].kind} ${blocks[0].start}`} blocks=${blocks} text=${text} marks=${marks} />`);
  if (media === "pptx") return html`<article class="slide" aria-label=${`Slide ${leaf.page}`}><p class="eyebrow">Slide ${leaf.page}</p>${drawn}</article>`;
  const begins = leaf.begins && leaf.page !== null;
  return html`<div>${begins && html`<div class="page-mark"><span>${labels(leaf.page)}</span></div>`}${drawn}</div>`;
}

// Items that follow one another are one list.
function together(blocks) {
  const groups = [];
  for (const block of blocks) {
    if (block.kind === "item" && groups.at(-1)?.[0].kind === "item") groups.at(-1).push(block);
    else groups.push([block]);
  }
  return groups;
}

function Block({ blocks, text, marks }) {
  const [block] = blocks;
  const slice = (one) => html`<${Slice} text=${text} start=${one.start + (one.hidden || 0)} end=${one.end} marks=${marks} />`;
  switch (block.kind) {
    case "heading": return heading(block.level, slice(block));
    case "sheet": return heading(1, block.name);
    case "item": return html`<ul class="items" dir="auto">${blocks.map((one) => html`<li key=${one.start} class=${looks(one)} style=${inset(1.2 * Math.min(one.depth, 4))}>${slice(one)}</li>`)}</ul>`;
    case "code": return html`<pre tabindex="0"><code>${slice(block)}</code></pre>`;
    case "note": return html`<p class="slide-note">${slice(block)}</p>`;
    case "markdown": return html`<${MarkedUp} block=${block} text=${text} marks=${marks} />`;
    case "table": return html`<${TableBlock} block=${block} text=${text} marks=${marks} />`;
    case "grid": return html`<${Grid} block=${block} text=${text} marks=${marks} />`;
    default: return html`<p class=${looks(block)} style=${inset((block.indent ?? 0) / 2)}>${slice(block)}</p>`;
  }
}

const looks = (block) => ["more", "filled", "hanging"].filter((name) => block[name]).join(" ");
const inset = (ems) => ({ marginInlineStart: `${ems}em` });

// The page's own headings are of levels 1 and 2: those of a document stand below them.
function heading(level, content) {
  if (level <= 1) return html`<h3 class="level-1">${content}</h3>`;
  if (level === 2) return html`<h4 class="level-2">${content}</h4>`;
  return html`<h5 class="level-3">${content}</h5>`;
}

// Markdown becomes elements by the sanitizer, and is marked afterwards.
function MarkedUp({ block, text, marks }) {
  const element = useRef(null);
  const key = JSON.stringify(marks);
  useLayoutEffect(() => {
    const source = text.slice(block.start, block.end);
    element.current.replaceChildren(literalOf(source));
    for (const mark of marks) {
      wrap({ element: element.current, start: 0, end: source.length }, source, mark.start - block.start, mark.end - block.start, mark.kind, "mark");
    }
  }, [block, text, key]);
  return html`<div class="prose block" ref=${element}></div>`;
}
