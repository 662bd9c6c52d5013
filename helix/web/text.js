// Places in a text. The server counts characters, which are Unicode code points; JavaScript counts
// UTF-16 units. Everything that comes from the server goes through here before it slices.
//
//   sliceOf(text, start, end)      text[start:end] as the server means it
//   unitsOf(text, [3, 9])          the same places in UTF-16 units, in one pass; ascending order

const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/;

export function unitsOf(text, places) {
  if (!PAIRS.test(text)) return places.map((place) => Math.min(place, text.length));
  const found = [];
  let unit = 0;
  let character = 0;
  for (const place of places) {
    while (character < place && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      character += 1;
    }
    found.push(unit);
  }
  return found;
}

export function sliceOf(text, start, end) {
  const [from, to] = unitsOf(text, [start, end]);
  return text.slice(from, to);
}

// Signs of Markdown that say nothing in a line: of headings and fences; and where a link leads.
const SIGNS = /^(?:#{1,6} |(?:```|~~~).*$)/gm;
const LINK = /\[([^[\]\n]{1,300})\]\([^()\s]{1,500}\)/g;

export function shortened(text, length) {
  const line = text.replace(SIGNS, "").replace(LINK, "$1").replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}

const DEEPEST = 2; // headings of a place: those above them are seen in the reader
const HEADING = 60; // characters

// Where a passage stands, for people: "Travel › Refunds, page 12 (printed 9)", "Budget, slide 2",
// "sheet Rates, rows 2-21". The server's label says it; a heading that the label has is left out.
export function placeOf({ heading_path, page, label }, title = "") {
  const path = (heading_path || []).filter((heading) => heading && heading !== title && !(label || "").startsWith(`sheet ${heading}`));
  return [path.slice(-DEEPEST).map((heading) => shortened(heading, HEADING)).join(" › "), label || (page ? `page ${page}` : "")].filter(Boolean).join(", ");
}

// Whether a document came from an address of the web, by its source_uri.
export const isWeb = (address) => /^https?:\/\//i.test(address ?? "");
