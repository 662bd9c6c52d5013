// An answer's Markdown as safe elements, while it streams.
//
//   const prose = new Prose(element, { onCite(button), onSettled(text), onName(name, button) });
//   prose.show(text)          the text so far; drawn at the next frame, only its last block anew
//   prose.finish(text)        all of it, at once
//   prose.cite(citations, statements)     which markers [n] lead somewhere; the rest become plain text
//   prose.found(statements)   a dotted chip behind each statement whose source Helix found: { n, at, … }
//   prose.markerOf(button)    { n, statement, nth }: the nth marker of source n in that statement
//   prose.mark(statements)    sentences that nothing supports, as { start, end, problem }, or that are
//                             quoted and yet beside the question: { …, beside: true }
//   prose.name(names)         names in code, as { name, start, end, status, … }: one that the documents
//                             have is a button (onName), one that they have not is marked
//
//   literalOf(text)           a document's own Markdown, as a fragment: its [1] is text, no marker
//   blockLengths(text)        the lengths of the blocks that a text consists of
//   wrap(block, text, start, end, className, tag)   elements around what was written between two places
//
// What is not allowed: HTML (it is shown as text), pictures (their description is shown), links to
// anything but http, https and mailto. DOMPurify goes over what is left, and is the only place
// where text becomes markup (Trusted Types). Offsets of statements count code points.
import DOMPurify from "./vendor/dompurify.mjs";
import { Lexer, Marked } from "./vendor/marked.mjs";
import { unitsOf } from "./text.js";

// A block longer than this is shown as plain text: no Markdown parser is linear in all it is given.
const LONGEST = 20_000;
// The search for addresses in a text takes the square of a word's length.
const UNBROKEN = /\S{2000}/;
const MARKER = /^\[\s*([0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*)\s*\]/;
const LINK = /^(?:https?:|mailto:)/i;
// Short rows are filled up to their head: a few kilobytes may be a table of millions of cells.
const CELLS = 20_000;
// Rows of a table: without their head GFM sees none, and it drops the markers behind the last bar.
const ROWS = /^(?:\|[^\n]*\|[ \t]*(?:\[[\d, ]+\][ \t]*)*(?:\n|$))+/;
const BEHIND = /\|[ \t]*\[[\d, ]+\][ \t]*$/;
const RULE = /^(?=[^\n-]*-)[ \t:|-]+(?:\n|$)/;
const PIPE = /(?<!\\)\|/;
const ALLOWED = {
  ALLOWED_TAGS: [
    "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre",
    "code", "em", "strong", "del", "a", "sup", "table", "thead", "tbody", "tr", "th", "td",
  ],
  ALLOWED_ATTR: ["href", "align", "start", "data-cites"],
  ALLOWED_URI_REGEXP: LINK,
  ADD_URI_SAFE_ATTR: ["align", "start", "data-cites"],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

const escaped = (text) =>
  text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

const marked = new Marked({
  gfm: true,
  extensions: [{
    name: "rows",
    level: "block",
    start: (source) => source.match(/^\|/m)?.index,
    tokenizer(source) {
      const raw = ROWS.exec(source)?.[0];
      const lines = raw?.trimEnd().split("\n");
      const headed = raw && RULE.test(lines[1] ?? source.slice(raw.length));
      if (!raw || (headed && !lines.some((line) => BEHIND.test(line)))) return undefined;
      const rows = lines.filter((line) => !RULE.test(line)).map((line, n) => cellsOf(line).map((cell) => ({ tokens: this.lexer.inline(cell), header: headed && !n })));
      return { type: "table", raw, header: headed ? rows.shift() : [], rows };
    },
  }, {
    name: "cites",
    level: "inline",
    start: (source) => source.match(/\[\s*[0-9]/)?.index,
    tokenizer(source) {
      const found = MARKER.exec(source);
      return found ? { type: "cites", raw: found[0], numbers: found[1] } : undefined;
    },
    renderer: ({ raw, numbers }) =>
      `<sup data-cites="${numbers.replace(/\s/g, "")}">${escaped(raw)}</sup>`,
  }],
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text, href }) => escaped(`[picture: ${text || href}]`),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      return LINK.test(href) ? `<a href="${escaped(href)}">${inner}</a>` : inner;
    },
  },
  // "[1]: https://…" would take the marker away, wherever it stands
  tokenizer: { def: () => undefined },
});

