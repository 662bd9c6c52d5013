// A document's text as the blocks that it is drawn in. Places are UTF-16 units of the text.
//
//   blocksOf({ text, media, outline, tables })   -> [block], in the order of the text
//   leavesOf(blocks)                             -> [{ key, page, start, end, height, blocks }]
//
// A block: { kind, start, end, page, … } with `kind`
//   heading (level), paragraph, item (depth), code, note, markdown, table (table, first, last), grid, sheet (name)
// A block is drawn as slices of the text: a place in the text is a place on the page. A workbook's
// text has no names of sheets.
import { blockLengths } from "../markdown.js";
import { ITEM, filled } from "./paragraphs.js";

const LONGEST = 3000; // of one block; what is longer goes on in the next
const LEAF = 2500; // characters, about three screens of a phone
const ROWS = 60; // in one block
const MARKED_UP = new Set(["html", "epub", "eml"]); // headings and code as in Markdown
const SHEETS = new Set(["xlsx", "ods"]);
const AS_IT_STANDS = new Set(["text", "csv", ...SHEETS]); // a "- " of theirs need not be a list
const HEADING = /^(#{1,6}) +(?=\S)/;
const FENCE = /^(`{3,})$/;
const RULE = /^(?:=+|-+|~+|\^+)\s*$/; // below a heading
const GRID_ROW = /^\| .* \|$/;

export function blocksOf({ text, media, outline, tables }) {
  const sections = outline.length ? outline : [{ start: 0, end: text.length, page: null, heading_path: [] }];
  const found = [];
  let sheet = null;
  for (const section of sections) {
    const { start, end, page = null, heading_path: path } = section;
    if (SHEETS.has(media) && path?.[0] && path[0] !== sheet) found.push({ kind: "sheet", name: (sheet = path[0]), start, end: start, page });
    let from = start;
    const parse = (to) => from < to && found.push(...parsed(text, from, to, { media, page, path: from === start ? path || [] : [] }));
    for (const table of tables.filter((one) => one.start < end && start < one.end)) {
      const [first, last] = [rowAt(table, start), rowAt(table, end)];
      // a section amid a table that has no row of it stands between two of the table's pages
      if (first === last && table.rows.length) continue;
      parse(Math.max(from, table.start));
      from = Math.max(from, Math.min(table.end, end));
      add(found, { kind: "table", table, first, last, start: Math.max(start, table.start), end: from, page });
    }
    parse(end);
  }
  return found;
}

// The first row of a table whose line begins at this place or after it.
function rowAt({ lines }, place) {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].start < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Rows in blocks of a bounded length; those that follow one another on a page are one table.
function add(found, block) {
  const before = found.at(-1);
  if (before?.table === block.table && before.page === block.page && block.last - before.first <= ROWS) {
    before.last = block.last;
    before.end = block.end;
    return;
  }
  for (let { first } = block; first < Math.max(block.last, block.first + 1); first += ROWS) {
    const last = Math.min(first + ROWS, block.last);
    const start = first === block.first ? block.start : block.table.lines[first].start;
    found.push({ ...block, first, last, start, end: last === block.last ? block.end : block.table.lines[last].start });
  }
}

function parsed(text, from, to, { media, page, path }) {
  if (!text.slice(from, to).trim()) return [];
  const blocks = media === "markdown" || media === "ipynb" ? markdown(text, from, to) : lines(text, from, to, media, path);
  return blocks.flatMap((block) => (SHEETS.has(media) || media === "csv" ? [block] : filled(text, block))).flatMap((block) => shorter(text, block)).map((block) => ({ ...block, page }));
}

function markdown(text, from, to) {
  let start = from;
  return blockLengths(text.slice(from, to)).flatMap((length) => {
    const block = { kind: "markdown", start, end: start + length };
    start += length;
    return text.slice(block.start, block.end).trim() ? [block] : [];
  });
}

// Line by line: what a line is, and whether it goes on with the block before.
function lines(text, from, to, media, path) {
  const blocks = [];
  const headings = path.map(plain);
  let open = null; // the block that the next line may belong to
  let fence = "";
  for (let start = from; start < to;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 || newline > to ? to : newline;
    const line = text.slice(start, end);
    if (fence) {
      open.end = end;
      if (line === fence) [fence, open] = ["", null];
    } else if (!line.trim()) {
      open = null;
    } else if (media !== "text" || !RULE.test(line) || blocks.at(-1)?.kind !== "heading" || blocks.at(-1).end !== start - 1) {
      const block = { ...kindOf(line, media, headings, blocks.length), start, end };
      if (block.kind === "code") [fence] = line.match(FENCE);
      if (open && goesOn(open, block)) open.end = end;
      else blocks.push((open = block));
      if (block.kind === "heading") open = null;
    }
    start = end + 1;
  }
  return blocks;
}

function kindOf(line, media, headings, before) {
  if (MARKED_UP.has(media)) {
    const heading = line.match(HEADING);
    if (heading) return { kind: "heading", level: heading[1].length, hidden: heading[0].length };
    if (FENCE.test(line)) return { kind: "code" };
    if (GRID_ROW.test(line)) return { kind: "grid" };
  }
  // the headings of a section stand at its beginning, or below the title
  const level = before <= headings.length ? headings.findIndex((heading) => heading && heading === plain(line)) : -1;
  if (level >= 0) return { kind: "heading", level: level + 1 };
  const item = AS_IT_STANDS.has(media) ? null : line.match(ITEM);
  if (item) return { kind: "item", depth: Math.min(Math.floor(item[1].length / 2), 6) };
  if (media === "pptx" || media === "odp") return { kind: line.startsWith("Notes: ") ? "note" : "item", depth: 0 };
  return { kind: "paragraph" };
}

function goesOn(open, block) {
  if (open.kind === "grid") return block.kind === "grid";
  if (open.kind === "item" || open.kind === "note") return block.kind === "paragraph";
  return open.kind === "paragraph" && block.kind === "paragraph";
}

const plain = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

// A block of any length as blocks that can be drawn one by one.
function shorter(text, block) {
  if (block.kind === "markdown" || block.end - block.start <= LONGEST) return [block];
  const pieces = [];
  for (let start = block.start; start < block.end;) {
    let end = Math.min(start + LONGEST, block.end);
    if (end < block.end) {
      const space = Math.max(text.lastIndexOf("\n", end - 1), text.lastIndexOf(" ", end - 1));
      if (space > start) end = space + 1;
      else if (/[\ud800-\udbff]/.test(text[end - 1])) end += 1;
    }
    pieces.push({ ...block, start, end, hidden: start === block.start ? block.hidden : 0, more: block.more || start > block.start });
    start = end;
  }
  return pieces;
}

export function leavesOf(blocks, { media }) {
  const leaves = [];
  const paged = media === "pdf" || media === "pptx";
  for (const block of blocks) {
    const last = leaves.at(-1);
    const turns = paged && last && block.page !== null && block.page !== last.page;
    if (!last || turns || (media !== "pptx" && block.end - last.start > LEAF)) {
      leaves.push({ key: `${block.start}`, page: block.page, begins: paged && (!last || turns), start: block.start, end: block.end, height: 0, blocks: [] });
    }
    const leaf = leaves.at(-1);
    leaf.blocks.push(block);
    leaf.end = Math.max(leaf.end, block.end);
    leaf.height += heightOf(block);
  }
  return leaves;
}

// About how high it will be, in px, before it is drawn.
function heightOf({ kind, start, end, first, last }) {
  if (kind === "table") return 80 + 34 * (last - first);
  return (kind === "heading" ? 36 : 14) + 27 * Math.ceil((end - start) / 68);
}