// Markers behind the last bar are in the last cell.
function cellsOf(line) {
  const cells = line.split(PIPE).slice(1).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const behind = cells.pop();
  if (behind) cells.push(`${cells.pop()} ${behind}`);
  return cells;
}

const isHuge = (source) => CELLS < source.split(/\n *\n/).reduce((sum, part) => {
  const lines = part.split(/[\r\n]/);
  return sum + lines.length * Math.max(...lines.map((line) => line.split("|").length - 1));
}, 0);

function toFragment(source) {
  if (source.length >= LONGEST || UNBROKEN.test(source) || isHuge(source)) return plain(source);
  let fragment;
  try {
    // a line's end between cells is none of the text: places behind it would be looked for too far on
    fragment = DOMPurify.sanitize(marked.parse(source).replace(/(<\/?t[^>]*>)\n/g, "$1"), ALLOWED);
  } catch {
    return plain(source); // nested deeper than a parser's stack
  }
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
  }
  for (const list of fragment.querySelectorAll("ul, ol")) list.dir = "auto";
  return fragment;
}

// A document's own Markdown: its "[1]" is what it says, no citation.
export function literalOf(source) {
  const fragment = toFragment(source);
  for (const marker of fragment.querySelectorAll("sup[data-cites]")) marker.replaceWith(marker.textContent);
  fragment.normalize();
  return fragment;
}

function plain(source) {
  const fragment = document.createDocumentFragment();
  const paragraph = document.createElement("p");
  paragraph.className = "as-it-is";
  // a browser looks for where to break an unbroken text anew at each line: it is helped
  for (let from = 0; from < source.length;) {
    const to = whole(source, from + 500);
    if (from) paragraph.append(document.createElement("wbr"));
    paragraph.append(source.slice(from, to));
    from = to;
  }
  fragment.append(paragraph);
  return fragment;
}

// `place`, or the one after it where it would cut a character in two.
function whole(text, place) {
  return /[\ud800-\udbff]/.test(text[place - 1] ?? "") ? place + 1 : place;
}

// The lengths of the blocks that `source` begins with; the last one may still grow.
function blocks(source) {
  const read = source.slice(0, 2 * LONGEST);
  let lengths = [read.length];
  try {
    if (!isHuge(read)) lengths = new Lexer(marked.defaults).blockTokens(read, []).map((token) => token.raw.length);
  } catch {
    // nested deeper than a parser's stack
  }
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total !== read.length) lengths = [read.length];
  lengths[lengths.length - 1] += source.length - read.length;
  if (lengths[0] <= LONGEST) return lengths;
  const cut = source.lastIndexOf("\n", LONGEST) + 1 || whole(source, LONGEST);
  return [cut, source.length - cut];
}

export function blockLengths(source) {
  const found = [];
  for (let from = 0; from < source.length;) {
    const rest = blocks(source.slice(from));
    // what may still grow is only the last, where there is no more to read
    const sure = rest.length > 1 ? rest.slice(0, -1) : rest;
    found.push(...sure);
    from += sure.reduce((sum, length) => sum + length, 0);
  }
  return found;
}

export class Prose {
  #element;
  #handlers;
  #settled = 0; // up to where the text is drawn for good
  #drawn = []; // { start, end, element }
  #live = null;
  #frame = 0;
  #text = "";
  #next = 0;
  #markers = new WeakMap(); // chip -> { n, statement, nth }

  constructor(element, handlers = {}) {
    this.#element = element;
    this.#handlers = handlers;
    this.#element.replaceChildren();
  }

  show(text) {
    this.#text = text;
    if (!this.#frame) this.#frame = requestAnimationFrame(this.#draw);
  }

  finish(text) {
    cancelAnimationFrame(this.#frame);
    this.#frame = -1;
    this.#text = text;
    this.#advance(true);
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#frame = -1;
  }

  #draw = (now) => {
    this.#frame = 0;
    if (now < this.#next) {
      this.#frame = requestAnimationFrame(this.#draw);
      return;
    }
    const began = performance.now();
    this.#advance(false);
    // drawing takes a fifth of the time at most, however long a block has become
    this.#next = now + 4 * (performance.now() - began);
  };

  #advance(last) {
    this.#live?.remove();
    this.#live = null;
    while (this.#settled < this.#text.length) {
      // as long as before, so that places in it stay what they are
      const tail = this.#text.slice(this.#settled).replace(/\r\n/g, " \n").replace(/\r/g, "\n");
      const lengths = blocks(tail);
      const end = lengths.slice(0, -1).reduce((from, length) => {
        this.#settle(tail.slice(from, from + length));
        return from + length;
      }, 0);
      const rest = tail.slice(end);
      if (rest.length > LONGEST) continue; // there is more than one block, so this one is shorter
      if (last) this.#settle(rest);
      else {
        this.#live = this.#place(rest).element;
        return;
      }
    }
  }

  #settle(source) {
    const block = this.#place(source);
    block.start = this.#settled;
    this.#settled += source.length;
    block.end = this.#settled;
    this.#drawn.push(block);
    if (source.trim()) this.#handlers.onSettled?.(block.element.textContent);
  }

  #place(source) {
    const element = document.createElement("div");
    element.className = "block";
    if (source.trim()) element.append(toFragment(source));
    for (const marker of element.querySelectorAll("sup[data-cites]")) this.#chips(marker);
    if (element.firstChild) this.#element.append(element);
    return { element };
  }

  #chips(marker) {
    const numbers = marker.dataset.cites.split(",").map(Number);
    marker.className = "chips";
    marker.removeAttribute("data-cites");
    marker.replaceChildren(...numbers.map((n) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = "chip";
      chip.dataset.n = n;
      chip.disabled = true;
      chip.textContent = n;
      chip.setAttribute("aria-label", `Source ${n}`);
      chip.addEventListener("click", () => this.#handlers.onCite?.(chip));
      return chip;
    }));
  }

  markerOf(chip) {
    return this.#markers.get(chip);
  }

  cite(citations, statements = []) {
    const known = new Map(citations.map((citation) => [citation.n, citation]));
    this.#numberMarkers(statements);
    for (const chip of this.#element.querySelectorAll("button.chip")) {
      const citation = known.get(Number(chip.dataset.n));
      if (citation) {
        chip.disabled = false;
        chip.setAttribute("aria-label", `Source ${citation.n}: ${citation.title}`);
      } else {
        const text = document.createElement("span");
        text.className = "no-chip";
        text.textContent = `[${chip.dataset.n}]`;
        chip.replaceWith(text);
      }
    }
  }

  found(statements) {
    const starts = unitsOf(this.#text, statements.map(({ start }) => start));
    const ends = unitsOf(this.#text, statements.map(({ end }) => end));
    for (let place = statements.length - 1; place >= 0; place -= 1) {
      const { n, at, title, named } = statements[place];
      const touched = this.#drawn.filter((block) => block.start < ends[place] && starts[place] < block.end);
      const last = touched.flatMap((block) => wrap(block, this.#text, starts[place], ends[place], "found")).at(-1);
      const chip = this.#chipAt(at, n) ?? this.#added(n, last);
      if (!chip) continue;
      chip.classList.add("by-proof");
      chip.disabled = false;
      chip.title = `Found by Helix: the model named ${named} source here`;
      chip.setAttribute("aria-label", `Source ${n}: ${title}, found by Helix`);
      this.#markers.set(chip, { n, statement: at, nth: 0 });
    }
  }

  // The chip of a marker that Helix put into the text itself, as /ask does with cite=proof.
  #chipAt(statement, n) {
    return [...this.#element.querySelectorAll("button.chip")].find((chip) => {
      const marker = this.#markers.get(chip);
      return marker?.statement === statement && marker.n === n;
    });
  }

  #added(n, last) {
    if (!last) return null;
    const outer = document.createElement("sup");
    outer.dataset.cites = n;
    last.after(outer);
    this.#chips(outer);
    return outer.firstChild;
  }

  // Which statement each marker stands at: the last that begins in front of it.
  #numberMarkers(statements) {
    const starts = unitsOf(this.#text, statements.map(({ start }) => start));
    const seen = new Map();
    for (const [chip, place] of this.#drawn.flatMap((block) => chipsOf(block, this.#text))) {
      const n = Number(chip.dataset.n);
      const statement = starts.findLastIndex((start) => start <= place);
      const key = `${statement} ${n}`;
      this.#markers.set(chip, { n, statement, nth: seen.get(key) ?? 0 });
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
  }

  mark(statements) {
    const places = statements.flatMap(({ start, end }) => [start, end]);
    const ascending = [...new Set(places)].sort((a, b) => a - b);
    const units = new Map(unitsOf(this.#text, ascending).map((unit, n) => [ascending[n], unit]));
    for (const statement of statements) {
      const start = units.get(statement.start);
      const end = units.get(statement.end);
      const touched = this.#drawn.filter((block) => block.start < end && start < block.end);
      const className = statement.beside ? "unsupported beside" : "unsupported";
      const pieces = touched.flatMap((block) => wrap(block, this.#text, start, end, className));
      if (pieces.length) pieces.at(-1).after(flag(statement));
    }
  }

  name(names) {
    const ascending = [...new Set(names.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
    const units = new Map(unitsOf(this.#text, ascending).map((unit, n) => [ascending[n], unit]));
    for (const one of names.filter(({ status }) => status !== "local")) {
      const start = units.get(one.start);
      const end = units.get(one.end);
      const known = one.status === "documented";
      for (const block of this.#drawn.filter((block) => block.start < end && start < block.end)) {
        for (const element of wrap(block, this.#text, start, end, `code-name ${one.status}`, known ? "button" : "span")) {
          element.title = known ? `${one.name}: show it in the documents` : `${one.name}: not in the documents`;
          if (known) Object.assign(element, { type: "button", onclick: () => this.#handlers.onName?.(one, element) });
        }
      }
    }
  }
}

// Wrap what of a block was written between two places of the text; the elements that do.
export function wrap(block, text, start, end, className, tag = "span") {
  const walker = document.createTreeWalker(block.element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let cursor = block.start;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(".flag-outer")) continue; // no part of the text
    const found = covered(node.data, text, cursor, block.end, start, end);
    cursor = found.cursor;
    if (found.from < found.to && node.data.slice(found.from, found.to).trim()) {
      nodes.push([node, found.from, found.to]);
    }
  }
  return nodes.map(([node, from, to]) => {
    const outer = node.parentElement.closest(".chips");
    if (outer) return outer; // a chip stays whole
    const piece = from ? node.splitText(from) : node;
    if (to - from < piece.data.length) piece.splitText(to - from);
    const element = document.createElement(tag);
    element.className = className;
    piece.replaceWith(element);
    element.append(piece);
    return element;
  });
}

function chipsOf(block, text) {
  const walker = document.createTreeWalker(block.element, NodeFilter.SHOW_TEXT);
  const found = [];
  let cursor = block.start;
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    cursor = covered(data, text, cursor, block.end, 0, 0).cursor;
    const chip = parentElement.closest("button.chip");
    if (chip) found.push([chip, cursor - data.length]);
  }
  return found;
}

// What is seen of a Markdown text is its characters in their order, less some: each is looked for
// from where the one before was found. Never far, for an entity (&amp;) is not found at all.
const FAR = 400;

function covered(seen, text, cursor, limit, start, end) {
  let from = seen.length;
  let to = 0;
  for (let n = 0; n < seen.length; n += 1) {
    const found = text.indexOf(seen[n], cursor);
    if (found >= 0 && found < limit && found - cursor < FAR) {
      if (found >= start && found < end) {
        from = Math.min(from, n);
        to = n + 1;
      }
      cursor = found + 1;
    }
  }
  return { from, to, cursor };
}

function flag({ problem, beside }) {
  const outer = document.createElement("span");
  const button = document.createElement("button");
  const why = document.createElement("span");
  outer.className = "flag-outer";
  button.type = "button";
  button.className = "flag";
  button.textContent = beside ? "off topic" : "unsupported";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", beside ? "Off-topic sentence: why?" : "Unsupported sentence: why?");
  why.className = "flag-why";
  why.hidden = true;
  why.textContent = problem || (beside ? "Quoted, but not about what was asked." : "No source has a passage that supports this sentence.");
  button.addEventListener("click", () => {
    why.hidden = !why.hidden;
    button.setAttribute("aria-expanded", String(!why.hidden));
  });
  outer.append(button, why);
  return outer;
}
